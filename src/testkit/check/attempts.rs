//! The attempts that the last event lists, against the script.

use serde_json::Value;

use super::turn::Turn;
use super::{check_field, same};
use crate::testkit::expect::{AttemptFields, Expect, ExpectAttempt};

pub(super) fn check(expect: &Expect, turn: &Turn<'_>, wrong: &mut Vec<String>) {
    let Some(entries) = &expect.attempts else { return };
    let found = turn.attempts();
    let fixed = entries.iter().filter(|entry| **entry != ExpectAttempt::More).count();
    let has_more = fixed < entries.len();
    if found.len() < fixed || (found.len() > fixed && !has_more) {
        let told: Vec<String> = found.iter().map(told).collect();
        wrong.push(format!("there are {} attempts, not {fixed}: {told:?}", found.len()));
        return;
    }
    let mut rest = found.iter().enumerate();
    let mut before = None;
    for entry in entries {
        match entry {
            ExpectAttempt::One(fields) => {
                before = Some(fields);
                rest.by_ref().take(1).for_each(|(i, found)| one(i, fields, found, turn, wrong));
            }
            ExpectAttempt::More => {
                let Some(fields) = before else { continue };
                // Only one attempt of a turn is `initial`: a repetition is whatever was decided.
                let mut like = fields.clone();
                like.strategy = like.strategy.filter(|strategy| strategy != "initial");
                let extra = found.len() - fixed;
                rest.by_ref().take(extra).for_each(|(i, found)| one(i, &like, found, turn, wrong));
            }
        }
    }
}

/// An attempt in short, for a message.
fn told(attempt: &Value) -> String {
    let word = |field: &str| attempt[field].as_str().unwrap_or("-").to_owned();
    format!("{} {} {}", word("strategy"), word("outcome"), word("cause"))
}

fn one(
    index: usize,
    want: &AttemptFields,
    found: &Value,
    turn: &Turn<'_>,
    wrong: &mut Vec<String>,
) {
    let number = index as u64 + 1;
    let what = format!("attempt {number}");
    check_field(&what, "strategy", found, want.strategy.as_ref(), wrong);
    check_field(&what, "outcome", found, want.outcome.as_ref(), wrong);
    check_field(&what, "cause", found, want.cause.as_ref(), wrong);
    check_field(&what, "http_status", found, want.http_status.as_ref(), wrong);
    check_field(&what, "billing", &found["usage"], want.billing.as_ref(), wrong);
    for (field, value) in &want.usage {
        let usage = &found["usage"][field.as_str()];
        if !same(usage, value) {
            wrong.push(format!("{what}: usage `{field}` is {usage}, not {value}"));
        }
    }
    if want.reasons.is_empty() {
        return;
    }
    let Some(dropped) = turn.dropped_of(number) else {
        wrong.push(format!("{what} has no `dropped` whose reasons could be {:?}", want.reasons));
        return;
    };
    let reasons = &dropped["decision"]["reasons"];
    for reason in &want.reasons {
        let named = reasons.as_array().is_some_and(|all| all.iter().any(|one| one == reason));
        if !named {
            wrong.push(format!("{what}: `{reason}` is not among the reasons {reasons}"));
        }
    }
}
