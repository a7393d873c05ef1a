//! Plays a fault script against the real client over a real socket.

use rejoin::client::{Client, TurnHandle, TurnRequest};
use rejoin::recorder::Keep;
use rejoin::testkit::{Cancel, FlakyServer, Script, check};
use rejoin::turn::Policy;
use serde_json::Value;
use std::time::{Duration, Instant};

/// No turn of a script lasts longer; a client that hangs fails here instead of for ever.
const LONGEST: Duration = Duration::from_mins(1);

/// What a script's turn came to; each test file takes what it needs.
#[allow(dead_code)]
pub struct Played {
    /// What was wrong, a sentence each.
    pub violations: Vec<String>,
    /// The effect keys of its calls, in order.
    pub keys: Vec<String>,
    /// The turn as it was recorded.
    pub recording: String,
}

pub async fn play(script: &Script, keep: Keep) -> Result<Played, String> {
    let server = FlakyServer::start(script).await.map_err(|error| error.to_string())?;
    let mut policy = Policy::default();
    for (name, value) in script.full_policy() {
        policy.set(&name, &value.to_string()).map_err(|error| error.to_string())?;
    }
    let client = Client::builder()
        .base_url(server.url())
        .api_key("test-key")
        .policy(policy)
        .build()
        .map_err(|error| error.to_string())?;
    let mut request = TurnRequest::raw("m", script.request_body().to_string()).record(keep);
    if let Some(id) = &script.turn_id {
        request = request.turn_id(id);
    }
    let began = Instant::now();
    let turn = client.start(request).map_err(|error| error.to_string())?;
    let events = tokio::time::timeout(LONGEST, collect(&turn, script.cancel.as_ref()))
        .await
        .map_err(|_| "the turn did not end".to_owned())?;
    let took = began.elapsed();
    server.settled(Duration::from_secs(2)).await;
    let violations = check::violations(script, &events, &server.requests(), took);
    let recording = turn.recording().map(|text| text.to_string()).unwrap_or_default();
    Ok(Played { violations, keys: check::effect_keys(&events), recording })
}

/// All events of a turn as JSON, cancelling it where the script says so.
async fn collect(turn: &TurnHandle, cancel: Option<&Cancel>) -> Vec<Value> {
    let (on, after) = match cancel {
        Some(Cancel::On(kind)) => (Some(kind.as_str()), None),
        Some(Cancel::AfterMs(ms)) => {
            (None, Some(tokio::time::Instant::now() + Duration::from_millis(*ms)))
        }
        None => (None, None),
    };
    let mut after = after;
    let (mut events, mut cursor) = (Vec::new(), 0);
    loop {
        let batch = tokio::select! {
            batch = turn.events_after(cursor, 64) => batch,
            () = tokio::time::sleep_until(after.unwrap_or_else(tokio::time::Instant::now)), if after.is_some() => {
                turn.cancel();
                after = None;
                continue;
            }
        };
        cursor = batch.next_cursor;
        for event in batch.events {
            let event = serde_json::to_value(event).expect("an event is JSON");
            if on.is_some() && event["type"].as_str() == on {
                turn.cancel();
            }
            events.push(event);
        }
        if batch.finished {
            return events;
        }
    }
}
