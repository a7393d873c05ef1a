//! Token counts as the server gives them.
//!
//! Counts are cumulative within an attempt, never deltas, and not monotonic: with code execution
//! they restart per round. A whole attempt's bill is the last one seen; an abandoned attempt's
//! lower bound is the maximum of each field.

use serde::{Deserialize, Serialize};

/// The counts of one `usageMetadata`. A field that was not sent is `None`, never zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens of the prompt, cached ones among them.
    #[serde(default, rename = "promptTokenCount", deserialize_with = "count")]
    pub prompt: Option<u64>,
    /// Tokens of the prompt that came from a cache.
    #[serde(default, rename = "cachedContentTokenCount", deserialize_with = "count")]
    pub cached: Option<u64>,
    /// Tokens of the answer, thoughts not among them.
    #[serde(default, rename = "candidatesTokenCount", deserialize_with = "count")]
    pub candidates: Option<u64>,
    /// Tokens of thinking.
    #[serde(default, rename = "thoughtsTokenCount", deserialize_with = "count")]
    pub thoughts: Option<u64>,
    /// Tokens of tool results that the server itself fed back.
    #[serde(default, rename = "toolUsePromptTokenCount", deserialize_with = "count")]
    pub tool_prompt: Option<u64>,
    /// The sum as the server gives it.
    #[serde(default, rename = "totalTokenCount", deserialize_with = "count")]
    pub total: Option<u64>,
}

impl Usage {
    /// True if no count was sent: an object that only names the traffic type is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The larger of each field.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            prompt: self.prompt.max(other.prompt),
            cached: self.cached.max(other.cached),
            candidates: self.candidates.max(other.candidates),
            thoughts: self.thoughts.max(other.thoughts),
            tool_prompt: self.tool_prompt.max(other.tool_prompt),
            total: self.total.max(other.total),
        }
    }
}

/// A count may be a number or, as proto3 JSON writes 64-bit integers, a string.
fn count<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    struct Count;
    impl serde::de::Visitor<'_> for Count {
        type Value = Option<u64>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a token count")
        }
        fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
            Ok(Some(value))
        }
        fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
            Ok(u64::try_from(value).ok())
        }
        fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            Ok((value >= 0.0).then_some(value as u64))
        }
        fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
            Ok(value.parse().ok())
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
        fn visit_none<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
    }
    deserializer.deserialize_any(Count)
}
