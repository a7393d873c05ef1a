//! Judges a client by a script: its events, the requests the server saw, the time it took.
//!
//! Every rule here is read off the documents of events and scripts, none off the client. What
//! holds of every turn is in `invariants`; the rest is only checked where the script says so.

mod attempts;
mod ending;
mod invariants;
mod requests;
mod turn;

use std::time::Duration;

use serde_json::Value;

use super::log::RequestRecord;
use super::script::Script;
use turn::Turn;

/// All that is wrong, a sentence each; nothing if the client did right.
///
/// `events` are the turn's events as JSON, in order; `requests` the server's records, best taken
/// after [`FlakyServer::settled`](super::FlakyServer::settled); `took` the time from the start of
/// the turn to its last event. Effect keys of other scripts are [`effect_key_violations`].
#[must_use]
pub fn violations(
    script: &Script,
    events: &[Value],
    requests: &[RequestRecord],
    took: Duration,
) -> Vec<String> {
    let expect = &script.expect;
    let turn = Turn::replay(events);
    let mut wrong = Vec::new();
    invariants::check(script, events, &turn, requests, &mut wrong);
    ending::check(expect, &turn, &mut wrong);
    attempts::check(expect, &turn, &mut wrong);
    requests::check(script, requests, &mut wrong);
    if let Some(max) = expect.max_ms
        && took > Duration::from_millis(max)
    {
        wrong.push(format!("the turn took {} ms, at most {max} allowed", took.as_millis()));
    }
    wrong
}

/// The effect keys of the calls that were handed out, in order.
#[must_use]
pub fn effect_keys(events: &[Value]) -> Vec<String> {
    let calls = events.last().and_then(|event| event["tool_calls"].as_array());
    let key = |call: &Value| call["effect_key"].as_str().unwrap_or_default().to_owned();
    calls.map(|calls| calls.iter().map(key).collect()).unwrap_or_default()
}

/// Compares a script's effect keys with those of the scripts it names. `keys_of` plays another
/// script, by its name, and returns its [`effect_keys`].
pub fn effect_key_violations(
    script: &Script,
    own: &[String],
    mut keys_of: impl FnMut(&str) -> Option<Vec<String>>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |name: &Option<String>, rule: &dyn Fn(&str, &[String]) -> Option<String>| {
        let Some(name) = name else { return };
        wrong.extend(match keys_of(name) {
            Some(other) => rule(name, &other),
            None => Some(format!("`{name}`, whose effect keys are compared, cannot be played")),
        });
    };
    if own.is_empty() || own.iter().any(String::is_empty) {
        let nothing = |name: &str, _: &[String]| {
            Some(format!("there is no effect key to compare with those of `{name}`"))
        };
        compare(&script.expect.same_effect_keys_as, &nothing);
        compare(&script.expect.other_effect_keys_than, &nothing);
        return wrong;
    }
    compare(&script.expect.same_effect_keys_as, &|name, other| {
        (own != other).then(|| format!("effect keys {own:?} are not those of `{name}`, {other:?}"))
    });
    compare(&script.expect.other_effect_keys_than, &|name, other| {
        let shared = own.iter().find(|key| other.contains(key))?;
        Some(format!("effect key {shared} is one of `{name}` as well"))
    });
    wrong
}

/// Equality of JSON, numbers by value: 2 and 2.0 are one number.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Whether `needle` is in `json`, as it is or as it would be spelled inside a JSON string.
fn json_contains(json: &str, needle: &str) -> bool {
    let spelled = Value::from(needle).to_string();
    json.contains(needle) || json.contains(&spelled[1..spelled.len() - 1])
}

/// Checks one field of an object against a value the script may give.
fn check_field<T: Clone + Into<Value>>(
    what: &str,
    field: &str,
    of: &Value,
    want: Option<&T>,
    wrong: &mut Vec<String>,
) {
    let Some(want) = want.cloned().map(Into::into) else { return };
    let found = &of[field];
    if !same(&want, found) {
        wrong.push(format!("{what}: `{field}` is {found}, not {want}"));
    }
}
