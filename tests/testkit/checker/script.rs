//! What a script expects of its turn.

use super::*;

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
