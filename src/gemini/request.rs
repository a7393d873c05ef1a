//! The caller's request body: opaque JSON, of which a few facts are read and `contents` extended.
//!
//! New fields land monthly, so the body is never modelled: every field that a continuation does
//! not change goes out byte for byte as the caller wrote it.

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt::Write as _;

/// A body that cannot be sent as a streamed turn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BodyError {
    /// Not JSON, or not an object.
    #[error("the request body is not a JSON object: {0}")]
    NotJson(String),
    /// `contents` is missing, empty or not a list.
    #[error("the request body has no `contents`: pass a list with at least one content")]
    NoContents,
    /// More than one candidate was asked for.
    #[error("`candidateCount` is {0}: only one candidate can be kept clean when a stream breaks")]
    CandidateCount(f64),
}

/// What a continuation adds to the caller's body.
#[derive(Debug, Clone, Copy)]
pub struct Continuation<'a> {
    /// The text that the model is said to have written already.
    pub committed: &'a str,
    /// What it is asked to do now.
    pub instruction: &'a str,
    /// A higher temperature than this is lowered to it; none is ever added.
    pub max_temperature: f64,
}

/// An opaque request body.
#[derive(Debug, Clone)]
pub struct Body {
    raw: String,
    fields: Fields,
}

impl Body {
    /// Takes a `GenerateContent` body.
    ///
    /// # Errors
    /// [`BodyError`] if it cannot be streamed and recovered; nothing has been sent then.
    pub fn parse(json: &str) -> Result<Self, BodyError> {
        let fields: Fields =
            serde_json::from_str(json).map_err(|error| BodyError::NotJson(error.to_string()))?;
        let body = Self { raw: json.to_owned(), fields };
        let contents: Option<Vec<&RawValue>> =
            body.fields.get("contents").and_then(|raw| serde_json::from_str(raw.get()).ok());
        if contents.is_none_or(|contents| contents.is_empty()) {
            return Err(BodyError::NoContents);
        }
        match body.config("candidateCount").as_ref().and_then(number) {
            Some(count) if count > 1.0 => Err(BodyError::CandidateCount(count)),
            _ => Ok(body),
        }
    }

    /// The body as the caller wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.raw
    }

    /// True if the answer has to follow a schema, or is JSON or an enum value.
    #[must_use]
    pub fn wants_structure(&self) -> bool {
        ["responseSchema", "responseJsonSchema"]
            .iter()
            .any(|name| self.config(name).is_some_and(|value| !value.is_null()))
            || self.config("responseMimeType").is_some_and(|mime| {
                mime.as_str().is_some_and(|mime| !matches!(mime, "" | "text/plain"))
            })
    }

    /// True if the tool mode forces a call.
    #[must_use]
    pub fn forces_tools(&self) -> bool {
        self.value("toolConfig")
            .and_then(|config| member(&config, "functionCallingConfig").cloned())
            .and_then(|calling| member(&calling, "mode").cloned())
            .is_some_and(|mode| mode.as_str().is_some_and(|mode| mode.eq_ignore_ascii_case("any")))
    }

    /// True if thinking is set to `tokens` or more, or to its highest level.
    #[must_use]
    pub fn thinks_deeply(&self, tokens: u64) -> bool {
        let Some(config) = self.config("thinkingConfig") else { return false };
        #[allow(clippy::cast_precision_loss)]
        let deep = tokens as f64;
        member(&config, "thinkingBudget").and_then(number).is_some_and(|budget| budget >= deep)
            || member(&config, "thinkingLevel")
                .and_then(Value::as_str)
                .is_some_and(|level| level.eq_ignore_ascii_case("high"))
    }

    /// The body of a continuation: `contents` gets two more entries, the temperature is lowered
    /// where one was set, all else is untouched.
    #[must_use]
    pub fn continued(&self, continuation: &Continuation<'_>) -> String {
        self.rewritten(|name, raw| {
            if same_name(name, "contents") {
                Some(with_two_more(raw, continuation))
            } else if same_name(name, "generationConfig") {
                with_lower_temperature(raw, continuation.max_temperature)
            } else {
                None
            }
        })
    }

    /// The body with the server's continuation token, replacing an older one.
    #[must_use]
    pub fn with_token(&self, token: &str) -> String {
        let token = Value::from(token).to_string();
        let mut body = self.rewritten(|name, _| same_name(name, TOKEN).then(|| token.clone()));
        if self.fields.get(TOKEN).is_none() {
            body.truncate(body.len() - 1);
            let _ = write!(body, ",\"{TOKEN}\":{token}}}");
        }
        body
    }

    fn rewritten(&self, change: impl Fn(&str, &str) -> Option<String>) -> String {
        self.fields.rewritten(change)
    }

    fn value(&self, name: &str) -> Option<Value> {
        serde_json::from_str(self.fields.get(name)?.get()).ok()
    }

    fn config(&self, name: &str) -> Option<Value> {
        member(&self.value("generationConfig")?, name).cloned()
    }
}

/// proto3 JSON takes `2`, `2.0` and `"2"` alike.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

const TOKEN: &str = "continuationToken";

/// proto3 JSON takes `lowerCamelCase` and `snake_case` alike, and so do callers.
fn same_name(given: &str, camel: &str) -> bool {
    let plain = |name: &str| {
        name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect::<Vec<_>>()
    };
    given == camel || plain(given) == plain(camel)
}

fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.as_object()?.iter().find(|(key, _)| same_name(key, name)).map(|(_, value)| value)
}

fn with_two_more(contents: &str, continuation: &Continuation<'_>) -> String {
    #[derive(Serialize)]
    struct Content<'a> {
        role: &'a str,
        parts: [Text<'a>; 1],
    }
    #[derive(Serialize)]
    struct Text<'a> {
        text: &'a str,
    }
    let content = |role, text| {
        let content = Content { role, parts: [Text { text }] };
        // A struct of strings has no way to fail.
        serde_json::to_string(&content).unwrap_or_default()
    };
    let list = contents.trim_end().strip_suffix(']').unwrap_or(contents).trim_end();
    format!(
        "{list},{},{}]",
        content("model", continuation.committed),
        content("user", continuation.instruction)
    )
}

fn with_lower_temperature(config: &str, max: f64) -> Option<String> {
    let fields: Fields = serde_json::from_str(config).ok()?;
    let set: f64 = serde_json::from_str(fields.get("temperature")?.get()).ok()?;
    (set > max).then(|| {
        fields.rewritten(|name, _| {
            same_name(name, "temperature").then(|| Value::from(max).to_string())
        })
    })
}

/// The fields of a JSON object in the caller's order, values untouched.
#[derive(Debug, Clone)]
struct Fields(Vec<(String, Box<RawValue>)>);

impl Fields {
    fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|(key, _)| same_name(key, name)).map(|(_, value)| &**value)
    }

    fn rewritten(&self, change: impl Fn(&str, &str) -> Option<String>) -> String {
        let mut out = String::from("{");
        for (i, (name, value)) in self.0.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            let key = Value::from(name.as_str());
            let changed = change(name, value.get());
            let _ = write!(out, "{comma}{key}:{}", changed.as_deref().unwrap_or(value.get()));
        }
        out.push('}');
        out
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    fields.push(entry);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{ "x":1.0, "contents":[{"role":"user","parts":[{"text":"hi"}]} ],
        "generation_config":{"topK":1e2,"temperature":0.9},"big":12345678901234567890123}"#;

    fn continued(body: &str) -> String {
        Body::parse(body).unwrap().continued(&Continuation {
            committed: "A \"b\".\n",
            instruction: "Go on.",
            max_temperature: 0.4,
        })
    }

    #[test]
    fn a_continuation_changes_contents_and_a_high_temperature_and_nothing_else() {
        assert_eq!(
            continued(BODY),
            concat!(
                r#"{"x":1.0,"contents":[{"role":"user","parts":[{"text":"hi"}]},"#,
                r#"{"role":"model","parts":[{"text":"A \"b\".\n"}]},{"role":"user","parts":[{"text":"Go on."}]}],"#,
                r#""generation_config":{"topK":1e2,"temperature":0.4},"big":12345678901234567890123}"#
            )
        );
        assert!(continued(&BODY.replace("0.9", "0.2")).contains("\"temperature\":0.2"));
    }

    #[test]
    fn a_token_is_added_once_and_replaced_after_that() {
        let first = Body::parse(BODY).unwrap().with_token("dG9r");
        assert!(first.ends_with(r#","continuationToken":"dG9r"}"#), "{first}");
        let second = Body::parse(&first).unwrap().with_token("x");
        assert_eq!(second.matches("continuationToken").count(), 1);
        assert!(second.ends_with(r#""continuationToken":"x"}"#), "{second}");
    }

    #[test]
    fn bodies_that_cannot_be_recovered_are_refused() {
        assert!(matches!(Body::parse("nonsense"), Err(BodyError::NotJson(_))));
        assert!(matches!(Body::parse("[]"), Err(BodyError::NotJson(_))));
        assert_eq!(Body::parse("{}").unwrap_err(), BodyError::NoContents);
        assert_eq!(Body::parse(r#"{"contents":[]}"#).unwrap_err(), BodyError::NoContents);
        let two = r#"{"contents":[{}],"generationConfig":{"candidate_count":2}}"#;
        assert_eq!(Body::parse(two).unwrap_err(), BodyError::CandidateCount(2.0));
    }

    #[test]
    fn facts_are_found_under_both_spellings() {
        let body = |rest: &str| Body::parse(&format!(r#"{{"contents":[{{}}],{rest}}}"#)).unwrap();
        assert!(body(r#""generation_config":{"response_schema":{}}"#).wants_structure());
        assert!(body(r#""generationConfig":{"responseMimeType":"text/x.enum"}"#).wants_structure());
        assert!(!body(r#""generationConfig":{"responseMimeType":"text/plain"}"#).wants_structure());
        assert!(body(r#""toolConfig":{"functionCallingConfig":{"mode":"ANY"}}"#).forces_tools());
        assert!(!body(r#""toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}"#).forces_tools());
        assert!(
            body(r#""generationConfig":{"thinkingConfig":{"thinkingBudget":2048}}"#)
                .thinks_deeply(1024)
        );
        assert!(
            !body(r#""generationConfig":{"thinkingConfig":{"thinkingBudget":-1}}"#)
                .thinks_deeply(1024)
        );
    }
}
