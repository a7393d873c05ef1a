//! What is asked in a turn.

use super::error::CallError;
use super::policy::Policy;
use crate::client::{self, RequestBody, ToolDeclaration};
use crate::effect::ToolRule;
use crate::recorder::Keep;
use crate::turn as core;
use std::collections::HashSet;

/// One turn to start: the usual case by its fields, anything else by `raw`.
///
/// With `raw`, a whole `GenerateContent` body as JSON, sent as it is, the fields `prompt`,
/// `system`, `history`, `schema` and `generation_config` must be left out, and `tools` only says
/// how the calls are keyed.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct TurnRequest {
    /// The model, such as `gemini-2.5-flash`.
    pub model: String,
    /// What the user says. May be left out where `history` ends with the user's word or with tool
    /// results.
    #[uniffi(default = None)]
    pub prompt: Option<String>,
    /// A system instruction.
    #[uniffi(default = None)]
    pub system: Option<String>,
    /// The contents of earlier turns, oldest first, each a JSON object: the user's, and what
    /// `Answer.history` gave.
    #[uniffi(default = [])]
    pub history: Vec<String>,
    /// The tools that the model may call.
    #[uniffi(default = [])]
    pub tools: Vec<Tool>,
    /// A JSON schema that the answer has to follow, as JSON.
    #[uniffi(default = None)]
    pub schema: Option<String>,
    /// A `generationConfig` object as JSON: temperature, thinking, limits.
    #[uniffi(default = None)]
    pub generation_config: Option<String>,
    /// A whole body instead of the fields above.
    #[uniffi(default = None)]
    pub raw: Option<String>,
    /// Names the turn; random by default. The id is part of every effect key: a turn that is run
    /// again after a crash keeps its id, so that its tools run once.
    #[uniffi(default = None)]
    pub turn_id: Option<String>,
    /// The orchestrator's step, part of every effect key.
    #[uniffi(default = None)]
    pub step: Option<String>,
    /// Overrides of the client's policy for this turn alone.
    #[uniffi(default = None)]
    pub policy: Option<Policy>,
    /// Takes the turn's inputs down, so that it can be played again. Costs memory for all that the
    /// turn receives.
    #[uniffi(default = None)]
    pub record: Option<Recording>,
}

/// What a recording keeps of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, uniffi::Enum)]
pub enum Recording {
    /// Nothing: words become filler of the same shape.
    Shape,
    /// Everything, as received. For streams whose content is no secret.
    Text,
}

impl From<Recording> for Keep {
    fn from(recording: Recording) -> Self {
        match recording {
            Recording::Shape => Self::Shape,
            Recording::Text => Self::Text,
        }
    }
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct Tool {
    /// The function's name.
    pub name: String,
    /// What it does, for the model.
    #[uniffi(default = "")]
    pub description: String,
    /// The JSON schema of its arguments, as JSON; absent: it takes none.
    #[uniffi(default = None)]
    pub parameters: Option<String>,
    /// The arguments that make an effect the same one. Empty: all of them. Name them where other
    /// arguments are free text, which differs between attempts.
    #[uniffi(default = [])]
    pub key_fields: Vec<String>,
    /// True if running it again does no harm: its calls need no entry in a ledger.
    #[uniffi(default = false)]
    pub read_only: bool,
}

impl TurnRequest {
    /// The core's request, with a policy over the client's.
    pub(super) fn to_core(&self, base: &core::Policy) -> Result<client::TurnRequest, CallError> {
        let body = match &self.raw {
            Some(raw) => self.raw_alone(raw)?,
            None => self.body()?,
        };
        let mut request = client::TurnRequest::raw(&self.model, body);
        if let Some(id) = &self.turn_id {
            request = request.turn_id(id);
        }
        if let Some(step) = &self.step {
            request = request.step(step);
        }
        for tool in &self.tools {
            let rule = ToolRule { name: tool.name.clone(), key_fields: tool.key_fields.clone() };
            request = request.tool(rule);
        }
        if let Some(record) = self.record {
            request = request.record(record.into());
        }
        Ok(request.policy(self.policy.clone().unwrap_or_default().over(base)?))
    }

    /// Names of the tools that may run twice.
    pub(super) fn read_only_tools(&self) -> HashSet<String> {
        let read_only = self.tools.iter().filter(|tool| tool.read_only);
        read_only.map(|tool| tool.name.clone()).collect()
    }

    fn raw_alone(&self, raw: &str) -> Result<String, CallError> {
        let others = [
            ("prompt", self.prompt.is_some()),
            ("system", self.system.is_some()),
            ("history", !self.history.is_empty()),
            ("schema", self.schema.is_some()),
            ("generation_config", self.generation_config.is_some()),
        ];
        match others.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(CallError::invalid(format!("give `raw` or `{name}`, not both"))),
            None => Ok(raw.to_owned()),
        }
    }

    fn body(&self) -> Result<String, CallError> {
        let body = RequestBody {
            prompt: self.prompt.as_deref(),
            system: self.system.as_deref(),
            history: &self.history,
            tools: self
                .tools
                .iter()
                .map(|tool| ToolDeclaration {
                    name: &tool.name,
                    description: &tool.description,
                    parameters: tool.parameters.as_deref(),
                })
                .collect(),
            schema: self.schema.as_deref(),
            generation_config: self.generation_config.as_deref(),
        };
        body.to_json().map_err(|error| CallError::invalid(error.to_string()))
    }
}
