//! The events of a turn: the one contract that Rust, Kotlin, Swift and the command line share.
//!
//! A renderer needs two rules: append `Text`, and on `Reset` keep that much and drop the rest.

use super::gate::{Reason, Strategy};
use super::spend::Spend;
use super::units::{AttemptNo, Json, Utf16Len};
use crate::gemini::FinishClass;
use crate::text::SeamKind;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// One event. Its JSON form is one object with the fields of [`EventKind`] beside these.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
    /// The turn's id.
    pub turn: Arc<str>,
    /// The event's number in the turn, from 1, without gaps.
    pub seq: u64,
    /// The attempt it belongs to.
    pub attempt: AttemptNo,
}

impl Event {
    /// True for the last event of a turn: nothing follows it.
    #[must_use]
    pub fn is_last(&self) -> bool {
        matches!(self.kind, EventKind::Completed(_) | EventKind::Failed(_))
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventKind {
    /// A request is about to be sent.
    AttemptStarted {
        /// What the attempt is.
        strategy: Strategy,
    },
    /// Append to the answer.
    Text {
        /// The piece.
        text: String,
    },
    /// Append to the thinking summary, which is never part of the answer.
    Thought {
        /// The piece.
        text: String,
    },
    /// A tool call has been seen and is held: show a spinner, run nothing.
    ToolSeen {
        /// The function's name.
        name: String,
    },
    /// Any other part (an image, executed code, its result), as received.
    Part {
        /// The part.
        part: Json,
    },
    /// The attempt ended without being whole.
    Dropped(Dropped),
    /// A pause before the next attempt.
    Waiting {
        /// The attempt that follows the pause.
        next_attempt: AttemptNo,
        /// How long, in milliseconds; absent where nobody knows.
        #[serde(skip_serializing_if = "Option::is_none")]
        for_ms: Option<u64>,
        /// What is waited for.
        why: WaitReason,
    },
    /// Keep so much of what is shown and drop the rest.
    Reset(Reset),
    /// The turn is over and whole. Last event.
    Completed(Box<Completed>),
    /// The turn is over and not whole. Last event.
    Failed(Box<Failed>),
}

/// Why an attempt ended without being whole, and what follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    /// What happened.
    pub cause: Cause,
    /// A line for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The status of the answer, where it was no success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// Output tokens of this attempt.
    pub received_tokens: u64,
    /// R: output tokens of all committed text of the turn, as the gate used it.
    pub committed_tokens: u64,
    /// True if they were measured, false if estimated.
    pub exact: bool,
    /// What the gate chose.
    pub decision: DecisionReport,
}

/// The gate's choice, as told in an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionReport {
    /// The next attempt's strategy; `None` is `fail`.
    #[serde(serialize_with = "strategy_or_fail", deserialize_with = "strategy_of_name")]
    pub strategy: Option<Strategy>,
    /// What decided, first reason first.
    pub reasons: Vec<Reason>,
}

#[allow(clippy::ref_option, clippy::trivially_copy_pass_by_ref)] // Serde's signature.
fn strategy_or_fail<S: Serializer>(
    strategy: &Option<Strategy>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(strategy.map_or("fail", Strategy::as_str))
}

fn strategy_of_name<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Strategy>, D::Error> {
    let name = String::deserialize(deserializer)?;
    if name == "fail" {
        return Ok(None);
    }
    Strategy::deserialize(serde::de::value::StringDeserializer::new(name)).map(Some)
}

/// How much of what is shown stays. The event's `attempt` is the new attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reset {
    /// UTF-16 code units of the answer to keep.
    pub keep_utf16: Utf16Len,
    /// UTF-8 bytes of the answer to keep: the same text.
    pub keep_text_bytes: u64,
    /// UTF-16 code units of the thinking summary to keep.
    pub keep_thought_utf16: Utf16Len,
    /// How many seen tools to keep.
    pub keep_tools: u32,
    /// How many parts to keep.
    pub keep_parts: u32,
    /// What led here.
    pub reason: ResetReason,
}

/// What led to a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetReason {
    /// The attempt before this one ended for this cause.
    Cause(Cause),
    /// The server asked for a next hop.
    Continuation,
    /// The model began its answer anew instead of continuing it.
    AnswerRestarted,
}

impl ResetReason {
    /// The name in events.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cause(cause) => cause.as_str(),
            Self::Continuation => "continuation",
            Self::AnswerRestarted => "answer_restarted",
        }
    }
}

impl Serialize for ResetReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Declares an enum whose variants have a name in events.
macro_rules! named {
    ($(#[$meta:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $type { $($(#[$doc])* $variant),+ }
        impl $type {
            /// The name in events.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
                [$(Self::$variant),+]
                    .into_iter()
                    .find(|variant| variant.as_str() == name)
                    .ok_or_else(|| serde::de::Error::unknown_variant(&name, &[$($name),+]))
            }
        }
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use named;

named! {
    /// What is waited for before the next attempt.
    WaitReason {
        /// The policy's backoff.
        Backoff = "backoff",
        /// The server named a delay.
        ServerAsked = "server_asked",
        /// There is no network.
        Offline = "offline",
    }
}

named! {
    /// Why an attempt ended without being whole.
    Cause {
        /// The request never left.
        Unreachable = "unreachable",
        /// The server said no before any content.
        Refused = "refused",
        /// The body ended without a finish reason.
        ClosedEarly = "closed_early",
        /// The connection was reset.
        Reset = "reset",
        /// No byte came for `idle_timeout_ms`.
        Idle = "idle",
        /// No byte came at all.
        FirstByteTimeout = "first_byte_timeout",
        /// The server sent an error after content.
        ServerError = "server_error",
        /// An event was neither a response nor an error.
        Malformed = "malformed",
        /// The body was no stream of events, such as a portal's page.
        NotAStream = "not_a_stream",
        /// An event was longer than `max_event_bytes`.
        TooLarge = "too_large",
        /// A finish reason came, and nothing was said.
        Empty = "empty",
        /// The model failed, such as with a malformed call.
        ModelFault = "model_fault",
        /// A layer below glued two generations together.
        Spliced = "spliced",
        /// The device changed its network.
        NetworkChanged = "network_changed",
        /// The device slept, or the process was gone.
        Suspended = "suspended",
    }
}

/// The three ways an attempt ends without being whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Unreachable,
    Refusal,
    Drop,
}

impl Cause {
    pub(crate) const fn family(self) -> Family {
        match self {
            Self::Unreachable => Family::Unreachable,
            Self::Refused => Family::Refusal,
            _ => Family::Drop,
        }
    }

    /// The connection itself failed: others of its pool may be dead as well.
    pub(crate) const fn connection_failed(self) -> bool {
        matches!(
            self,
            Self::Unreachable
                | Self::ClosedEarly
                | Self::Reset
                | Self::Idle
                | Self::FirstByteTimeout
                | Self::NotAStream
                | Self::NetworkChanged
                | Self::Suspended
        )
    }
}

/// The whole answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completed {
    /// The answer.
    pub text: String,
    /// How it ended.
    pub finish: Finish,
    /// The calls to run, empty unless the class is `complete`.
    pub tool_calls: Vec<ToolCall>,
    /// The contents to append for the next turn.
    pub history: Vec<Json>,
    /// What each attempt was and cost.
    pub attempts: Vec<AttemptReport>,
    /// What the turn has cost.
    pub spend: Spend,
}

/// How a whole answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finish {
    /// The kind of end.
    #[serde(serialize_with = "class_name", deserialize_with = "class_of_name")]
    pub class: FinishClass,
    /// The server's name for it.
    pub reason: String,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // Serde's signature.
pub(super) fn class_name<S: Serializer>(
    class: &FinishClass,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(class.as_str())
}

pub(super) fn class_of_name<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<FinishClass, D::Error> {
    let name = String::deserialize(deserializer)?;
    FinishClass::of_name(&name)
        .ok_or_else(|| serde::de::Error::custom(format!("no class of ends is named {name:?}")))
}

/// A tool call of the attempt that completed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The function's name.
    pub name: String,
    /// The arguments, a JSON object.
    pub args: Json,
    /// Idempotency key: equal for equal meaning, also across attempts.
    pub effect_key: String,
    /// Its number among calls of equal name and keyed arguments, from 0.
    pub ordinal: u32,
    /// The orchestrator's step, if it set one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The provider's id: for the function response, never for an effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
}

/// The turn is over and not whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// Why.
    pub error: TurnError,
    /// The longest text shown at any time in the turn.
    pub partial_text: String,
    /// What each attempt was and cost.
    pub attempts: Vec<AttemptReport>,
    /// What the turn has cost.
    pub spend: Spend,
}

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind} ({reason})")]
pub struct TurnError {
    /// A stable, coarse kind.
    pub kind: ErrorKind,
    /// What decided, by a stable name.
    pub reason: String,
    /// The status of the answer that ended the turn, where it was no success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// The last cause and the server's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
}

named! {
    /// The kinds of failure of a turn.
    ErrorKind {
        /// The app cancelled the turn.
        Cancelled = "cancelled",
        /// The request is wrong: mend it.
        BadRequest = "bad_request",
        /// The key or token is missing, wrong or expired.
        Unauthorized = "unauthorized",
        /// This key may not do that.
        Forbidden = "forbidden",
        /// No such model or resource.
        NotFound = "not_found",
        /// A daily quota or the money is used up.
        QuotaExhausted = "quota_exhausted",
        /// The prompt was blocked.
        Blocked = "blocked",
        /// Every attempt that the policy allows was made.
        AttemptsUsedUp = "attempts_used_up",
        /// The server could not be reached.
        Unreachable = "unreachable",
        /// The turn has cost what it may cost.
        SpendUsedUp = "spend_used_up",
        /// The caller passed something that cannot be used; nothing was sent.
        InvalidArgument = "invalid_argument",
        /// A bug of this library.
        Internal = "internal",
    }
}

/// What one attempt was and cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptReport {
    /// Its number.
    pub attempt: AttemptNo,
    /// What it was.
    pub strategy: Strategy,
    /// How it ended.
    pub outcome: Outcome,
    /// Why, if it was not whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The answer's status, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// Output tokens of the answer that it brought.
    pub received_tokens: u64,
    /// What is known of its cost.
    pub usage: UsageReport,
    /// The pause before it, in milliseconds.
    pub waited_ms: u64,
    /// From its start to its end, in milliseconds.
    pub took_ms: u64,
    /// What its reply began with, where it continued a text and said anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seam: Option<SeamKind>,
}

named! {
    /// How an attempt ended.
    Outcome {
        /// Whole: the turn's answer.
        Completed = "completed",
        /// The server asked for a next hop.
        Continued = "continued",
        /// Not whole, and another attempt followed.
        Dropped = "dropped",
        /// Not whole, and it ended the turn.
        Failed = "failed",
        /// The app cancelled the turn during it.
        Cancelled = "cancelled",
    }
}

named! {
    /// How much of an attempt's bill is known.
    Billing {
        /// Whole: the last counts are the bill.
        Known = "known",
        /// Abandoned: at least so much.
        LowerBound = "lower_bound",
        /// Sent, and no count was seen.
        Unknown = "unknown",
        /// Refused with an HTTP error, which Google does not bill.
        NotBilled = "not_billed",
        /// The request never left.
        NotSent = "not_sent",
    }
}

/// Token counts of one attempt; a count that the server did not send is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageReport {
    /// How much of the bill this is.
    pub billing: Billing,
    /// Tokens of the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// Tokens of the prompt that came from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates_tokens: Option<u64>,
    /// Tokens of thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thoughts_tokens: Option<u64>,
    /// Tokens of tool results that the server fed back itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_prompt_tokens: Option<u64>,
    /// The sum as the server gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
}
