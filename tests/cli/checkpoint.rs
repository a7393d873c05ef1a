//! `checkpoint`: what a drop after a text would commit.

use super::support::command;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::Stdio;

fn checkpoint(text: &str) -> Value {
    let mut command = command(&["checkpoint"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn nothing_safe_is_null_and_counts_nothing() {
    for text in ["", "No end in sight", "Version 1."] {
        let nothing = json!({"committed": null, "committed_utf16": 0, "estimated_tokens": 0});
        assert_eq!(checkpoint(text), nothing, "{text:?}");
    }
}

#[test]
fn whole_sentences_are_committed_in_utf_16_units() {
    let report = checkpoint("It sails 🚢. And th");
    assert_eq!(report["committed"], "It sails 🚢.");
    assert_eq!(report["committed_utf16"], 12);
    assert!(report["estimated_tokens"].as_u64().unwrap() > 0);
    assert_eq!(report.get("next_number"), None);
}

#[test]
fn a_numbered_list_tells_its_next_number() {
    let report = checkpoint("1. One.\n2. Two.\n3. Thr");
    assert_eq!(
        (&report["committed"], &report["next_number"]),
        (&json!("1. One.\n2. Two.\n"), &json!(3))
    );
}

#[test]
fn what_is_no_text_is_refused() {
    let mut command = command(&["checkpoint"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&[0xff, 0xfe]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8(output.stderr).unwrap().contains("UTF-8"));
}
