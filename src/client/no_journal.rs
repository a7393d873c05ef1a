//! Stands in for the journal where it is not built in: there is never a pen to write with.

use crate::turn::Snapshot;
use tokio::time::Instant;

pub(super) enum Pen {}

pub(super) struct Recording;

#[derive(Debug, Clone, Default)]
pub(super) struct ErrorSlot;

#[derive(Default)]
pub(super) struct Hand {
    pub pen: Option<Pen>,
    pub error: ErrorSlot,
}

impl Pen {
    pub(super) fn note(&mut self) {
        match *self {}
    }

    pub(super) fn due(&self) -> Option<Instant> {
        match *self {}
    }

    pub(super) fn write(&mut self, _: impl FnOnce() -> Option<Snapshot>) {
        match *self {}
    }

    pub(super) fn write_now(&mut self, _: Snapshot) -> Recording {
        match *self {}
    }
}

impl Recording {
    /// Nothing is ever waited for.
    #[allow(clippy::unused_async)] // As the journal's own.
    pub(super) async fn done(&mut self) {}
}
