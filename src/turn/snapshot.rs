//! A turn as data: all that is needed to go on with it in another process.
//!
//! What was being parsed when it was taken is not part of it: whoever restores a turn has lost the
//! connection, and the next attempt begins at an event's border anyway.

use super::answer::Answer;
use super::backoff::Backoff;
use super::billing::Meter;
use super::event::{
    AttemptReport, Completed, DecisionReport, Dropped, EventKind, Failed, Outcome, class_name,
    class_of_name,
};
use super::gate::{Base, Reason, Strategy};
use super::machine::{Phase, Turn};
use super::policy::Policy;
use super::retry::{Pending, Tally};
use super::units::{AttemptNo, Tokens};
use crate::effect::{ToolRule, sha256_hex};
use crate::gemini::FinishClass;
use crate::text::{Cut, SeamKind};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// Raised whenever a snapshot of before cannot be read, or would be read wrongly.
const VERSION: u32 = 1;

/// A turn as data. Opaque but for what its methods tell; its JSON form holds the text of the
/// answer and never a header or key. The request is apart, in [`Snapshot::body`], because it never
/// changes and may be a thousand times as long.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Snapshot {
    version: u32,
    pub(super) turn_id: String,
    pub(super) body_sha256: String,
    #[serde(skip)]
    body: Option<Arc<str>>,
    text_kept: bool,
    pub(super) policy: Policy,
    pub(super) tools: Vec<ToolRule>,
    pub(super) step: Option<String>,
    pub(super) attempt_no: AttemptNo,
    pub(super) reports: Vec<AttemptReport>,
    pub(super) longest: String,
    pub(super) tally: Tally,
    pub(super) backoff: Backoff,
    pub(super) answer: Answer,
    pub(super) stage: Stage,
}

/// Where the turn stood.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Stage {
    Running(Box<Running>),
    Waiting(Box<Waits>),
    Completed(Box<Completed>),
    Failed(Box<Failed>),
    /// It is over, and how it ended was kept out.
    Over(Outcome),
}

/// An attempt that may have been sent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Running {
    pub strategy: Strategy,
    pub base: Base,
    pub is_hop: bool,
    pub http_status: Option<u16>,
    pub meter: Meter,
    pub said: bool,
    /// What its reply began with, as far as that is known.
    #[serde(default)]
    pub seam: Option<SeamKind>,
    pub waited: Duration,
    pub took: Duration,
    /// What it had brought is in the snapshot.
    pub text_kept: bool,
    /// It had said that it was over, and only the end of its connection was missing.
    pub ended: Option<Ended>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ended {
    #[serde(serialize_with = "class_name", deserialize_with = "class_of_name")]
    pub class: FinishClass,
    pub reason: String,
}

/// A retry that was decided and not begun.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Waits {
    pub dropped: Dropped,
    pub strategy: Strategy,
    pub base: Base,
    pub cut: Option<Cut>,
    pub tokens: Tokens,
    pub received: Tokens,
    /// How long the server still did not want to be asked.
    pub asked: Duration,
}

/// A snapshot that cannot be gone on with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// It is no snapshot, or its parts do not fit together.
    #[error("the turn's record is damaged: {0}")]
    Damaged(String),
    /// Another version of the library wrote it.
    #[error("the turn's record has version {found}; this version of the library reads {VERSION}")]
    Version {
        /// The version that was found.
        found: u32,
    },
    /// The request was kept out of it and is needed.
    #[error("the request of the turn was not kept: pass the same request again")]
    RequestNeeded,
    /// The request that was passed is not the one that the turn began with.
    #[error("the request is not the one that the turn began with")]
    AnotherRequest,
    /// The turn is over, and its text was kept out: there is nothing to show.
    #[error("the turn is over ({outcome}), and its text was not kept")]
    TextNotKept {
        /// How it ended.
        outcome: Outcome,
    },
}

impl Snapshot {
    /// Reads the JSON form.
    ///
    /// # Errors
    /// [`SnapshotError::Version`] and [`SnapshotError::Damaged`].
    pub fn from_json(json: &str) -> Result<Self, SnapshotError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let damaged = |error: serde_json::Error| SnapshotError::Damaged(error.to_string());
        let Versioned { version } = serde_json::from_str(json).map_err(damaged)?;
        if version != VERSION {
            return Err(SnapshotError::Version { found: version });
        }
        let mut snapshot: Self = serde_json::from_str(json).map_err(damaged)?;
        snapshot.answer.rebuild().map_err(|what| SnapshotError::Damaged(what.to_owned()))?;
        Ok(snapshot)
    }

    /// The JSON form, without the request.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Maps have text keys and numbers are finite: nothing in here fails to be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The turn's id.
    #[must_use]
    pub fn turn_id(&self) -> &str {
        &self.turn_id
    }

    /// The request's body, if it is with the snapshot.
    #[must_use]
    pub fn body(&self) -> Option<&str> {
        self.body.as_deref()
    }

    /// Puts the request's body back.
    ///
    /// # Errors
    /// [`SnapshotError::AnotherRequest`] if it is not the one that the turn began with.
    pub fn with_body(mut self, body: &str) -> Result<Self, SnapshotError> {
        if sha256_hex(body) != self.body_sha256 {
            return Err(SnapshotError::AnotherRequest);
        }
        self.body = Some(body.into());
        Ok(self)
    }

    /// True if the turn is over: to restore it sends nothing.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Completed(_) | Stage::Failed(_) | Stage::Over(_))
    }

    /// True if the text is in it.
    #[must_use]
    pub fn keeps_text(&self) -> bool {
        self.text_kept
    }

    /// The same without anything that the user or the model said. A turn that goes on from it
    /// begins its answer anew; what it has cost is still known.
    #[must_use]
    pub fn without_text(self) -> Self {
        let stage = match self.stage {
            Stage::Running(running) => {
                // What has ended but was not kept cannot be handed out: it has to come again.
                Stage::Running(Box::new(Running {
                    ended: None,
                    base: Base::Nothing,
                    seam: None,
                    text_kept: false,
                    ..*running
                }))
            }
            Stage::Waiting(waits) => Stage::Waiting(Box::new(waits.without_text())),
            Stage::Completed(_) => Stage::Over(Outcome::Completed),
            Stage::Failed(_) => Stage::Over(Outcome::Failed),
            Stage::Over(outcome) => Stage::Over(outcome),
        };
        Self {
            body: None,
            text_kept: false,
            longest: String::new(),
            answer: Answer::default(),
            tally: self.tally.without_token(),
            stage,
            ..self
        }
    }
}

impl Waits {
    fn without_text(self) -> Self {
        let strategy = match self.strategy {
            Strategy::NonStreaming => Strategy::NonStreaming,
            _ => Strategy::Restart,
        };
        let reasons = if self.base == Base::Nothing {
            self.dropped.decision.reasons
        } else {
            vec![Reason::NoCheckpoint]
        };
        let decision = DecisionReport { strategy: Some(strategy), reasons };
        Self {
            dropped: Dropped { detail: None, decision, ..self.dropped },
            strategy,
            base: Base::Nothing,
            cut: None,
            ..self
        }
    }
}

impl Turn {
    /// The turn as data, or `None` before its start and after its end: the last event says how a
    /// turn ended, and [`Turn::snapshot_of_end`] takes it. Costs a copy of the answer.
    #[must_use]
    pub fn snapshot(&self, now: Duration) -> Option<Snapshot> {
        let mut answer = self.answer.clone();
        let stage = match &self.phase {
            Phase::Running(attempt) => {
                let mut seam = attempt.seam;
                if let Some(hold) = &attempt.hold {
                    // What waits at the seam is decided with what is there, as at any drop.
                    let cut = hold.seam.clone().finish();
                    seam = hold.since.map(|_| cut.kind);
                    answer.release(&cut);
                }
                Stage::Running(Box::new(Running {
                    strategy: attempt.strategy,
                    base: attempt.base,
                    is_hop: attempt.is_hop,
                    http_status: attempt.http_status,
                    meter: attempt.meter,
                    said: attempt.said,
                    seam,
                    waited: attempt.waited,
                    took: attempt.before + now.saturating_sub(attempt.started),
                    text_kept: true,
                    ended: attempt
                        .whole_so_far(&answer)
                        .map(|class| Ended { class, reason: attempt.finish_reason().to_owned() }),
                }))
            }
            Phase::Waiting(pending) => Stage::Waiting(Box::new(pending.as_data(now)?)),
            Phase::New | Phase::Restored(_) | Phase::Over => return None,
        };
        Some(self.snapshot_at(answer, stage))
    }

    /// The turn after its last event, which is `last`; `None` if that is none. To restore it shows
    /// the answer again, with nothing sent.
    #[must_use]
    pub fn snapshot_of_end(&self, last: &EventKind) -> Option<Snapshot> {
        let stage = match last {
            EventKind::Completed(completed) => Stage::Completed(completed.clone()),
            EventKind::Failed(failed) => Stage::Failed(failed.clone()),
            _ => return None,
        };
        Some(self.snapshot_at(Answer::default(), stage))
    }

    fn snapshot_at(&self, mut answer: Answer, stage: Stage) -> Snapshot {
        answer.lend_body(&self.setup.body);
        // Once per turn: a request may be megabytes.
        let (body, body_sha256) = self
            .request
            .get_or_init(|| (self.setup.body.as_str().into(), sha256_hex(&self.setup.body)));
        Snapshot {
            version: VERSION,
            turn_id: self.setup.turn_id.clone(),
            body_sha256: body_sha256.clone(),
            body: Some(body.clone()),
            text_kept: true,
            policy: self.setup.policy.clone(),
            tools: self.setup.tools.clone(),
            step: self.setup.step.clone(),
            attempt_no: self.attempt_no,
            reports: self.reports.clone(),
            longest: self.longest.clone(),
            tally: self.tally.clone(),
            backoff: self.backoff.clone(),
            answer,
            stage,
        }
    }
}

impl Pending {
    /// `None` for a hop, which never waits.
    fn as_data(&self, now: Duration) -> Option<Waits> {
        Some(Waits {
            dropped: self.dropped.clone()?,
            strategy: self.strategy,
            base: self.base,
            cut: self.cut.clone(),
            tokens: self.tokens,
            received: self.received,
            asked: self.asked.saturating_sub(now),
        })
    }
}
