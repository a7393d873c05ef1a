//! The judge, against planted faults: a rule that no event list can break would be worthless.

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

#[test]
fn the_end_its_text_and_its_finish() {
    each(
        Case::new,
        &[
            json!({"end": "completed", "text": "Wörd one. Word two."}),
            json!({"finish": {"class": "complete", "reason": "STOP"}}),
        ],
        &[
            (json!({"end": "failed"}), "ends as `completed`, not `failed`"),
            (json!({"text": "Word."}), "`text` is"),
            (json!({"finish": {"class": "policy"}}), "`class` is \"complete\""),
            (json!({"finish": {"reason": "SAFETY"}}), "`reason` is \"STOP\""),
            (json!({"partial_text": ""}), "`partial_text` is null"),
            (json!({"error": {"kind": "cancelled"}}), "`kind` is null"),
        ],
    );
}

#[test]
fn the_error_and_the_partial_text() {
    each(
        Case::failing,
        &[
            json!({"end": "failed", "partial_text": "Wörd one. Wo"}),
            json!({"error": {"kind": "attempts_used_up", "http_status": 503,
                "details_contain": ["reset", "\"cause\""]}}),
            json!({"tools": []}),
        ],
        &[
            (json!({"end": "completed"}), "ends as `failed`"),
            (json!({"partial_text": "W"}), "`partial_text` is"),
            (json!({"error": {"kind": "blocked"}}), "`kind` is"),
            (json!({"error": {"reason": "x"}}), "`reason` is"),
            (json!({"error": {"http_status": 429}}), "`http_status` is 503"),
            (json!({"error": {"details_contain": ["idle"]}}), "\"idle\" is not in"),
        ],
    );
}

#[test]
fn what_is_left_on_the_screen() {
    each(
        Case::new,
        &[
            json!({"thoughts": "Aha.", "parts": 0, "never": ["Word three"]}),
            json!({"resets": [{"attempt": 2, "keep": "Wörd one. \n", "reason": "reset"}]}),
        ],
        &[
            (json!({"thoughts": "Hm.Aha."}), "the thoughts left are"),
            (json!({"parts": 1}), "0 `part` events are left"),
            // Only on the screen before the reset.
            (json!({"never": ["one. Wo"]}), "was shown"),
            (json!({"resets": []}), "there are 1 resets, not 0"),
            (json!({"resets": [{}, {}]}), "there are 1 resets, not 2"),
            (json!({"resets": [{"attempt": 1}]}), "`attempt` is 2"),
            (json!({"resets": [{"keep": ""}]}), "keeps \"Wörd one.\""),
            (json!({"resets": [{"reason": "idle"}]}), "`reason` is"),
        ],
    );
}

#[test]
fn what_was_shown_only_after_a_reset_counts_too() {
    Case::new().expecting(json!({"never": ["one. Word two."]})).breaks("was shown");
}

#[test]
fn the_calls_and_their_keys() {
    each(
        Case::new,
        &[
            json!({"tools": [{"name": "f", "args": {"n": 1.0}, "ordinal": 0, "provider_id": "p1"}]}),
            json!({"effect_keys": "distinct"}),
        ],
        &[
            (json!({"tools": []}), "1 calls are handed out, not 0"),
            (json!({"tools": [{"name": "g"}]}), "`name` is"),
            (json!({"tools": [{"name": "f", "args": {"n": 2}}]}), "`args` are"),
            (json!({"tools": [{"name": "f", "ordinal": 1}]}), "`ordinal` is 0"),
            (json!({"tools": [{"name": "f", "provider_id": "p2"}]}), "`provider_id` is"),
        ],
    );
    let distinct = || Case::new().expecting(json!({"effect_keys": "distinct"}));
    distinct()
        .but(|case| {
            let call = case.event("completed")["tool_calls"][0].clone();
            case.event("completed")["tool_calls"].as_array_mut().unwrap().push(call);
        })
        .breaks("share an effect key");
    distinct()
        .but(|case| case.event("completed")["tool_calls"][0]["effect_key"] = Value::Null)
        .breaks("no effect key");
}

#[test]
fn the_keys_of_other_scripts() {
    let judge = |expect: Value, own: &[&str], other: Option<&[&str]>| {
        let own: Vec<String> = own.iter().map(ToString::to_string).collect();
        let script = Case::new().expecting(expect).script();
        check::effect_key_violations(&script, &own, |name| {
            assert_eq!(name, "y");
            other.map(|keys| keys.iter().map(ToString::to_string).collect())
        })
    };
    let same = || json!({"same_effect_keys_as": "y"});
    let differ = || json!({"other_effect_keys_than": "y"});
    assert!(judge(same(), &["a", "b"], Some(&["a", "b"])).is_empty());
    assert_eq!(judge(same(), &["a", "b"], Some(&["b", "a"])).len(), 1, "order counts");
    assert!(judge(differ(), &["a"], Some(&["b"])).is_empty());
    assert_eq!(judge(differ(), &["a", "b"], Some(&["c", "b"])).len(), 1);
    assert_eq!(judge(same(), &["a"], None).len(), 1, "a script that is not there");
    assert_eq!(judge(differ(), &[], Some(&["b"])).len(), 1, "nothing to compare");
    assert!(judge(json!({}), &[], None).is_empty());
    assert_eq!(check::effect_keys(&Case::new().events), ["k1"]);
    assert!(check::effect_keys(&Case::failing().events).is_empty());
}

#[test]
fn the_attempts() {
    let first = json!({"strategy": "initial", "outcome": "dropped", "cause": "reset",
        "http_status": 200, "billing": "lower_bound", "usage": {"candidates_tokens": 3},
        "reasons": ["free_text_above_threshold"]});
    let broken = |field: &str, value: Value, saying: &'static str| {
        let mut first = first.clone();
        first[field] = value;
        (json!({"attempts": [first, {}]}), saying)
    };
    each(
        Case::new,
        &[json!({"attempts": [first, {"strategy": "continue", "outcome": "completed"}]})],
        &[
            (json!({"attempts": [{}]}), "there are 2 attempts, not 1"),
            (json!({"attempts": [{}, {}, {}]}), "there are 2 attempts, not 3"),
            broken("strategy", json!("restart"), "`strategy` is"),
            broken("outcome", json!("failed"), "`outcome` is"),
            broken("cause", json!("idle"), "`cause` is"),
            broken("http_status", json!(503), "`http_status` is 200"),
            broken("billing", json!("known"), "`billing` is"),
            broken("usage", json!({"candidates_tokens": 9}), "`candidates_tokens` is 3"),
            broken("reasons", json!(["schema"]), "`schema` is not among"),
            (json!({"attempts": [{}, {"reasons": ["schema"]}]}), "has no `dropped`"),
        ],
    );
}

#[test]
fn dots_stand_for_any_number_of_like_attempts() {
    let many = |count: u64| {
        Case::failing().but(|case| {
            let attempt = |n| {
                json!({"attempt": n, "cause": "unreachable",
                "strategy": if n == 1 { "initial" } else { "restart" },
                "usage": {"billing": "not_sent"}})
            };
            case.event("failed")["attempts"] = (1..=count).map(attempt).collect();
        })
    };
    let of = |entries: Value, count| many(count).expecting(json!({"attempts": entries}));
    let about = |case: Case| -> Vec<String> {
        // The event list lacks the other attempts; only the lines on entries matter here.
        case.violations()
            .into_iter()
            .filter(|l| l.starts_with("attempt ") || l.contains("attempts, not"))
            .collect()
    };
    let like = json!({"strategy": "initial", "cause": "unreachable"});
    for count in 1..5 {
        assert!(about(of(json!([like, "..."]), count)).is_empty(), "{count}");
    }
    assert_eq!(about(of(json!([like, "...", {"cause": "reset"}]), 4)).len(), 1);
    assert_eq!(about(of(json!([{"cause": "idle"}, "..."]), 3)).len(), 3);
    assert_eq!(about(of(json!([like, like, "..."]), 1)).len(), 1, "too few");
}

#[test]
fn the_requests() {
    let second = |want: Value| json!({"requests": [null, want]});
    each(
        Case::new,
        &[
            second(json!({"path_ends": ":streamGenerateContent", "query_has": "alt=sse",
                "query_lacks": "key=", "roles": ["user", "model", "user"],
                "last_model_text": "Wörd one. ", "contains": ["Go on \"there\"", "\"role\""],
                "lacks": ["nope"], "last_user_contains": ["Go on"], "same_but_contents_as": 1,
                "temperature": 0.4, "headers": {"X-Goog-Api-Key": "k"}, "min_wait_ms": 50,
                "client_closed": false})),
            json!({"requests_max": 2}),
        ],
        &[
            (second(json!({"path_ends": ":generateContent"})), "does not end with"),
            (second(json!({"query_has": "alt=json"})), "lacks alt=json"),
            (second(json!({"query_lacks": "alt=sse"})), "has alt=sse"),
            (second(json!({"roles": ["user"]})), "the roles are"),
            (second(json!({"last_model_text": "Wörd"})), "its last model text"),
            (second(json!({"contains": ["nope"]})), "is not in its body"),
            (second(json!({"lacks": ["Go on \"there\""]})), "is in its body"),
            (second(json!({"last_user_contains": ["Hi"]})), "its last user text"),
            (second(json!({"same_body_as": 1})), "is not that of request 1"),
            // Without `temperature` beside it, the temperature counts.
            (second(json!({"same_but_contents_as": 1})), "in more than contents"),
            (second(json!({"temperature": 0.9})), "its temperature is 0.4"),
            (second(json!({"temperature": null})), "not absent"),
            (second(json!({"headers": {"x-goog-api-key": "z"}})), "header `x-goog-api-key`"),
            (second(json!({"headers": {"x-more": "z"}})), "header `x-more` is None"),
            (second(json!({"min_wait_ms": 51})), "came after 50 ms, not 51"),
            (second(json!({"client_closed": true})), "the server closed first"),
            (json!({"requests": [null, null, {}]}), "request 3 did not come"),
            (json!({"requests_max": 1}), "2 requests came, at most 1"),
        ],
    );
    Case::new().but(|case| case.server = json!([{}])).breaks("2 requests came, at most 1 allowed");
    Case::new().but(|case| case.server = json!([{}, {"refuse_ms": 5}, {}])).holds();
    Case::new()
        .but(|case| case.requests[1].ended = false)
        .expecting(json!({"requests": [null, {"client_closed": false}]}))
        .breaks("nobody knows");
}

#[test]
fn the_history_and_the_time() {
    each(
        Case::new,
        &[
            json!({"history": {"parts": [{"text": "plan", "thought": true},
                {"text": "Wörd one. Word two."}], "lacks": ["\"user\""]}}),
            json!({"max_ms": 100}),
        ],
        &[
            (json!({"history": {"parts": []}}), "the history's parts are"),
            (json!({"history": {"lacks": ["\"model\""]}}), "the history has"),
            (json!({"max_ms": 99}), "took 100 ms, at most 99"),
        ],
    );
}

#[test]
fn sequence_turn_and_attempt_numbers() {
    Case::new().but(|case| case.events[3]["seq"] = json!(9)).breaks("`seq` is 9");
    Case::new().but(|case| case.events[3]["turn"] = json!("t2")).breaks("`turn` is \"t2\"");
    Case::new().but(|case| case.events[10]["attempt"] = json!(1)).breaks("attempt 1 after 2");
    Case::new().but(|case| case.events[3]["attempt"] = json!(2)).breaks("names attempt 2");
    Case::new().but(|case| case.events[7]["attempt"] = json!(3)).breaks("attempt 3 follows 1");
}

#[test]
fn one_end_and_it_is_the_last() {
    Case::new().but(|case| case.remove(11)).breaks("there are 0 terminal events");
    let extra = json!({"type": "text", "attempt": 2, "text": "late"});
    Case::new().but(|case| case.insert(12, extra)).breaks("the last event is `text`");
    let twice = Case::new().event("completed").clone();
    Case::new().but(|case| case.insert(12, twice)).breaks("there are 2 terminal events");
    Case::new().but(|case| case.events.clear()).breaks("the last event is `nothing`");
}

#[test]
fn the_order_of_a_retry() {
    let waiting = |next| {
        json!({"type": "waiting", "attempt": 1, "next_attempt": next,
        "why": "backoff", "for_ms": 20})
    };
    Case::new().but(|case| case.insert(6, waiting(2))).holds();
    Case::new().but(|case| case.insert(6, waiting(3))).breaks("`next_attempt` is 3");
    Case::new().but(|case| case.insert(7, waiting(2))).breaks("is out of place");
    Case::new().but(|case| case.remove(6)).breaks("no `reset` before it");
    Case::new().but(|case| case.remove(5)).breaks("is out of place after Running");
    Case::new().but(|case| case.events.swap(6, 7)).breaks("no `reset` before it");
    let early = json!({"type": "text", "attempt": 2, "text": ""});
    Case::new().but(|case| case.insert(7, early)).breaks("is out of place after Reset");
    Case::new()
        .but(|case| case.events[7]["strategy"] = json!("restart"))
        .breaks("is `restart` where `continue` was decided");
    Case::new()
        .but(|case| case.events[0]["strategy"] = json!("restart"))
        .breaks("the first attempt is `restart`");
    Case::new().but(|case| case.events[6]["reason"] = json!("idle")).breaks("is no cause");
    Case::new().but(|case| case.events[6]["attempt"] = json!(1)).breaks("not the new one, 2");
    Case::new()
        .but(|case| case.events[5]["decision"]["strategy"] = json!("fail"))
        .breaks("is out of place");
    Case::new()
        .but(|case| case.events[5]["decision"]["strategy"] = json!("restart"))
        .breaks("a restart keeps nothing");
    Case::failing()
        .but(|case| case.event("dropped")["decision"]["strategy"] = json!("restart"))
        .breaks("comes where `restart` was decided");
    Case::failing().but(|case| case.remove(5)).breaks("no `dropped` with the decision `fail`");
    Case::failing()
        .but(|case| {
            case.remove(5);
            case.event("failed")["error"]["kind"] = json!("cancelled");
        })
        .holds();
}

#[test]
fn a_hop_and_an_answer_begun_anew() {
    let hop = || {
        Case::new().but(|case| {
            case.remove(5);
            case.events[5]["reason"] = json!("continuation");
            case.events[5]["keep_thought_utf16"] = json!(3);
            case.events[5]["keep_parts"] = json!(1);
            case.events[6]["strategy"] = json!("resume");
        })
    };
    hop().holds();
    hop().expecting(json!({"thoughts": "Hm.Aha.", "parts": 1})).holds();
    hop().but(|case| case.events[6]["strategy"] = json!("continue")).breaks("`resume` was decided");

    let anew = |keep: u64| {
        Case::new().but(|case| {
            let reset = json!({"type": "reset", "attempt": 2, "keep_utf16": keep,
                "keep_text_bytes": keep, "reason": "answer_restarted"});
            case.insert(11, reset);
            case.insert(12, json!({"type": "text", "attempt": 2, "text": "Anew."}));
            let end = case.event("completed");
            end["text"] = json!("Anew.");
            end["history"][0]["parts"][1]["text"] = json!("Anew.");
        })
    };
    anew(0).holds();
    anew(1).breaks("began anew");
}

#[test]
fn a_reset_must_fit_the_text_in_both_units() {
    Case::new()
        .but(|case| case.events[6]["keep_text_bytes"] = json!(9))
        .breaks("`keep_text_bytes`");
    Case::new().but(|case| case.events[6]["keep_utf16"] = json!(99)).breaks("no place in");
    Case::new().but(|case| case.events[6]["keep_utf16"] = Value::Null).breaks("no `keep_utf16`");
    Case::new()
        .but(|case| case.events[6]["keep_thought_utf16"] = json!(2))
        .breaks("is not 0 before");
    Case::new().but(|case| case.events[6]["keep_thought_utf16"] = json!(9)).breaks("more thoughts");
    Case::new().but(|case| case.events[6]["keep_tools"] = json!(1)).breaks("`keep_tools` is 1");
    Case::new().but(|case| case.events[6]["keep_parts"] = json!(2)).breaks("`keep_parts` is 2");
    // Half of a surrogate pair.
    Case::new()
        .but(|case| {
            case.events[3]["text"] = json!("Wörd one😀");
            case.events[6]["keep_utf16"] = json!(9);
        })
        .breaks("no place in");
}

#[test]
fn what_completed_hands_over() {
    Case::new()
        .but(|case| case.event("text")["text"] = json!(" Word."))
        .breaks("text and resets give");
    Case::new()
        .but(|case| case.event("completed")["history"][0]["parts"][1]["text"] = json!("x"))
        .breaks("the text parts of the history");
    Case::new()
        .but(|case| case.event("completed")["history"][0]["role"] = json!("user"))
        .breaks("not one model content");
    Case::new()
        .but(|case| case.event("completed")["finish"]["class"] = json!("truncated"))
        .breaks("though the class is `truncated`");
    Case::failing()
        .but(|case| case.event("failed")["partial_text"] = json!("Wörd"))
        .breaks("not the longest text shown");
    Case::failing()
        .but(|case| case.event("failed")["tool_calls"] = json!([]))
        .breaks("a failed turn hands out");
}

#[test]
fn attempts_began_were_listed_and_sent() {
    Case::new()
        .but(|case| case.requests.truncate(1))
        .breaks("1 requests came, 2 attempts were sent");
    Case::new()
        .but(|case| case.event("completed")["attempts"][0]["usage"]["billing"] = json!("not_sent"))
        .breaks("2 requests came, 1 attempts were sent");
    Case::new()
        .but(|case| {
            case.event("completed")["attempts"].as_array_mut().unwrap().pop();
        })
        .breaks("2 attempts began, 1 are listed");
    Case::new()
        .but(|case| case.event("completed")["attempts"][1]["attempt"] = json!(5))
        .breaks("entry 2 of `attempts` is 5");
}
