//! How the command ends.

use std::process::ExitCode;

/// An exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The turn completed.
    Completed,
    /// Wrong usage: nothing was sent.
    Usage,
    /// The turn failed.
    Failed,
    /// The turn was cancelled.
    Cancelled,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Completed => 0,
            Exit::Usage => 2,
            Exit::Failed => 3,
            Exit::Cancelled => 130,
        })
    }
}
