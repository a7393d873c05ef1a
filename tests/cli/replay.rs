//! `stream --record` and `replay`.

use super::support::*;

const BROKEN: &str = r#"[
    {"send": ["The secret is out. An", "d"], "usage": [5, 5, 0], "end": "reset"},
    {"send": ["Nobody knows it.", {"finish": "STOP"}], "usage": [5, 4, 0]}
]"#;

fn recorded(name: &str, more: &[&str]) -> String {
    let path = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    let server = Server::start(BROKEN);
    let url = server.url();
    let mut args = stream(&url, &["--prompt", "hush hush", "--record", &path]);
    args.extend(more);
    assert_eq!(rejoin(&args).code, 0);
    path
}

#[test]
fn a_recorded_turn_plays_again_without_a_server() {
    let path = recorded("turn.jsonl", &[]);
    let text = std::fs::read_to_string(&path).expect("a recording");
    assert!(!text.contains("secret") && !text.contains("hush"), "{text}");
    let ran = rejoin(&["replay", &path, "--events", "jsonl"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, "rejoin: replayed to the same 8 events\n"));
    let kinds: Vec<_> = ran.events().iter().map(|event| event["type"].clone()).collect();
    let expected = ["attempt_started", "text", "text", "dropped", "reset", "attempt_started"];
    assert_eq!(kinds[..6], expected.map(serde_json::Value::from));
}

#[test]
fn with_its_text_it_shows_what_was_shown() {
    let path = recorded("turn-text.jsonl", &["--record-text"]);
    let ran = rejoin(&["replay", &path]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("[dropped: The secret is out. And]"), "{}", ran.out);
    assert!(ran.out.contains("Nobody knows it."), "{}", ran.out);
}

#[test]
fn another_course_and_no_recording_are_told_apart() {
    let path = recorded("turn-changed.jsonl", &["--record-text"]);
    let text = std::fs::read_to_string(&path).expect("a recording");
    let changed = file("turn-other.jsonl", &text.replace("STOP\\\"", "SAFETY\\\""));
    let ran = rejoin(&["replay", &changed]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("event 8 is not the recorded one"), "{}", ran.err);
    let ran = rejoin(&["replay", &file("no-turn.jsonl", "{\"v\":9}\n")]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("version 9"), "{}", ran.err);
    assert_eq!(rejoin(&["replay", "/no/such/file"]).code, 2);
}
