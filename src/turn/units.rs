//! The small types that keep numbers from being mixed up.

use serde::{Deserialize, Deserializer, Serialize};

/// An attempt's number within its turn, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AttemptNo(pub u32);

impl AttemptNo {
    pub(crate) const FIRST: Self = Self(1);

    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl std::fmt::Display for AttemptNo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A number of output tokens, measured by the server or estimated from the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// How many.
    pub count: u64,
    /// True if the server counted them.
    pub exact: bool,
}

impl Tokens {
    pub(crate) const NONE: Self = Self { count: 0, exact: true };

    pub(crate) fn plus(self, other: Self) -> Self {
        Self { count: self.count.saturating_add(other.count), exact: self.exact && other.exact }
    }

    /// The share `part / whole` of these tokens, rounded down.
    pub(crate) fn share(self, part: u64, whole: u64) -> Self {
        if whole == 0 {
            return Self { count: 0, exact: self.exact };
        }
        let scaled = u128::from(self.count) * u128::from(part) / u128::from(whole);
        Self { count: u64::try_from(scaled).unwrap_or(u64::MAX), exact: self.exact }
    }
}

/// A length in UTF-16 code units, the unit of Kotlin's and Swift's text views.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Utf16Len(pub u64);

impl Utf16Len {
    pub(crate) const ZERO: Self = Self(0);

    /// The length of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(text.chars().map(|c| c.len_utf16() as u64).sum())
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

/// A JSON text, kept as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// Takes a text that is known to be JSON.
    pub(crate) fn trusted(text: String) -> Self {
        debug_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok());
        Self(text)
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Json {
    /// From a JSON text only: no other format keeps the text as it was.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<serde_json::value::RawValue>::deserialize(deserializer)
            .map(|raw| Self(String::from(Box::<str>::from(raw))))
    }
}

impl Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &serde_json::value::RawValue =
            serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}
