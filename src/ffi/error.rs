//! What a call across the border can fail with. Turns do not fail here: they end with an event.

use crate::client::{BuildError, RestoreError, StoreError};
use crate::effect::LedgerError;
use crate::turn::SnapshotError;

/// A call that could not be made. A turn that fails is no such error: its last event says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, uniffi::Error)]
pub enum CallError {
    /// What was passed cannot be used; nothing was sent.
    #[error("{details}")]
    InvalidArgument {
        /// What is wrong, and what would be right. Holds no key and no header's value.
        details: String,
    },
    /// A file of the journal or of the effect ledger cannot do what was asked; nothing was sent or
    /// begun.
    #[error("{details}")]
    Storage {
        /// What is wrong, to decide by.
        problem: StorageProblem,
        /// What happened, for people.
        details: String,
    },
    /// A bug of this library, or a platform that refuses threads or sockets.
    #[error("{details}")]
    Internal {
        /// What happened.
        details: String,
    },
}

/// What is wrong with a journal or a ledger, or with what was asked of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, uniffi::Enum)]
pub enum StorageProblem {
    /// Another process, or another opening in this one, has it open.
    Locked,
    /// Another version of the library wrote it.
    OtherVersion,
    /// It is not what was written.
    Damaged,
    /// There is no room: nothing was recorded.
    Full,
    /// Reading or writing failed: nothing was recorded.
    Io,
    /// The client has no journal.
    NoJournal,
    /// The journal has no such turn, or no longer.
    UnknownTurn,
    /// The turn runs in this process.
    TurnRuns,
    /// The text was kept out of the journal: pass the request again.
    RequestNeeded,
    /// The request is not the one that the turn began with.
    AnotherRequest,
    /// The turn is over, and its text was kept out of the journal.
    TextNotKept,
    /// The effect was not begun.
    NotBegun,
    /// The effect is done, or another task runs it.
    NotUnknown,
}

impl CallError {
    pub(super) fn invalid(details: impl Into<String>) -> Self {
        Self::InvalidArgument { details: details.into() }
    }
}

impl From<BuildError> for CallError {
    fn from(error: BuildError) -> Self {
        let details = error.to_string();
        match error {
            BuildError::Platform(_) => Self::Internal { details },
            BuildError::TurnRuns(_) => Self::Storage { problem: StorageProblem::TurnRuns, details },
            _ => Self::InvalidArgument { details },
        }
    }
}

impl From<&StoreError> for StorageProblem {
    fn from(error: &StoreError) -> Self {
        match error {
            StoreError::Locked(_) => Self::Locked,
            StoreError::Version { .. } => Self::OtherVersion,
            StoreError::Damaged(_) => Self::Damaged,
            StoreError::Full(_) => Self::Full,
            StoreError::Io(_) => Self::Io,
        }
    }
}

impl From<StoreError> for CallError {
    fn from(error: StoreError) -> Self {
        Self::Storage { problem: (&error).into(), details: error.to_string() }
    }
}

impl From<LedgerError> for CallError {
    fn from(error: LedgerError) -> Self {
        let problem = match &error {
            LedgerError::Store(error) => error.into(),
            LedgerError::NotBegun(_) => StorageProblem::NotBegun,
            LedgerError::NotUnknown(_) => StorageProblem::NotUnknown,
        };
        Self::Storage { problem, details: error.to_string() }
    }
}

impl From<RestoreError> for CallError {
    fn from(error: RestoreError) -> Self {
        let details = error.to_string();
        let problem = match error {
            RestoreError::NoJournal => StorageProblem::NoJournal,
            RestoreError::UnknownTurn(_) => StorageProblem::UnknownTurn,
            RestoreError::Running(_) => StorageProblem::TurnRuns,
            RestoreError::Snapshot(error) => match error {
                SnapshotError::Damaged(_) => StorageProblem::Damaged,
                SnapshotError::Version { .. } => StorageProblem::OtherVersion,
                SnapshotError::RequestNeeded => StorageProblem::RequestNeeded,
                SnapshotError::AnotherRequest => StorageProblem::AnotherRequest,
                SnapshotError::TextNotKept { .. } => StorageProblem::TextNotKept,
            },
            RestoreError::Journal(error) => (&error).into(),
            RestoreError::Start(error) => return error.into(),
        };
        Self::Storage { problem, details }
    }
}

/// What a header provider fails with. The attempt counts as not sent, and is tried again by the
/// policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, uniffi::Error)]
pub enum HeaderError {
    /// No headers can be had right now.
    #[error("{details}")]
    Unavailable {
        /// Why, for people. It appears in the `dropped` event: put no secret into it.
        details: String,
    },
}

impl From<uniffi::UnexpectedUniFFICallbackError> for HeaderError {
    fn from(error: uniffi::UnexpectedUniFFICallbackError) -> Self {
        Self::Unavailable { details: error.reason }
    }
}
