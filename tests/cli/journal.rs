//! `--journal` and `resume`: the process is killed, and the turn goes on.

use super::support::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn folder(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("journal-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    path.to_str().expect("UTF-8").to_owned()
}

fn begin<'a>(url: &'a str, folder: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = stream(url, &["--prompt", "hi", "--turn-id", "t-1", "--journal", folder]);
    args.extend(more);
    args
}

fn resume<'a>(url: &'a str, folder: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["resume", "--base-url", url, "--turn-id", "t-1", "--journal", folder];
    args.extend(["--events", "jsonl"]);
    args.extend(more);
    args
}

/// Everything in the folder's files.
fn bytes(folder: &str) -> Vec<u8> {
    // What is being made now may be gone, or renamed, a moment later.
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.flat_map(|entry| std::fs::read(entry.path()).unwrap_or_default()).collect()
}

fn holds(folder: &str, text: &str) -> bool {
    bytes(folder).windows(text.len()).any(|window| window == text.as_bytes())
}

/// An event without anything to show, half a second after those before it: it is written in a commit
/// of its own, so that where its count is on the disk, the commit before is whole.
const LATER: &str =
    r#"{"wait_ms": 500}, {"json": {"usageMetadata": {"candidatesTokenCount": 77}}}"#;

/// Waits until all that came before [`LATER`] is in the journal.
fn until_kept(folder: &str) {
    let began = Instant::now();
    while !holds(folder, "\"candidatesTokenCount\":77") {
        assert!(began.elapsed() < Duration::from_secs(10), "it never came to the disk");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What a screen shows after these events.
fn screen(events: &[Value]) -> String {
    let mut text = String::new();
    for event in events {
        match event["type"].as_str() {
            Some("text") => text.push_str(event["text"].as_str().unwrap()),
            Some("reset") => {
                let keep = event["keep_text_bytes"].as_u64().unwrap();
                text.truncate(usize::try_from(keep).unwrap());
            }
            _ => {}
        }
    }
    text
}

/// The log of a resumed turn is a log like any other.
fn is_sound(ran: &Ran) {
    let events = ran.events();
    for (n, event) in events.iter().enumerate() {
        assert_eq!((&event["seq"], &event["turn"]), (&(n + 1).into(), &"t-1".into()), "{ran:?}");
    }
    let last = ran.last_event();
    assert_eq!(screen(&events), last["text"].as_str().unwrap_or_default(), "{ran:?}");
    let attempts = last["attempts"].as_array().unwrap();
    let numbers: Vec<_> = attempts.iter().map(|a| a["attempt"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=attempts.len() as u64).collect::<Vec<_>>());
    assert!(ran.err.is_empty(), "{}", ran.err);
}

/// Twelve pieces, 15 ms apart, with a call among them.
fn slow_answer() -> (Value, &'static str) {
    let mut send = Vec::new();
    for n in 0..6 {
        send.push(json!(format!("Piece {n}. ")));
        send.push(json!({"wait_ms": 15}));
    }
    send.push(json!({"call": "pay", "args": {"n": 1}}));
    for n in 6..12 {
        send.push(json!({"wait_ms": 15}));
        send.push(json!(format!("Piece {n}. ")));
    }
    send.push(json!({"finish": "STOP"}));
    let text = "Piece 0. Piece 1. Piece 2. Piece 3. Piece 4. Piece 5. Piece 6. Piece 7. Piece 8. \
                Piece 9. Piece 10. Piece 11. ";
    (json!([{"send": send, "usage": [5, 30, 0]}]), text)
}

#[test]
fn killed_at_any_event_a_turn_ends_with_the_unbroken_answer_and_every_bill_is_named() {
    let (answer, text) = slow_answer();
    let whole = rejoin(&stream(
        &Server::start(&answer.to_string()).url(),
        &["--prompt", "hi", "--turn-id", "t-1"],
    ));
    let (all, key) =
        (whole.events().len(), whole.last_event()["tool_calls"][0]["effect_key"].clone());
    let (mut kills, mut again) = (0, 0);
    for count in 0..=all {
        let server = Server::start(&answer.to_string());
        let (url, folder) = (server.url(), folder("any"));
        let mut child = Running::start(&begin(&url, &folder, &[]));
        let seen = child.events(count);
        child.kill();
        if count == 0 && !Path::new(&folder).join("turns.redb").exists() {
            continue;
        }
        let ran = rejoin(&resume(&url, &folder, &[]));
        if count == 0 && ran.code == 2 {
            assert!(ran.err.contains("no turn") && server.requests().is_empty(), "{ran:?}");
            continue;
        }
        kills += 1;
        assert_eq!(ran.code, 0, "killed after {count}: {ran:?}");
        is_sound(&ran);
        let last = ran.last_event();
        assert_eq!(last["text"], text, "killed after {count}");
        assert_eq!(last["tool_calls"].as_array().unwrap().len(), 1);
        assert_eq!(last["tool_calls"][0]["effect_key"], key);
        let attempts = last["attempts"].as_array().unwrap();
        if let [dead, _] = &attempts[..] {
            again += 1;
            assert_eq!(
                (&dead["cause"], &dead["outcome"]),
                (&json!("suspended"), &json!("dropped"))
            );
            let billing = dead["usage"]["billing"].as_str().unwrap();
            assert!(matches!(billing, "lower_bound" | "unknown"), "{billing}");
        }
        let requests = server.requests().len();
        assert!(requests <= attempts.len() && attempts.len() <= 2, "{requests} requests: {last}");
        if seen.last().is_some_and(|event| event["type"] == "completed") {
            assert_eq!((requests, attempts.len()), (1, 1), "the end was known");
            assert_eq!(last["history"], seen.last().unwrap()["history"]);
        }
    }
    println!("stream --journal: killed at {kills} event counts, {again} asked again, 0 violations");
    assert!(kills >= all && again >= all - 4, "{kills} kills, {again} asked again");
}

#[test]
fn what_was_there_is_shown_at_once_and_continued() {
    let first = format!(r#""The first sentence. ", "The second sentence. And a th", {LATER}"#);
    let server = Server::start(&format!(
        r#"[
        {{"send": [{first}], "end": "hang", "usage": [5, 9, 0]}},
        {{"send": ["And a third one.", {{"finish": "STOP"}}], "usage": [20, 5, 0]}}
    ]"#
    ));
    let (url, folder) = (server.url(), folder("continued"));
    let more = ["--set", "min_continue_tokens=1"];
    let child = Running::start(&begin(&url, &folder, &more));
    until_kept(&folder);
    child.kill();
    let ran = rejoin(&resume(&url, &folder, &[]));
    is_sound(&ran);
    let events = ran.events();
    let types: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["text", "dropped", "reset", "attempt_started", "text", "completed"]);
    assert_eq!(events[0]["text"], "The first sentence. The second sentence. And a th");
    assert_eq!((&events[0]["attempt"], &events[3]["attempt"]), (&json!(1), &json!(2)));
    assert_eq!(events[1]["decision"]["strategy"], "continue");
    assert_eq!(events[2]["reason"], "suspended");
    assert_eq!(
        ran.last_event()["text"],
        "The first sentence. The second sentence. And a third one."
    );
    let usage = &ran.last_event()["attempts"][0]["usage"];
    assert_eq!((&usage["billing"], &usage["prompt_tokens"]), (&json!("lower_bound"), &json!(5)));
    // The later count, if its own commit came to its end before the kill.
    assert!(matches!(usage["candidates_tokens"].as_u64(), Some(9 | 77)), "{usage}");
}

#[test]
fn attempts_and_drops_of_before_count() {
    let hangs = format!(r#"[{{"send": ["Hello wor", {LATER}], "end": "hang"}}]"#);
    let server = Server::start(&hangs);
    let (url, folder) = (server.url(), folder("counted"));
    let args = begin(&url, &folder, &["--set", "backoff_base_ms=1", "--set", "max_attempts=3"]);
    let child = Running::start(&args);
    until_kept(&folder);
    child.kill();
    let again = resume(&url, &folder, &[]);
    let mut child = Running::start(&again);
    assert_eq!(child.until("attempt_started")["strategy"], "restart");
    child.kill();
    // The second drop: in one piece.
    let mut child = Running::start(&again);
    let started = child.until("attempt_started");
    assert_eq!((&started["strategy"], &started["attempt"]), (&json!("non_streaming"), &json!(3)));
    child.kill();
    let ran = rejoin(&again);
    assert_eq!(ran.code, 3);
    let last = ran.last_event();
    assert_eq!(last["error"]["kind"], "attempts_used_up");
    assert_eq!(last["attempts"].as_array().unwrap().len(), 3);
    assert_eq!(last["partial_text"], "Hello wor");
    // Over now: told again, and nothing is sent. Who was killed at `attempt_started` may not have sent.
    let sent = server.requests().len();
    assert!((1..=3).contains(&sent), "{sent}");
    let told = rejoin(&again);
    assert_eq!((told.code, told.last_event()["attempts"].clone()), (3, last["attempts"].clone()));
    assert_eq!(server.requests().len(), sent);
}

#[test]
fn no_key_is_on_the_disk_and_without_text_nothing_of_the_talk_either() {
    let server = Server::start(
        r#"[{"send": ["Once upon"], "end": "hang"}, {"send": ["Twice.", {"finish": "STOP"}]}]"#,
    );
    let (url, folder) = (server.url(), folder("secret"));
    let header = format!("x-token={KEY}");
    let args = stream(
        &url,
        &[
            "--prompt",
            "a private matter",
            "--turn-id",
            "t-1",
            "--journal",
            &folder,
            "--journal-without-text",
            "--header",
            &header,
        ],
    );
    let mut child = Running::start(&args);
    child.until("text");
    child.kill();
    assert!(holds(&folder, "t-1"));
    for text in [KEY, "private matter", "Once"] {
        assert!(!holds(&folder, text), "{text:?} is on the disk");
    }
    let without = rejoin(&resume(&url, &folder, &[]));
    assert_eq!(without.code, 2);
    assert!(without.err.contains("pass the same request again"), "{}", without.err);
    let other = rejoin(&resume(&url, &folder, &["--prompt", "another matter"]));
    assert_eq!(other.code, 2);
    assert!(other.err.contains("not the one"), "{}", other.err);
    let ran = rejoin(&resume(&url, &folder, &["--prompt", "a private matter"]));
    is_sound(&ran);
    let first = &ran.events()[0];
    assert_eq!(
        (&first["type"], &first["decision"]["strategy"]),
        (&json!("dropped"), &json!("restart"))
    );
    assert!(first["detail"].as_str().unwrap().contains("begins again"), "{first}");
    assert!(!holds(&folder, "Twice") && !holds(&folder, "private matter"));
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_journal_that_cannot_be_used_is_wrong_usage_or_a_clean_start() {
    let server = Server::start(
        r#"[{"send": ["Hello"], "end": "hang"}, {"send": ["Hello there.", {"finish": "STOP"}]}]"#,
    );
    let (url, folder) = (server.url(), folder("unusable"));
    let none = rejoin(&resume(&url, &folder, &[]));
    assert_eq!(none.code, 2);
    assert!(none.err.contains("there is no journal"), "{}", none.err);
    let mut child = Running::start(&begin(&url, &folder, &[]));
    child.until("text");
    let locked = rejoin(&begin(&url, &folder, &[]));
    assert_eq!(locked.code, 2, "{locked:?}");
    assert!(locked.err.contains("in use"), "{}", locked.err);
    child.kill();
    let unknown = ["resume", "--base-url", &url, "--journal", &folder, "--turn-id", "t-2"];
    let unknown = rejoin(&unknown);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("no turn \"t-2\""), "{}", unknown.err);
    assert_eq!(server.requests().len(), 1, "nothing was sent");

    let file = Path::new(&folder).join("turns.redb");
    let good = std::fs::read(&file).unwrap();
    let other = another_version(&file.with_extension("other"));
    for bad in [&good[..good.len() / 2], &good[..100], b"", b"not a journal at all", &other] {
        std::fs::write(&file, bad).unwrap();
        let ran = rejoin(&resume(&url, &folder, &[]));
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("could not be read") && ran.err.contains("aside"), "{}", ran.err);
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
    }
    let ran = rejoin(&begin(&url, &folder, &[]));
    assert_eq!((ran.code, ran.last_event()["text"].as_str()), (0, Some("Hello there.")));
}

/// The bytes of a journal that a later version wrote.
fn another_version(path: &Path) -> Vec<u8> {
    let db = redb::Database::create(path).unwrap();
    let write = db.begin_write().unwrap();
    let meta = redb::TableDefinition::<&str, &[u8]>::new("meta");
    write.open_table(meta).unwrap().insert("version", &2_u32.to_le_bytes()[..]).unwrap();
    write.commit().unwrap();
    drop(db);
    let bytes = std::fs::read(path).unwrap();
    std::fs::remove_file(path).unwrap();
    bytes
}

/// The turn goes on without its journal, and says so.
#[test]
fn on_a_full_disk_the_turn_goes_on() {
    let many: Vec<_> = (0..30)
        .flat_map(|n| [json!("x".repeat(100_000) + &format!(" {n}. ")), json!({"wait_ms": 30})])
        .chain([json!({"finish": "STOP"})])
        .collect();
    let server = Server::start(&json!([{ "send": many }]).to_string());
    let (url, folder) = (server.url(), folder("full"));
    let exe = env!("CARGO_BIN_EXE_rejoin");
    // A limit on a file's size is a full disk that needs no root.
    let script = "trap '' XFSZ; ulimit -f 4000; exec \"$0\" \"$@\"";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, exe]).args(begin(&url, &folder, &[]));
    let ran = ran(command.stdin(std::process::Stdio::null()));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("no room") && ran.err.contains("goes on"), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "said once: {}", ran.err);
    assert_eq!(screen(&ran.events()), ran.last_event()["text"].as_str().unwrap());
}
