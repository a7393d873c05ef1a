//! The last event and what is left on the screen, against the script.

use serde_json::Value;

use super::turn::{Turn, kind};
use super::{check_field, json_contains, same};
use crate::testkit::expect::{EffectKeys, Expect, ExpectTool};

pub(super) fn check(expect: &Expect, turn: &Turn<'_>, wrong: &mut Vec<String>) {
    screen(expect, turn, wrong);
    let nothing = Value::Null;
    let end = turn.ending.unwrap_or(&nothing);
    if let Some(want) = expect.end
        && kind(end) != want.as_str()
    {
        let why = if kind(end) == "failed" { end["error"].to_string() } else { String::new() };
        wrong.push(format!("the turn ends as `{}`, not `{}` {why}", kind(end), want.as_str()));
    }
    if let Some(finish) = &expect.finish {
        check_field("finish", "class", &end["finish"], finish.class.as_ref(), wrong);
        check_field("finish", "reason", &end["finish"], finish.reason.as_ref(), wrong);
    }
    if let Some(error) = &expect.error {
        let found = &end["error"];
        check_field("error", "kind", found, error.kind.as_ref(), wrong);
        check_field("error", "reason", found, error.reason.as_ref(), wrong);
        check_field("error", "http_status", found, error.http_status.as_ref(), wrong);
        let json = found.to_string();
        for needle in error.details_contain.iter().filter(|n| !json_contains(&json, n)) {
            wrong.push(format!("error: {needle:?} is not in {json}"));
        }
    }
    check_field("end", "text", end, expect.text.as_ref(), wrong);
    check_field("end", "partial_text", end, expect.partial_text.as_ref(), wrong);
    history(expect, &end["history"], wrong);
    tools(expect, &end["tool_calls"], wrong);
}

/// What was shown, and what is left of it.
fn screen(expect: &Expect, turn: &Turn<'_>, wrong: &mut Vec<String>) {
    for needle in &expect.never {
        if let Some(shown) = turn.shown.iter().find(|shown| shown.contains(needle)) {
            wrong.push(format!("{needle:?} was shown, in {shown:?}"));
        }
    }
    if let Some(want) = &expect.thoughts
        && *want != turn.thoughts
    {
        wrong.push(format!("the thoughts left are {:?}, not {want:?}", turn.thoughts));
    }
    if let Some(want) = expect.parts
        && want != turn.parts
    {
        wrong.push(format!("{} `part` events are left, not {want}", turn.parts));
    }
    let Some(resets) = &expect.resets else { return };
    if resets.len() != turn.resets.len() {
        let kept: Vec<&String> = turn.resets.iter().map(|(_, kept)| kept).collect();
        wrong.push(format!("there are {} resets, not {}: {kept:?}", kept.len(), resets.len()));
    }
    for (index, (want, (event, kept))) in resets.iter().zip(&turn.resets).enumerate() {
        let what = format!("reset {}", index + 1);
        check_field(&what, "attempt", event, want.attempt.as_ref(), wrong);
        check_field(&what, "reason", event, want.reason.as_ref(), wrong);
        if let Some(keep) = &want.keep
            && keep.trim_end() != kept.trim_end()
        {
            wrong.push(format!("{what} keeps {kept:?}, not {keep:?}"));
        }
    }
}

fn history(expect: &Expect, history: &Value, wrong: &mut Vec<String>) {
    let Some(want) = &expect.history else { return };
    if let Some(parts) = &want.parts {
        let found = &history[0]["parts"];
        if !same(found, &Value::Array(parts.clone())) {
            wrong.push(format!("the history's parts are {found}, not {parts:?}"));
        }
    }
    let json = history.to_string();
    for needle in want.lacks.iter().filter(|needle| json_contains(&json, needle)) {
        wrong.push(format!("the history has {needle:?}: {json}"));
    }
}

fn tools(expect: &Expect, calls: &Value, wrong: &mut Vec<String>) {
    let calls = calls.as_array().map_or(&[][..], Vec::as_slice);
    if let Some(want) = &expect.tools {
        if want.len() != calls.len() {
            wrong.push(format!("{} calls are handed out, not {}", calls.len(), want.len()));
        }
        for (index, (want, call)) in want.iter().zip(calls).enumerate() {
            tool(&format!("call {}", index + 1), want, call, wrong);
        }
    }
    if expect.effect_keys == Some(EffectKeys::Distinct) {
        let mut keys: Vec<&str> =
            calls.iter().map(|call| call["effect_key"].as_str().unwrap_or_default()).collect();
        if keys.iter().any(|key| key.is_empty()) {
            wrong.push("a call has no effect key".into());
        }
        keys.sort_unstable();
        keys.dedup();
        if keys.len() != calls.len() {
            wrong.push("two calls share an effect key".into());
        }
    }
}

fn tool(what: &str, want: &ExpectTool, call: &Value, wrong: &mut Vec<String>) {
    check_field(what, "name", call, Some(&want.name), wrong);
    check_field(what, "ordinal", call, want.ordinal.as_ref(), wrong);
    check_field(what, "provider_id", call, want.provider_id.as_ref(), wrong);
    if let Some(args) = &want.args
        && !same(args, &call["args"])
    {
        wrong.push(format!("{what}: `args` are {}, not {args}", call["args"]));
    }
}
