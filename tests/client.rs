//! The client over real sockets: what it sends, when it closes, what it never tells.

#[path = "support/turns.rs"]
mod turns;

use rejoin::client::{Client, HeaderProvider, ProviderError, TurnRequest};
use rejoin::testkit::{FlakyServer, Response, Step};
use rejoin::turn::{ErrorKind, EventKind, Policy, Signal, Strategy};
use serde_json::json;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use turns::{completed, failed, hasty, kinds, responses, run, wait_for};

const SOON: Duration = Duration::from_secs(5);

#[tokio::test]
async fn cancelling_closes_the_socket_and_ends_the_turn_with_one_event() {
    let server = responses(json!([{"send": ["Once "], "end": "hang"}])).await;
    let turn = hasty(&server).start(TurnRequest::prompt("m", "x")).unwrap();
    wait_for(&turn, |event| matches!(event.kind, EventKind::Text { .. })).await;
    turn.cancel();
    let last = turn.last_event().await.unwrap();
    assert_eq!(failed(&last).error.kind, ErrorKind::Cancelled);
    assert_eq!(failed(&last).partial_text, "Once ");
    assert!(server.settled(SOON).await);
    assert!(server.requests()[0].client_closed);
    let all = turn.events_so_far(0, usize::MAX);
    assert!(all.finished);
    assert_eq!(all.events.last(), Some(&last));
    turn.cancel();
    assert_eq!(turn.events_so_far(0, usize::MAX), all, "a second cancel does nothing");
}

#[tokio::test]
async fn dropping_the_handle_closes_the_socket() {
    let server = responses(json!([{"send": ["Once "], "end": "hang"}])).await;
    let turn = hasty(&server).start(TurnRequest::prompt("m", "x")).unwrap();
    wait_for(&turn, |event| matches!(event.kind, EventKind::Text { .. })).await;
    drop(turn);
    assert!(server.settled(SOON).await);
    assert!(server.requests()[0].client_closed);
}

#[tokio::test]
async fn a_cancelled_read_loses_nothing_and_a_cursor_can_be_used_again() {
    let mut send: Vec<_> = (0..200).map(|n| json!(format!("{n} "))).collect();
    send.push(json!({"finish": "STOP"}));
    let server = responses(json!([{"send": send}])).await;
    let turn = hasty(&server).start(TurnRequest::prompt("m", "x")).unwrap();
    let (mut cursor, mut seen) = (0, Vec::new());
    loop {
        // A read that is cancelled at once, as by a coroutine that goes away.
        let _ = tokio::time::timeout(Duration::ZERO, turn.events_after(cursor, 3)).await;
        let batch = turn.events_after(cursor, 3).await;
        assert!(batch.events.len() <= 3);
        seen.extend(batch.events.iter().map(|event| event.seq));
        cursor = batch.next_cursor;
        if batch.finished {
            break;
        }
    }
    assert_eq!(seen, (1..=seen.len() as u64).collect::<Vec<_>>());
    let again = turn.events_after(0, usize::MAX).await;
    assert_eq!(again.events.len(), seen.len());
}

#[tokio::test]
async fn a_dead_connection_is_never_used_again() {
    let server = responses(json!([
        {"send": ["a"], "end": "cut"},
        {"send": ["b", {"finish": "STOP"}]},
        {"send": ["c", {"finish": "STOP"}]}
    ]))
    .await;
    let client = hasty(&server);
    run(&client, TurnRequest::prompt("m", "x")).await;
    run(&client, TurnRequest::prompt("m", "y")).await;
    let connections: Vec<_> = server.requests().iter().map(|request| request.connection).collect();
    assert_ne!(connections[0], connections[1], "the retry has a connection of its own");
    assert_eq!(connections[1], connections[2], "a healthy connection serves the next turn");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = responses(json!([{"send": ["stolen", {"finish": "STOP"}]}])).await;
    let server = responses(json!([
        {"status": 302, "headers": {"location": elsewhere.url()}, "framing": "length"},
        {"send": ["mine", {"finish": "STOP"}]}
    ]))
    .await;
    let last = run(&hasty(&server), TurnRequest::prompt("m", "x")).await;
    assert_eq!(completed(&last).text, "mine");
    assert!(elsewhere.requests().is_empty(), "the key must not follow");
}

struct Tokens {
    asked: Mutex<Vec<u32>>,
    failures: AtomicU32,
}

impl HeaderProvider for Tokens {
    fn headers(&self, attempt: u32) -> Result<Vec<(String, String)>, ProviderError> {
        self.asked.lock().unwrap().push(attempt);
        let left =
            self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if left.is_ok() {
            return Err(ProviderError("no token yet".to_owned()));
        }
        Ok(vec![("authorization".to_owned(), format!("Bearer token-{attempt}"))])
    }
}

#[tokio::test]
async fn headers_are_asked_for_before_each_attempt() {
    let server =
        responses(json!([{"send": ["a"], "end": "reset"}, {"send": ["b", {"finish": "STOP"}]}]))
            .await;
    let tokens = Arc::new(Tokens { asked: Mutex::default(), failures: AtomicU32::new(1) });
    let client = Client::builder()
        .base_url(server.url())
        .policy(turns::policy())
        .header("x-fixed", "1")
        .header_provider(tokens.clone())
        .build()
        .unwrap();
    let turn = client.start(TurnRequest::prompt("m", "x")).unwrap();
    let last = turn.last_event().await.unwrap();
    assert_eq!(completed(&last).text, "b");
    assert_eq!(*tokens.asked.lock().unwrap(), [1, 2, 3]);
    let attempts = &completed(&last).attempts;
    assert_eq!(attempts[0].usage.billing.as_str(), "not_sent", "no token, nothing sent");
    let sent: Vec<_> = server
        .requests()
        .iter()
        .map(|request| {
            let header = |name: &str| request.header(name).unwrap_or("").to_owned();
            (header("authorization"), header("x-fixed"))
        })
        .collect();
    let fixed = "1".to_owned();
    assert_eq!(
        sent,
        [("Bearer token-2".to_owned(), fixed.clone()), ("Bearer token-3".to_owned(), fixed)]
    );
}

#[tokio::test]
async fn the_key_is_told_to_the_server_alone() {
    const KEY: &str = "AIza-very-secret";
    let echo = format!("API key {KEY} is not valid");
    let server =
        responses(json!([{"status": 400, "send": [{"error": 400, "message": echo}]}])).await;
    let builder = Client::builder().base_url(server.url()).api_key(KEY);
    let client = builder.build().unwrap();
    let turn = client.start(TurnRequest::prompt("m", "x")).unwrap();
    turn.last_event().await.unwrap();
    let events = turn.events_so_far(0, usize::MAX).events;
    let told =
        format!("{client:?} {turn:?} {events:?} {}", serde_json::to_string(&events).unwrap());
    assert!(!told.contains("very-secret"), "{told}");
    assert!(told.contains("API key [secret] is not valid"), "{told}");
    assert_eq!(server.requests()[0].header("x-goog-api-key"), Some(KEY));
}

#[tokio::test]
async fn what_cannot_be_sent_is_an_error_before_anything_is_sent() {
    assert!(Client::builder().base_url("nonsense").build().is_err());
    assert!(Client::builder().header("x", "a\r\nx-injected: 1").build().is_err());
    assert!(Client::builder().extra_root_pem("not a certificate").build().is_err());
    let policy = Policy { max_attempts: 0, ..Policy::default() };
    assert!(Client::builder().policy(policy).build().is_err());
    let client = Client::builder().build().unwrap();
    assert!(client.start(TurnRequest::prompt("../m", "x")).is_err());
    let turn = client.start(TurnRequest::raw("m", "{}")).unwrap();
    let last = turn.last_event().await.unwrap();
    assert_eq!(failed(&last).error.kind, ErrorKind::InvalidArgument);
    assert_eq!(turn.events_so_far(0, 9).events.len(), 1);
}

#[tokio::test]
async fn while_offline_a_retry_parks_and_goes_on_at_once_when_the_network_is_back() {
    let server = responses(json!([
        {"send": ["a"], "end": "hang"},
        {"send": ["b", {"finish": "STOP"}]}
    ]))
    .await;
    let turn = hasty(&server).start(TurnRequest::prompt("m", "x")).unwrap();
    wait_for(&turn, |event| matches!(event.kind, EventKind::Text { .. })).await;
    turn.signal(Signal::NetworkLost);
    wait_for(&turn, |event| matches!(event.kind, EventKind::Waiting { .. })).await;
    assert_eq!(server.requests().len(), 1, "no attempt is burnt while offline");
    turn.signal(Signal::NetworkAvailable);
    let last = turn.last_event().await.unwrap();
    assert_eq!(completed(&last).text, "b");
    assert_eq!(completed(&last).attempts.len(), 2);
}

#[tokio::test]
async fn a_change_of_network_abandons_the_dead_socket_at_once() {
    let server = responses(json!([
        {"send": ["a"], "end": "hang"},
        {"send": ["b", {"finish": "STOP"}]}
    ]))
    .await;
    let patient = Client::builder().base_url(server.url()).build().unwrap();
    let turn = patient.start(TurnRequest::prompt("m", "x")).unwrap();
    wait_for(&turn, |event| matches!(event.kind, EventKind::Text { .. })).await;
    turn.signal(Signal::NetworkChanged);
    let last = turn.last_event().await.unwrap();
    assert_eq!(completed(&last).attempts[0].cause.unwrap().as_str(), "network_changed");
    assert!(server.settled(SOON).await);
    assert!(server.requests()[0].client_closed);
}

#[tokio::test]
async fn two_turns_at_once_do_not_meet() {
    let server =
        FlakyServer::start(vec![Response::of(vec![Step::text("same "), Step::finish("STOP")])])
            .await
            .unwrap();
    let client = hasty(&server);
    let turns: Vec<_> = (0..20)
        .map(|n| client.start(TurnRequest::prompt("m", "x").turn_id(format!("t{n}"))).unwrap())
        .collect();
    for (n, turn) in turns.iter().enumerate() {
        turn.last_event().await.unwrap();
        let events = turn.events_so_far(0, usize::MAX).events;
        assert!(events.iter().all(|event| *event.turn == *format!("t{n}")));
        assert_eq!(kinds(&events), ["attempt_started", "text", "completed"]);
    }
    assert_eq!(server.requests().len(), 20);
}

#[tokio::test]
async fn a_turn_can_have_a_policy_of_its_own() {
    let server = responses(json!([{"send": ["a"], "end": "cut"}])).await;
    let policy = Policy { max_attempts: 1, ..turns::policy() };
    let turn = hasty(&server).start(TurnRequest::prompt("m", "x").policy(policy)).unwrap();
    let last = turn.last_event().await.unwrap();
    assert_eq!(failed(&last).attempts.len(), 1);
    assert_eq!(failed(&last).attempts[0].strategy, Strategy::Initial);
}
