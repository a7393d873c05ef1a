//! What a server may echo, and what the app's headers may not be.

use rejoin::client::{Client, HeaderProvider, ProviderError, TurnRequest};
use rejoin::testkit::{FlakyServer, Script};
use rejoin::turn::EventKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Gives a new token each time.
#[derive(Default)]
struct Tokens(AtomicU32);

impl HeaderProvider for Tokens {
    fn headers(&self, attempt: u32) -> Result<Vec<(String, String)>, ProviderError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(vec![
            ("authorization".to_owned(), format!("Bearer token-of-attempt-{attempt}")),
            ("x-server-timeout".to_owned(), "40".to_owned()),
        ])
    }
}

fn script(server: &str) -> Script {
    let text = format!(
        r#"{{"name": "t", "about": "t", "request": {{"prompt": "hi"}}, "server": {server},
            "expect": {{"end": "failed"}}}}"#
    );
    serde_json::from_str(&text).expect("a script")
}

#[tokio::test]
async fn tokens_of_the_provider_and_keys_are_taken_out_of_errors() {
    let script = script(
        r#"[{"status": 503, "send": [{"error": 503}]},
            {"status": 400, "send": [{"error": 400, "message":
                "No good: Bearer token-of-attempt-2, token-of-attempt-2, the-key-of-all, 40."}]}]"#,
    );
    let server = FlakyServer::start(&script).await.expect("a server");
    let provider = Arc::new(Tokens::default());
    let client = Client::builder()
        .base_url(server.url())
        .api_key("the-key-of-all")
        .header("content-type", "text/plain")
        .header_provider(provider.clone())
        .build()
        .expect("a client");
    let turn = client.start(TurnRequest::prompt("m", "hi")).expect("a turn");
    let last = turn.last_event().await.expect("an end");
    let EventKind::Failed(failed) = &last.kind else { panic!("{last:?}") };
    let details = failed.error.details.as_deref().unwrap_or_default();
    assert!(details.contains("No good: [secret], [secret], [secret], 40."), "{details}");
    for event in turn.events_so_far(0, usize::MAX).events {
        let text = serde_json::to_string(&event).expect("JSON");
        assert!(!text.contains("token-of") && !text.contains("the-key"), "{text}");
    }
    assert_eq!(provider.0.load(Ordering::Relaxed), 2, "asked before each attempt");
    let requests = server.requests();
    let types = requests[0].headers.iter().filter(|(name, _)| name == "content-type");
    assert_eq!(types.map(|(_, value)| value.as_str()).collect::<Vec<_>>(), ["application/json"]);
}

#[test]
fn headers_that_frame_the_body_are_not_the_apps() {
    for (name, value) in
        [("content-length", "3"), ("transfer-encoding", "chunked"), ("a", "b\r\nc: d")]
    {
        assert!(Client::builder().header(name, value).build().is_err(), "{name}");
    }
}
