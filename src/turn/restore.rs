//! How another process goes on with a turn.
//!
//! The log of a restored turn begins anew, with `seq` 1. Its first events show what was there, under
//! the number of the attempt that brought it; then the turn goes on as after any drop. Nothing is
//! sent for the attempt that died, and its report stays in `attempts`.

use super::answer::shown_parts;
use super::attempt::{Attempt, Broken, Endpoint};
use super::event::{Cause, Completed, EventKind, ResetReason, WaitReason};
use super::io::TurnSetup;
use super::machine::{Phase, Turn};
use super::retry::Pending;
use super::snapshot::{Running, Snapshot, SnapshotError, Stage, Waits};
use super::spend::Budget;
use crate::gemini::{Body, FinishReason};
use std::sync::Arc;
use std::time::Duration;

/// A turn to go on with, and what a snapshot does not hold.
#[derive(Clone)]
pub struct Restore {
    /// The turn, with its request's body.
    pub snapshot: Snapshot,
    /// What the client has left for this turn.
    pub budget: Budget,
    /// Texts that must not appear in any error.
    pub secrets: Vec<String>,
    /// How long ago the snapshot was taken: a delay that a server asked for runs on meanwhile.
    pub away: Duration,
}

impl std::fmt::Debug for Restore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Restore").field("turn_id", &self.snapshot.turn_id).finish_non_exhaustive()
    }
}

impl Turn {
    /// A turn that was begun in another process; [`Turn::start`] goes on with it. An attempt that
    /// was running counts as dropped, with cause `suspended`; a retry that was decided follows; a
    /// turn that was over tells its last event again, and sends nothing.
    ///
    /// # Errors
    /// [`SnapshotError::RequestNeeded`] if the snapshot has no body, and
    /// [`SnapshotError::TextNotKept`] if there is nothing that could be shown.
    pub fn restore(restore: Restore) -> Result<Self, SnapshotError> {
        let Restore { mut snapshot, budget, secrets, away } = restore;
        if let Stage::Over(outcome) = snapshot.stage {
            return Err(SnapshotError::TextNotKept { outcome });
        }
        let body: Arc<str> = match snapshot.body() {
            Some(body) => body.into(),
            // What is over needs no request.
            None if snapshot.is_over() => "".into(),
            None => return Err(SnapshotError::RequestNeeded),
        };
        snapshot.answer.take_body(&body);
        if let Stage::Waiting(waits) = &mut snapshot.stage {
            waits.asked = waits.asked.saturating_sub(away);
        }
        let mut turn = Self::new(TurnSetup {
            turn_id: snapshot.turn_id,
            body: body.to_string(),
            policy: snapshot.policy,
            tools: snapshot.tools,
            step: snapshot.step,
            seed: 0,
            budget,
            secrets,
        });
        turn.attempt_no = snapshot.attempt_no;
        turn.reports = snapshot.reports;
        turn.longest = snapshot.longest;
        turn.tally = snapshot.tally;
        turn.backoff = snapshot.backoff;
        turn.answer = snapshot.answer;
        turn.phase = Phase::Restored(Box::new(snapshot.stage));
        Ok(turn)
    }

    pub(super) fn start_restored(&mut self, now: Duration, stage: Stage) {
        match Body::parse(&self.setup.body) {
            Ok(body) => self.body = Some(body),
            // It was sent before; only what is over comes without one.
            Err(_) => debug_assert!(matches!(stage, Stage::Completed(_) | Stage::Failed(_))),
        }
        self.answer.shown_again(&mut self.fresh);
        self.emit_fresh();
        match stage {
            Stage::Running(running) => self.go_on(now, *running),
            Stage::Waiting(waits) => self.wait_on(now, *waits),
            Stage::Completed(completed) => {
                show_completed(&completed, &mut self.fresh);
                self.emit_fresh();
                self.emit(EventKind::Completed(completed));
            }
            Stage::Failed(failed) => {
                if !failed.partial_text.is_empty() {
                    self.emit(EventKind::Text { text: failed.partial_text.clone() });
                }
                self.emit(EventKind::Failed(failed));
            }
            // `restore` has refused it.
            Stage::Over(_) => {}
        }
    }

    /// The attempt died with its process.
    fn go_on(&mut self, now: Duration, running: Running) {
        let endpoint = if self.has_fallen_back() { Endpoint::Unary } else { Endpoint::Stream };
        let mut attempt = Attempt::new(
            self.attempt_no,
            running.strategy,
            running.base,
            endpoint,
            "".into(),
            None,
            now,
            &self.setup.policy,
        );
        attempt.is_hop = running.is_hop;
        attempt.http_status = running.http_status;
        attempt.meter = running.meter;
        attempt.said = running.said;
        attempt.seam = running.seam;
        attempt.waited = running.waited;
        attempt.before = running.took;
        attempt.ended.reason =
            running.ended.as_ref().and_then(|ended| FinishReason::new(&ended.reason));
        self.phase = Phase::Running(Box::new(attempt));
        if let Some(ended) = running.ended {
            return self.complete(now, ended.class);
        }
        let detail = if running.text_kept {
            "the process was gone; the turn goes on from its journal"
        } else {
            "the process was gone, and the text was kept out of the journal: the answer begins again"
        };
        self.broken(now, &Broken::new(Cause::Suspended, detail), false);
    }

    /// The retry was decided before.
    fn wait_on(&mut self, now: Duration, waits: Waits) {
        let reason = ResetReason::Cause(waits.dropped.cause);
        self.emit(EventKind::Dropped(waits.dropped.clone()));
        if self.is_over_budget(&self.tally.spend) {
            return self.spend_is_used_up();
        }
        let why = (!waits.asked.is_zero()).then_some(WaitReason::ServerAsked);
        let pending = Pending {
            until: now + waits.asked,
            asked: now + waits.asked,
            since: now,
            why,
            strategy: waits.strategy,
            base: waits.base,
            cut: waits.cut,
            tokens: waits.tokens,
            received: waits.received,
            reason,
            is_hop: false,
            parked: false,
            dropped: Some(waits.dropped),
        };
        self.wait(now, pending, waits.asked);
    }
}

fn show_completed(completed: &Completed, out: &mut Vec<EventKind>) {
    if !completed.text.is_empty() {
        out.push(EventKind::Text { text: completed.text.clone() });
    }
    for content in &completed.history {
        show_content(content.as_str(), out);
    }
    let names = completed.tool_calls.iter().map(|call| call.name.clone());
    out.extend(names.map(|name| EventKind::ToolSeen { name }));
}

fn show_content(content: &str, out: &mut Vec<EventKind>) {
    #[derive(serde::Deserialize)]
    struct Content<'c> {
        #[serde(borrow)]
        parts: Vec<&'c serde_json::value::RawValue>,
    }
    if let Ok(content) = serde_json::from_str::<Content<'_>>(content) {
        shown_parts(content.parts.iter().map(|part| part.get()), out);
    }
}
