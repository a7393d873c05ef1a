//! TLS with roots built in: a phone's own verifier needs a JVM handle that a library cannot count
//! on (reqwest's default one panics on Android without it).

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;

/// Mozilla's roots, and those of `extra_roots` (PEM).
pub(super) fn config(extra_roots: &[Vec<u8>]) -> Result<ClientConfig, String> {
    let mut roots: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
    for pem in extra_roots {
        let mut found = 0;
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| format!("not PEM: {error}"))?;
            roots.add(certificate).map_err(|error| format!("not a root certificate: {error}"))?;
            found += 1;
        }
        if found == 0 {
            return Err("no certificate in it: give PEM with BEGIN CERTIFICATE".to_owned());
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map(|builder| builder.with_root_certificates(roots).with_no_client_auth())
        .map_err(|error| error.to_string())
}
