//! What a call across the border can fail with. Turns do not fail here: they end with an event.

use crate::client::BuildError;

/// A call that could not be made. A turn that fails is no such error: its last event says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, uniffi::Error)]
pub enum CallError {
    /// What was passed cannot be used; nothing was sent.
    #[error("{details}")]
    InvalidArgument {
        /// What is wrong, and what would be right. Holds no key and no header's value.
        details: String,
    },
    /// A bug of this library, or a platform that refuses threads or sockets.
    #[error("{details}")]
    Internal {
        /// What happened.
        details: String,
    },
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
            _ => Self::InvalidArgument { details },
        }
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
