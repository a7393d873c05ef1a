//! One turn's hand on the journal: when to write, and what went wrong.

use super::writer::Written;
use super::{Claim, Journal};
use crate::store::StoreError;
use crate::turn::Snapshot;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Between two writes of text: four a second lose at most a line or two of an answer.
const PAUSE: Duration = Duration::from_millis(250);
/// A disk is written to for a tenth of the time at most: large answers are written less often.
const SHARE: u32 = 10;
/// After an error the disk gets this long before text is written again.
const AFTER_ERROR: Duration = Duration::from_secs(5);
/// How long a request waits for its own record. A sound disk takes some milliseconds.
const PATIENCE: Duration = Duration::from_millis(250);

/// The last error of a turn's journal, for its handle.
pub(in super::super) type ErrorSlot = Arc<Mutex<Option<StoreError>>>;

/// Writes one turn.
pub(in super::super) struct Pen {
    journal: Journal,
    /// Let go of when the turn is over.
    _claim: Claim,
    model: Arc<str>,
    keep_text: bool,
    first: bool,
    /// Something has happened since the last write.
    changed: bool,
    next: Instant,
    under_way: Option<oneshot::Receiver<Written>>,
    error: ErrorSlot,
}

/// A write that somebody waits for.
pub(in super::super) struct Recording {
    told: oneshot::Receiver<Written>,
    until: Instant,
    error: ErrorSlot,
}

impl Pen {
    pub(in super::super) fn new(
        journal: Journal,
        claim: Claim,
        model: &str,
        keep_text: bool,
        error: ErrorSlot,
    ) -> Self {
        Self {
            _claim: claim,
            model: model.into(),
            keep_text: keep_text && journal.inner.books.config.keep_text,
            first: true,
            changed: false,
            next: Instant::now(),
            under_way: None,
            error,
            journal,
        }
    }

    /// Something has happened that can wait a little.
    pub(in super::super) fn note(&mut self) {
        self.changed = true;
    }

    /// When text is to be written, if there is any.
    pub(in super::super) fn due(&self) -> Option<Instant> {
        self.changed.then_some(self.next)
    }

    /// The time of [`due`](Self::due) has come. `snapshot` is asked only if it is to be written.
    pub(in super::super) fn write(&mut self, snapshot: impl FnOnce() -> Option<Snapshot>) {
        self.next = Instant::now() + PAUSE;
        if let Some(told) = &mut self.under_way {
            match told.try_recv() {
                // The disk is slow: its next turn, then.
                Err(oneshot::error::TryRecvError::Empty) => return,
                Ok((Err(error), _)) => {
                    keep(&self.error, error);
                    self.next = Instant::now() + AFTER_ERROR;
                    self.under_way = None;
                    return;
                }
                Ok((Ok(()), took)) => self.next = Instant::now() + PAUSE.max(took * SHARE),
                Err(oneshot::error::TryRecvError::Closed) => {}
            }
            self.under_way = None;
        }
        self.changed = false;
        if let Some(snapshot) = snapshot() {
            self.under_way = Some(self.send(snapshot));
        }
    }

    /// Writes at once.
    pub(in super::super) fn write_now(&mut self, snapshot: Snapshot) -> Recording {
        self.changed = false;
        self.next = Instant::now() + PAUSE;
        let told = self.send(snapshot);
        Recording { told, until: Instant::now() + PATIENCE, error: self.error.clone() }
    }

    fn send(&mut self, snapshot: Snapshot) -> oneshot::Receiver<Written> {
        let first = std::mem::take(&mut self.first);
        let snapshot = if self.keep_text { snapshot } else { snapshot.without_text() };
        self.journal.inner.writer.write(&self.model, snapshot, first)
    }
}

impl Recording {
    /// Waits until it is written, has failed, or has taken too long: the turn goes on in any case.
    /// Safe to cancel.
    pub(in super::super) async fn done(&mut self) {
        tokio::select! {
            biased;
            written = &mut self.told => {
                if let Ok((Err(error), _)) = written {
                    keep(&self.error, error);
                }
            }
            () = tokio::time::sleep_until(self.until) => {
                let late = StoreError::Io("a write has not come to an end".to_owned());
                keep(&self.error, late);
            }
        }
    }
}

fn keep(slot: &ErrorSlot, error: StoreError) {
    slot.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
}
