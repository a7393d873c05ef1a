//! What the stable names of events mean, in words for a person.

use rejoin::turn::{Billing, Cause, DecisionReport, Dropped, Reason, Strategy, WaitReason};

/// A number with thousands apart.
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 character`, `2 characters`.
pub fn count(n: usize, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {what}{s}", number(n as u64))
}

pub fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}

pub fn cause(dropped: &Dropped) -> String {
    let words = match dropped.cause {
        Cause::Unreachable => "server not reached",
        Cause::Refused => "refused by the server",
        Cause::ClosedEarly => "stream ended early",
        Cause::Reset => "connection reset",
        Cause::Idle => "stream fell silent",
        Cause::FirstByteTimeout => "no answer began in time",
        Cause::ServerError => "server failed in the middle",
        Cause::Malformed => "no valid event came",
        Cause::NotAStream => "no stream came (a portal's page?)",
        Cause::TooLarge => "event too large",
        Cause::Empty => "empty answer",
        Cause::ModelFault => "model failed",
        Cause::Spliced => "two answers glued together below",
        Cause::NetworkChanged => "network changed",
        Cause::Suspended => "device slept",
    };
    match dropped.http_status {
        Some(status) => format!("{words} (HTTP {status})"),
        None => words.to_owned(),
    }
}

/// The tokens in hand, and how well they are known; nothing where no answer had begun.
pub fn tokens(dropped: &Dropped) -> String {
    if matches!(dropped.cause, Cause::Unreachable | Cause::Refused) {
        return String::new();
    }
    let how = if dropped.exact { "exact" } else { "estimated" };
    format!(" · R {} ({how})", number(dropped.committed_tokens))
}

pub fn decision(decision: &DecisionReport) -> String {
    let strategy = decision.strategy.map_or("fail", Strategy::as_str);
    let reasons: Vec<_> = decision.reasons.iter().map(|reason| words_of(*reason)).collect();
    format!("{strategy}: {}", reasons.join(", "))
}

fn words_of(reason: Reason) -> &'static str {
    match reason {
        Reason::Cancelled => "cancelled",
        Reason::NotRetryable => "no retry cures it",
        Reason::ModelFaultRepeated => "the model failed twice",
        Reason::AttemptsUsedUp => "no attempts left",
        Reason::UnsentUsedUp => "tried often enough",
        Reason::SpendUsedUp => "the turn has cost what it may",
        Reason::SecondDrop => "second drop",
        Reason::ContinuationToken => "the server gave a token",
        Reason::ResumeRefused => "the token was refused",
        Reason::Schema => "structured output",
        Reason::ToolSeen => "a tool call was seen",
        Reason::CodeSeen => "code was run",
        Reason::MediaSeen => "media was seen",
        Reason::GroundingSeen => "citations were seen",
        Reason::ForcedTools => "a call is forced",
        Reason::DeepThinking => "deep thinking",
        Reason::ModelFault => "the model failed",
        Reason::ContinuationRefused => "a continuation was refused",
        Reason::ContinuationEmpty => "a continuation was empty",
        Reason::NoCheckpoint => "nothing safe to build on",
        Reason::BelowThreshold => "below the threshold",
        Reason::FreeTextAboveThreshold => "enough free text to keep",
    }
}

pub fn wait(why: WaitReason) -> &'static str {
    match why {
        WaitReason::Backoff => "backoff",
        WaitReason::ServerAsked => "as the server asked",
        WaitReason::Offline => "offline",
    }
}

pub fn billing(billing: Billing) -> &'static str {
    match billing {
        Billing::Known => "known",
        Billing::LowerBound => "at least",
        Billing::Unknown => "unknown",
        Billing::NotBilled => "not billed",
        Billing::NotSent => "not sent",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!([0, 999, 1000, 1_234_567].map(number), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            (count(1, "character"), count(2, "call")),
            ("1 character".into(), "2 calls".into())
        );
        assert_eq!([40, 1250, 61_000].map(seconds), ["0.0 s", "1.2 s", "61.0 s"]);
    }
}
