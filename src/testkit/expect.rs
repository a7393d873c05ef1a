//! What a script expects of the client. Only what is written is checked.
//!
//! These are the words of the `expect` object, typed so that a slip of the pen cannot pass as a
//! test; [`check`](super::check) gives them their meaning.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The `expect` object of a script.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// The type of the last event.
    pub end: Option<ExpectEnd>,
    /// Fields of `completed.finish`.
    pub finish: Option<ExpectFinish>,
    /// Fields of `failed.error`.
    pub error: Option<ExpectError>,
    /// `completed.text`.
    pub text: Option<String>,
    /// `failed.partial_text`.
    pub partial_text: Option<String>,
    /// The thinking summary left after all resets.
    pub thoughts: Option<String>,
    /// The calls handed out, exactly and in order.
    pub tools: Option<Vec<ExpectTool>>,
    /// What holds of the effect keys among themselves.
    pub effect_keys: Option<EffectKeys>,
    /// A script whose calls have the same keys, in order.
    pub same_effect_keys_as: Option<String>,
    /// A script none of whose calls has a key of this one.
    pub other_effect_keys_than: Option<String>,
    /// The attempts, one entry each, or `"..."`.
    pub attempts: Option<Vec<ExpectAttempt>>,
    /// All resets, in order.
    pub resets: Option<Vec<ExpectReset>>,
    /// Strings that are never part of the shown text.
    pub never: Vec<String>,
    /// One entry a request; `None` skips it.
    pub requests: Vec<Option<ExpectRequest>>,
    /// At most so many requests.
    pub requests_max: Option<usize>,
    /// The history for the next turn.
    pub history: Option<ExpectHistory>,
    /// How many `part` events are left after all resets.
    pub parts: Option<usize>,
    /// The turn takes no longer, in milliseconds.
    pub max_ms: Option<u64>,
}

/// The type of the last event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpectEnd {
    /// `completed`
    Completed,
    /// `failed`
    Failed,
}

impl ExpectEnd {
    /// The event's `type`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

/// Fields of `completed.finish`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectFinish {
    /// `class`
    pub class: Option<String>,
    /// `reason`
    pub reason: Option<String>,
}

/// Fields of `failed.error`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectError {
    /// `kind`
    pub kind: Option<String>,
    /// `reason`
    pub reason: Option<String>,
    /// `http_status`
    pub http_status: Option<u16>,
    /// Strings looked for in the whole `error` object as JSON.
    pub details_contain: Vec<String>,
}

/// One call handed out.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectTool {
    /// The function's name.
    pub name: String,
    /// Its arguments; numbers compare by value.
    pub args: Option<Value>,
    /// Its place among equal calls.
    pub ordinal: Option<u64>,
    /// The provider's id.
    pub provider_id: Option<String>,
}

/// What holds of the effect keys of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKeys {
    /// No two calls share one.
    Distinct,
}

/// One entry of `attempts`.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpectAttempt {
    /// `"..."`: any number of attempts like the entry before.
    More,
    /// One attempt.
    One(Box<AttemptFields>),
}

/// The fields of one attempt that are compared.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AttemptFields {
    /// `strategy`
    pub strategy: Option<String>,
    /// `outcome`
    pub outcome: Option<String>,
    /// `cause`
    pub cause: Option<String>,
    /// `http_status`
    pub http_status: Option<u16>,
    /// `usage.billing`
    pub billing: Option<String>,
    /// Fields of `usage`.
    pub usage: BTreeMap<String, Value>,
    /// All of these are in that attempt's `dropped.decision.reasons`.
    pub reasons: Vec<String>,
}

impl<'de> Deserialize<'de> for ExpectAttempt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(dots) if dots == "..." => Ok(Self::More),
            Value::String(other) => {
                Err(serde::de::Error::custom(format!("\"{other}\" is no attempt; \"...\" is")))
            }
            value => AttemptFields::deserialize(value)
                .map(|fields| Self::One(Box::new(fields)))
                .map_err(serde::de::Error::custom),
        }
    }
}

/// One reset.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectReset {
    /// The attempt it names.
    pub attempt: Option<u64>,
    /// The text that survives, compared without trailing white space.
    pub keep: Option<String>,
    /// `reason`
    pub reason: Option<String>,
}

/// One request.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectRequest {
    /// How the path ends, without the query.
    pub path_ends: Option<String>,
    /// A part of the query.
    pub query_has: Option<String>,
    /// No part of the query.
    pub query_lacks: Option<String>,
    /// The roles of `contents`.
    pub roles: Option<Vec<String>>,
    /// The text of the last model content, without trailing white space.
    pub last_model_text: Option<String>,
    /// Strings in the body as JSON.
    pub contains: Vec<String>,
    /// Strings not in the body as JSON.
    pub lacks: Vec<String>,
    /// Strings in the text of the last user content.
    pub last_user_contains: Vec<String>,
    /// The body equals that of request k, from 1.
    pub same_body_as: Option<usize>,
    /// As `same_body_as`, but for `contents` (and the temperature where that is given).
    pub same_but_contents_as: Option<usize>,
    /// `generationConfig.temperature`.
    #[serde(deserialize_with = "present")]
    pub temperature: Option<Temperature>,
    /// Headers that are set, by name.
    pub headers: BTreeMap<String, String>,
    /// The time since the previous request came, in milliseconds, at least.
    pub min_wait_ms: Option<u64>,
    /// Whether the client closed before the response had ended.
    pub client_closed: Option<bool>,
}

/// What is expected of a request's temperature.
#[derive(Clone, Debug, PartialEq)]
pub enum Temperature {
    /// The field is not there; `null` in a script.
    Absent,
    /// It is this number.
    Is(Value),
}

impl fmt::Display for Temperature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("absent"),
            Self::Is(value) => value.fmt(f),
        }
    }
}

/// Tells a `null`, which says something, from a missing key, which does not.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Temperature>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(Some(Temperature::Absent)),
        value @ Value::Number(_) => Ok(Some(Temperature::Is(value))),
        other => Err(serde::de::Error::custom(format!("{other} is no temperature"))),
    }
}

/// The history for the next turn.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectHistory {
    /// The parts of its one model content, exactly.
    pub parts: Option<Vec<Value>>,
    /// Strings not in it, as JSON.
    pub lacks: Vec<String>,
}
