//! Wrong usage: exit 2, one clear line on standard error, and nothing sent.

use super::support::*;

/// Runs a turn that must be refused, with this said about it.
fn refused(more: &[&str], says: &str) {
    let server = Server::start(r#"[{"send": [{"text": "no", "finish": "STOP"}]}]"#);
    let ran = rejoin(&stream(&server.url(), more));
    assert_eq!(ran.code, 2, "{more:?}: {ran:?}");
    assert_eq!(ran.err.lines().count(), 1, "{more:?}: {}", ran.err);
    assert!(ran.err.starts_with("rejoin: ") && ran.err.contains(says), "{more:?}: {}", ran.err);
    assert!(server.requests().is_empty(), "{more:?} was sent");
}

#[test]
fn a_body_that_cannot_be_used() {
    for (n, (body, says)) in [
        ("{", "JSON"),
        ("[]", "object"),
        (r#"{"prompt": "hi"}"#, "contents"),
        (
            r#"{"contents": [{"parts": [{"text": "hi"}]}], "generationConfig": {"candidateCount": 2}}"#,
            "candidateCount",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        refused(&["--request", &file(&format!("refused-{n}.json"), body)], says);
    }
    refused(&["--request", "/nowhere/body.json"], "/nowhere/body.json");
}

#[test]
fn a_policy_that_cannot_be_used() {
    let with = |more: &[&str], says| refused(&[&["--prompt", "hi"], more].concat(), says);
    with(&["--set", "min_continue_tokens=-1"], "min_continue_tokens");
    with(&["--set", "max_attempts=0"], "max_attempts");
    with(&["--set", "tokens=1"], "the fields are");
    with(&["--set", "max_attempts=many"], "number");
    with(&["--policy", "/nowhere/policy.json"], "/nowhere/policy.json");
    with(&["--policy", &file("typo.json", r#"{"max_atempts": 1}"#)], "max_atempts");
    with(&["--policy", &file("half.json", "{")], "policy");
}

#[test]
fn other_arguments_that_cannot_be_used() {
    let ran = rejoin(&["stream", "--model", "a b/c?d", "--prompt", "hi"]);
    assert_eq!((ran.code, ran.err.lines().count()), (2, 1), "{ran:?}");
    assert!(ran.err.contains("a b/c?d") && ran.err.contains("model"), "{}", ran.err);
    refused(&["--prompt", "hi", "--header", "a b=c"], "a b");
    for url in ["nonsense", "ftp://127.0.0.1/", "http://", "127.0.0.1:1"] {
        let ran = rejoin(&["stream", "--base-url", url, "--model", "m", "--prompt", "hi"]);
        assert_eq!(ran.code, 2, "{url}: {ran:?}");
        assert!(ran.err.starts_with("rejoin: ") && ran.err.lines().count() == 1, "{url}: {ran:?}");
        assert_eq!(ran.out, "");
    }
}

#[test]
fn what_is_missing_or_unknown_is_named() {
    for (args, says) in [
        (&["stream", "--model", "m"][..], "--prompt"),
        (&["stream", "--prompt", "hi"], "--model"),
        (&["stream", "--model", "m", "--prompt", "hi", "--events", "xml"], "jsonl"),
        (&["stream", "--model", "m", "--prompt", "hi", "--set", "x"], "NAME=VALUE"),
        (&["serve-flaky"], "--script"),
        (&["serve-flaky", "--script", "/nowhere.json"], "/nowhere.json"),
        (&["sing"], "sing"),
        (&[], "demo"),
    ] {
        let ran = rejoin(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
    }
}

#[test]
fn two_candidates_are_an_event_as_well() {
    let body =
        r#"{"contents": [{"parts": [{"text": "hi"}]}], "generationConfig": {"candidateCount": 2}}"#;
    let path = file("two-candidates.json", body);
    let ran = rejoin(&stream("http://127.0.0.1:1", &["--request", &path]));
    assert_eq!(ran.code, 2);
    let events = ran.events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["type"], "failed");
    assert_eq!(events[0]["error"]["kind"], "invalid_argument");
    assert_eq!(events[0]["attempts"], serde_json::json!([]));
}
