//! From a broken attempt to the next one, or to the end of the turn.

use super::answer::Answer;
use super::attempt::{Attempt, Broken, Endpoint};
use super::continuation::instruction;
use super::event::{
    AttemptReport, Cause, DecisionReport, Dropped, ErrorKind, EventKind, Family, Outcome, Reset,
    ResetReason, UsageReport, WaitReason,
};
use super::gate::{Base, Evidence, Reason, Strategy, decide};
use super::machine::{Phase, Turn};
use super::spend::{Budget, Spend};
use super::units::{Tokens, Utf16Len};
use crate::gemini::{Body, Continuation, FinishClass};
use crate::text::{Cut, Seam, SeamContext};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// Hops that bring nothing, after which the server is not asked again. Google's own SDKs stop
/// after as many reconnects without progress.
const MAX_EMPTY_HOPS: u32 = 3;

/// What has happened in the turn so far, as far as it counts against something.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    attempts: u32,
    unsent: u32,
    drops: u32,
    stream_drops: u32,
    model_faults: u32,
    pub(super) spend: Spend,
    fell_back: bool,
    resume_refused: bool,
    continuation_refused: bool,
    continuation_empty: bool,
    empty_hops: u32,
    /// The token that the running attempt was sent with.
    sent_token: Option<Arc<str>>,
}

impl Tally {
    /// Without what the server gave to go on from.
    pub(crate) fn without_token(self) -> Self {
        Self { sent_token: None, ..self }
    }
}

/// A decided retry.
#[derive(Debug)]
pub(crate) struct Pending {
    pub until: Duration,
    /// Before this the server does not want to be asked again.
    pub(super) asked: Duration,
    pub(super) since: Duration,
    pub(super) why: Option<WaitReason>,
    pub(super) strategy: Strategy,
    pub(super) base: Base,
    pub(super) cut: Option<Cut>,
    pub(super) tokens: Tokens,
    pub(super) received: Tokens,
    pub(super) reason: ResetReason,
    pub(super) is_hop: bool,
    /// It waits for the app to come back from suspension.
    pub(super) parked: bool,
    /// What the app was told of it.
    pub(super) dropped: Option<Dropped>,
}

impl Turn {
    /// The running attempt is not whole. `abort` if its connection is still open.
    pub(super) fn broken(&mut self, now: Duration, broken: &Broken, abort: bool) {
        if abort {
            self.abort();
        }
        let Phase::Running(mut attempt) = std::mem::replace(&mut self.phase, Phase::Over) else {
            return;
        };
        attempt.release_all(&mut self.answer, &mut self.fresh);
        self.emit_fresh();
        let received = self.answer.received(attempt.meter.max().candidates);
        let refused = attempt.is_error_answer();
        let usage = attempt.meter.abandoned(broken.cause != Cause::Unreachable, refused);
        self.count(&attempt, broken, received, &usage);
        let (cut, tokens) = self.committed(received);
        let evidence = self.evidence(&attempt, broken, cut.is_some(), tokens);
        let decision = decide(&evidence, &self.setup.policy);
        let outcome = if decision.next.is_some() { Outcome::Dropped } else { Outcome::Failed };
        let report = self.report(&attempt, now, outcome, Some(broken.cause), usage);
        self.reports.push(report);
        let http_status = attempt.http_status.filter(|_| refused);
        let detail = broken.detail.as_deref().map(|detail| self.without_secrets(detail));
        let dropped = Dropped {
            cause: broken.cause,
            detail,
            http_status,
            received_tokens: received.count,
            committed_tokens: tokens.count,
            exact: received.exact && tokens.exact,
            decision: DecisionReport {
                strategy: decision.next.map(|(strategy, _)| strategy),
                reasons: decision.reasons.clone(),
            },
        };
        self.emit(EventKind::Dropped(dropped.clone()));
        let Some((strategy, base)) = decision.next else {
            let reason = decision.reasons.first().copied().unwrap_or(Reason::NotRetryable);
            return self.give_up(reason, broken, http_status);
        };
        let (pause, why) = self.pause(broken);
        let pending = Pending {
            until: now + pause,
            asked: if why == Some(WaitReason::ServerAsked) { now + pause } else { now },
            since: now,
            why,
            strategy,
            base,
            cut,
            tokens,
            received,
            reason: ResetReason::Cause(broken.cause),
            is_hop: false,
            parked: false,
            dropped: Some(dropped),
        };
        self.wait(now, pending, pause);
    }

    /// The server asks for a next hop.
    pub(super) fn hop(&mut self, now: Duration) {
        let Phase::Running(attempt) = &self.phase else { return };
        let received = self.answer.received(attempt.meter.max().candidates);
        let mut spend = self.tally.spend;
        let usage = attempt.meter.whole();
        spend.add(&usage, received.count, &self.setup.policy);
        let spent_all = self.is_over_budget(&spend);
        let empty_hops = if attempt.said { 0 } else { self.tally.empty_hops + 1 };
        // The token that the attempt was sent with is no new one: the same hop would come again.
        let sent_token = self.tally.sent_token.clone().unwrap_or_default();
        let can_go_on = self
            .answer
            .mark()
            .is_some_and(|mark| Arc::ptr_eq(&mark.body, &attempt.body) && mark.token != sent_token);
        if !can_go_on || spent_all || empty_hops > MAX_EMPTY_HOPS {
            return self.complete(now, FinishClass::Truncated);
        }
        let Phase::Running(attempt) = std::mem::replace(&mut self.phase, Phase::Over) else {
            return;
        };
        self.tally.empty_hops = empty_hops;
        self.tally.spend = spend;
        self.tally.attempts += u32::from(!attempt.is_hop);
        let report = self.report(&attempt, now, Outcome::Continued, None, usage);
        self.reports.push(report);
        self.go(
            now,
            &Pending {
                until: now,
                asked: now,
                since: now,
                why: None,
                strategy: Strategy::Resume,
                base: Base::Token,
                cut: None,
                tokens: Tokens::NONE,
                received,
                reason: ResetReason::Continuation,
                is_hop: true,
                parked: false,
                dropped: None,
            },
        );
    }

    fn count(&mut self, attempt: &Attempt, broken: &Broken, received: Tokens, usage: &UsageReport) {
        let tally = &mut self.tally;
        match broken.cause.family() {
            Family::Unreachable => tally.unsent += 1,
            Family::Refusal | Family::Drop => tally.attempts += u32::from(!attempt.is_hop),
        }
        if broken.cause.family() == Family::Drop {
            tally.drops += 1;
            tally.stream_drops += u32::from(attempt.endpoint == Endpoint::Stream);
        }
        tally.model_faults += u32::from(broken.cause == Cause::ModelFault);
        tally.spend.add(usage, received.count, &self.setup.policy);
        if broken.offended {
            match attempt.base {
                Base::Committed => tally.continuation_refused = true,
                Base::Token => {
                    tally.resume_refused = true;
                    self.answer.forget_mark();
                }
                Base::Nothing => {}
            }
        }
        if broken.cause == Cause::Empty && attempt.base != Base::Nothing {
            self.tally.continuation_empty = true;
            self.answer.forget_mark();
        }
    }

    fn committed(&self, received: Tokens) -> (Option<Cut>, Tokens) {
        let cut = self.answer.cut();
        let tokens =
            cut.as_ref().map_or(Tokens::NONE, |cut| self.answer.tokens_of(cut.len, received));
        (cut, tokens)
    }

    fn evidence(
        &self,
        attempt: &Attempt,
        broken: &Broken,
        has_committed: bool,
        committed: Tokens,
    ) -> Evidence {
        let policy = &self.setup.policy;
        let asked = |fact: fn(&Body) -> bool| self.body.as_ref().is_some_and(fact);
        let seen = self.answer.seen();
        // The server took offence at what we added to the caller's request, not at the request.
        let ours = broken.offended && attempt.base != Base::Nothing;
        let deep = policy.deep_thinking_tokens;
        Evidence {
            cancelled: false,
            not_retryable: broken.terminal.is_some() && !ours,
            model_fault_repeated: broken.cause == Cause::ModelFault && self.tally.model_faults >= 2,
            attempts: self.tally.attempts,
            unsent: self.tally.unsent,
            was_unsent: broken.cause == Cause::Unreachable,
            spent_tokens: self.tally.spend.output_tokens,
            budget_used_up: self.is_over_budget(&self.tally.spend),
            stream_drops: self.tally.stream_drops,
            fell_back: self.tally.fell_back,
            has_token: self.answer.mark().is_some(),
            resume_refused: ours && attempt.base == Base::Token,
            schema: asked(Body::wants_structure),
            tool_seen: seen.tool,
            code_seen: seen.code,
            media_seen: seen.media,
            grounding_seen: seen.grounding,
            forced_tools: asked(Body::forces_tools),
            deep_thinking: self.answer.thought_tokens() >= deep
                || self.body.as_ref().is_some_and(|body| body.thinks_deeply(deep)),
            model_fault: broken.cause == Cause::ModelFault,
            continuation_refused: self.tally.continuation_refused,
            continuation_empty: self.tally.continuation_empty,
            has_committed,
            committed_tokens: committed.count,
        }
    }

    /// What the turn may cost, or what the client has left, is used up.
    pub(super) fn is_over_budget(&self, spend: &Spend) -> bool {
        let policy = &self.setup.policy;
        let own = Budget { output_tokens: policy.max_output_spend_tokens, money: policy.max_spend };
        own.is_used_up_by(spend) || self.setup.budget.is_used_up_by(spend)
    }

    /// How long to wait before the retry, and for what.
    fn pause(&mut self, broken: &Broken) -> (Duration, Option<WaitReason>) {
        if let Some(delay) = broken.delay {
            return (delay, Some(WaitReason::ServerAsked));
        }
        // The first drop may be a tunnel's end; our own addition that was refused is gone now.
        let first_drop = broken.cause.family() == Family::Drop && self.tally.drops == 1;
        if first_drop || broken.offended {
            return (Duration::ZERO, None);
        }
        (self.backoff.next(&self.setup.policy), Some(WaitReason::Backoff))
    }

    pub(super) fn wait(&mut self, now: Duration, mut pending: Pending, pause: Duration) {
        let next_attempt = self.attempt_no.next();
        if self.device.suspended_at.is_some() {
            return self.park(now, pending);
        }
        if self.device.offline {
            pending.until = now + self.setup.policy.offline_wait();
            pending.why = Some(WaitReason::Offline);
            self.emit(EventKind::Waiting { next_attempt, for_ms: None, why: WaitReason::Offline });
        } else if let Some(why) = pending.why {
            // Up, not down: waiting less than the server asked for is asking twice.
            let for_ms = u64::try_from(pause.as_nanos().div_ceil(1_000_000)).ok();
            self.emit(EventKind::Waiting { next_attempt, for_ms, why });
        } else {
            return self.go(now, &pending);
        }
        self.phase = Phase::Waiting(Box::new(pending));
    }

    /// The pause is over: on, or park while there is no network.
    pub(super) fn wait_is_over(&mut self, now: Duration) {
        let Phase::Waiting(pending) = std::mem::replace(&mut self.phase, Phase::Over) else {
            return;
        };
        let mut pending = *pending;
        if std::mem::take(&mut pending.parked) {
            // The app is back, or nobody has said so for too long.
            self.device.suspended_at = None;
        } else if self.device.suspended_at.is_some() {
            return self.park(now, pending);
        } else if pending.why == Some(WaitReason::Offline) && self.device.offline {
            let details = "no network came back within offline_wait_ms".to_owned();
            return self.fail(ErrorKind::Unreachable, "offline", None, Some(details));
        }
        if self.device.offline {
            return self.wait(now, pending, Duration::ZERO);
        }
        if pending.asked > now {
            // The network came back before the time that the server named.
            (pending.until, pending.why) = (pending.asked, Some(WaitReason::ServerAsked));
            let rest = pending.asked.saturating_sub(now);
            return self.wait(now, pending, rest);
        }
        // Other turns of the client may have spent meanwhile.
        if self.is_over_budget(&self.tally.spend) {
            return self.spend_is_used_up();
        }
        self.go(now, &pending);
    }

    pub(super) fn spend_is_used_up(&mut self) {
        let details = Some("the budget was used up before the next attempt".to_owned());
        self.fail(ErrorKind::SpendUsedUp, Reason::SpendUsedUp.as_str(), None, details);
    }

    /// Reset, then the next attempt.
    fn go(&mut self, now: Duration, pending: &Pending) {
        self.remember_shown();
        let old = std::mem::take(&mut self.answer);
        let caller: Arc<str> = self.body.as_ref().map_or("", Body::as_str).into();
        let mut seam = None;
        let (answer, body) = match (pending.base, &pending.cut) {
            (Base::Committed, Some(cut)) => {
                let answer = old.continued(cut, pending.tokens);
                seam = Some(self.seam(&answer, cut));
                let body = self.continued_body(&answer, cut);
                (answer, body)
            }
            (Base::Token, _) => {
                let answer = old.resumed(pending.received);
                let body = answer.mark().map(|mark| resumed_body(&mark.body, &mark.token));
                (answer, body.unwrap_or(caller))
            }
            _ => (Answer::default(), caller),
        };
        self.tally.sent_token = match pending.base {
            Base::Token => answer.mark().map(|mark| mark.token.clone()),
            Base::Nothing | Base::Committed => None,
        };
        self.answer = answer;
        self.attempt_no = self.attempt_no.next();
        let kept = self.answer.kept();
        let text = self.answer.text();
        self.emit(EventKind::Reset(Reset {
            keep_utf16: Utf16Len::of(text),
            keep_text_bytes: text.len() as u64,
            keep_thought_utf16: Utf16Len(kept.thoughts),
            keep_tools: kept.tools,
            keep_parts: kept.parts,
            reason: pending.reason,
        }));
        self.tally.fell_back |= pending.strategy == Strategy::NonStreaming;
        let endpoint = if self.tally.fell_back { Endpoint::Unary } else { Endpoint::Stream };
        let mut attempt = Attempt::new(
            self.attempt_no,
            pending.strategy,
            pending.base,
            endpoint,
            body,
            seam,
            now,
            &self.setup.policy,
        );
        attempt.waited = now.saturating_sub(pending.since);
        attempt.is_hop = pending.is_hop;
        let fresh_connection = match pending.reason {
            ResetReason::Cause(cause) => cause.connection_failed(),
            ResetReason::Continuation | ResetReason::AnswerRestarted => false,
        };
        self.run(attempt, fresh_connection);
    }

    /// True once the turn has given up streaming.
    pub(super) fn has_fallen_back(&self) -> bool {
        self.tally.fell_back
    }

    fn seam(&self, answer: &Answer, cut: &Cut) -> Seam {
        let context = SeamContext {
            committed: answer.text().to_owned(),
            gap: answer.gap(),
            next_number: cut.next_number,
            open_fence: cut.open_fence.clone(),
        };
        Seam::new(context, self.setup.policy.seam_hold_chars)
    }

    fn continued_body(&self, answer: &Answer, cut: &Cut) -> Arc<str> {
        let continuation = Continuation {
            committed: answer.text(),
            instruction: &instruction(cut),
            max_temperature: self.setup.policy.continue_temperature,
        };
        self.body.as_ref().map(|body| body.continued(&continuation)).unwrap_or_default().into()
    }

    pub(super) fn remember_shown(&mut self) {
        let answer = std::mem::take(&mut self.answer);
        self.remember_longest(answer.text());
        self.answer = answer;
    }

    fn give_up(&mut self, reason: Reason, broken: &Broken, http_status: Option<u16>) {
        let kind = match reason {
            Reason::UnsentUsedUp => ErrorKind::Unreachable,
            Reason::SpendUsedUp => ErrorKind::SpendUsedUp,
            Reason::AttemptsUsedUp | Reason::ModelFaultRepeated => ErrorKind::AttemptsUsedUp,
            _ => broken.terminal.unwrap_or(ErrorKind::Internal),
        };
        let mut details = broken.cause.to_string();
        for words in [&broken.detail, &broken.words].into_iter().flatten() {
            details.push_str(": ");
            details.push_str(words);
        }
        self.fail(kind, reason.as_str(), http_status, Some(details));
    }

    pub(super) fn report(
        &self,
        attempt: &Attempt,
        now: Duration,
        outcome: Outcome,
        cause: Option<Cause>,
        usage: UsageReport,
    ) -> AttemptReport {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        AttemptReport {
            attempt: attempt.no,
            strategy: attempt.strategy,
            outcome,
            cause,
            http_status: attempt.http_status,
            received_tokens: self.answer.received(attempt.meter.max().candidates).count,
            usage,
            waited_ms: millis(attempt.waited),
            took_ms: millis(attempt.before + now.saturating_sub(attempt.started)),
            seam: attempt.seam,
        }
    }
}

/// The request that the token continues, with the token.
fn resumed_body(body: &str, token: &str) -> Arc<str> {
    // The body was parsed before; a token changes nothing that could fail now.
    Body::parse(body).map_or_else(|_| body.into(), |body| body.with_token(token).into())
}
