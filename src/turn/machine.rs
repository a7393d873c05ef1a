//! The state machine of a turn.
//!
//! The one invariant: every call of [`Turn::start`] and [`Turn::handle`] is followed by a full
//! drain of [`Turn::poll_action`], and then by waiting for the earlier of the next input and
//! [`Turn::next_wake`].

use super::answer::Answer;
use super::attempt::{Attempt, Broken, Endpoint};
use super::backoff::Backoff;
use super::ending::{EndedBy, Ending, Timer};
use super::event::{
    AttemptReport, Cause, Completed, ErrorKind, Event, EventKind, Failed, Finish, Outcome,
    ToolCall, TurnError,
};
use super::gate::{Base, Reason, Strategy};
use super::io::{Action, Input, Outgoing, TurnSetup};
use super::lifecycle::Device;
use super::retry::{Pending, Tally};
use super::snapshot::Stage;
use super::spend::Spend;
use super::units::AttemptNo;
use crate::effect::EffectKeys;
use crate::gemini::{Body, FinishClass};
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

#[derive(Debug)]
pub(super) enum Phase {
    New,
    /// Rebuilt from a snapshot, not started.
    Restored(Box<Stage>),
    Running(Box<Attempt>),
    Waiting(Box<Pending>),
    Over,
}

/// Keys and tokens are longer than this; `30` in a header is none.
pub(crate) const SHORTEST_SECRET: usize = 6;

/// One turn. See the [module](crate::turn) for how to drive it.
#[derive(Debug)]
pub struct Turn {
    pub(super) setup: TurnSetup,
    pub(super) body: Option<Body>,
    pub(super) phase: Phase,
    pub(super) answer: Answer,
    pub(super) tally: Tally,
    pub(super) backoff: Backoff,
    pub(super) device: Device,
    pub(super) attempt_no: AttemptNo,
    pub(super) reports: Vec<AttemptReport>,
    /// The longest text shown so far, where it is longer than what is shown now.
    pub(super) longest: String,
    /// The request as snapshots share it, and its hash.
    pub(super) request: OnceLock<(Arc<str>, String)>,
    id: Arc<str>,
    seq: u64,
    actions: VecDeque<Action>,
    pub(super) fresh: Vec<EventKind>,
}

impl Turn {
    /// A turn that has not begun.
    #[must_use]
    pub fn new(setup: TurnSetup) -> Self {
        Self {
            id: setup.turn_id.as_str().into(),
            backoff: Backoff::new(setup.seed),
            body: None,
            phase: Phase::New,
            answer: Answer::default(),
            tally: Tally::default(),
            device: Device::default(),
            attempt_no: AttemptNo::FIRST,
            reports: Vec::new(),
            longest: String::new(),
            request: OnceLock::new(),
            seq: 0,
            actions: VecDeque::new(),
            fresh: Vec::new(),
            setup,
        }
    }

    /// Begins the turn. A body that cannot be recovered fails it at once, with nothing sent.
    pub fn start(&mut self, now: Duration) {
        match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::New => {}
            Phase::Restored(stage) => return self.start_restored(now, *stage),
            begun => {
                self.phase = begun;
                return;
            }
        }
        match Body::parse(&self.setup.body) {
            Ok(_) if self.setup.budget.is_used_up_by(&Spend::default()) => {
                let details = Some("the client's budget is used up: nothing was sent".to_owned());
                self.fail(ErrorKind::SpendUsedUp, Reason::SpendUsedUp.as_str(), None, details);
            }
            Ok(body) => {
                let raw: Arc<str> = body.as_str().into();
                self.body = Some(body);
                let attempt = Attempt::new(
                    self.attempt_no,
                    Strategy::Initial,
                    Base::Nothing,
                    Endpoint::Stream,
                    raw,
                    None,
                    now,
                    &self.setup.policy,
                );
                self.run(attempt, false);
            }
            Err(error) => {
                let details = Some(error.to_string());
                self.fail(ErrorKind::InvalidArgument, "invalid_argument", None, details);
            }
        }
    }

    /// Takes one input. `now` is the time since any fixed moment and never goes back.
    pub fn handle(&mut self, now: Duration, input: Input<'_>) {
        match input {
            Input::Cancel => self.cancel(now),
            Input::Signal(signal) => self.signal(now, signal),
            Input::Budget(budget) => self.setup.budget = budget,
            Input::Slept { gap } => self.slept(now, gap),
            Input::Wake => self.wake(now),
            Input::Sent { attempt } => {
                if let Some(running) = self.running(attempt) {
                    running.sent_at.get_or_insert(now);
                }
            }
            Input::Head { attempt, status, headers } => {
                let Some(running) = self.running(attempt) else { return };
                running.sent_at.get_or_insert(now);
                if let Err(broken) = running.head(now, status, headers) {
                    self.broken(now, &broken, true);
                }
            }
            Input::Bytes { attempt, bytes } => self.bytes(now, attempt, bytes),
            Input::End { attempt, end } => {
                if self.running(attempt).is_some() {
                    self.end(now, EndedBy::Body(end));
                }
            }
            Input::Unreachable { attempt, detail } => {
                if self.running(attempt).is_some() {
                    self.broken(now, &Broken::new(Cause::Unreachable, detail), false);
                }
            }
            Input::Unsendable { attempt, detail } => {
                if self.running(attempt).is_some() {
                    let mut broken = Broken::new(Cause::Unreachable, detail);
                    broken.terminal = Some(ErrorKind::InvalidArgument);
                    self.broken(now, &broken, false);
                }
            }
        }
    }

    /// A further text that must not appear in any error, such as a token that was just issued.
    pub fn keep_secret(&mut self, secret: String) {
        if !self.setup.secrets.contains(&secret) {
            self.setup.secrets.push(secret);
        }
    }

    /// The next thing to do, or `None` when all is done for now.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// When to call [`handle`](Self::handle) with [`Input::Wake`], if nothing comes before.
    #[must_use]
    pub fn next_wake(&self) -> Option<Duration> {
        match &self.phase {
            Phase::Running(attempt) => {
                attempt.next_timer(&self.answer, &self.setup.policy).map(|(at, _)| at)
            }
            Phase::Waiting(pending) => Some(pending.until),
            Phase::New | Phase::Restored(_) | Phase::Over => None,
        }
    }

    /// What the attempts that are over have cost.
    #[must_use]
    pub fn spend(&self) -> Spend {
        self.tally.spend
    }

    /// True after the last event.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    fn running(&mut self, no: AttemptNo) -> Option<&mut Attempt> {
        match &mut self.phase {
            Phase::Running(attempt) if attempt.no == no => Some(attempt),
            _ => None,
        }
    }

    fn bytes(&mut self, now: Duration, no: AttemptNo, bytes: &[u8]) {
        let Phase::Running(attempt) = &mut self.phase else { return };
        if attempt.no != no {
            return;
        }
        let result = attempt.bytes(now, bytes, &mut self.answer, &mut self.fresh);
        self.emit_fresh();
        if let Err(broken) = result {
            self.broken(now, &broken, true);
        }
    }

    fn wake(&mut self, now: Duration) {
        match &mut self.phase {
            Phase::Running(attempt) => match attempt.next_timer(&self.answer, &self.setup.policy) {
                Some((at, Timer::SeamHold)) if at <= now => {
                    attempt.seam_time_up(&mut self.answer, &mut self.fresh);
                    self.emit_fresh();
                }
                Some((at, Timer::Ends(by))) if at <= now => {
                    self.abort();
                    self.end(now, by);
                }
                _ => {}
            },
            Phase::Waiting(pending) if pending.until <= now => self.wait_is_over(now),
            _ => {}
        }
    }

    pub(super) fn end(&mut self, now: Duration, by: EndedBy) {
        let Phase::Running(attempt) = &mut self.phase else { return };
        let ending = attempt.end(now, by, &mut self.answer, &mut self.fresh);
        self.emit_fresh();
        match ending {
            Ending::Whole(class) => self.complete(now, class),
            Ending::Hop => self.hop(now),
            Ending::Broken(broken) => self.broken(now, &broken, false),
        }
    }

    fn cancel(&mut self, now: Duration) {
        match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::Over => return,
            Phase::Running(attempt) => {
                self.actions.push_back(Action::Abort { attempt: attempt.no });
                let usage =
                    attempt.meter.abandoned(attempt.sent_at.is_some(), attempt.is_error_answer());
                let report = self.report(&attempt, now, Outcome::Cancelled, None, usage);
                self.tally.spend.add(&usage, report.received_tokens, &self.setup.policy);
                self.reports.push(report);
            }
            Phase::New | Phase::Restored(_) | Phase::Waiting(_) => {}
        }
        self.fail(ErrorKind::Cancelled, "cancelled", None, None);
    }

    /// Begins an attempt.
    pub(super) fn run(&mut self, attempt: Attempt, fresh_connection: bool) {
        self.attempt_no = attempt.no;
        let outgoing = Outgoing {
            attempt: attempt.no,
            endpoint: attempt.endpoint,
            body: attempt.body.clone(),
            fresh_connection,
        };
        self.emit(EventKind::AttemptStarted { strategy: attempt.strategy });
        self.phase = Phase::Running(Box::new(attempt));
        self.actions.push_back(Action::Send(outgoing));
    }

    pub(super) fn abort(&mut self) {
        if let Phase::Running(attempt) = &self.phase {
            self.actions.push_back(Action::Abort { attempt: attempt.no });
        }
    }

    pub(super) fn complete(&mut self, now: Duration, class: FinishClass) {
        let Phase::Running(attempt) = std::mem::replace(&mut self.phase, Phase::Over) else {
            return;
        };
        let usage = attempt.meter.whole();
        let report = self.report(&attempt, now, Outcome::Completed, None, usage);
        self.tally.spend.add(&usage, report.received_tokens, &self.setup.policy);
        self.reports.push(report);
        let answer = std::mem::take(&mut self.answer);
        let tool_calls = match class {
            FinishClass::Complete => self.tool_calls(&answer),
            _ => Ok(Vec::new()),
        };
        let tool_calls = match tool_calls {
            Ok(calls) => calls,
            Err(error) => {
                self.answer = answer;
                return self.fail(ErrorKind::Internal, "effect_key", None, Some(error.to_string()));
            }
        };
        let reason = attempt.finish_reason().to_owned();
        let completed = Completed {
            finish: Finish { class, reason },
            tool_calls,
            history: answer.history(),
            attempts: std::mem::take(&mut self.reports),
            spend: self.tally.spend,
            text: answer.into_text(),
        };
        self.emit(EventKind::Completed(Box::new(completed)));
    }

    fn tool_calls(&self, answer: &Answer) -> Result<Vec<ToolCall>, crate::effect::CanonicalError> {
        let step = self.setup.step.as_deref();
        let mut keys = EffectKeys::new(&self.setup.turn_id, step, &self.setup.tools);
        let calls = answer.calls().iter().map(|call| {
            let args = serde_json::from_str(call.args.as_str()).unwrap_or_default();
            let (ordinal, key) = keys.next(&call.name, &args)?;
            Ok(ToolCall {
                name: call.name.clone(),
                args: call.args.clone(),
                effect_key: key.as_str().to_owned(),
                ordinal,
                step: self.setup.step.clone(),
                provider_id: call.provider_id.clone(),
            })
        });
        calls.collect()
    }

    pub(super) fn fail(
        &mut self,
        kind: ErrorKind,
        reason: &str,
        http_status: Option<u16>,
        details: Option<String>,
    ) {
        self.phase = Phase::Over;
        let answer = std::mem::take(&mut self.answer);
        self.remember_longest(answer.text());
        let error = TurnError {
            kind,
            reason: reason.to_owned(),
            http_status,
            details: details.map(|details| self.without_secrets(&details)),
        };
        let failed = Failed {
            error,
            partial_text: std::mem::take(&mut self.longest),
            attempts: std::mem::take(&mut self.reports),
            spend: self.tally.spend,
        };
        self.emit(EventKind::Failed(Box::new(failed)));
    }

    pub(super) fn remember_longest(&mut self, shown: &str) {
        if shown.len() > self.longest.len() {
            shown.clone_into(&mut self.longest);
        }
    }

    pub(super) fn without_secrets(&self, text: &str) -> String {
        // Shorter ones are numbers and flags: without them no error could be read.
        let secrets = self.setup.secrets.iter().filter(|secret| secret.len() >= SHORTEST_SECRET);
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret, "[secret]"))
    }

    pub(super) fn emit_fresh(&mut self) {
        let mut fresh = std::mem::take(&mut self.fresh);
        for kind in fresh.drain(..) {
            self.emit(kind);
        }
        self.fresh = fresh;
    }

    pub(super) fn emit(&mut self, kind: EventKind) {
        self.seq += 1;
        let (turn, attempt) = (self.id.clone(), self.attempt_no);
        self.actions.push_back(Action::Emit(Event { kind, turn, seq: self.seq, attempt }));
    }
}
