//! The form of a recording: one JSON object a line, so that a half of one can still be read by a
//! person.

use crate::effect::ToolRule;
use crate::turn::{Budget, Policy, TurnSetup};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the form.
const VERSION: u32 = 1;

/// A text that is no recording, or none that this version can play.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// A line is not what it should be.
    #[error("line {line} of the recording cannot be read: {what}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// The recording is of another version.
    #[error("the recording has version {0}; this is a reader of version 1: use a newer rejoin")]
    Version(u32),
    /// The recording has no beginning.
    #[error("this is no recording: its first line must have the type `recording`")]
    NoHeader,
    /// The recording ends before the turn did.
    #[error("the recording ends in the middle of the turn: its last line is missing")]
    Truncated,
}

/// What a turn was made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the form.
    pub v: u32,
    /// The version of Rejoin that recorded it.
    pub rejoin: String,
    /// True if texts are filler.
    pub redacted: bool,
    /// The turn's id, or a hash of it.
    pub turn: String,
    /// The request's body.
    pub body: String,
    /// The numbers.
    pub policy: Policy,
    /// What the app said of its tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolRule>,
    /// The orchestrator's step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Seed of the backoff's jitter.
    pub seed: u64,
    /// Output tokens that the client had left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_output_tokens: Option<u64>,
    /// Money that the client had left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_money: Option<f64>,
}

impl Header {
    pub(super) fn of(setup: &TurnSetup) -> Self {
        Self {
            v: VERSION,
            rejoin: env!("CARGO_PKG_VERSION").to_owned(),
            redacted: false,
            turn: setup.turn_id.clone(),
            body: setup.body.clone(),
            policy: setup.policy.clone(),
            tools: setup.tools.clone(),
            step: setup.step.clone(),
            seed: setup.seed,
            budget_output_tokens: setup.budget.output_tokens,
            budget_money: setup.budget.money,
        }
    }

    pub(super) fn setup(&self) -> TurnSetup {
        TurnSetup {
            turn_id: self.turn.clone(),
            body: self.body.clone(),
            policy: self.policy.clone(),
            tools: self.tools.clone(),
            step: self.step.clone(),
            seed: self.seed,
            budget: Budget { output_tokens: self.budget_output_tokens, money: self.budget_money },
            secrets: Vec::new(),
        }
    }
}

/// One input, and when it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InputLine {
    /// Nanoseconds since the turn began: coarser times would fall before the timers that they
    /// belong to.
    pub at_ns: u64,
    /// What came.
    #[serde(flatten)]
    pub what: What,
}

/// What came in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum What {
    /// The request began to leave.
    Sent {
        /// The attempt.
        attempt: u32,
    },
    /// The answer's status and headers.
    Head {
        /// The attempt.
        attempt: u32,
        /// The status.
        status: u16,
        /// The headers that matter to a turn.
        headers: Vec<(String, String)>,
    },
    /// Bytes of the body that are UTF-8 by themselves.
    Text {
        /// The attempt.
        attempt: u32,
        /// The bytes.
        text: String,
    },
    /// Bytes of the body that are not: each as the character of its number.
    Bytes {
        /// The attempt.
        attempt: u32,
        /// The bytes.
        bytes: String,
    },
    /// The body ended.
    End {
        /// The attempt.
        attempt: u32,
        /// `clean`, `cut` or `reset`.
        how: String,
    },
    /// No connection could be made.
    Unreachable {
        /// The attempt.
        attempt: u32,
        /// A line for people.
        detail: String,
    },
    /// The request could not be built.
    Unsendable {
        /// The attempt.
        attempt: u32,
        /// A line for people.
        detail: String,
    },
    /// A timer.
    Wake,
    /// The app cancelled.
    Cancel,
    /// The device said something.
    Signal {
        /// Its name.
        signal: String,
    },
    /// The device had slept.
    Slept {
        /// For so many nanoseconds.
        gap_ns: u64,
    },
    /// What the client had left.
    Budget {
        /// Output tokens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_tokens: Option<u64>,
        /// Money.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        money: Option<f64>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Recording(Box<Header>),
    Input(InputLine),
    /// What the turn made of it: the events without their words.
    Events {
        events: Vec<Value>,
    },
}

/// A turn that can be played again.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// What the turn was made of.
    pub header: Header,
    /// What came in.
    pub inputs: Vec<InputLine>,
    /// What came out, without its words.
    pub events: Vec<Value>,
}

impl Recording {
    /// The recording as a text.
    #[must_use]
    pub fn into_text(self) -> String {
        let head = std::iter::once(Line::Recording(Box::new(self.header)));
        let inputs = self.inputs.into_iter().map(Line::Input);
        let events = std::iter::once(Line::Events { events: self.events });
        let lines = head.chain(inputs).chain(events);
        let lines = lines.filter_map(|line| serde_json::to_string(&line).ok());
        lines.fold(String::new(), |text, line| text + &line + "\n")
    }

    /// Reads a recording.
    ///
    /// # Errors
    /// [`RecordingError`] with the line that cannot be read.
    pub fn parse(text: &str) -> Result<Self, RecordingError> {
        let (mut header, mut inputs, mut events) = (None, Vec::new(), None);
        for (n, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            if header.is_none() {
                refuse_other_versions(line)?;
            }
            let line = serde_json::from_str(line)
                .map_err(|error| RecordingError::Line { line: n + 1, what: error.to_string() })?;
            match (line, &header) {
                (Line::Recording(head), None) => header = Some(*head),
                (_, None) => return Err(RecordingError::NoHeader),
                (Line::Recording(_), Some(_)) => {
                    let what = "a second recording begins here".to_owned();
                    return Err(RecordingError::Line { line: n + 1, what });
                }
                (Line::Input(input), Some(_)) => inputs.push(input),
                (Line::Events { events: all }, Some(_)) => events = Some(all),
            }
        }
        let header = header.ok_or(RecordingError::NoHeader)?;
        let events = events.ok_or(RecordingError::Truncated)?;
        Ok(Self { header, inputs, events })
    }
}

/// Before anything else is read: another version may have other fields.
fn refuse_other_versions(line: &str) -> Result<(), RecordingError> {
    let value: Value = serde_json::from_str(line).map_err(|_| RecordingError::NoHeader)?;
    match value.get("v").and_then(Value::as_u64) {
        Some(v) if v == u64::from(VERSION) => Ok(()),
        Some(v) => Err(RecordingError::Version(u32::try_from(v).unwrap_or(u32::MAX))),
        None => Err(RecordingError::NoHeader),
    }
}
