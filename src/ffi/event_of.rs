//! From the core's events to those of the surface, field by field.

use super::convert::{int, long};
use super::event::{
    Answer, AttemptReport, Decision, EventKind, Failure, Finish, ResetReason, ToolCall, TurnEvent,
    Usage,
};
use crate::turn as core;
use std::collections::HashSet;

impl TurnEvent {
    pub(super) fn of(event: &core::Event, read_only: &HashSet<String>) -> Self {
        Self {
            turn: event.turn.to_string(),
            seq: long(event.seq),
            attempt: int(event.attempt.0),
            kind: EventKind::of(&event.kind, read_only),
        }
    }
}

impl EventKind {
    fn of(kind: &core::EventKind, read_only: &HashSet<String>) -> Self {
        use core::EventKind as Core;
        match kind {
            Core::AttemptStarted { strategy } => {
                Self::AttemptStarted { strategy: (*strategy).into() }
            }
            Core::Text { text } => Self::Text { text: text.clone() },
            Core::Thought { text } => Self::Thought { text: text.clone() },
            Core::ToolSeen { name } => Self::ToolSeen { name: name.clone() },
            Core::Part { part } => Self::Part { part: part.as_str().to_owned() },
            Core::Dropped(dropped) => Self::Dropped {
                cause: dropped.cause.into(),
                detail: dropped.detail.clone(),
                http_status: dropped.http_status.map(i32::from),
                received_tokens: long(dropped.received_tokens),
                committed_tokens: long(dropped.committed_tokens),
                exact: dropped.exact,
                decision: Decision {
                    strategy: dropped.decision.strategy.map(Into::into),
                    reasons: dropped.decision.reasons.iter().map(|&r| r.into()).collect(),
                },
            },
            Core::Waiting { next_attempt, for_ms, why } => Self::Waiting {
                next_attempt: int(next_attempt.0),
                for_ms: for_ms.map(long),
                why: (*why).into(),
            },
            Core::Reset(reset) => Self::Reset {
                keep_utf16: long(reset.keep_utf16.0),
                keep_text_bytes: long(reset.keep_text_bytes),
                keep_thought_utf16: long(reset.keep_thought_utf16.0),
                keep_tools: int(reset.keep_tools),
                keep_parts: int(reset.keep_parts),
                reason: reset.reason.into(),
            },
            Core::Completed(completed) => {
                Self::Completed { answer: Answer::of(completed, read_only) }
            }
            Core::Failed(failed) => Self::Failed { failure: (&**failed).into() },
        }
    }
}

impl From<core::ResetReason> for ResetReason {
    fn from(reason: core::ResetReason) -> Self {
        match reason {
            core::ResetReason::Cause(cause) => Self::Dropped { cause: cause.into() },
            core::ResetReason::Continuation => Self::Continuation,
            core::ResetReason::AnswerRestarted => Self::AnswerRestarted,
        }
    }
}

impl Answer {
    fn of(completed: &core::Completed, read_only: &HashSet<String>) -> Self {
        Self {
            text: completed.text.clone(),
            finish: Finish {
                class: completed.finish.class.into(),
                reason: completed.finish.reason.clone(),
            },
            tool_calls: completed
                .tool_calls
                .iter()
                .map(|call| ToolCall {
                    name: call.name.clone(),
                    args: call.args.as_str().to_owned(),
                    effect_key: call.effect_key.clone(),
                    ordinal: int(call.ordinal),
                    step: call.step.clone(),
                    provider_id: call.provider_id.clone(),
                    read_only: read_only.contains(&call.name),
                })
                .collect(),
            history: completed.history.iter().map(|json| json.as_str().to_owned()).collect(),
            attempts: completed.attempts.iter().map(Into::into).collect(),
            spend: Some((&completed.spend).into()),
        }
    }
}

impl From<&core::Failed> for Failure {
    fn from(failed: &core::Failed) -> Self {
        Self {
            kind: failed.error.kind.into(),
            reason: failed.error.reason.clone(),
            http_status: failed.error.http_status.map(i32::from),
            details: failed.error.details.clone(),
            partial_text: failed.partial_text.clone(),
            attempts: failed.attempts.iter().map(Into::into).collect(),
            spend: Some((&failed.spend).into()),
        }
    }
}

impl From<&core::AttemptReport> for AttemptReport {
    fn from(report: &core::AttemptReport) -> Self {
        let usage = &report.usage;
        Self {
            attempt: int(report.attempt.0),
            strategy: report.strategy.into(),
            outcome: report.outcome.into(),
            cause: report.cause.map(Into::into),
            http_status: report.http_status.map(i32::from),
            received_tokens: long(report.received_tokens),
            usage: Usage {
                billing: usage.billing.into(),
                prompt_tokens: usage.prompt_tokens.map(long),
                cached_tokens: usage.cached_tokens.map(long),
                candidates_tokens: usage.candidates_tokens.map(long),
                thoughts_tokens: usage.thoughts_tokens.map(long),
                tool_prompt_tokens: usage.tool_prompt_tokens.map(long),
                total_tokens: usage.total_tokens.map(long),
            },
            waited_ms: long(report.waited_ms),
            took_ms: long(report.took_ms),
            seam: report.seam.map(Into::into),
        }
    }
}
