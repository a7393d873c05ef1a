//! The app's end of a running turn.

use super::journal::ErrorSlot;
use super::log::{Batch, EventLog};
use super::screen::Screen;
use crate::turn::{DropRecord, Event, Signal, drop_records};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// What a handle tells its driver.
#[derive(Debug)]
pub(super) enum Command {
    Cancel,
    Signal(Signal),
    /// Write the turn down, and say when that is done.
    Flush(oneshot::Sender<()>),
}

/// A running turn. Dropping it cancels the turn and closes its connection.
#[derive(Debug)]
pub struct TurnHandle {
    pub(super) turn_id: Arc<str>,
    pub(super) log: EventLog,
    pub(super) commands: UnboundedSender<Command>,
    #[cfg_attr(not(feature = "journal"), allow(dead_code))]
    pub(super) journal_error: ErrorSlot,
}

impl TurnHandle {
    /// The turn's id.
    #[must_use]
    pub fn turn_id(&self) -> &str {
        &self.turn_id
    }

    /// The next events after `cursor` (0 for the first ones), at most `max` of them. Waits until
    /// there is one or the turn is over. Reading consumes nothing: the same cursor gives the same
    /// events again, and a cancelled read loses none.
    pub async fn events_after(&self, cursor: u64, max: usize) -> Batch {
        self.log.events_after(cursor, max).await
    }

    /// The events after `cursor` that are there already. Never waits.
    #[must_use]
    pub fn events_so_far(&self, cursor: u64, max: usize) -> Batch {
        self.log.read(cursor, max)
    }

    /// Waits for the last event: `completed` or `failed`. `None` only if the library itself broke.
    pub async fn last_event(&self) -> Option<Event> {
        let mut cursor = 0;
        loop {
            let batch = self.log.events_after(cursor, usize::MAX).await;
            if batch.finished {
                return batch.events.last().cloned();
            }
            cursor = batch.next_cursor;
        }
    }

    /// Waits until the turn is over. Wakes once, not with each event.
    pub async fn until_over(&self) {
        self.log.until_over().await;
    }

    /// What a screen that applied all events so far shows. Costs a copy of the answer.
    #[must_use]
    pub fn screen(&self) -> Screen {
        self.log.screen()
    }

    /// What the turn's drops were, and what followed each: for the app's statistics and
    /// `rejoin advise`. Empty while the turn runs.
    #[must_use]
    pub fn drop_log(&self) -> Vec<DropRecord> {
        drop_records(&self.log.read(0, usize::MAX).events)
    }

    /// The turn's inputs as a text that `rejoin replay` plays again, if the request asked for a
    /// recording; `None` while the turn runs.
    #[must_use]
    pub fn recording(&self) -> Option<Arc<str>> {
        self.log.recording()
    }

    /// Cancels the turn: its connection is closed, `failed` with kind `cancelled` is its last
    /// event, and no request follows. Returns at once; does nothing if the turn is over.
    pub fn cancel(&self) {
        self.send(Command::Cancel);
    }

    /// Passes on what the device says of its network and of its sleep.
    pub fn signal(&self, signal: Signal) {
        self.send(Command::Signal(signal));
    }

    /// Says that the app will be suspended, and waits until the turn is written down, if it has a
    /// journal: 250 ms at most. Cancelling the wait cancels nothing else.
    pub async fn will_suspend(&self) {
        self.signal(Signal::WillSuspend);
        let (tell, told) = oneshot::channel();
        self.send(Command::Flush(tell));
        // An error is a turn that is over: it was written at its end.
        let _ = told.await;
    }

    /// The first thing that went wrong with this turn's journal. The turn goes on all the same, and
    /// may not be restored.
    #[cfg(feature = "journal")]
    #[must_use]
    pub fn journal_error(&self) -> Option<crate::store::StoreError> {
        self.journal_error.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    fn send(&self, command: Command) {
        // The driver is gone only when the turn is over: nothing is left to be told.
        let _ = self.commands.send(command);
    }
}

impl Drop for TurnHandle {
    fn drop(&mut self) {
        self.cancel();
    }
}
