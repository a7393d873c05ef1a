//! What holds in every turn, whatever its script says.

use super::*;

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
