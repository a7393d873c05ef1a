//! Turns of a process that is gone.

use super::builder::{BuildError, Client};
use super::handle::TurnHandle;
use super::journal::{Hand, Journal, Loaded};
use super::request::TurnRequest;
use crate::store::StoreError;
use crate::turn::{Restore, SnapshotError, Spend, Turn};

/// A turn that cannot be restored. Nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The client was built without a journal.
    #[error("the client has no journal")]
    NoJournal,
    /// The journal does not know this turn, or no longer.
    #[error("the journal has no turn {0:?}")]
    UnknownTurn(String),
    /// The turn runs in this process: use its handle.
    #[error("the turn {0:?} runs already")]
    Running(String),
    /// What is known of it cannot be gone on with.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The journal cannot be read.
    #[error("the journal: {0}")]
    Journal(#[from] StoreError),
    /// The client cannot start it.
    #[error(transparent)]
    Start(#[from] BuildError),
}

impl Client {
    /// Goes on with a turn that another process began. Its log begins anew: what was there is shown
    /// at once, then a `dropped` with cause `suspended` and what the gate decides, as after any
    /// drop. Attempts, drops and spend of before count. A turn that was over tells its end again,
    /// and nothing is sent.
    ///
    /// The request goes to this client's server, with its headers; policy and tools are the turn's
    /// own. Reads the journal, which takes some milliseconds.
    ///
    /// # Errors
    /// [`RestoreError`]; nothing is sent.
    pub fn restore(&self, turn_id: &str) -> Result<TurnHandle, RestoreError> {
        self.restore_with(turn_id, None)
    }

    /// The same for a journal that keeps no text: the request has to be the one the turn began with.
    /// Only its body counts.
    ///
    /// # Errors
    /// [`RestoreError`]; [`SnapshotError::AnotherRequest`] if it differs.
    pub fn restore_with_request(
        &self,
        turn_id: &str,
        request: &TurnRequest,
    ) -> Result<TurnHandle, RestoreError> {
        self.restore_with(turn_id, Some(&request.body))
    }

    /// The journal that the client was built with.
    #[must_use]
    pub fn journal(&self) -> Option<&Journal> {
        self.shared.journal.as_ref()
    }

    fn restore_with(&self, turn_id: &str, body: Option<&str>) -> Result<TurnHandle, RestoreError> {
        let journal = self.journal().ok_or(RestoreError::NoJournal)?;
        let claim = journal.claim(turn_id);
        let claim = claim.ok_or_else(|| RestoreError::Running(turn_id.to_owned()))?;
        let unknown = || RestoreError::UnknownTurn(turn_id.to_owned());
        let Loaded { model, away, snapshot } = journal.load(turn_id)?.ok_or_else(unknown)?;
        let mut snapshot = snapshot?;
        if let Some(body) = body {
            snapshot = snapshot.with_body(body)?;
        }
        // What is over is not written again: it would never grow old.
        let hand = if snapshot.is_over() {
            Hand::default()
        } else {
            Hand::new(journal, claim, &model, snapshot.keeps_text())
        };
        let budget = self.shared.purse.left_for(&Spend::default()).unwrap_or_default();
        let secrets = self.shared.secrets.clone();
        let turn = Turn::restore(Restore { snapshot, budget, secrets, away })?;
        Ok(self.drive(turn, None, turn_id.to_owned(), model, hand)?)
    }
}
