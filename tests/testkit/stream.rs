//! What a stream looks like on the wire: framing, segments, line ends, compression, pauses.

use std::io::Read as _;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use serde_json::{Value, json};

use crate::client::{Client, LONG, STREAM, UNARY, chunks, serve, timed, whole};

#[tokio::test]
async fn a_stream_is_chunked_one_chunk_a_step() {
    let server =
        serve(r#"[{"send": ["a", {"raw": ""}, {"raw": ": k\n"}, {"finish": "STOP"}]}]"#).await;
    let mut client = Client::ask(&server, STREAM).await;
    let (bytes, ()) = {
        client.send(STREAM).await; // So that the connection ends after the second response.
        let mut all = Vec::new();
        while whole(&all).is_none() {
            all.extend(client.read().await.unwrap());
        }
        (all, ())
    };
    let answer = whole(&bytes).unwrap();
    assert!(answer.head.starts_with("HTTP/1.1 200 OK\r\n"), "{}", answer.head);
    assert!(answer.head.contains("content-type: text/event-stream\r\n"), "{}", answer.head);
    let body = &bytes[answer.head.len() + 4..];
    let chunks: Vec<String> =
        chunks(body).unwrap().into_iter().map(|c| String::from_utf8(c).unwrap()).collect();
    assert_eq!(
        chunks,
        [
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}],\"role\":\"model\"},\"index\":0}],\"modelVersion\":\"m\",\"responseId\":\"r1\"}\r\n\r\n",
            ": k\n",
            "data: {\"candidates\":[{\"finishReason\":\"STOP\",\"index\":0}],\"modelVersion\":\"m\",\"responseId\":\"r1\"}\r\n\r\n",
        ]
    );
}

#[tokio::test]
async fn an_http_error_has_a_length_and_is_json() {
    let server = serve(
        r#"[{"status": 429, "headers": {"Retry-After": "1"}, "send": [{"error": 429}]},
            {"status": 502, "headers": {"Content-Type": "text/html"}, "send": [{"raw": "<p>"}]}]"#,
    )
    .await;
    let mut client = Client::ask(&server, STREAM).await;
    let answer = client.answer().await;
    assert!(answer.head.starts_with("HTTP/1.1 429 Too Many Requests"), "{}", answer.head);
    assert!(answer.head.contains("content-type: application/json"), "{}", answer.head);
    assert!(answer.head.contains("Retry-After: 1"), "{}", answer.head);
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(body["error"]["status"], "RESOURCE_EXHAUSTED");
    assert!(answer.text().starts_with("{\n  \"error\""), "a bare error is pretty JSON");

    client.send(STREAM).await;
    let answer = client.answer().await;
    assert!(answer.head.contains("Content-Type: text/html"), "{}", answer.head);
    assert!(!answer.head.contains("application/json"), "{}", answer.head);
    assert_eq!(answer.text(), "<p>");
}

#[tokio::test]
async fn segments_are_written_apart() {
    // Whether a reader sees them apart is the kernel's choice; chunks show how they were written.
    for (segment, want) in [
        ("3", vec!["abc", "def", "g"]),
        ("\"all\"", vec!["abcdefg"]),
        ("[1, 6]", vec!["a", "bcdef", "g"]),
        ("\"event\"", vec!["abcd", "efg"]),
    ] {
        let server = serve(&format!(
            r#"[{{"send": [{{"raw": "abcd"}}, {{"raw": "efg"}}], "segment": {segment}, "end": "cut"}}]"#
        ))
        .await;
        let (bytes, _) = Client::ask(&server, STREAM).await.read_to_end().await;
        let body = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
        let sent = [&bytes[body..], b"0\r\n\r\n"].concat();
        assert_eq!(chunks(&sent).unwrap(), want.iter().map(|s| s.as_bytes()).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_pause_parts_segments_and_does_not_drift() {
    let send = ["\"x\""; 6].join(", {\"wait_ms\": 40}, ");
    let server = serve(&format!(r#"[{{"send": [{send}], "segment": "all"}}]"#)).await;
    let mut client = Client::ask(&server, STREAM).await;
    let (answer, took) = timed(client.answer()).await;
    assert_eq!(answer.text().matches("data:").count(), 6);
    assert!(took >= Duration::from_millis(199), "{took:?}");
    // Waits that drifted by a timer's rounding each would take longer; a busy machine may, too.
    assert!(took < Duration::from_millis(600), "{took:?}");
}

#[tokio::test]
async fn line_ends_are_as_asked() {
    for (newline, end) in [("crlf", "\r\n\r\n"), ("lf", "\n\n"), ("cr", "\r\r")] {
        let server = serve(&format!(r#"[{{"send": ["a"], "newline": "{newline}"}}]"#)).await;
        let text = Client::ask(&server, STREAM).await.answer().await.text();
        assert!(text.ends_with(&format!("}}{end}")), "{text:?}");
    }
}

#[tokio::test]
async fn gzip_is_gzip_and_each_step_can_be_read_when_it_comes() {
    let server =
        serve(r#"[{"gzip": true, "send": ["first", {"wait_ms": 60000}, "second"]}, {"gzip": true, "send": ["x", "y"]}, {"gzip": true, "lose": 20, "send": ["x", "y"]}]"#)
            .await;
    let mut client = Client::ask(&server, STREAM).await;
    let mut bytes = Vec::new();
    let text = loop {
        bytes.extend(client.read().await.unwrap());
        let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let sent = [&bytes[at + 4..], b"0\r\n\r\n"].concat();
        let Some(chunks) = chunks(&sent).filter(|chunks| !chunks.is_empty()) else { continue };
        let mut text = Vec::new();
        let _ = MultiGzDecoder::new(chunks.concat().as_slice()).read_to_end(&mut text);
        break String::from_utf8(text).unwrap();
    };
    assert!(text.contains("first"), "{text}");
    assert!(String::from_utf8_lossy(&bytes).contains("content-encoding: gzip"));

    let body = Client::ask(&server, STREAM).await.answer().await.body;
    let mut text = String::new();
    MultiGzDecoder::new(body.as_slice()).read_to_string(&mut text).unwrap();
    assert_eq!(text.matches("data:").count(), 2);

    let body = Client::ask(&server, STREAM).await.answer().await.body;
    assert!(MultiGzDecoder::new(body.as_slice()).read_to_string(&mut String::new()).is_err());
}

#[tokio::test]
async fn lost_bytes_are_lost_before_framing() {
    let server = serve(r#"[{"send": [{"raw": "abcdef"}], "lose": 2}]"#).await;
    assert_eq!(Client::ask(&server, STREAM).await.answer().await.text(), "abcd");
}

#[tokio::test]
async fn a_late_head_is_late() {
    let server = serve(r#"[{"head_after_ms": 120, "send": ["a"]}]"#).await;
    let mut client = Client::ask(&server, STREAM).await;
    let (first, took) = timed(client.read()).await;
    assert!(first.unwrap().starts_with(b"HTTP/1.1"));
    assert!(took >= Duration::from_millis(119), "{took:?}");
}

#[tokio::test]
async fn a_late_tail_waits_for_the_next_request() {
    let server = serve(r#"[{"send": ["a", {"wait_next": 60000}, "LATE"]}, {"send": ["b"]}]"#).await;
    let mut old = Client::ask(&server, STREAM).await;
    let mut early = Vec::new();
    while !String::from_utf8_lossy(&early).contains("\"a\"") {
        early.extend(old.read().await.unwrap());
    }
    assert!(Client::ask(&server, STREAM).await.answer().await.text().contains("\"b\""));
    while whole(&early).is_none() {
        early.extend(old.read().await.unwrap());
    }
    assert!(String::from_utf8_lossy(&early).contains("LATE"));
    assert!(server.settled(LONG).await);
}

#[tokio::test]
async fn generate_content_gets_one_object() {
    let server = serve(
        r#"[{"send": ["I ", {"wait_ms": 50}, "see. ", {"call": "f", "args": {"a": 1}, "id": "c1"}, {"finish": "STOP"}],
             "usage": [5, 7, null]},
            {"send": ["I ", {"error": 503, "form": "data"}]},
            {"status": 503, "send": [{"error": 503, "form": "array"}]},
            {"send": ["I "], "end": "reset"}]"#,
    )
    .await;
    let mut client = Client::ask(&server, UNARY).await;
    let (answer, took) = timed(client.answer()).await;
    assert!(took >= Duration::from_millis(49), "waits before the object apply: {took:?}");
    assert!(answer.head.contains("content-type: application/json"), "{}", answer.head);
    assert!(answer.head.contains("content-length: "), "{}", answer.head);
    assert_eq!(
        serde_json::from_slice::<Value>(&answer.body).unwrap(),
        json!({
            "candidates": [{
                "content": {"role": "model", "parts": [
                    {"text": "I "}, {"text": "see. "},
                    {"functionCall": {"name": "f", "args": {"a": 1}, "id": "c1"}}
                ]},
                "finishReason": "STOP", "index": 0
            }],
            "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 7, "totalTokenCount": 12},
            "modelVersion": "m", "responseId": "r1"
        })
    );
    for status in ["200 OK", "503 Service Unavailable"] {
        client.send(UNARY).await;
        let answer = client.answer().await;
        assert!(answer.head.starts_with(&format!("HTTP/1.1 {status}")), "{}", answer.head);
        assert_eq!(serde_json::from_slice::<Value>(&answer.body).unwrap()["error"]["code"], 503);
    }
    client.send(UNARY).await;
    let (bytes, _) = client.read_to_end().await;
    assert!(whole(&bytes).is_none(), "a reset must leave the object unfinished");
}

#[tokio::test]
async fn an_image_is_filled_to_size() {
    let server = serve(
        r#"[{"send": [{"event": [{"part": {"inlineData": {"mimeType": "image/png", "fill": 1000}}}]}]}]"#,
    )
    .await;
    let text = Client::ask(&server, STREAM).await.answer().await.text();
    let event: Value = serde_json::from_str(text.strip_prefix("data: ").unwrap()).unwrap();
    let part = &event["candidates"][0]["content"]["parts"][0]["inlineData"];
    assert_eq!(part["mimeType"], "image/png");
    assert_eq!(part["data"].as_str().unwrap().len(), 1000);
}
