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

/// Why the command stops before its end.
#[derive(Debug)]
pub enum Stop {
    /// Wrong usage, with a line that says what is wrong.
    Usage(String),
    /// Nobody reads on.
    Unread(std::io::Error),
}

impl From<String> for Stop {
    fn from(what: String) -> Self {
        Self::Usage(what)
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Unread(error)
    }
}

impl From<Stop> for Exit {
    /// Tells the user, if there is anything to tell.
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Usage(what) => {
                eprintln!("rejoin: {what}");
                Self::Usage
            }
            // `rejoin ... | head` is no mistake that needs words.
            Stop::Unread(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Self::Failed,
            Stop::Unread(error) => {
                eprintln!("rejoin: cannot print: {error}");
                Self::Failed
            }
        }
    }
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
