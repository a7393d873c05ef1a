//! The judge, against planted faults: a rule that no event list can break would be worthless.
//!
//! Here is the turn that did right, and how a test breaks it.

mod invariants;
mod script;

use std::time::Duration;

use rejoin::testkit::{RequestRecord, Script, check};
use serde_json::{Value, json};

/// A turn that did right: an attempt that dropped, and a continuation that completed. Each test
/// breaks one thing of it.
struct Case {
    expect: Value,
    server: Value,
    events: Vec<Value>,
    requests: Vec<RequestRecord>,
    took: Duration,
}

fn request(ms: u64, body: &Value) -> RequestRecord {
    RequestRecord {
        at: Duration::from_millis(ms),
        connection: 1,
        method: "POST".into(),
        path: "/v1beta/models/m:streamGenerateContent".into(),
        query: "alt=sse".into(),
        headers: vec![("x-goog-api-key".into(), "k".into())],
        body: body.to_string().into_bytes(),
        ended: true,
        client_closed: false,
        complete: true,
    }
}

impl Case {
    fn new() -> Self {
        let first = json!({
            "contents": [{"role": "user", "parts": [{"text": "Hi."}]}],
            "generationConfig": {"temperature": 0.9}
        });
        let second = json!({
            "contents": [
                {"role": "user", "parts": [{"text": "Hi."}]},
                {"role": "model", "parts": [{"text": "Wörd one."}]},
                {"role": "user", "parts": [{"text": "Go on \"there\"."}]}
            ],
            "generationConfig": {"temperature": 0.4}
        });
        let attempts = json!([
            {"attempt": 1, "strategy": "initial", "outcome": "dropped", "cause": "reset",
             "http_status": 200, "received_tokens": 3, "waited_ms": 0, "took_ms": 5,
             "usage": {"billing": "lower_bound", "prompt_tokens": 5, "candidates_tokens": 3}},
            {"attempt": 2, "strategy": "continue", "outcome": "completed", "received_tokens": 2,
             "waited_ms": 0, "took_ms": 5, "usage": {"billing": "known", "candidates_tokens": 2}}
        ]);
        let mut events = vec![
            json!({"type": "attempt_started", "attempt": 1, "strategy": "initial"}),
            json!({"type": "thought", "attempt": 1, "text": "Hm."}),
            json!({"type": "part", "attempt": 1, "part": {"inlineData": {}}}),
            json!({"type": "text", "attempt": 1, "text": "Wörd one. "}),
            json!({"type": "text", "attempt": 1, "text": "Wo"}),
            json!({"type": "dropped", "attempt": 1, "cause": "reset", "received_tokens": 3,
                "committed_tokens": 2, "exact": true,
                "decision": {"strategy": "continue", "reasons": ["free_text_above_threshold"]}}),
            json!({"type": "reset", "attempt": 2, "keep_utf16": 9, "keep_text_bytes": 10,
                "keep_thought_utf16": 0, "keep_tools": 0, "keep_parts": 0, "reason": "reset"}),
            json!({"type": "attempt_started", "attempt": 2, "strategy": "continue"}),
            json!({"type": "thought", "attempt": 2, "text": "Aha."}),
            json!({"type": "tool_seen", "attempt": 2, "name": "f"}),
            json!({"type": "text", "attempt": 2, "text": " Word two."}),
            json!({"type": "completed", "attempt": 2, "text": "Wörd one. Word two.",
                "finish": {"class": "complete", "reason": "STOP"},
                "tool_calls": [{"name": "f", "args": {"n": 1}, "effect_key": "k1", "ordinal": 0,
                    "provider_id": "p1"}],
                "history": [{"role": "model", "parts": [
                    {"text": "plan", "thought": true}, {"text": "Wörd one. Word two."}]}],
                "attempts": attempts}),
        ];
        number(&mut events);
        Self {
            expect: json!({}),
            server: json!([{}, {}]),
            events,
            requests: vec![request(0, &first), request(50, &second)],
            took: Duration::from_millis(100),
        }
    }

    /// A turn that failed after its one attempt.
    fn failing() -> Self {
        let mut case = Self::new();
        case.events.truncate(6);
        case.events[5]["decision"] = json!({"strategy": "fail", "reasons": ["attempts_used_up"]});
        case.events.push(json!({
            "type": "failed", "attempt": 1, "partial_text": "Wörd one. Wo",
            "error": {"kind": "attempts_used_up", "reason": "no more", "http_status": 503,
                "details": {"cause": "reset"}},
            "attempts": [{"attempt": 1, "strategy": "initial", "outcome": "failed",
                "cause": "reset", "usage": {"billing": "lower_bound"}}]
        }));
        number(&mut case.events);
        case.requests.truncate(1);
        case.server = json!([{}]);
        case
    }

    fn expecting(mut self, expect: Value) -> Self {
        self.expect = expect;
        self
    }

    fn but(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The event of this type; the last, if there are more.
    fn event(&mut self, kind: &str) -> &mut Value {
        self.events.iter_mut().rev().find(|event| event["type"] == kind).unwrap()
    }

    fn insert(&mut self, at: usize, event: Value) {
        self.events.insert(at, event);
        number(&mut self.events);
    }

    fn remove(&mut self, at: usize) {
        self.events.remove(at);
        number(&mut self.events);
    }

    fn script(&self) -> Script {
        let script = json!({
            "name": "x", "request": {"prompt": "p"}, "server": self.server, "expect": self.expect
        });
        Script::parse(&script.to_string()).unwrap()
    }

    fn violations(&self) -> Vec<String> {
        check::violations(&self.script(), &self.events, &self.requests, self.took)
    }

    #[track_caller]
    fn holds(&self) {
        assert_eq!(self.violations(), Vec::<String>::new());
    }

    /// One of the violations says this.
    #[track_caller]
    fn breaks(&self, saying: &str) {
        let wrong = self.violations();
        assert!(wrong.iter().any(|line| line.contains(saying)), "no {saying:?} in {wrong:#?}");
    }
}

fn number(events: &mut [Value]) {
    for (index, event) in events.iter_mut().enumerate() {
        event["seq"] = (index + 1).into();
        event["turn"] = "t1".into();
    }
}

/// Each expectation of the second list is broken by the case, each of the first one kept.
#[track_caller]
fn each(case: fn() -> Case, kept: &[Value], broken: &[(Value, &str)]) {
    for expect in kept {
        case().expecting(expect.clone()).holds();
    }
    for (expect, saying) in broken {
        case().expecting(expect.clone()).breaks(saying);
    }
}
