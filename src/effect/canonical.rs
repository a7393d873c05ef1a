//! RFC 8785 canonical JSON: one spelling for equal values.

use serde_json::Value;

/// JSON that has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("arguments have no canonical JSON form: {0}")]
pub struct CanonicalError(String);

/// The canonical spelling of a value: keys sorted, `1.0` as `1`, no spaces.
///
/// # Errors
/// [`CanonicalError`] for numbers that no double can hold.
pub fn canonical_json(value: &Value) -> Result<String, CanonicalError> {
    serde_json_canonicalizer::to_string(value).map_err(|error| CanonicalError(error.to_string()))
}
