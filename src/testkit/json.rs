//! JSON that is sent as the script wrote it: same key order, same spelling of numbers.
//!
//! Parsing into [`serde_json::Value`] would sort keys and could respell numbers, and a fault may
//! lie in just that. Only white space between tokens goes, because a script is pretty-printed
//! and a line break inside an event would end its `data:` line.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// One JSON value as text, valid and without white space between its tokens.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(String);

impl Json {
    /// Parses `text` and keeps its spelling.
    ///
    /// # Errors
    /// When `text` is not one JSON value.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The text, on one line.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value as a tree. Never fails: only valid JSON gets in.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or(Value::Null)
    }

    /// Whether this is a JSON object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        Self(value.to_string())
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(compact(raw.get())))
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = RawValue::from_string(self.0.clone()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// Drops the white space between tokens of valid JSON.
fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_string = false;
    let mut escaped = false;
    for c in text.chars() {
        if in_string {
            out.push(c);
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == '"' {
                in_string = false;
            }
        } else if !c.is_ascii_whitespace() {
            in_string = c == '"';
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_numbers_and_strings_and_drops_line_breaks() {
        let json = Json::parse("{\n  \"b\": 2.0,\n  \"a\": \"x \\\" y\\n\" }").unwrap();
        assert_eq!(json.as_str(), r#"{"b":2.0,"a":"x \" y\n"}"#);
    }

    #[test]
    fn comes_out_of_serde_as_it_went_in() {
        let json = Json::parse(r#"{"z":1.0,"a":1e2}"#).unwrap();
        assert_eq!(serde_json::to_string(&json).unwrap(), r#"{"z":1.0,"a":1e2}"#);
    }
}
