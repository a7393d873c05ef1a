//! Who is next: the responses in line, and the times in which nothing listens.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::log::Log;
use super::response::Response;
use super::stories::Stories;
use super::throttle::{Link, Throttle};

/// What all connections of a server share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) line: Mutex<Line>,
    /// Whether connections are wanted.
    pub(crate) gate: watch::Sender<Gate>,
    /// Whether the socket listens, which follows the gate.
    pub(crate) listening: watch::Sender<bool>,
    pub(crate) log: Log,
    pub(crate) link: Link,
    /// Instead of the line: a line for each turn, by its path.
    pub(crate) stories: Option<Stories>,
}

/// The responses and which is next.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) responses: Vec<Response>,
    pub(crate) next: usize,
}

/// A time in which nothing listens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refusal {
    For(Duration),
    /// The script ends on it, and the last one is played again.
    ForGood,
}

impl Refusal {
    pub(crate) fn until(self, from: Instant) -> Gate {
        match self {
            Self::For(time) => Gate::ShutUntil(from + time),
            Self::ForGood => Gate::Shut,
        }
    }
}

/// Whether connections are wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Gate {
    Open,
    /// Shut while the response before the refusal is still played, or for good.
    Shut,
    ShutUntil(Instant),
}

impl Line {
    /// Moves past refusals that are next in line.
    pub(crate) fn pass_refusals(&mut self) -> Option<Refusal> {
        let mut sum = None;
        while let Some(ms) = self.responses.get(self.next).and_then(|response| response.refuse_ms) {
            *sum.get_or_insert(Duration::ZERO) += Duration::from_millis(ms);
            self.next += 1;
        }
        match sum {
            Some(_) if self.next == self.responses.len() => Some(Refusal::ForGood),
            sum => sum.map(Refusal::For),
        }
    }

    /// The response that is next in line, and the refusal that comes after it.
    fn take(&mut self) -> (Response, Option<Refusal>) {
        let last = self.responses.len() - 1;
        let response = self.responses[self.next.min(last)].clone();
        if self.next < last {
            self.next += 1;
        }
        (response, self.pass_refusals())
    }
}

impl Shared {
    /// A server's state, or a single turn's, that takes connections from the start.
    pub(crate) fn open(responses: Vec<Response>, throttle: Throttle) -> Self {
        Self::new(Line { responses, next: 0 }, Gate::Open, throttle)
    }

    pub(crate) fn new(line: Line, gate: Gate, throttle: Throttle) -> Self {
        Self {
            line: Mutex::new(line),
            listening: watch::Sender::new(gate == Gate::Open),
            gate: watch::Sender::new(gate),
            log: Log::new(),
            link: Link::new(throttle),
            stories: None,
        }
    }

    /// Takes the next response. Shuts the gate in the same breath where a refusal is next;
    /// `None` if it is shut already.
    pub(crate) fn take(&self) -> Option<(Response, Option<Refusal>)> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        if *self.gate.borrow() != Gate::Open {
            return None;
        }
        let (response, refusal) = line.take();
        if refusal.is_some() {
            self.gate.send_replace(Gate::Shut);
        }
        Some((response, refusal))
    }

    pub(crate) async fn until_shut(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.gate.subscribe().wait_for(|gate| *gate != Gate::Open).await;
    }

    /// Waits until the gate may open again.
    pub(crate) async fn until_due(&self) {
        let mut gate = self.gate.subscribe();
        loop {
            let now = *gate.borrow_and_update();
            match now {
                Gate::Open => return,
                Gate::ShutUntil(due) => return sleep_until(due).await,
                Gate::Shut => {
                    // The sender lives in `self`, so waiting cannot fail.
                    let _ = gate.changed().await;
                }
            }
        }
    }
}
