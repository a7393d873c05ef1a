//! Each way a response can end, seen from the other side of the socket.

use std::time::Duration;

use crate::client::{Client, End, LONG, STREAM, UNARY, serve, timed, whole};

#[tokio::test]
async fn eof_completes_the_framing_and_keeps_the_connection() {
    let server = serve(r#"[{"send": ["one"]}, {"send": ["two"]}]"#).await;
    let mut client = Client::ask(&server, STREAM).await;
    assert!(client.answer().await.text().contains("one"));
    client.send(STREAM).await;
    assert!(client.answer().await.text().contains(r#""responseId":"r2""#));
    client.send(UNARY).await;
    assert!(client.answer().await.text().contains("two"), "the last response is played again");

    assert!(server.settled(LONG).await);
    let requests = server.requests();
    assert_eq!(requests.iter().map(|r| r.connection).collect::<Vec<_>>(), [1, 1, 1]);
    assert!(requests.iter().all(|r| r.complete && !r.client_closed));
    assert!(requests.windows(2).all(|pair| pair[0].at <= pair[1].at));
    assert_eq!(requests[0].method, "POST");
    assert_eq!(requests[0].path, "/v1beta/models/m:streamGenerateContent");
    assert_eq!((requests[0].query.as_str(), requests[2].query.as_str()), ("alt=sse", ""));
    assert_eq!(requests[0].header("x-goog-api-key"), Some("k"));
    assert_eq!(requests[0].json(), Some(serde_json::json!({"contents": []})));
}

#[tokio::test]
async fn eof_with_close_framing_is_a_fin() {
    let server = serve(r#"[{"send": ["one"], "framing": "close"}]"#).await;
    let (bytes, end) = Client::ask(&server, STREAM).await.read_to_end().await;
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.ends_with("\"responseId\":\"r1\"}\r\n\r\n"), "{text}");
    assert!(!text.contains("chunked") && !text.contains("content-length"), "{text}");
    assert_eq!(end, End::Fin);
    assert!(server.settled(LONG).await);
    assert!(server.requests()[0].complete);
}

#[tokio::test]
async fn cut_is_a_fin_without_the_end_of_the_framing() {
    for framing in ["chunked", "length"] {
        let server =
            serve(&format!(r#"[{{"send": ["one"], "end": "cut", "framing": "{framing}"}}]"#)).await;
        let (bytes, end) = Client::ask(&server, STREAM).await.read_to_end().await;
        assert!(whole(&bytes).is_none(), "{framing}");
        assert_eq!(end, End::Fin);
        assert!(server.settled(LONG).await);
        assert!(!server.requests()[0].complete && !server.requests()[0].client_closed);
    }
}

#[tokio::test]
async fn reset_is_an_rst_after_all_bytes_were_read() {
    let server = serve(r#"[{"send": ["one"], "end": "reset"}]"#).await;
    let ((bytes, end), took) = timed(Client::ask(&server, STREAM).await.read_to_end()).await;
    assert!(String::from_utf8_lossy(&bytes).contains("one"));
    assert_eq!(end, End::Reset);
    assert!(took >= Duration::from_millis(30), "{took:?}");
}

#[tokio::test]
async fn hang_is_silent_until_the_client_closes() {
    let server = serve(r#"[{"send": ["one"], "end": "hang"}]"#).await;
    let mut client = Client::ask(&server, STREAM).await;
    while !String::from_utf8_lossy(&client.read().await.unwrap()).contains("one") {}
    assert!(!server.settled(Duration::from_millis(100)).await, "it must still hang");
    drop(client);
    assert!(server.settled(LONG).await);
    assert!(server.requests()[0].client_closed);
}

#[tokio::test]
async fn hang_ends_as_a_cut_after_its_time() {
    let server = serve(r#"[{"send": ["one"], "end": "hang", "hang_ms": 120}]"#).await;
    let ((bytes, end), took) = timed(Client::ask(&server, STREAM).await.read_to_end()).await;
    assert!(whole(&bytes).is_none());
    assert_eq!(end, End::Fin);
    assert!(took >= Duration::from_millis(120), "{took:?}");
    assert!(!server.requests()[0].client_closed);
}

#[tokio::test]
async fn without_a_head_not_a_byte_is_sent() {
    for (end, seen) in [("eof", End::Fin), ("cut", End::Fin), ("reset", End::Reset)] {
        let server =
            serve(&format!(r#"[{{"head": false, "end": "{end}", "send": [{{"wait_ms": 20}}]}}]"#))
                .await;
        assert_eq!(Client::ask(&server, STREAM).await.read_to_end().await, (vec![], seen));
    }
}

#[tokio::test]
async fn a_client_that_leaves_during_a_wait_is_noticed() {
    let server = serve(r#"[{"send": ["one", {"wait_ms": 60000}, "two"]}]"#).await;
    let mut client = Client::ask(&server, STREAM).await;
    client.read().await.unwrap();
    drop(client);
    assert!(server.settled(LONG).await);
    assert!(server.requests()[0].client_closed && !server.requests()[0].complete);
}

#[tokio::test]
async fn a_dropped_server_closes_its_sockets_and_frees_its_port() {
    let server = serve(r#"[{"send": ["one"], "end": "hang"}]"#).await;
    let address = server.address();
    let mut client = Client::ask(&server, STREAM).await;
    client.read().await.unwrap();
    drop(server);
    client.read_to_end().await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}
