//! Recordings, cut over real sockets: a sample of what `every_byte` does exhaustively without them.

#[path = "support/folders.rs"]
mod folders;
#[path = "support/turns.rs"]
mod turns;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rejoin::client::{Client, TurnRequest};
use rejoin::turn::{Completed, Policy};
use serde_json::{Value, json};
use std::path::Path;
use turns::{completed, responses, run};

/// Cuts per recording and way; the rest is proved without sockets.
const CUTS: usize = 4;
const WAYS: [&str; 4] = ["eof", "cut", "reset", "hang"];

#[test]
fn recordings_come_out_whole_however_they_are_cut() {
    let own = sample(&folders::own("streams"));
    let shared = folders::shared("recordings").map_or_else(Vec::new, |folder| sample(&folder));
    let recordings = [own, shared].concat();
    assert!(!recordings.is_empty());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let cuts = runtime.block_on(async {
        let tasks: Vec<_> =
            recordings.into_iter().map(|(name, body)| tokio::spawn(cut_all(name, body))).collect();
        let mut cuts = 0;
        for task in tasks {
            cuts += task.await.expect("no violation");
        }
        cuts
    });
    println!("{cuts} cuts over sockets, 0 violations");
}

/// Whole recordings whose only finish reason is on their last event: every cut before it shows.
fn sample(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let Some(true) = path.extension().map(|extension| extension == "sse") else { continue };
        let body = std::fs::read(&path).expect("a recording");
        let text = String::from_utf8_lossy(&body);
        let events: Vec<&str> = text.split("data: ").skip(1).collect();
        let finished = |event: &&&str| event.contains("\"finishReason\"");
        let ends = events.iter().filter(finished).count() == 1
            && events.last().is_some_and(|e| finished(&e));
        if ends && !text.contains("\"error\"") && !text.contains("MALFORMED") {
            found.push((path.display().to_string(), body));
        }
    }
    found.sort();
    found
}

async fn cut_all(name: String, body: Vec<u8>) -> usize {
    let whole = play(&body, body.len(), "eof").await;
    let mut cuts = 0;
    for (n, way) in WAYS.iter().enumerate() {
        for k in 0..CUTS {
            // Spread over the body, other places for each way.
            let at = (body.len() * (k * WAYS.len() + n)) / (CUTS * WAYS.len());
            let played = play(&body, at, way).await;
            let what = format!("{name} cut at {at} by {way}");
            assert_eq!(played.text, whole.text, "{what}");
            assert_eq!(played.history, whole.history, "{what}");
            assert_eq!(played.finish, whole.finish, "{what}");
            assert_eq!(calls(&played), calls(&whole), "{what}");
            assert!(played.attempts.len() <= 2, "{what}");
            cuts += 1;
        }
    }
    cuts
}

fn calls(completed: &Completed) -> Vec<(String, Value)> {
    completed
        .tool_calls
        .iter()
        .map(|call| (call.name.clone(), serde_json::from_str(call.args.as_str()).expect("JSON")))
        .collect()
}

async fn play(body: &[u8], at: usize, way: &str) -> Completed {
    let raw = |bytes: &[u8]| json!([{"raw_b64": BASE64.encode(bytes)}]);
    let server =
        responses(json!([{"send": raw(&body[..at]), "end": way}, {"send": raw(body)}])).await;
    let policy = Policy {
        min_continue_tokens: u64::MAX,
        idle_timeout_ms: 300,
        first_byte_timeout_ms: 300,
        ..turns::policy()
    };
    let client = Client::builder().base_url(server.url()).policy(policy).build().expect("a client");
    completed(&run(&client, TurnRequest::prompt("m", "x")).await).clone()
}
