//! The surface that Kotlin and Swift see, through UniFFI (feature `ffi`).
//!
//! Thin: records that mirror the core's types, and calls that hand over to [`crate::client`]. No
//! decision is made here. What breaks in UniFFI and how it is avoided:
//!
//! - Events are **pulled with a cursor**; reading consumes nothing, so a cancelled coroutine loses
//!   none. There is no listener, and no object inside an event.
//! - Every call returns a `Result`, and a panic becomes [`CallError::Internal`]: [`guard`].
//! - Async calls await only `tokio::sync`; whoever polls them, all work is on our own runtime.
//! - Numbers are signed: Kotlin's `ULong` and Swift's `UInt64` need a conversion at every use.
//! - A record's fields hold JSON as text, exactly as received, where Rejoin does not look inside.

// UniFFI hands over owned values, and every call returns a `Result`, also where none can fail yet.
#![allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps)]

mod client;
mod convert;
mod error;
mod event;
mod event_of;
mod guard;
mod helpers;
mod journal;
mod ledger;
mod policy;
mod request;
mod spend;
mod turn;

pub use client::{ClientSettings, HeaderProvider, NativeClient};
pub use error::{CallError, HeaderError, StorageProblem};
pub use event::{
    Answer, AttemptReport, Billing, Cause, Decision, ErrorKind, EventKind, Failure, Finish,
    FinishClass, Outcome, Reason, ResetReason, SeamKind, Strategy, ToolCall, TurnEvent, Usage,
    WaitReason,
};
pub use helpers::{
    CommittedText, Evidence, committed_text, decide, default_policy, effect_key, estimate_tokens,
};
pub use journal::{JournalConfig, JournaledTurn};
pub use ledger::{EffectState, NativeLedger, set_ledger_aside};
pub use policy::Policy;
pub use request::{Recording, Tool, TurnRequest};
pub use spend::{Budget, Spend};
pub use turn::{EventBatch, NativeTurn, Signal, Snapshot, SnapshotReset};
