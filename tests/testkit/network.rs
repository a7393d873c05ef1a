//! Refused connections and slow networks.

use std::io::ErrorKind;
use std::time::Duration;

use rejoin::testkit::{FlakyServer, Response, Step, Throttle, serve as run};
use tokio::time::{Instant, sleep};

use crate::client::{Client, LONG, STREAM, serve, timed};

/// Connects as soon as somebody listens; how often nobody did.
async fn persist(server: &FlakyServer) -> (Client, usize) {
    let mut refused = 0;
    loop {
        match Client::connect(server).await {
            Ok(client) => return (client, refused),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
                refused += 1;
                sleep(Duration::from_millis(5)).await;
            }
        }
    }
}

#[tokio::test]
async fn nobody_listens_at_first() {
    let server = serve(r#"[{"refuse_ms": 150}, {"send": ["a"]}]"#).await;
    let ((mut client, refused), took) = timed(persist(&server)).await;
    assert!(refused > 3 && took >= Duration::from_millis(149), "{refused} in {took:?}");
    client.send(STREAM).await;
    assert!(client.answer().await.text().contains("\"a\""));
    assert_eq!(server.requests().len(), 1, "refused connections are no requests");
}

#[tokio::test]
async fn nobody_listens_between_two_responses() {
    let server =
        serve(r#"[{"send": ["a"]}, {"refuse_ms": 60}, {"refuse_ms": 60}, {"send": ["b"]}]"#).await;
    let mut kept = Client::connect(&server).await.unwrap();
    kept.send(STREAM).await;
    assert!(kept.answer().await.text().contains("\"a\""));
    let start = Instant::now();
    assert_eq!(
        Client::connect(&server).await.err().map(|e| e.kind()),
        Some(ErrorKind::ConnectionRefused),
        "it is shut before the response has been read"
    );
    assert!(kept.read().await.unwrap().is_empty(), "a kept connection is closed as well");
    let (mut client, _) = persist(&server).await;
    assert!(start.elapsed() >= Duration::from_millis(115), "{:?}", start.elapsed());
    client.send(STREAM).await;
    assert!(client.answer().await.text().contains("\"b\""));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_refusal_at_the_end_is_for_good() {
    let server = serve(r#"[{"send": ["a"]}, {"refuse_ms": 1}]"#).await;
    Client::ask(&server, STREAM).await.answer().await;
    let until = Instant::now() + Duration::from_millis(60);
    while Instant::now() < until {
        assert!(Client::connect(&server).await.is_err());
        sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_slow_network_is_as_slow_as_it_says() {
    // 1800 bytes a second: the head and 180 bytes take more than a tenth of one.
    let response = Response::of(vec![Step::raw("x".repeat(180))]);
    let server = FlakyServer::builder()
        .responses(vec![response])
        .throttle(Throttle { min_delay_ms: 0, max_delay_ms: 0, ..Throttle::gsm() })
        .start()
        .await
        .unwrap();
    let mut client = Client::ask(&server, STREAM).await;
    let mut reads = 0;
    let start = Instant::now();
    let mut bytes = Vec::new();
    while crate::client::whole(&bytes).is_none() {
        bytes.extend(client.read().await.unwrap());
        reads += 1;
    }
    let least = Duration::from_secs(bytes.len() as u64) / 1800;
    assert!(start.elapsed() + Duration::from_millis(5) >= least, "{:?}", start.elapsed());
    assert!(reads > 4, "paced, not held back: {reads} reads");
}

#[tokio::test]
async fn each_segment_is_delayed_but_delays_do_not_add_up() {
    let throttle = Throttle { min_delay_ms: 60, max_delay_ms: 80, ..Throttle::full() }.seeded(9);
    let server = FlakyServer::builder()
        .responses(vec![Response::of(vec![Step::text("a"); 10])])
        .throttle(throttle)
        .start()
        .await
        .unwrap();
    let mut client = Client::ask(&server, STREAM).await;
    let (_, took) = timed(client.answer()).await;
    assert!(took >= Duration::from_millis(59), "{took:?}");
    assert!(took < Duration::from_millis(500), "{took:?}");
}

#[tokio::test]
async fn no_responses_or_senseless_ones_are_refused() {
    let none = FlakyServer::start(vec![]).await.unwrap_err();
    assert_eq!(none.kind(), ErrorKind::InvalidInput);
    let response = Response { head: false, ..Response::of(vec![Step::text("a")]) };
    let error = FlakyServer::start(vec![response]).await.unwrap_err();
    assert!(error.to_string().contains("without a head"), "{error}");
}

#[tokio::test]
async fn serving_prints_its_address() {
    let mut out = Vec::new();
    let builder = FlakyServer::builder().responses(vec![Response::default()]);
    tokio::select! {
        gone = run(builder, &mut out) => panic!("{gone:?}"),
        () = sleep(Duration::from_millis(50)) => {}
    }
    let line = String::from_utf8(out).unwrap();
    assert!(line.starts_with("listening on http://127.0.0.1:"), "{line}");
    assert!(line.ends_with('\n'));
}

#[tokio::test]
async fn what_is_not_http_is_told_so_and_is_no_request() {
    use tokio::io::AsyncWriteExt;
    let server = serve(r#"[{"send": ["a"]}]"#).await;
    let mut client = Client::connect(&server).await.unwrap();
    client.0.write_all(b"hello\r\n\r\n").await.unwrap();
    let (bytes, _) = client.read_to_end().await;
    assert!(bytes.starts_with(b"HTTP/1.1 400"));
    assert!(server.requests().is_empty());
    assert!(server.arrived(0, LONG).await);
}
