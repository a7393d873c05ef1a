//! Headers of the app: fixed ones, and those that are asked for before each attempt.

use http::{HeaderMap, HeaderName, HeaderValue};

/// Gives the headers of each attempt anew: App Check and OAuth tokens expire between attempts.
///
/// Called on a thread that may block. Values count as secrets.
pub trait HeaderProvider: Send + Sync + 'static {
    /// The headers of an attempt, by number from 1.
    ///
    /// # Errors
    /// [`ProviderError`] where none can be had right now: the attempt counts as not sent, and is
    /// tried again by the policy.
    fn headers(&self, attempt: u32) -> Result<Vec<(String, String)>, ProviderError>;
}

/// No headers can be had right now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the header provider failed: {0}")]
pub struct ProviderError(pub String);

/// What must not be shown of a header: its value, and the token alone behind `Bearer`.
pub(super) fn secrets_of(value: &str) -> impl Iterator<Item = String> {
    let word = value.split_whitespace().next_back().filter(|word| *word != value);
    [Some(value), word].into_iter().flatten().map(str::to_owned)
}

/// Adds a header; `None` if its name or value cannot be one, such as for a line break, or if it is
/// about how the body is framed, which is not the app's.
pub(super) fn insert(headers: &mut HeaderMap, name: &str, value: &str) -> Option<()> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    if matches!(name, http::header::CONTENT_LENGTH | http::header::TRANSFER_ENCODING) {
        return None;
    }
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Some(())
}
