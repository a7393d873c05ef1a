//! What holds of every turn, whatever its script.

use serde_json::Value;

use super::turn::{Turn, kind};
use crate::testkit::log::RequestRecord;
use crate::testkit::script::Script;

pub(super) fn check(
    script: &Script,
    events: &[Value],
    turn: &Turn<'_>,
    requests: &[RequestRecord],
    wrong: &mut Vec<String>,
) {
    frame(script, events, wrong);
    Order::default().walk(events, wrong);
    wrong.extend(turn.broken.iter().cloned());
    let Some(end) = turn.ending else { return };
    if kind(end) == "completed" {
        completed(end, turn, wrong);
    } else {
        failed(end, turn, wrong);
    }
    attempts(turn, requests, wrong);
}

/// Fields of every event, and exactly one end.
fn frame(script: &Script, events: &[Value], wrong: &mut Vec<String>) {
    let mut last_attempt = 0;
    let turn_id = script.turn_id.as_deref().or_else(|| events.first()?["turn"].as_str());
    for (index, event) in events.iter().enumerate() {
        let seq = event["seq"].as_u64();
        if seq != Some(index as u64 + 1) {
            wrong.push(format!("event {}: `seq` is {}", index + 1, event["seq"]));
        }
        if event["turn"].as_str() != turn_id || turn_id.is_none() {
            wrong.push(format!("event {}: `turn` is {}", index + 1, event["turn"]));
        }
        // A turn that is refused before its first attempt may name none.
        let attempt = event["attempt"].as_u64().unwrap_or(last_attempt);
        if attempt < last_attempt {
            wrong.push(format!("event {}: attempt {attempt} after {last_attempt}", index + 1));
        }
        last_attempt = last_attempt.max(attempt);
    }
    let ends = events.iter().filter(|event| matches!(kind(event), "completed" | "failed")).count();
    if ends != 1 {
        wrong.push(format!("there are {ends} terminal events"));
    }
    if !events.last().is_some_and(|event| matches!(kind(event), "completed" | "failed")) {
        let last = events.last().map_or("nothing", kind);
        wrong.push(format!("the last event is `{last}`, not a terminal one"));
    }
}

/// Where a walk over the events stands.
#[derive(Debug, Default)]
enum Place {
    /// Before the first attempt.
    #[default]
    Start,
    /// In an attempt.
    Running,
    /// After a `dropped` and any `waiting`; the strategy that was decided.
    Dropped(String),
    /// After the reset that leads to the next attempt; the strategy that was decided.
    Reset(String),
}

/// Checks that every retry reads `dropped`, `waiting`*, `reset`, `attempt_started`.
#[derive(Default)]
struct Order {
    place: Place,
    attempt: u64,
    strategy: String,
    causes: Vec<String>,
}

impl Order {
    fn walk(mut self, events: &[Value], wrong: &mut Vec<String>) {
        for event in events {
            if let Some(what) = self.step(event) {
                wrong.push(format!("event {} (`{}`): {what}", event["seq"], kind(event)));
            }
        }
    }

    fn step(&mut self, event: &Value) -> Option<String> {
        let attempt = event["attempt"].as_u64().unwrap_or(self.attempt);
        let kind = kind(event);
        match (kind, &self.place) {
            ("attempt_started", _) => self.started(event, attempt),
            ("text" | "thought" | "tool_seen" | "part", Place::Running) => self.own(attempt),
            ("dropped", Place::Running) => {
                let decided = event["decision"]["strategy"].as_str().unwrap_or("none");
                self.place = Place::Dropped(decided.into());
                self.causes.push(event["cause"].as_str().unwrap_or_default().into());
                self.own(attempt)
            }
            ("waiting", Place::Dropped(decided)) if decided != "fail" => {
                let next = &event["next_attempt"];
                if next.as_u64() != Some(self.attempt + 1) {
                    return Some(format!(
                        "`next_attempt` is {next} after attempt {}",
                        self.attempt
                    ));
                }
                None
            }
            ("reset", _) => self.reset(event, attempt),
            ("failed", Place::Dropped(decided)) => {
                // Cancelled, or offline for too long, while the next attempt was due.
                let gave_up = matches!(error_kind(event), "cancelled" | "unreachable" | "internal");
                (decided != "fail" && !gave_up)
                    .then(|| format!("comes where `{decided}` was decided"))
            }
            ("failed", Place::Running | Place::Reset(_)) => {
                let unforeseen = matches!(error_kind(event), "cancelled" | "internal");
                (!unforeseen).then(|| "no `dropped` with the decision `fail` before it".into())
            }
            ("completed", Place::Running) | ("failed", Place::Start) => None,
            (_, place) => Some(format!("is out of place after {place:?}")),
        }
    }

    fn started(&mut self, event: &Value, attempt: u64) -> Option<String> {
        let strategy = event["strategy"].as_str().unwrap_or("none").to_owned();
        let place = std::mem::replace(&mut self.place, Place::Running);
        let before = std::mem::replace(&mut self.attempt, attempt);
        self.strategy.clone_from(&strategy);
        match place {
            Place::Start if strategy != "initial" => {
                Some(format!("the first attempt is `{strategy}`, not `initial`"))
            }
            Place::Reset(decided) if decided != strategy => {
                Some(format!("is `{strategy}` where `{decided}` was decided"))
            }
            Place::Start | Place::Reset(_) if attempt != before + 1 => {
                Some(format!("attempt {attempt} follows {before}"))
            }
            Place::Start | Place::Reset(_) => None,
            place => Some(format!("no `reset` before it, but {place:?}")),
        }
    }

    fn reset(&mut self, event: &Value, attempt: u64) -> Option<String> {
        let reason = event["reason"].as_str().unwrap_or_default();
        let strategy = match (&self.place, reason) {
            (Place::Running, "answer_restarted") => {
                if event["keep_utf16"].as_u64() != Some(0) {
                    return Some("keeps text of an answer that began anew".into());
                }
                return self.own(attempt);
            }
            (Place::Running, "continuation") => "resume".to_owned(),
            (Place::Dropped(decided), _) if decided != "fail" => {
                if !self.causes.iter().any(|cause| cause == reason) {
                    return Some(format!("its reason `{reason}` is no cause of this turn"));
                }
                decided.clone()
            }
            (place, _) => return Some(format!("is out of place after {place:?}")),
        };
        let next = self.attempt + 1;
        let keeps = |name: &str| event[name].as_u64().unwrap_or(0) > 0;
        let stray =
            ["keep_thought_utf16", "keep_tools", "keep_parts"].into_iter().find(|n| keeps(n));
        let resumes = strategy == "resume" || (strategy == "non_streaming" && keeps("keep_utf16"));
        let restarts = strategy == "restart";
        self.place = Place::Reset(strategy);
        if restarts && keeps("keep_utf16") {
            return Some("a restart keeps nothing".into());
        }
        if attempt != next {
            return Some(format!("names attempt {attempt}, not the new one, {next}"));
        }
        stray.filter(|_| !resumes).map(|name| format!("`{name}` is not 0 before a new generation"))
    }

    fn own(&self, attempt: u64) -> Option<String> {
        (attempt != self.attempt)
            .then(|| format!("names attempt {attempt} in attempt {}", self.attempt))
    }
}

fn error_kind(event: &Value) -> &str {
    event["error"]["kind"].as_str().unwrap_or_default()
}

fn completed(end: &Value, turn: &Turn<'_>, wrong: &mut Vec<String>) {
    let text = end["text"].as_str().unwrap_or_default();
    if text != turn.text {
        wrong.push(format!("text and resets give {:?}, `completed` says {text:?}", turn.text));
    }
    let contents = end["history"].as_array().map_or(&[][..], Vec::as_slice);
    let parts = contents.iter().filter_map(|content| content["parts"].as_array()).flatten();
    let told: String = parts
        .filter(|part| part["thought"].as_bool() != Some(true))
        .filter_map(|part| part["text"].as_str())
        .collect();
    if told != text {
        wrong.push(format!("the text parts of the history give {told:?}, not {text:?}"));
    }
    if contents.len() > 1 || contents.iter().any(|content| content["role"] != "model") {
        wrong.push("the history is not one model content".into());
    }
    let class = end["finish"]["class"].as_str().unwrap_or_default();
    let calls = end["tool_calls"].as_array().map_or(0, Vec::len);
    if class != "complete" && calls > 0 {
        wrong.push(format!("{calls} tool calls are handed out though the class is `{class}`"));
    }
}

fn failed(end: &Value, turn: &Turn<'_>, wrong: &mut Vec<String>) {
    let partial = end["partial_text"].as_str().unwrap_or_default();
    let longest = turn.shown.iter().map(String::len).max().unwrap_or(0);
    // Of several longest ones, any will do.
    if partial.len() != longest || !turn.shown.iter().any(|shown| shown == partial) {
        wrong.push(format!("`partial_text` {partial:?} is not the longest text shown"));
    }
    if end.get("tool_calls").is_some() {
        wrong.push("a failed turn hands out tool calls".into());
    }
}

fn attempts(turn: &Turn<'_>, requests: &[RequestRecord], wrong: &mut Vec<String>) {
    let listed = turn.attempts();
    if listed.len() != turn.started {
        wrong.push(format!("{} attempts began, {} are listed", turn.started, listed.len()));
    }
    for (index, attempt) in listed.iter().enumerate() {
        if attempt["attempt"].as_u64() != Some(index as u64 + 1) {
            wrong.push(format!("entry {} of `attempts` is {}", index + 1, attempt["attempt"]));
        }
    }
    let sent = listed.iter().filter(|attempt| attempt["usage"]["billing"] != "not_sent").count();
    if sent != requests.len() {
        wrong.push(format!("{} requests came, {sent} attempts were sent", requests.len()));
    }
}
