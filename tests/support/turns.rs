//! Short ways to run turns against a flaky server.
#![allow(dead_code)] // Each test file takes what it needs.

use rejoin::client::{Client, TurnHandle, TurnRequest};
use rejoin::testkit::{FlakyServer, Script};
use rejoin::turn::{Completed, Event, EventKind, Failed, Policy};
use serde_json::{Value, json};

/// A policy whose waits a test can afford.
pub fn policy() -> Policy {
    Policy {
        backoff_base_ms: 20,
        backoff_jitter: 0.0,
        idle_timeout_ms: 700,
        finish_grace_ms: 300,
        first_byte_timeout_ms: 1500,
        non_streaming_timeout_ms: 1500,
        ..Policy::default()
    }
}

/// A server that plays these responses.
pub async fn responses(server: Value) -> FlakyServer {
    let script = json!({
        "name": "inline", "about": "inline", "request": {"prompt": "x"}, "server": server, "expect": {},
    });
    let script = Script::parse(&script.to_string()).expect("a script");
    FlakyServer::start(&script).await.expect("a server")
}

pub fn hasty(server: &FlakyServer) -> Client {
    Client::builder().base_url(server.url()).policy(policy()).build().expect("a client")
}

pub async fn run(client: &Client, request: TurnRequest) -> Event {
    let turn = client.start(request).expect("a turn");
    turn.last_event().await.expect("a last event")
}

/// Waits until an event is there that holds.
pub async fn wait_for(turn: &TurnHandle, holds: impl Fn(&Event) -> bool) -> Event {
    let mut cursor = 0;
    loop {
        let batch = turn.events_after(cursor, 64).await;
        if let Some(event) = batch.events.iter().find(|event| holds(event)) {
            return event.clone();
        }
        assert!(!batch.finished, "the turn ended without it");
        cursor = batch.next_cursor;
    }
}

pub fn completed(event: &Event) -> &Completed {
    match &event.kind {
        EventKind::Completed(completed) => completed,
        other => panic!("not completed: {other:?}"),
    }
}

pub fn failed(event: &Event) -> &Failed {
    match &event.kind {
        EventKind::Failed(failed) => failed,
        other => panic!("not failed: {other:?}"),
    }
}

pub fn kinds(events: &[Event]) -> Vec<String> {
    let kind = |event| {
        serde_json::to_value(event).expect("JSON")["type"].as_str().expect("a type").to_owned()
    };
    events.iter().map(kind).collect()
}
