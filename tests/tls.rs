//! TLS: an extra root is trusted, and nothing else is.

#[path = "support/turns.rs"]
mod turns;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rejoin::client::{Client, TurnRequest};
use rejoin::turn::{ErrorKind, Policy};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use turns::{completed, failed, responses, run};

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// TLS in front of a plain server.
async fn front(authority: &CertifiedIssuer<'static, KeyPair>, back: SocketAddr) -> SocketAddr {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut tls) = acceptor.accept(socket).await else { return };
                let mut plain = TcpStream::connect(back).await.unwrap();
                // The client may leave as it likes.
                let _ = tokio::io::copy_bidirectional(&mut tls, &mut plain).await;
            });
        }
    });
    address
}

#[tokio::test]
async fn an_extra_root_is_trusted_and_a_foreign_one_is_not() {
    let server = responses(json!([{"send": ["safe", {"finish": "STOP"}]}])).await;
    let (ours, foreign) = (authority(), authority());
    let address = front(&ours, server.address()).await;
    let policy = Policy { max_unsent: 2, ..turns::policy() };
    let client = |root: Option<&CertifiedIssuer<'static, KeyPair>>| {
        let builder =
            Client::builder().base_url(format!("https://{address}")).policy(policy.clone());
        match root {
            Some(root) => builder.extra_root_pem(root.pem()).build().unwrap(),
            None => builder.build().unwrap(),
        }
    };
    let last = run(&client(Some(&ours)), TurnRequest::prompt("m", "x")).await;
    assert_eq!(completed(&last).text, "safe");
    for root in [Some(&foreign), None] {
        let last = run(&client(root), TurnRequest::prompt("m", "x")).await;
        let error = &failed(&last).error;
        assert_eq!(error.kind, ErrorKind::Unreachable);
        assert!(error.details.as_ref().unwrap().contains("certificate"), "{error:?}");
    }
    assert_eq!(server.requests().len(), 1, "nothing was sent to a server that was not trusted");
}
