//! The gate: the one rule that picks what follows a broken attempt.
//!
//! [`decide`] reads top to bottom like the table it implements: the first row that holds decides.

use super::event::named;
use super::policy::Policy;
use serde::{Deserialize, Serialize};

named! {
    /// What an attempt is.
    Strategy {
        /// The turn's first request.
        Initial = "initial",
        /// The same generation goes on after the server's continuation token.
        Resume = "resume",
        /// The caller's request once more, from nothing.
        Restart = "restart",
        /// The model is asked to go on from the committed text.
        Continue = "continue",
        /// The rest, or all of it, in one piece.
        NonStreaming = "non_streaming",
    }
}

named! {
    /// What decided.
    Reason {
        /// The app cancelled.
        Cancelled = "cancelled",
        /// No retry cures it: a bad key, a blocked prompt, a daily quota, a bad request.
        NotRetryable = "not_retryable",
        /// The model failed twice.
        ModelFaultRepeated = "model_fault_repeated",
        /// `max_attempts` is reached.
        AttemptsUsedUp = "attempts_used_up",
        /// `max_unsent` is reached.
        UnsentUsedUp = "unsent_used_up",
        /// A cap of tokens or money is reached: the turn's or the client's.
        SpendUsedUp = "spend_used_up",
        /// The connection does not hold.
        SecondDrop = "second_drop",
        /// The server gave a checkpoint of its own.
        ContinuationToken = "continuation_token",
        /// The server no longer took its token.
        ResumeRefused = "resume_refused",
        /// Structured output cannot be closed by a continuation.
        Schema = "schema",
        /// A function call was seen.
        ToolSeen = "tool_seen",
        /// Code execution was seen.
        CodeSeen = "code_seen",
        /// An image or file was seen.
        MediaSeen = "media_seen",
        /// Citations into the text of this attempt were seen.
        GroundingSeen = "grounding_seen",
        /// The tool mode forces a call.
        ForcedTools = "forced_tools",
        /// The model thinks deeply and would do so again.
        DeepThinking = "deep_thinking",
        /// The model failed: what it wrote is not to be built on.
        ModelFault = "model_fault",
        /// The server did not take our continuation.
        ContinuationRefused = "continuation_refused",
        /// The model had nothing to add although something was missing.
        ContinuationEmpty = "continuation_empty",
        /// No text is safe to build on.
        NoCheckpoint = "no_checkpoint",
        /// Too little to be worth a seam.
        BelowThreshold = "below_threshold",
        /// Enough free text to keep.
        FreeTextAboveThreshold = "free_text_above_threshold",
    }
}

/// What the next attempt builds on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Base {
    /// Nothing: the caller's own request.
    Nothing,
    /// The committed text.
    Committed,
    /// The server's continuation token.
    Token,
}

/// What follows a broken attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The next attempt, or `None`: the turn fails.
    pub next: Option<(Strategy, Base)>,
    /// What decided, first reason first.
    pub reasons: Vec<Reason>,
}

/// All that the gate looks at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The app cancelled.
    pub cancelled: bool,
    /// The attempt ended by something that no retry cures.
    pub not_retryable: bool,
    /// The attempt ended by the turn's second model fault.
    pub model_fault_repeated: bool,
    /// Attempts that count against `max_attempts` so far.
    pub attempts: u32,
    /// Requests that did not leave so far.
    pub unsent: u32,
    /// The attempt that ended did not leave.
    pub was_unsent: bool,
    /// Output tokens paid so far, at least.
    pub spent_tokens: u64,
    /// The turn's money or the client's budget is used up.
    pub budget_used_up: bool,
    /// Streams of this turn that dropped so far.
    pub stream_drops: u32,
    /// The turn has given up streaming.
    pub fell_back: bool,
    /// A continuation token is in hand.
    pub has_token: bool,
    /// The server refused a token in this turn and the attempt that ended carried it.
    pub resume_refused: bool,
    /// Structured output was asked for.
    pub schema: bool,
    /// A function call was seen.
    pub tool_seen: bool,
    /// Code execution was seen.
    pub code_seen: bool,
    /// An image or file was seen.
    pub media_seen: bool,
    /// Grounding was seen.
    pub grounding_seen: bool,
    /// The tool mode forces a call.
    pub forced_tools: bool,
    /// Thinking is deep, as configured or as measured on the attempt.
    pub deep_thinking: bool,
    /// The attempt ended by a model fault.
    pub model_fault: bool,
    /// A continuation was refused in this turn.
    pub continuation_refused: bool,
    /// A continuation came back empty in this turn although text had been thrown away.
    pub continuation_empty: bool,
    /// There is committed text.
    pub has_committed: bool,
    /// R: its tokens.
    pub committed_tokens: u64,
}

/// Picks what follows. Pure: equal evidence and policy give equal decisions.
#[must_use]
pub fn decide(evidence: &Evidence, policy: &Policy) -> Decision {
    if let Some(reason) = must_fail(evidence, policy) {
        return Decision { next: None, reasons: vec![reason] };
    }
    let (base, mut reasons) = base(evidence, policy);
    let holds_no_more = evidence.stream_drops >= policy.stream_drops_before_fallback;
    if evidence.fell_back || holds_no_more {
        reasons.insert(0, Reason::SecondDrop);
        return Decision { next: Some((Strategy::NonStreaming, base)), reasons };
    }
    let strategy = match base {
        Base::Nothing => Strategy::Restart,
        Base::Committed => Strategy::Continue,
        Base::Token => Strategy::Resume,
    };
    Decision { next: Some((strategy, base)), reasons }
}

fn must_fail(evidence: &Evidence, policy: &Policy) -> Option<Reason> {
    let spend_used_up = evidence.budget_used_up
        || policy.max_output_spend_tokens.is_some_and(|max| evidence.spent_tokens >= max);
    let rows = [
        (evidence.cancelled, Reason::Cancelled),
        (evidence.model_fault_repeated, Reason::ModelFaultRepeated),
        (evidence.not_retryable, Reason::NotRetryable),
        (evidence.was_unsent && evidence.unsent >= policy.max_unsent, Reason::UnsentUsedUp),
        (evidence.attempts >= policy.max_attempts, Reason::AttemptsUsedUp),
        (spend_used_up, Reason::SpendUsedUp),
    ];
    rows.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
}

fn base(evidence: &Evidence, policy: &Policy) -> (Base, Vec<Reason>) {
    if evidence.has_token {
        return (Base::Token, vec![Reason::ContinuationToken]);
    }
    let restart_rows = [
        (evidence.schema, Reason::Schema),
        (evidence.tool_seen, Reason::ToolSeen),
        (evidence.code_seen, Reason::CodeSeen),
        (evidence.media_seen, Reason::MediaSeen),
        (evidence.grounding_seen, Reason::GroundingSeen),
        (evidence.forced_tools, Reason::ForcedTools),
        (evidence.deep_thinking, Reason::DeepThinking),
        (evidence.continuation_refused, Reason::ContinuationRefused),
        (evidence.continuation_empty, Reason::ContinuationEmpty),
        (!evidence.has_committed, Reason::NoCheckpoint),
        (evidence.committed_tokens < policy.min_continue_tokens, Reason::BelowThreshold),
        // Last, since it only adds to the rows of the specification.
        (evidence.model_fault, Reason::ModelFault),
    ];
    let mut reasons = Vec::new();
    if evidence.resume_refused {
        reasons.push(Reason::ResumeRefused);
    }
    if let Some(reason) =
        restart_rows.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
    {
        reasons.push(reason);
        (Base::Nothing, reasons)
    } else {
        reasons.push(Reason::FreeTextAboveThreshold);
        (Base::Committed, reasons)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enough() -> Evidence {
        Evidence { attempts: 1, has_committed: true, committed_tokens: 200, ..Evidence::default() }
    }

    fn decided(change: impl FnOnce(&mut Evidence)) -> (Option<Strategy>, Vec<Reason>) {
        let mut evidence = enough();
        change(&mut evidence);
        let decision = decide(&evidence, &Policy::default());
        (decision.next.map(|(strategy, _)| strategy), decision.reasons)
    }

    #[test]
    fn enough_free_text_is_continued_and_less_is_begun_again() {
        use Reason::*;
        assert_eq!(decided(|_| ()), (Some(Strategy::Continue), vec![FreeTextAboveThreshold]));
        let below = decided(|evidence| evidence.committed_tokens = 199);
        assert_eq!(below, (Some(Strategy::Restart), vec![BelowThreshold]));
        let nothing = decided(|evidence| evidence.has_committed = false);
        assert_eq!(nothing, (Some(Strategy::Restart), vec![NoCheckpoint]));
    }

    #[test]
    fn each_row_that_forbids_a_continuation_restarts_under_its_own_name() {
        type Row = (fn(&mut Evidence), Reason);
        let rows: [Row; 10] = [
            (|e| e.schema = true, Reason::Schema),
            (|e| e.tool_seen = true, Reason::ToolSeen),
            (|e| e.code_seen = true, Reason::CodeSeen),
            (|e| e.media_seen = true, Reason::MediaSeen),
            (|e| e.grounding_seen = true, Reason::GroundingSeen),
            (|e| e.forced_tools = true, Reason::ForcedTools),
            (|e| e.deep_thinking = true, Reason::DeepThinking),
            (|e| e.model_fault = true, Reason::ModelFault),
            (|e| e.continuation_refused = true, Reason::ContinuationRefused),
            (|e| e.continuation_empty = true, Reason::ContinuationEmpty),
        ];
        for (change, reason) in rows {
            assert_eq!(decided(change), (Some(Strategy::Restart), vec![reason]));
            let with_token = decided(|evidence| {
                change(evidence);
                evidence.has_token = true;
            });
            assert_eq!(with_token, (Some(Strategy::Resume), vec![Reason::ContinuationToken]));
        }
    }

    #[test]
    fn what_no_retry_cures_fails_before_anything_else() {
        type Row = (fn(&mut Evidence), Reason);
        let rows: [Row; 7] = [
            (|e| e.cancelled = true, Reason::Cancelled),
            (|e| e.not_retryable = true, Reason::NotRetryable),
            (|e| e.model_fault_repeated = true, Reason::ModelFaultRepeated),
            (|e| e.attempts = 4, Reason::AttemptsUsedUp),
            (|e| (e.was_unsent, e.unsent) = (true, 8), Reason::UnsentUsedUp),
            (|e| e.spent_tokens = 10, Reason::SpendUsedUp),
            (|e| e.budget_used_up = true, Reason::SpendUsedUp),
        ];
        let policy = Policy { max_output_spend_tokens: Some(10), ..Policy::default() };
        for (change, reason) in rows {
            let mut evidence = Evidence { has_token: true, stream_drops: 2, ..enough() };
            change(&mut evidence);
            let decision = decide(&evidence, &policy);
            assert_eq!((decision.next, decision.reasons), (None, vec![reason]));
        }
    }

    #[test]
    fn the_second_drop_is_fetched_in_one_piece_from_the_best_base() {
        let base = |change: fn(&mut Evidence)| {
            let mut evidence = Evidence { stream_drops: 2, ..enough() };
            change(&mut evidence);
            let decision = decide(&evidence, &Policy::default());
            assert_eq!(decision.reasons[0], Reason::SecondDrop);
            decision.next
        };
        let unary = Strategy::NonStreaming;
        assert_eq!(base(|_| ()), Some((unary, Base::Committed)));
        assert_eq!(base(|e| e.has_token = true), Some((unary, Base::Token)));
        assert_eq!(base(|e| e.schema = true), Some((unary, Base::Nothing)));
        assert_eq!(
            base(|e| (e.stream_drops, e.fell_back) = (0, true)),
            Some((unary, Base::Committed))
        );
    }
}
