//! One line of a drop log, as far as advice looks at it.
//!
//! Read leniently: lines of `rejoin stream --events jsonl` do as well, with less in them, and a
//! newer library may have added fields.

use serde::Deserialize;
use std::borrow::Cow;

/// One drop.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct DropLine<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    /// What happened.
    #[serde(borrow, default)]
    pub cause: Cow<'a, str>,
    /// Output tokens of the attempt.
    #[serde(default)]
    pub received_tokens: u64,
    /// R, as the gate used it.
    #[serde(default)]
    pub committed_tokens: u64,
    /// True if measured.
    #[serde(default)]
    pub exact: bool,
    /// What the gate chose.
    #[serde(borrow, default)]
    pub decision: DecisionLine<'a>,
    /// From the attempt's start to its end, in milliseconds.
    #[serde(default)]
    pub took_ms: Option<u64>,
    /// What is known of its cost.
    #[serde(default)]
    pub usage: UsageLine,
    /// The attempt that followed.
    #[serde(borrow, default)]
    pub next: Option<NextLine<'a>>,
}

/// What the gate chose, and why.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct DecisionLine<'a> {
    /// The next attempt's strategy, or `fail`.
    #[serde(borrow, default)]
    pub strategy: Cow<'a, str>,
    /// What decided.
    #[serde(borrow, default)]
    pub reasons: Vec<Cow<'a, str>>,
}

/// The attempt after the drop.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct NextLine<'a> {
    /// How it ended.
    #[serde(borrow, default)]
    pub outcome: Cow<'a, str>,
    /// Why, if it was not whole.
    #[serde(borrow, default)]
    pub cause: Option<Cow<'a, str>>,
    /// What its reply began with, where it continued a text.
    #[serde(borrow, default)]
    pub seam: Option<Cow<'a, str>>,
    /// The pause before it, in milliseconds.
    #[serde(default)]
    pub waited_ms: u64,
}

/// Token counts, where they are known.
#[allow(clippy::struct_field_names)] // The names of the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct UsageLine {
    /// Tokens of the prompt.
    #[serde(default)]
    pub prompt_tokens: Option<u64>,
    /// Tokens of the answer.
    #[serde(default)]
    pub candidates_tokens: Option<u64>,
    /// Tokens of thinking.
    #[serde(default)]
    pub thoughts_tokens: Option<u64>,
}

/// A line that is no drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineError {
    /// JSON of another kind, such as another event of the turn, or an empty line.
    Other,
    /// Not a JSON object, or one whose fields are of no use.
    Unreadable,
}

impl<'a> DropLine<'a> {
    /// Reads a line.
    ///
    /// # Errors
    /// [`LineError`] for a line that is no drop.
    pub fn parse(line: &'a [u8]) -> Result<Self, LineError> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Err(LineError::Other);
        }
        let drop: Self = serde_json::from_slice(line).map_err(|_| LineError::Unreadable)?;
        match &*drop.kind {
            "drop" | "dropped" if !drop.cause.is_empty() => Ok(drop),
            "drop" | "dropped" => Err(LineError::Unreadable),
            _ => Err(LineError::Other),
        }
    }

    /// The threshold decided: nothing else stood in the way of a continuation.
    pub(super) fn is_for_the_threshold(&self) -> bool {
        let decides = ["below_threshold", "free_text_above_threshold"];
        self.decision.reasons.iter().any(|reason| decides.contains(&&**reason))
    }

    /// A continuation of committed text was asked for.
    pub(super) fn was_continued(&self) -> bool {
        self.decision.reasons.iter().any(|reason| reason == "free_text_above_threshold")
    }
}
