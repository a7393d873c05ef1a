//! What the caller asks for in a turn.

use crate::effect::ToolRule;
use crate::recorder::Keep;
use crate::turn::Policy;
use serde_json::{Value, json};

/// One turn to start.
#[derive(Debug, Clone, Default)]
pub struct TurnRequest {
    pub(super) model: String,
    pub(super) body: String,
    pub(super) turn_id: Option<String>,
    pub(super) step: Option<String>,
    pub(super) tools: Vec<ToolRule>,
    pub(super) policy: Option<Policy>,
    pub(super) record: Option<Keep>,
}

impl TurnRequest {
    /// A turn with a `GenerateContent` body of your own, sent as it is, unknown fields too.
    #[must_use]
    pub fn raw(model: impl Into<String>, body: impl Into<String>) -> Self {
        Self { model: model.into(), body: body.into(), ..Self::default() }
    }

    /// A turn with one prompt.
    #[must_use]
    pub fn prompt(model: impl Into<String>, prompt: &str) -> Self {
        Self::raw(model, body_of(prompt, None).to_string())
    }

    /// A turn with one prompt and a system instruction.
    #[must_use]
    pub fn prompt_with_system(model: impl Into<String>, prompt: &str, system: &str) -> Self {
        Self::raw(model, body_of(prompt, Some(system)).to_string())
    }

    /// Names the turn. The id is part of every effect key: a turn that is run again after a crash
    /// keeps its id, so that its tools run once. Without one, a random id is picked.
    #[must_use]
    pub fn turn_id(mut self, id: impl Into<String>) -> Self {
        self.turn_id = Some(id.into());
        self
    }

    /// The orchestrator's step, part of every effect key.
    #[must_use]
    pub fn step(mut self, step: impl Into<String>) -> Self {
        self.step = Some(step.into());
        self
    }

    /// Says which arguments of a tool make an effect the same one.
    #[must_use]
    pub fn tool(mut self, rule: ToolRule) -> Self {
        self.tools.push(rule);
        self
    }

    /// Takes the turn's inputs down, so that it can be played again: see
    /// [`TurnHandle::recording`](super::TurnHandle::recording). Costs memory for all that the turn
    /// receives.
    #[must_use]
    pub fn record(mut self, keep: Keep) -> Self {
        self.record = Some(keep);
        self
    }

    /// A policy for this turn alone. `connect_timeout_ms` stays the client's.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }
}

fn body_of(prompt: &str, system: Option<&str>) -> Value {
    let mut body = json!({"contents": [{"role": "user", "parts": [{"text": prompt}]}]});
    if let Some(system) = system {
        body["systemInstruction"] = json!({"parts": [{"text": system}]});
    }
    body
}
