//! The events of a turn as Kotlin and Swift see them: a mirror of `turn::event`.
//!
//! The doc comments here become KDoc and DocC.

use super::convert::mirror;
use super::spend::Spend;
use crate::gemini;
use crate::turn as core;

/// One event of a turn.
///
/// A renderer needs two rules: append `Text`, and on `Reset` keep that much and drop the rest.
/// Applying both in order gives exactly the text of `Completed`.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct TurnEvent {
    /// The turn's id.
    pub turn: String,
    /// The event's number in the turn, from 1, without gaps. Also the cursor that stands behind
    /// this event.
    pub seq: i64,
    /// The attempt it belongs to, from 1.
    pub attempt: i32,
    /// What happened.
    pub kind: EventKind,
}

/// What happened in a turn.
///
/// The order on every retry: `Dropped`, then any `Waiting`, then `Reset`, then `AttemptStarted`,
/// then the new attempt's events. Exactly one of `Completed` and `Failed` comes, as the last one.
#[derive(Debug, Clone, PartialEq, uniffi::Enum)]
pub enum EventKind {
    /// A request is about to be sent.
    AttemptStarted {
        /// What the attempt is.
        strategy: Strategy,
    },
    /// Append to the answer.
    Text {
        /// The piece to append.
        text: String,
    },
    /// Append to the thinking summary: a channel of its own, never part of the answer.
    Thought {
        /// The piece to append.
        text: String,
    },
    /// A tool call has been seen and is held: show a spinner, run nothing.
    ToolSeen {
        /// The function's name.
        name: String,
    },
    /// Any other part (an image, executed code, its result).
    Part {
        /// The part, a JSON object, as received.
        part: String,
    },
    /// The attempt ended without being whole. Nothing on the screen changes yet: `Reset` follows,
    /// or `Failed`.
    Dropped {
        /// What happened.
        cause: Cause,
        /// A line for people who look for the reason; not for the screen.
        detail: Option<String>,
        /// The HTTP status, where it was no success.
        http_status: Option<i32>,
        /// Output tokens of this attempt.
        received_tokens: i64,
        /// Output tokens of all committed text of the turn, as the gate used them.
        committed_tokens: i64,
        /// True if `committed_tokens` was measured by the server, false if estimated.
        exact: bool,
        /// What follows, and why.
        decision: Decision,
    },
    /// A pause before the next attempt.
    Waiting {
        /// The attempt that follows the pause.
        next_attempt: i32,
        /// How long, in milliseconds; absent where nobody knows.
        for_ms: Option<i64>,
        /// What is waited for.
        why: WaitReason,
    },
    /// Keep so much of what is shown and drop the rest. The event's `attempt` is the **new** one.
    Reset {
        /// How much of the answer stays, in UTF-16 code units: the unit of Kotlin's strings and of
        /// Swift's `utf16` view.
        keep_utf16: i64,
        /// The same length in bytes of UTF-8.
        keep_text_bytes: i64,
        /// How much of the thinking summary stays, in UTF-16 code units.
        keep_thought_utf16: i64,
        /// How many of the seen tools stay.
        keep_tools: i32,
        /// How many of the parts stay.
        keep_parts: i32,
        /// What led here.
        reason: ResetReason,
    },
    /// The turn is over and whole. Last event.
    Completed {
        /// The whole answer.
        answer: Answer,
    },
    /// The turn is over and not whole. Last event.
    Failed {
        /// Why, and what there is.
        failure: Failure,
    },
}

mirror! {
    /// What an attempt is.
    Strategy = core::Strategy {
        /// The turn's first request.
        Initial,
        /// The same generation goes on after the server's continuation token: no seam.
        Resume,
        /// The caller's request once more, from nothing.
        Restart,
        /// The model is asked to go on from the committed text.
        Continue,
        /// The rest, or all of it, in one piece: the connection does not hold a stream.
        NonStreaming,
    }
}

mirror! {
    /// What is waited for before the next attempt.
    WaitReason = core::WaitReason {
        /// The policy's backoff.
        Backoff,
        /// The server named a delay.
        ServerAsked,
        /// There is no network.
        Offline,
    }
}

mirror! {
    /// Why an attempt ended without being whole.
    Cause = core::Cause {
        /// The request never left.
        Unreachable,
        /// The server said no before any content.
        Refused,
        /// The body ended without a finish reason.
        ClosedEarly,
        /// The connection was reset.
        Reset,
        /// No byte came for `idle_timeout_ms`.
        Idle,
        /// No byte came at all.
        FirstByteTimeout,
        /// The server sent an error after content.
        ServerError,
        /// An event was neither a response nor an error.
        Malformed,
        /// The body was no stream of events, such as the page of a Wi-Fi portal.
        NotAStream,
        /// An event was longer than `max_event_bytes`.
        TooLarge,
        /// A finish reason came, and nothing was said.
        Empty,
        /// The model failed, such as with a malformed call.
        ModelFault,
        /// A layer below glued two generations together.
        Spliced,
        /// The device changed its network.
        NetworkChanged,
        /// The device slept, or the process was gone.
        Suspended,
    }
}

mirror! {
    /// What decided about the next attempt.
    Reason = core::Reason {
        /// The app cancelled.
        Cancelled,
        /// No retry cures it: a bad key, a blocked prompt, a daily quota, a bad request.
        NotRetryable,
        /// The model failed twice.
        ModelFaultRepeated,
        /// `max_attempts` is reached.
        AttemptsUsedUp,
        /// `max_unsent` is reached.
        UnsentUsedUp,
        /// A cap of tokens or money is reached: the turn's or the client's.
        SpendUsedUp,
        /// The connection does not hold.
        SecondDrop,
        /// The server gave a checkpoint of its own.
        ContinuationToken,
        /// The server no longer took its token.
        ResumeRefused,
        /// Structured output cannot be closed by a continuation.
        Schema,
        /// A function call was seen.
        ToolSeen,
        /// Code execution was seen.
        CodeSeen,
        /// An image or file was seen.
        MediaSeen,
        /// Citations into the text of this attempt were seen.
        GroundingSeen,
        /// The tool mode forces a call.
        ForcedTools,
        /// The model thinks deeply and would do so again.
        DeepThinking,
        /// The model failed: what it wrote is not to be built on.
        ModelFault,
        /// The server did not take our continuation.
        ContinuationRefused,
        /// The model had nothing to add although something was missing.
        ContinuationEmpty,
        /// No text is safe to build on.
        NoCheckpoint,
        /// Too little to be worth a seam.
        BelowThreshold,
        /// Enough free text to keep.
        FreeTextAboveThreshold,
    }
}

/// The gate's choice of what follows a broken attempt.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct Decision {
    /// The next attempt's strategy; absent: the turn fails.
    pub strategy: Option<Strategy>,
    /// What decided, first reason first.
    pub reasons: Vec<Reason>,
}

/// What led to a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum ResetReason {
    /// The attempt before this one ended without being whole.
    Dropped {
        /// Why it ended.
        cause: Cause,
    },
    /// The server asked for a next hop: everything is kept.
    Continuation,
    /// The model began its answer anew instead of continuing it: nothing is kept.
    AnswerRestarted,
}

/// The whole answer.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct Answer {
    /// The answer's text.
    pub text: String,
    /// How it ended.
    pub finish: Finish,
    /// The calls to run, in order; empty unless the class is `Complete`. Run each once under its
    /// `effect_key`.
    pub tool_calls: Vec<ToolCall>,
    /// The contents to append for the next turn, each a JSON object: one model content, with ids
    /// and thought signatures as received.
    pub history: Vec<String>,
    /// What each attempt was and cost.
    pub attempts: Vec<AttemptReport>,
    /// What the turn has cost, its broken attempts included.
    #[uniffi(default = None)]
    pub spend: Option<Spend>,
}

/// How a whole answer ended.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct Finish {
    /// The kind of end.
    pub class: FinishClass,
    /// The server's name for it, such as `STOP`.
    pub reason: String,
}

mirror! {
    /// The kinds of end of a whole answer.
    FinishClass = gemini::FinishClass {
        /// The model said all it wanted to say.
        Complete,
        /// The answer ran into its token limit.
        Truncated,
        /// A policy of the service ended it: safety, recitation and the like.
        Policy,
        /// A reason that this library has never heard of. Treat the answer with care.
        Unknown,
    }
}

/// A tool call of the attempt that completed.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct ToolCall {
    /// The function's name.
    pub name: String,
    /// The arguments, a JSON object.
    pub args: String,
    /// Idempotency key, 32 hex digits: equal for equal meaning, also across attempts and across
    /// turns that are run again under the same id.
    pub effect_key: String,
    /// Its number among calls of equal name and keyed arguments, from 0.
    pub ordinal: i32,
    /// The orchestrator's step, if the request named one.
    pub step: Option<String>,
    /// The provider's id: for the function response, never for an effect.
    pub provider_id: Option<String>,
    /// True if the request declared the tool as `read_only`: running it again does no harm.
    pub read_only: bool,
}

/// Why a turn failed, and what there is of its answer.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct Failure {
    /// A stable, coarse kind: decide by it.
    pub kind: ErrorKind,
    /// What decided, by a stable name.
    pub reason: String,
    /// The HTTP status of the answer that ended the turn, where it was no success.
    pub http_status: Option<i32>,
    /// The last cause and the server's own words, for people who look for the reason.
    pub details: Option<String>,
    /// The longest text shown at any time in the turn.
    pub partial_text: String,
    /// What each attempt was and cost.
    pub attempts: Vec<AttemptReport>,
    /// What the turn has cost, its broken attempts included.
    #[uniffi(default = None)]
    pub spend: Option<Spend>,
}

mirror! {
    /// The kinds of failure of a turn.
    ErrorKind = core::ErrorKind {
        /// The app cancelled the turn.
        Cancelled,
        /// The request is wrong: mend it.
        BadRequest,
        /// The key or token is missing, wrong or expired.
        Unauthorized,
        /// This key may not do that.
        Forbidden,
        /// No such model or resource.
        NotFound,
        /// A daily quota or the money is used up.
        QuotaExhausted,
        /// The prompt was blocked.
        Blocked,
        /// Every attempt that the policy allows was made. The user may try again.
        AttemptsUsedUp,
        /// The server could not be reached. The user may try again.
        Unreachable,
        /// The turn has cost what it may cost.
        SpendUsedUp,
        /// The caller passed something that cannot be used; nothing was sent.
        InvalidArgument,
        /// A bug of this library.
        Internal,
    }
}

/// What one attempt was and cost.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct AttemptReport {
    /// Its number, from 1.
    pub attempt: i32,
    /// What it was.
    pub strategy: Strategy,
    /// How it ended.
    pub outcome: Outcome,
    /// Why, if it was not whole.
    pub cause: Option<Cause>,
    /// The answer's HTTP status, if there was an answer.
    pub http_status: Option<i32>,
    /// Output tokens of the answer that it brought.
    pub received_tokens: i64,
    /// What is known of its cost.
    pub usage: Usage,
    /// The pause before it, in milliseconds.
    pub waited_ms: i64,
    /// From its start to its end, in milliseconds.
    pub took_ms: i64,
    /// What its reply began with, where it continued a text and said anything.
    #[uniffi(default = None)]
    pub seam: Option<SeamKind>,
}

mirror! {
    /// What the reply to a continuation began with.
    SeamKind = crate::text::SeamKind {
        /// It goes on.
        Clean,
        /// It repeated the end of what was there: the repetition was not shown.
        Restatement,
        /// It talked about the task: the talk was not shown.
        Preface,
        /// Both: neither was shown.
        PrefaceAndRestatement,
        /// It began the whole answer anew: what was shown was replaced.
        Restart,
    }
}

mirror! {
    /// How an attempt ended.
    Outcome = core::Outcome {
        /// Whole: the turn's answer.
        Completed,
        /// The server asked for a next hop.
        Continued,
        /// Not whole, and another attempt followed.
        Dropped,
        /// Not whole, and it ended the turn.
        Failed,
        /// The app cancelled the turn during it.
        Cancelled,
    }
}

mirror! {
    /// How much of an attempt's bill is known.
    Billing = core::Billing {
        /// Whole: the last counts are the bill.
        Known,
        /// Abandoned: at least so much.
        LowerBound,
        /// Sent, and no count was seen.
        Unknown,
        /// Refused with an HTTP error, which Google does not bill.
        NotBilled,
        /// The request never left.
        NotSent,
    }
}

/// Token counts of one attempt; a count that the server did not send is absent.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct Usage {
    /// How much of the bill the counts are.
    pub billing: Billing,
    /// Tokens of the request.
    pub prompt_tokens: Option<i64>,
    /// Those of them that came from a cache.
    pub cached_tokens: Option<i64>,
    /// Tokens of the answer.
    pub candidates_tokens: Option<i64>,
    /// Tokens of thinking.
    pub thoughts_tokens: Option<i64>,
    /// Tokens of tool results that the server fed back itself.
    pub tool_prompt_tokens: Option<i64>,
    /// The sum as the server gives it.
    pub total_tokens: Option<i64>,
}
