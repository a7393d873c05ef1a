//! The turn object: read with a cursor, cancel, signal, snapshot.

use super::convert::{int, long};
use super::error::CallError;
use super::event::{ResetReason, Strategy, TurnEvent};
use super::guard::{guard, guard_async};
use crate::client::{Batch, TurnHandle};
use crate::turn as core;
use std::collections::HashSet;

/// Some events of a turn.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct EventBatch {
    /// The events after the cursor, in order.
    pub events: Vec<TurnEvent>,
    /// The cursor for the next read.
    pub next_cursor: i64,
    /// True if no event will ever follow these.
    pub finished: bool,
}

/// What the device says of its network, and of its sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, uniffi::Enum)]
pub enum Signal {
    /// There is no network: retries park.
    NetworkLost,
    /// There is a network again: parked retries go on.
    NetworkAvailable,
    /// Another network took over: sockets of the old one are dead.
    NetworkChanged,
    /// The app will be suspended: retries park. `will_suspend` also waits for the journal.
    WillSuspend,
    /// The app runs again: a connection that was away for too long, or silent, is abandoned, and
    /// parked retries go on.
    Resumed,
}

impl From<Signal> for core::Signal {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::NetworkLost => Self::NetworkLost,
            Signal::NetworkAvailable => Self::NetworkAvailable,
            Signal::NetworkChanged => Self::NetworkChanged,
            Signal::WillSuspend => Self::WillSuspend,
            Signal::Resumed => Self::Resumed,
        }
    }
}

/// What a screen of this turn shows right now, so that a late subscriber needs no replay.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct Snapshot {
    /// The turn's id.
    pub turn: String,
    /// Stands behind the last event that this state includes: read on from here.
    pub cursor: i64,
    /// The running or last attempt, from 1; 0 before the first event.
    pub attempt: i32,
    /// What that attempt is.
    pub strategy: Option<Strategy>,
    /// The answer so far.
    pub text: String,
    /// The thinking summary so far.
    pub thoughts: String,
    /// Names of the tools seen, in order.
    pub tools_seen: Vec<String>,
    /// Other parts so far, each a JSON object.
    pub parts: Vec<String>,
    /// The last reset, if there was one.
    pub last_reset: Option<SnapshotReset>,
    /// What happened last.
    pub last_event: Option<TurnEvent>,
    /// True if the turn is over: `last_event` says how.
    pub finished: bool,
}

/// The last reset of a turn.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct SnapshotReset {
    /// The attempt it began.
    pub attempt: i32,
    /// How much of the answer stayed, in UTF-16 code units.
    pub keep_utf16: i64,
    /// What led to it.
    pub reason: ResetReason,
}

/// A running turn. When nobody holds it any more it is cancelled and its connection closed. Safe
/// to use from any thread.
#[derive(Debug, uniffi::Object)]
pub struct NativeTurn {
    handle: TurnHandle,
    read_only: HashSet<String>,
}

impl NativeTurn {
    pub(super) fn new(handle: TurnHandle, read_only: HashSet<String>) -> Self {
        Self { handle, read_only }
    }

    fn batch(&self, batch: &Batch) -> Result<EventBatch, CallError> {
        Ok(EventBatch {
            events: batch.events.iter().map(|e| TurnEvent::of(e, &self.read_only)).collect(),
            next_cursor: long(batch.next_cursor),
            finished: batch.finished,
        })
    }
}

/// A cursor or count from the other side: a negative one is the smallest.
fn at_least_zero(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn most(max: i32) -> usize {
    usize::try_from(max).unwrap_or(0)
}

#[uniffi::export]
impl NativeTurn {
    /// The turn's id.
    pub fn turn_id(&self) -> Result<String, CallError> {
        guard(|| Ok(self.handle.turn_id().to_owned()))
    }

    /// The next events after `cursor` (0 for the first ones), at most `max`. Waits until there is
    /// one or the turn is over. Reading consumes nothing: the same cursor gives the same events
    /// again, and a cancelled read loses none.
    pub async fn events_after(&self, cursor: i64, max: i32) -> Result<EventBatch, CallError> {
        guard_async(async {
            let batch = self.handle.events_after(at_least_zero(cursor), most(max)).await;
            self.batch(&batch)
        })
        .await
    }

    /// The events after `cursor` that are there already. Never waits.
    pub fn events_so_far(&self, cursor: i64, max: i32) -> Result<EventBatch, CallError> {
        guard(|| self.batch(&self.handle.events_so_far(at_least_zero(cursor), most(max))))
    }

    /// Waits until the turn is over. Wakes once, so that a paced reader can wait for its next
    /// frame without making the last event late.
    pub async fn until_over(&self) -> Result<(), CallError> {
        guard_async(async {
            self.handle.until_over().await;
            Ok(())
        })
        .await
    }

    /// Cancels the turn: its connection is closed, `Failed` with `Cancelled` is its last event, a
    /// pending read completes, no request follows. Returns at once; does nothing if the turn is
    /// over.
    pub fn cancel(&self) -> Result<(), CallError> {
        guard(|| {
            self.handle.cancel();
            Ok(())
        })
    }

    /// Passes on what the device says. Several signals within a second make one attempt. Returns
    /// at once.
    pub fn signal(&self, signal: Signal) -> Result<(), CallError> {
        guard(|| {
            self.handle.signal(signal.into());
            Ok(())
        })
    }

    /// The turn's drops and what followed each, a line of JSON each: for the app's statistics and
    /// `rejoin advise`. No text and no key is in them. Empty while the turn runs.
    pub fn drop_log(&self) -> Result<Vec<String>, CallError> {
        guard(|| Ok(self.handle.drop_log().iter().map(core::DropRecord::to_line).collect()))
    }

    /// The turn's inputs as a text that `rejoin replay` plays again, if the request asked for a
    /// recording. Absent while the turn runs.
    pub fn recording(&self) -> Result<Option<String>, CallError> {
        guard(|| Ok(self.handle.recording().map(|text| text.to_string())))
    }

    /// As the signal `NetworkChanged`, with what is known of the new network: it is told in the
    /// `detail` of what it breaks. Returns at once.
    pub fn network_changed(&self, metered: bool) -> Result<(), CallError> {
        guard(|| {
            self.handle.signal(core::Signal::NetworkChangedTo { metered });
            Ok(())
        })
    }

    /// As the signal `WillSuspend`; then waits until the turn is in the journal, if it has one, for
    /// 250 ms at most.
    pub async fn will_suspend(&self) -> Result<(), CallError> {
        guard_async(async {
            self.handle.will_suspend().await;
            Ok(())
        })
        .await
    }

    /// The first thing that went wrong with this turn's journal. The turn goes on all the same, and
    /// perhaps cannot be restored.
    pub fn journal_problem(&self) -> Result<Option<String>, CallError> {
        guard(|| Ok(self.handle.journal_error().map(|error| error.to_string())))
    }

    /// What a screen of this turn shows right now. Costs a copy of the answer.
    pub fn snapshot(&self) -> Result<Snapshot, CallError> {
        guard(|| {
            let screen = self.handle.screen();
            Ok(Snapshot {
                turn: self.handle.turn_id().to_owned(),
                cursor: long(screen.cursor),
                attempt: int(screen.attempt),
                strategy: screen.strategy.map(Into::into),
                text: screen.text,
                thoughts: screen.thoughts,
                tools_seen: screen.tools_seen,
                parts: screen.parts,
                last_reset: screen.last_reset.map(|(attempt, reset)| SnapshotReset {
                    attempt: int(attempt.0),
                    keep_utf16: long(reset.keep_utf16.0),
                    reason: reset.reason.into(),
                }),
                last_event: screen.last_event.map(|e| TurnEvent::of(&e, &self.read_only)),
                finished: screen.finished,
            })
        })
    }
}
