//! Takes a turn's inputs down while it runs.

use super::Keep;
use super::format::{Header, InputLine, Recording, What};
use super::redact::{redacted, undo_encodings};
use super::secrets::Secrets;
use super::shape::shape;
use crate::turn::{BodyEnd, Event, Input, TurnSetup};
use std::time::Duration;

/// Headers of an answer that a turn looks at; others may hold cookies and the like.
const HEADERS: [&str; 3] = ["content-type", "content-encoding", "retry-after"];

/// A recording in the making. Memory grows with what the turn receives.
#[derive(Debug)]
pub(crate) struct Recorder {
    keep: Keep,
    recording: Recording,
    secrets: Vec<String>,
}

impl Recorder {
    pub(crate) fn new(setup: &TurnSetup, keep: Keep) -> Self {
        let header = Header::of(setup);
        let recording = Recording { header, inputs: Vec::new(), events: Vec::new() };
        Self { keep, recording, secrets: setup.secrets.clone() }
    }

    /// A further text that must not appear in the recording.
    pub(crate) fn keep_secret(&mut self, secret: &str) {
        self.secrets.push(secret.to_owned());
    }

    pub(crate) fn input(&mut self, now: Duration, input: Input<'_>) {
        let at_ns = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        self.recording.inputs.push(InputLine { at_ns, what: what(input) });
    }

    pub(crate) fn event(&mut self, event: &Event) {
        self.recording.events.push(shape(event));
    }

    /// The recording, with what it keeps of texts.
    pub(crate) fn finish(mut self) -> Recording {
        undo_encodings(&mut self.recording);
        // A server may echo a key anywhere, also where the protocol's own words stand.
        Secrets::new(&self.secrets).hide(&mut self.recording);
        match self.keep {
            Keep::Text => self.recording,
            Keep::Shape => redacted(self.recording),
        }
    }
}

fn what(input: Input<'_>) -> What {
    match input {
        Input::Sent { attempt } => What::Sent { attempt: attempt.0 },
        Input::Head { attempt, status, headers } => {
            let matters = |name: &str| HEADERS.iter().any(|known| known.eq_ignore_ascii_case(name));
            let headers = headers.iter().filter(|(name, _)| matters(name)).cloned().collect();
            What::Head { attempt: attempt.0, status, headers }
        }
        Input::Bytes { attempt, bytes } => What::of_bytes(attempt.0, bytes),
        Input::End { attempt, end } => What::End { attempt: attempt.0, how: name(end).to_owned() },
        Input::Unreachable { attempt, detail } => {
            What::Unreachable { attempt: attempt.0, detail: detail.to_owned() }
        }
        Input::Unsendable { attempt, detail } => {
            What::Unsendable { attempt: attempt.0, detail: detail.to_owned() }
        }
        Input::Wake => What::Wake,
        Input::Cancel => What::Cancel,
        Input::Signal(signal) => What::Signal { signal: signal.as_str().to_owned() },
        Input::Slept { gap } => {
            What::Slept { gap_ns: u64::try_from(gap.as_nanos()).unwrap_or(u64::MAX) }
        }
        Input::Budget(budget) => {
            What::Budget { output_tokens: budget.output_tokens, money: budget.money }
        }
    }
}

const fn name(end: BodyEnd) -> &'static str {
    match end {
        BodyEnd::Clean => "clean",
        BodyEnd::Cut => "cut",
        BodyEnd::Reset => "reset",
    }
}

impl What {
    pub(super) fn of_bytes(attempt: u32, bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text { attempt, text: text.to_owned() },
            Err(_) => {
                Self::Bytes { attempt, bytes: bytes.iter().map(|byte| char::from(*byte)).collect() }
            }
        }
    }
}
