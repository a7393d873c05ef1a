//! A turn: one answer the user waits for, through as many attempts as it takes. Pure.
//!
//! Inputs go in (bytes, ends, time, signals), actions come out (send, abort, emit); nothing here
//! does I/O, reads a clock or spawns. Imports `text`, `gemini` and `effect`, which know nothing of
//! it or of each other.
//!
//! - [`machine`](Turn): the state machine; `io`: what goes in and comes out
//! - `retry`: from a broken attempt to the next one, or to the end of the turn
//! - `lifecycle`: what the device says of its network, of suspension and of sleep
//! - `gate`: the rule that picks the next strategy
//! - `attempt`, `ending`: one request's bytes, and whether they were whole
//! - `spend`: what a turn has cost and may cost
//! - `drop_log`: what a turn's drops were and cost, for the app's statistics
//! - `answer`, `calls`: what is on the screen, what waits, what the history will hold
//! - `snapshot`, `restore`: a turn as data, and how another process goes on with it

mod answer;
mod attempt;
mod backoff;
mod billing;
mod calls;
mod chance;
mod continuation;
mod drop_log;
mod ending;
mod event;
mod gate;
mod io;
mod lifecycle;
mod machine;
mod policy;
mod restore;
mod retry;
mod snapshot;
mod spend;
mod units;

pub use attempt::Endpoint;
#[cfg(feature = "cli")]
pub(crate) use chance::Chance;
pub use drop_log::{DropRecord, drop_records};
pub use ending::BodyEnd;
pub use event::{
    AttemptReport, Billing, Cause, Completed, DecisionReport, Dropped, ErrorKind, Event, EventKind,
    Failed, Finish, Outcome, Reset, ResetReason, ToolCall, TurnError, UsageReport, WaitReason,
};
pub use gate::{Base, Decision, Evidence, Reason, Strategy, decide};
pub use io::{Action, Input, Outgoing, Signal, TurnSetup};
pub(crate) use machine::SHORTEST_SECRET;
pub use machine::Turn;
pub use policy::{Policy, PolicyError};
pub use restore::Restore;
pub use snapshot::{Snapshot, SnapshotError};
pub use spend::{Budget, Spend};
pub use units::{AttemptNo, Json, Tokens, Utf16Len};
