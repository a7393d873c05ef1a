//! The journal under a client, over real sockets: how often it writes, and what it keeps.

use super::*;
use crate::client::{BuildError, Client, RestoreError, TurnHandle, TurnRequest};
use crate::testkit::{FlakyServer, Script};
use crate::turn::{Event, EventKind};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Instant;

fn folder(name: &str) -> PathBuf {
    let id = format!("rejoin-journal-{name}-{}", std::process::id());
    let path = std::env::temp_dir().join(id);
    let _ = std::fs::remove_dir_all(&path);
    path
}

async fn server(responses: Value) -> FlakyServer {
    let script = json!({
        "name": "inline", "about": "inline", "request": {"prompt": "x"}, "server": responses,
        "expect": {},
    });
    FlakyServer::start(&Script::parse(&script.to_string()).unwrap()).await.unwrap()
}

fn client(server: &FlakyServer, journal: &Journal) -> Client {
    Client::builder().base_url(server.url()).journal(journal.clone()).build().unwrap()
}

fn request(id: &str) -> TurnRequest {
    TurnRequest::prompt("m", "hi").turn_id(id)
}

async fn until_text(turn: &TurnHandle) {
    let mut cursor = 0;
    loop {
        let batch = turn.events_after(cursor, 9).await;
        let is_text = |event: &Event| matches!(event.kind, EventKind::Text { .. });
        if batch.events.iter().any(is_text) {
            return;
        }
        assert!(!batch.finished, "{batch:?}");
        cursor = batch.next_cursor;
    }
}

#[tokio::test]
async fn a_stream_costs_a_few_writes_a_second() {
    let send: Vec<_> = (0..600)
        .flat_map(|n| [json!(format!("word{n} ")), json!({"wait_ms": 5})])
        .chain([json!({"finish": "STOP"})])
        .collect();
    let server = server(json!([{ "send": send }])).await;
    let folder = folder("rate");
    let journal = Journal::open(JournalConfig::new(&folder)).unwrap();
    let began = Instant::now();
    let turn = client(&server, &journal).start(request("t")).unwrap();
    turn.last_event().await.unwrap();
    let ms = began.elapsed().as_millis();
    let commits = journal.inner.books.commits.load(Ordering::Relaxed) as u128;
    println!("journal: 600 events in {ms} ms, {commits} writes");
    // One before the request leaves, one at the end.
    assert!(commits <= ms / 250 + 2, "{commits} writes in {ms} ms");
    assert!(commits >= ms / 1000, "{commits} writes in {ms} ms");
    assert_eq!(turn.journal_error(), None);
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn turns_are_listed_restored_forgotten_and_expire() {
    let server = server(json!([
        {"send": ["Hello there.", {"finish": "STOP"}]},
        {"send": ["Hello there.", {"finish": "STOP"}]},
        {"send": ["Hello"], "end": "hang"}
    ]))
    .await;
    let folder = folder("expire");
    let open = |age: u64, bytes: u64| {
        let config = JournalConfig::new(&folder).max_age(Duration::from_millis(age));
        Journal::open(config.max_bytes(bytes)).unwrap()
    };
    let journal = open(60_000, 1 << 20);
    let client = client(&server, &journal);
    for id in ["a", "b"] {
        client.start(request(id)).unwrap().last_event().await.unwrap();
    }
    let running = client.start(request("c")).unwrap();
    until_text(&running).await;
    running.will_suspend().await;
    assert_eq!(running.journal_error(), None);
    let listed = journal.turns().unwrap();
    let ids: Vec<_> = listed.iter().map(|turn| (turn.turn_id.as_str(), turn.over)).collect();
    assert_eq!(ids, [("c", false), ("b", true), ("a", true)]);
    assert!(listed.iter().all(|turn| turn.model == "m" && turn.bytes > 100));

    // Over: told again, without a request.
    let again = client.restore("a").unwrap();
    let EventKind::Completed(done) = again.last_event().await.unwrap().kind else { panic!() };
    assert_eq!((done.text.as_str(), server.requests().len()), ("Hello there.", 3));
    assert_eq!(client.restore("c").unwrap_err(), RestoreError::Running("c".to_owned()));
    let twice = client.start(request("c")).unwrap_err();
    assert_eq!(twice, BuildError::TurnRuns("c".to_owned()));
    let unknown = client.restore("z").unwrap_err();
    assert_eq!(unknown, RestoreError::UnknownTurn("z".to_owned()));
    journal.forget("a").unwrap();
    assert_eq!(client.restore("a").unwrap_err(), RestoreError::UnknownTurn("a".to_owned()));
    let bare = Client::builder().build().unwrap();
    assert_eq!(bare.restore("b").unwrap_err(), RestoreError::NoJournal);

    drop((running, again, client));
    let room = listed[0].bytes + 1;
    drop(journal);
    let journal = until_open(|| open_or_locked(&folder, 60_000, room)).await;
    let left: Vec<_> = journal.turns().unwrap().into_iter().map(|turn| turn.turn_id).collect();
    assert_eq!(left, ["c"], "the oldest go first");
    drop(journal);
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(open(1, 1 << 20).turns().unwrap(), [], "too old");
    std::fs::remove_dir_all(folder).unwrap();
}

fn open_or_locked(folder: &Path, age: u64, bytes: u64) -> Option<Journal> {
    let config = JournalConfig::new(folder).max_age(Duration::from_millis(age)).max_bytes(bytes);
    match Journal::open(config) {
        Ok(journal) => Some(journal),
        Err(StoreError::Locked(_)) => None,
        Err(error) => panic!("{error:?}"),
    }
}

/// A turn whose handle is gone lets go of its journal when it has written its end.
async fn until_open(open: impl Fn() -> Option<Journal>) -> Journal {
    let began = Instant::now();
    loop {
        if let Some(journal) = open() {
            return journal;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "nobody lets go");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
