//! The drop log: one line for each drop of a turn and what followed it, without a word of its text.
//!
//! An app stores these lines or sends them home; `rejoin advise` reads many and says where the
//! threshold of its gate should be. A line holds numbers and names of this library alone: no text,
//! no key, no words of the server. The turn's id, which an app may have chosen, is hashed.

use super::event::{AttemptReport, Cause, DecisionReport, Event, EventKind, UsageReport};
use super::gate::Strategy;
use super::units::AttemptNo;
use crate::effect::sha256_hex;
use serde::Serialize;

/// One drop, and what the next attempt made of it. Its JSON form is one line of the drop log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename = "drop")]
pub struct DropRecord {
    /// The version of this form.
    pub v: u32,
    /// A hash of the turn's id, so that the drops of one turn can be told to belong together.
    pub turn: String,
    /// The attempt that dropped.
    pub attempt: AttemptNo,
    /// What it was.
    pub strategy: Strategy,
    /// What happened.
    pub cause: Cause,
    /// The answer's status, where it was no success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// Output tokens of this attempt.
    pub received_tokens: u64,
    /// R: output tokens of all committed text of the turn, as the gate used it.
    pub committed_tokens: u64,
    /// True if they were measured, false if estimated.
    pub exact: bool,
    /// What the gate chose, and why.
    pub decision: DecisionReport,
    /// The pause before this attempt, in milliseconds.
    pub waited_ms: u64,
    /// From this attempt's start to its end, in milliseconds.
    pub took_ms: u64,
    /// What is known of its cost.
    pub usage: UsageReport,
    /// The attempt that followed; absent where none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<AttemptReport>,
}

impl DropRecord {
    /// The record as one line of JSON, without a line end.
    #[must_use]
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The drops of a turn that is over; none while it runs, for what follows a drop is part of its
/// record. `events` are all events of the turn, in order.
#[must_use]
pub fn drop_records(events: &[Event]) -> Vec<DropRecord> {
    let reports = match events.last().map(|event| &event.kind) {
        Some(EventKind::Completed(completed)) => &completed.attempts,
        Some(EventKind::Failed(failed)) => &failed.attempts,
        _ => return Vec::new(),
    };
    let report_of = |no: AttemptNo| reports.iter().find(|report| report.attempt == no);
    let record = |event: &Event| {
        let EventKind::Dropped(dropped) = &event.kind else { return None };
        let report = report_of(event.attempt)?;
        Some(DropRecord {
            v: 1,
            turn: hashed(&event.turn),
            attempt: report.attempt,
            strategy: report.strategy,
            cause: dropped.cause,
            http_status: dropped.http_status,
            received_tokens: dropped.received_tokens,
            committed_tokens: dropped.committed_tokens,
            exact: dropped.exact,
            decision: dropped.decision.clone(),
            waited_ms: report.waited_ms,
            took_ms: report.took_ms,
            usage: report.usage,
            next: report_of(event.attempt.next()).cloned(),
        })
    };
    events.iter().filter_map(record).collect()
}

/// Half of a SHA-256 is more than enough to tell turns apart.
fn hashed(turn: &str) -> String {
    let mut hex = sha256_hex(turn);
    hex.truncate(32);
    hex
}
