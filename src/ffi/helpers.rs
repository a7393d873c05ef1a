//! Pure helpers that are worth having without a turn.

use super::convert::{long, natural};
use super::error::CallError;
use super::event::Decision;
use super::guard::guard;
use super::policy::Policy;
use crate::effect::{EffectKey, ToolRule};
use crate::text::{self, Checkpoint};
use crate::turn::{self as core, Utf16Len};

/// What a drop after a text would commit.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct CommittedText {
    /// The longest prefix that is safe to build on; absent where there is none.
    pub committed: Option<String>,
    /// Its length in UTF-16 code units; 0 where there is none.
    pub committed_utf16: i64,
    /// Its estimated tokens; 0 where there is none.
    pub estimated_tokens: i64,
    /// Where it ends in an item of a numbered list: the next number.
    pub next_number: Option<i64>,
}

/// What would be kept if the connection dropped after `text`. Pure, on the caller's thread; takes
/// time in proportion to the text.
#[uniffi::export]
pub fn committed_text(text: String) -> Result<CommittedText, CallError> {
    guard(|| {
        let mut checkpoint = Checkpoint::new();
        checkpoint.push(&text);
        let cut = checkpoint.cut();
        let committed = cut.as_ref().map(|cut| &text[..cut.len]);
        Ok(CommittedText {
            committed_utf16: long(Utf16Len::of(committed.unwrap_or("")).0),
            estimated_tokens: long(text::estimate_tokens(committed.unwrap_or(""))),
            next_number: cut.as_ref().and_then(|cut| cut.next_number).map(long),
            committed: committed.map(str::to_owned),
        })
    })
}

/// Estimates how many tokens a Gemini model would have needed for `text`. Pure.
#[uniffi::export]
pub fn estimate_tokens(text: String) -> Result<i64, CallError> {
    guard(|| Ok(long(text::estimate_tokens(&text))))
}

/// The idempotency key of a tool call, 32 hex digits: a hash of turn, name, arguments, ordinal and
/// step. Pure.
///
/// `args` is a JSON object; order and spelling do not matter. `key_fields` names the arguments
/// that count; empty: all of them. Fails for arguments that are no JSON.
#[uniffi::export(default(ordinal = 0, step = None, key_fields = []))]
pub fn effect_key(
    turn: String,
    name: String,
    args: String,
    ordinal: i32,
    step: Option<String>,
    key_fields: Vec<String>,
) -> Result<String, CallError> {
    guard(|| {
        let args = serde_json::from_str(&args)
            .map_err(|error| CallError::invalid(format!("`args` is not JSON: {error}")))?;
        let rule = ToolRule { name, key_fields };
        let ordinal = natural("ordinal", ordinal)?;
        EffectKey::new(&turn, &rule.name, &rule.keyed(&args), ordinal, step.as_deref())
            .map(|key| key.as_str().to_owned())
            .map_err(|error| CallError::invalid(error.to_string()))
    })
}

/// All that the gate looks at. What is left out did not happen.
#[derive(Debug, Clone, Default, PartialEq, Eq, uniffi::Record)]
#[allow(clippy::struct_excessive_bools)]
pub struct Evidence {
    /// The app cancelled.
    #[uniffi(default = false)]
    pub cancelled: bool,
    /// The attempt ended by something that no retry cures.
    #[uniffi(default = false)]
    pub not_retryable: bool,
    /// The attempt ended by the turn's second model fault.
    #[uniffi(default = false)]
    pub model_fault_repeated: bool,
    /// Attempts that count against `max_attempts` so far.
    #[uniffi(default = 1)]
    pub attempts: i32,
    /// Requests that did not leave so far.
    #[uniffi(default = 0)]
    pub unsent: i32,
    /// The attempt that ended did not leave.
    #[uniffi(default = false)]
    pub was_unsent: bool,
    /// Output tokens paid so far, at least.
    #[uniffi(default = 0)]
    pub spent_tokens: i64,
    /// The turn's money or the client's budget is used up.
    #[uniffi(default = false)]
    pub budget_used_up: bool,
    /// Streams of this turn that dropped so far.
    #[uniffi(default = 0)]
    pub stream_drops: i32,
    /// The turn has given up streaming.
    #[uniffi(default = false)]
    pub fell_back: bool,
    /// A continuation token is in hand.
    #[uniffi(default = false)]
    pub has_token: bool,
    /// The server refused a token in this turn and the attempt that ended carried it.
    #[uniffi(default = false)]
    pub resume_refused: bool,
    /// Structured output was asked for.
    #[uniffi(default = false)]
    pub schema: bool,
    /// A function call was seen.
    #[uniffi(default = false)]
    pub tool_seen: bool,
    /// Code execution was seen.
    #[uniffi(default = false)]
    pub code_seen: bool,
    /// An image or file was seen.
    #[uniffi(default = false)]
    pub media_seen: bool,
    /// Grounding was seen.
    #[uniffi(default = false)]
    pub grounding_seen: bool,
    /// The tool mode forces a call.
    #[uniffi(default = false)]
    pub forced_tools: bool,
    /// Thinking is deep, as configured or as measured on the attempt.
    #[uniffi(default = false)]
    pub deep_thinking: bool,
    /// The attempt ended by a model fault.
    #[uniffi(default = false)]
    pub model_fault: bool,
    /// A continuation was refused in this turn.
    #[uniffi(default = false)]
    pub continuation_refused: bool,
    /// A continuation came back empty in this turn although text had been thrown away.
    #[uniffi(default = false)]
    pub continuation_empty: bool,
    /// There is committed text.
    #[uniffi(default = false)]
    pub has_committed: bool,
    /// R: its tokens.
    #[uniffi(default = 0)]
    pub committed_tokens: i64,
}

impl TryFrom<Evidence> for core::Evidence {
    type Error = CallError;

    fn try_from(evidence: Evidence) -> Result<Self, CallError> {
        Ok(Self {
            cancelled: evidence.cancelled,
            not_retryable: evidence.not_retryable,
            model_fault_repeated: evidence.model_fault_repeated,
            attempts: natural("attempts", evidence.attempts)?,
            unsent: natural("unsent", evidence.unsent)?,
            was_unsent: evidence.was_unsent,
            spent_tokens: natural("spent_tokens", evidence.spent_tokens)?,
            budget_used_up: evidence.budget_used_up,
            stream_drops: natural("stream_drops", evidence.stream_drops)?,
            fell_back: evidence.fell_back,
            has_token: evidence.has_token,
            resume_refused: evidence.resume_refused,
            schema: evidence.schema,
            tool_seen: evidence.tool_seen,
            code_seen: evidence.code_seen,
            media_seen: evidence.media_seen,
            grounding_seen: evidence.grounding_seen,
            forced_tools: evidence.forced_tools,
            deep_thinking: evidence.deep_thinking,
            model_fault: evidence.model_fault,
            continuation_refused: evidence.continuation_refused,
            continuation_empty: evidence.continuation_empty,
            has_committed: evidence.has_committed,
            committed_tokens: natural("committed_tokens", evidence.committed_tokens)?,
        })
    }
}

/// The gate: what would follow a broken attempt. Pure: equal arguments give equal decisions.
#[uniffi::export(default(policy = None))]
pub fn decide(evidence: Evidence, policy: Option<Policy>) -> Result<Decision, CallError> {
    guard(|| {
        let policy = policy.unwrap_or_default().over(&core::Policy::default())?;
        let decision = core::decide(&evidence.try_into()?, &policy);
        Ok(Decision {
            strategy: decision.next.map(|(strategy, _)| strategy.into()),
            reasons: decision.reasons.into_iter().map(Into::into).collect(),
        })
    })
}

/// Every number of the policy with its default.
#[uniffi::export]
pub fn default_policy() -> Result<Policy, CallError> {
    guard(|| Ok(Policy::from(&core::Policy::default())))
}
