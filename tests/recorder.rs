//! The flight recorder: a recorded turn plays again to the same events, and gives nobody away.

#[path = "support/folders.rs"]
mod folders;
#[path = "support/play.rs"]
mod play;
#[path = "support/turns.rs"]
mod turns;

use play::play;
use rejoin::client::{Client, TurnRequest};
use rejoin::recorder::{Keep, Recording, RecordingError, replay};
use rejoin::testkit::Script;
use rejoin::turn::{Budget, Policy};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use turns::{completed, responses};

/// Scripts played at once: they mostly wait.
const AT_ONCE: usize = 6;

fn scripts() -> Vec<PathBuf> {
    let folders = [Some(folders::own("faults")), folders::shared("faults")];
    let mut paths: Vec<_> = folders
        .into_iter()
        .flatten()
        .flat_map(|folder| std::fs::read_dir(folder).expect("a folder"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter(|path| path.file_name().is_some_and(|name| name != "boundaries.json"))
        .collect();
    paths.sort();
    paths
}

/// Every fault script, with words replaced: the rules must come to the same decisions.
#[test]
fn redacted_turns_replay_to_the_same_events() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let differing = runtime.block_on(async {
        let places = Arc::new(tokio::sync::Semaphore::new(AT_ONCE));
        let tasks: Vec<_> = scripts()
            .into_iter()
            .map(|path| {
                let places = places.clone();
                tokio::spawn(async move {
                    let _place = places.acquire().await.expect("open");
                    let script = Script::from_file(&path).expect("a script");
                    let played = play(&script, Keep::Shape).await.expect("a turn");
                    let recording = Recording::parse(&played.recording).expect("a recording");
                    assert!(recording.header.redacted);
                    let differs = replay(&recording).differs_at;
                    differs.map(|no| format!("{}: event {no}", script.name))
                })
            })
            .collect();
        let mut differing = Vec::new();
        for task in tasks {
            differing.extend(task.await.expect("no panic"));
        }
        differing
    });
    let all = scripts().len();
    println!("{} of {all} redacted turns replay to the same events", all - differing.len());
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

const KEY: &str = "AIza-the-key-of-all";

async fn recorded(keep: Keep) -> String {
    let server = responses(json!([
        {"send": ["The patient is Markus. He is ill since Tue", "sday. And th"], "end": "reset"},
        {"send": [{"call": "prescribe", "args": {"name": "Markus", "dose": "Aspirin 73901"}},
            "Zoë 田中 \\u00e9t\\u00e9 \u{1f600}. ", {"finish": "STOP"}]},
    ]))
    .await;
    let client = Client::builder()
        .base_url(server.url())
        .api_key(KEY)
        .header("x-user", "header-of-markus")
        .policy(turns::policy())
        .build()
        .expect("a client");
    let request = TurnRequest::prompt("m", "What ails Markus?").turn_id("markus-7").record(keep);
    let turn = client.start(request).expect("a turn");
    assert_eq!(turn.recording(), None, "not before the end");
    let last = turn.last_event().await.expect("an end");
    assert_eq!(completed(&last).attempts.len(), 2);
    turn.recording().expect("a recording").to_string()
}

#[tokio::test]
async fn a_redacted_recording_holds_no_word_of_anybody() {
    let text = recorded(Keep::Shape).await;
    for word in
        ["arkus", "patient", "ill since", "sday", "Aspirin", "73901", "Zoë 田中", "What ails"]
    {
        assert!(!text.contains(word), "{word} in {text}");
    }
    for secret in [KEY, "header-of", "x-user", "127.0.0.1"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    // What the rules read is there: names of the protocol, of the tool and of its arguments.
    for kept in ["finishReason", "STOP", "prescribe", "dose", "role", "model"] {
        assert!(text.contains(kept), "no {kept} in {text}");
    }
    let recording = Recording::parse(&text).expect("a recording");
    assert_eq!(replay(&recording).differs_at, None);
    // Two recordings of one turn share no key, so that words cannot be looked up.
    assert_ne!(recorded(Keep::Shape).await, text);
}

#[tokio::test]
async fn a_recording_with_text_plays_the_very_events() {
    let text = recorded(Keep::Text).await;
    let replay = replay(&Recording::parse(&text).expect("a recording"));
    assert_eq!(replay.differs_at, None);
    let last = replay.events.last().expect("an end");
    assert!(completed(last).text.contains("Zoë 田中"), "{last:?}");
    assert!(!text.contains(KEY) && !text.contains("header-of"), "{text}");
}

/// Whatever is kept of texts, the key of a turn that is answered so is not, and it plays again.
async fn hides_the_key(server: serde_json::Value) {
    for keep in [Keep::Shape, Keep::Text] {
        let server = responses(server.clone()).await;
        let builder = Client::builder().base_url(server.url()).api_key(KEY);
        let client = builder.policy(turns::policy()).build().expect("a client");
        let turn = client.start(TurnRequest::prompt("m", "x").record(keep)).expect("a turn");
        turn.last_event().await.expect("an end");
        let text = turn.recording().expect("a recording");
        assert!(!text.contains("the-key"), "{text}");
        assert_eq!(replay(&Recording::parse(&text).expect("one")).differs_at, None);
    }
}

#[tokio::test]
async fn a_key_that_the_server_echoes_is_in_no_recording() {
    let error = json!({"error": 400, "message": format!("bad key {KEY}"), "status": KEY});
    hides_the_key(json!([{"status": 400, "send": [error]}])).await;
}

#[tokio::test]
async fn a_key_in_an_events_own_names_is_hidden_there_too() {
    let send = json!([{"call": KEY, "args": {}}, {"text": "Bye.", "finish": KEY}]);
    hides_the_key(json!([{"send": send}])).await;
}

#[tokio::test]
async fn money_survives_the_way_through_a_text() {
    for tokens in 1..40 {
        let usage = [tokens * 7 + 3, tokens * 13 + 1, tokens];
        let server = responses(json!([
            {"send": ["Half"], "usage": usage, "end": "reset"},
            {"send": ["Whole.", {"finish": "STOP"}], "usage": usage}
        ]))
        .await;
        let policy = Policy {
            input_price: Some(0.30),
            output_price: Some(2.50),
            max_spend: Some(0.7),
            ..turns::policy()
        };
        let builder = Client::builder().base_url(server.url()).policy(policy);
        let client = builder.budget(Budget { money: Some(0.9), ..Budget::default() }).build();
        let request = TurnRequest::prompt("m", "x").record(Keep::Shape);
        let turn = client.expect("a client").start(request).expect("a turn");
        turn.last_event().await.expect("an end");
        let recording = Recording::parse(&turn.recording().expect("one")).expect("a recording");
        assert_eq!(replay(&recording).differs_at, None, "{usage:?}");
    }
}

#[tokio::test]
async fn a_changed_recording_is_told_from_the_recorded_turn() {
    let text = recorded(Keep::Text).await;
    let changed = text.replace("And th", "And then it ended. So th");
    let differs = replay(&Recording::parse(&changed).expect("still one")).differs_at;
    assert!(differs.is_some());
}

#[tokio::test]
async fn what_is_no_whole_recording_is_a_typed_error() {
    let text = recorded(Keep::Text).await;
    let lines: Vec<&str> = text.lines().collect();
    let cut = lines[..lines.len() - 1].join("\n");
    assert_eq!(Recording::parse(&cut), Err(RecordingError::Truncated));
    let half = &text[..text.len() - 9];
    assert!(matches!(Recording::parse(half), Err(RecordingError::Line { .. })));
    let newer = text.replacen("\"v\":1", "\"v\":2", 1);
    assert_eq!(Recording::parse(&newer), Err(RecordingError::Version(2)));
    for nothing in ["", "{}", "[]", "nonsense", "\u{0}", &lines[1..].join("\n")] {
        assert_eq!(Recording::parse(nothing), Err(RecordingError::NoHeader), "{nothing:?}");
    }
}
