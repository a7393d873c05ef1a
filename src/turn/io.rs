//! What goes into the state machine of a turn, and what comes out of it.

use super::attempt::Endpoint;
use super::ending::BodyEnd;
use super::event::Event;
use super::policy::Policy;
use super::spend::Budget;
use super::units::AttemptNo;
use crate::effect::ToolRule;
use std::sync::Arc;
use std::time::Duration;

/// What a turn is made of.
#[derive(Clone, Default)]
pub struct TurnSetup {
    /// The turn's id: part of every effect key, so a turn that is run again must keep it.
    pub turn_id: String,
    /// A `GenerateContent` body, sent as it is.
    pub body: String,
    /// The numbers.
    pub policy: Policy,
    /// What the app says of its tools.
    pub tools: Vec<ToolRule>,
    /// The orchestrator's step, part of every effect key; never the model's words.
    pub step: Option<String>,
    /// Seed of the backoff's jitter.
    pub seed: u64,
    /// What the client has left for this turn; nothing limits it by default.
    pub budget: Budget,
    /// Texts that must not appear in any error: keys and tokens that a server might echo.
    pub secrets: Vec<String>,
}

impl std::fmt::Debug for TurnSetup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TurnSetup").field("turn_id", &self.turn_id).finish_non_exhaustive()
    }
}

/// What the device says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signal {
    /// There is no network: retries park.
    NetworkLost,
    /// There is a network again: parked retries go on.
    NetworkAvailable,
    /// Another network took over: sockets of the old one are dead.
    NetworkChanged,
    /// The same, where the device says of the new network whether its bytes cost money. It is told
    /// in the `detail` of what it breaks, and steers nothing.
    NetworkChangedTo {
        /// True if they do.
        metered: bool,
    },
    /// The app will be suspended in a moment: decided retries park, a running stream is read on for
    /// as long as the system lets it.
    WillSuspend,
    /// The app runs again: a stream that was silent meanwhile, or was away for `suspend_gap_ms`, is
    /// abandoned (`suspended`), and parked retries go on.
    Resumed,
}

impl Signal {
    const ALL: [Self; 7] = [
        Self::NetworkLost,
        Self::NetworkAvailable,
        Self::NetworkChanged,
        Self::NetworkChangedTo { metered: true },
        Self::NetworkChangedTo { metered: false },
        Self::WillSuspend,
        Self::Resumed,
    ];

    /// The name on the command line and in recordings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NetworkLost => "network_lost",
            Self::NetworkAvailable => "network_available",
            Self::NetworkChanged => "network_changed",
            Self::NetworkChangedTo { metered: true } => "network_changed metered",
            Self::NetworkChangedTo { metered: false } => "network_changed unmetered",
            Self::WillSuspend => "will_suspend",
            Self::Resumed => "resumed",
        }
    }

    /// The signal of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|signal| signal.as_str() == name)
    }
}

/// Something that happened outside. Inputs that name another attempt than the running one are
/// late, and are discarded.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Input<'a> {
    /// The request began to leave: from here on it may be billed.
    Sent {
        /// The attempt.
        attempt: AttemptNo,
    },
    /// The answer's status and headers came.
    Head {
        /// The attempt.
        attempt: AttemptNo,
        /// The status.
        status: u16,
        /// The headers.
        headers: &'a [(String, String)],
    },
    /// Bytes of the body came.
    Bytes {
        /// The attempt.
        attempt: AttemptNo,
        /// The bytes.
        bytes: &'a [u8],
    },
    /// The body, or the connection before it, ended.
    End {
        /// The attempt.
        attempt: AttemptNo,
        /// How.
        end: BodyEnd,
    },
    /// No connection could be made: nothing was sent.
    Unreachable {
        /// The attempt.
        attempt: AttemptNo,
        /// A line for people.
        detail: &'a str,
    },
    /// The request cannot be built: nothing was sent, and no retry cures it.
    Unsendable {
        /// The attempt.
        attempt: AttemptNo,
        /// A line for people.
        detail: &'a str,
    },
    /// The device slept, or kept the process from running: its wall clock went so much further than
    /// the clock of `now`, or a wake came so much late.
    Slept {
        /// How long.
        gap: Duration,
    },
    /// The time of [`Turn::next_wake`](super::Turn::next_wake) has come.
    Wake,
    /// The app cancels the turn.
    Cancel,
    /// The device says something.
    Signal(Signal),
    /// What the client has left for this turn has changed: other turns have spent, too. What this
    /// turn has spent itself is not taken off.
    Budget(Budget),
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Send this request.
    Send(Outgoing),
    /// Close the connection of this attempt at once.
    Abort {
        /// The attempt.
        attempt: AttemptNo,
    },
    /// Tell the app.
    Emit(Event),
}

/// A request to send.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// Which attempt it is.
    pub attempt: AttemptNo,
    /// Which method to call.
    pub endpoint: Endpoint,
    /// The body.
    pub body: Arc<str>,
    /// The connection before it failed: do not use another of its pool.
    pub fresh_connection: bool,
}
