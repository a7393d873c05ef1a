//! A fault script: what a broken server does, and what a client has to make of it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Number, Value, json};
use thiserror::Error;

use super::expect::Expect;
use super::json::Json;
use super::response::Response;

/// The policy a runner sets before a script's own: waits are exact and short, so that a broken
/// client fails a test in seconds and a right one is never slowed by jitter.
pub const RUNNER_POLICY: [(&str, u64); 7] = [
    ("backoff_base_ms", 20),
    ("backoff_jitter", 0),
    ("connect_timeout_ms", 1000),
    ("first_byte_timeout_ms", 1500),
    ("idle_timeout_ms", 700),
    ("finish_grace_ms", 300),
    ("non_streaming_timeout_ms", 1500),
];

/// One fault script.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Its id, also its file's name.
    pub name: String,
    /// What it is about.
    #[serde(default)]
    pub about: String,
    /// What the client sends.
    pub request: Request,
    /// Policy fields by name, besides [`RUNNER_POLICY`].
    #[serde(default)]
    pub policy: BTreeMap<String, Number>,
    /// The turn's id; else the runner picks one.
    #[serde(default)]
    pub turn_id: Option<String>,
    /// When the turn is interrupted.
    #[serde(default)]
    pub cancel: Option<Cancel>,
    /// The responses, in order of requests; the last one is played again.
    pub server: Vec<Response>,
    /// What the client has to make of it.
    #[serde(default)]
    pub expect: Expect,
}

/// What the client sends: a prompt, or a whole body.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// The user's text.
    pub prompt: Option<String>,
    /// The system instruction.
    pub system: Option<String>,
    /// Names of tools that take any object.
    pub tools: Vec<String>,
    /// A whole `GenerateContent` body.
    pub body: Option<Json>,
}

/// When the turn is interrupted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "CancelFields")]
pub enum Cancel {
    /// At the first event of this type.
    On(String),
    /// After so many milliseconds.
    AfterMs(u64),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelFields {
    on: Option<String>,
    after_ms: Option<u64>,
}

impl TryFrom<CancelFields> for Cancel {
    type Error = &'static str;

    fn try_from(fields: CancelFields) -> Result<Self, Self::Error> {
        match (fields.on, fields.after_ms) {
            (Some(on), None) => Ok(Self::On(on)),
            (None, Some(ms)) => Ok(Self::AfterMs(ms)),
            _ => Err("`cancel` is either `on` or `after_ms`"),
        }
    }
}

/// Why a script cannot be played.
#[derive(Debug, Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Not JSON, a key that does not exist, or a value of the wrong kind.
    #[error("{file}: {source}")]
    Parse {
        /// The file.
        file: String,
        /// Where in it, and what is wrong.
        #[source]
        source: serde_json::Error,
    },
    /// Well-formed, and yet it means nothing.
    #[error("{file}: {what}")]
    Meaning {
        /// The file.
        file: String,
        /// What is wrong.
        what: String,
    },
}

impl Script {
    /// Reads a script; errors call it `(script)`.
    ///
    /// # Errors
    /// See [`ScriptError`]; unknown keys are among them.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        Self::read("(script)", text)
    }

    /// Reads a script from a file, whose name it must bear.
    ///
    /// # Errors
    /// See [`ScriptError`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ScriptError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScriptError::Read { file: file.clone(), source })?;
        let script = Self::read(&file, &text)?;
        if path.file_stem().and_then(|stem| stem.to_str()) != Some(script.name.as_str()) {
            let what = format!("is named \"{}\" inside: the two must agree", script.name);
            return Err(ScriptError::Meaning { file, what });
        }
        Ok(script)
    }

    fn read(file: &str, text: &str) -> Result<Self, ScriptError> {
        let script: Self = serde_json::from_str(text)
            .map_err(|source| ScriptError::Parse { file: file.into(), source })?;
        script.validate().map_err(|what| ScriptError::Meaning { file: file.into(), what })?;
        Ok(script)
    }

    fn validate(&self) -> Result<(), String> {
        let request = &self.request;
        let extras = request.system.is_some() || !request.tools.is_empty();
        match (&request.prompt, &request.body) {
            (Some(_), None) => {}
            (None, Some(body)) if !body.is_object() => {
                return Err("`request.body` must be an object".into());
            }
            (None, Some(_)) => {
                if extras {
                    return Err(
                        "`system` and `tools` go with `prompt`; a `body` has its own".into()
                    );
                }
            }
            _ => return Err("`request` has either a `prompt` or a `body`".into()),
        }
        if self.server.is_empty() {
            return Err("`server` needs at least one response".into());
        }
        for (index, response) in self.server.iter().enumerate() {
            response.validate().map_err(|what| format!("response {}: {what}", index + 1))?;
        }
        self.expect.validate()
    }

    /// The `GenerateContent` body that the client is to send.
    #[must_use]
    pub fn request_body(&self) -> Value {
        let request = &self.request;
        if let Some(body) = &request.body {
            return body.to_value();
        }
        let prompt = request.prompt.as_deref().unwrap_or_default();
        let mut body = json!({"contents": [{"role": "user", "parts": [{"text": prompt}]}]});
        if let Some(system) = &request.system {
            body["systemInstruction"] = json!({"parts": [{"text": system}]});
        }
        if !request.tools.is_empty() {
            let declare = |name| json!({"name": name, "parameters": {"type": "OBJECT"}});
            let declarations: Vec<Value> = request.tools.iter().map(declare).collect();
            body["tools"] = json!([{"functionDeclarations": declarations}]);
        }
        body
    }

    /// The policy to run under: [`RUNNER_POLICY`], then the script's own.
    #[must_use]
    pub fn full_policy(&self) -> BTreeMap<String, Number> {
        let mut policy: BTreeMap<String, Number> =
            RUNNER_POLICY.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        policy.extend(self.policy.clone());
        policy
    }

    /// How many requests the server is prepared for, refusals to connect aside.
    #[must_use]
    pub fn answers(&self) -> usize {
        self.server.iter().filter(|response| response.refuse_ms.is_none()).count()
    }
}

impl Expect {
    /// What serde cannot say: entries that refer to nothing.
    fn validate(&self) -> Result<(), String> {
        use super::expect::ExpectAttempt::More;
        let attempts = self.attempts.as_deref().unwrap_or_default();
        let dots = attempts.iter().filter(|entry| **entry == More).count();
        if attempts.first() == Some(&More) || dots > 1 {
            return Err("`attempts` may have one \"...\", after an entry".into());
        }
        for (index, request) in self.requests.iter().enumerate() {
            let Some(request) = request else { continue };
            for k in [request.same_body_as, request.same_but_contents_as].into_iter().flatten() {
                if k == 0 || k > index {
                    return Err(format!("request {}: there is no earlier request {k}", index + 1));
                }
            }
        }
        Ok(())
    }
}
