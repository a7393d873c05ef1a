//! Reads one JSON text of a stream: a response, an error, or neither.

use super::error::ApiError;
use super::part::Part;
use super::usage::Usage;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A JSON text that is neither a response nor an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an event is not a response: {what}")]
pub struct Malformed {
    /// What is wrong with it.
    pub what: String,
}

/// What one JSON text of a stream says.
#[derive(Debug)]
pub enum Message<'a> {
    /// A piece of the answer.
    Response(Box<Response<'a>>),
    /// The server's error.
    Error(ApiError),
}

/// The parts of a `GenerateContentResponse` that decide anything.
#[derive(Debug, Default)]
pub struct Response<'a> {
    /// The parts of the first candidate, in order.
    pub parts: Vec<Part<'a>>,
    /// Why the candidate ended, by the server's name.
    pub finish_reason: Option<Cow<'a, str>>,
    /// What the server says of that.
    pub finish_message: Option<Cow<'a, str>>,
    /// The server's own checkpoint, covering everything up to and with this response.
    pub continuation_token: Option<Cow<'a, str>>,
    /// True if citations into this attempt's text came with it.
    pub grounded: bool,
    /// Why the prompt was blocked, by the server's name.
    pub block_reason: Option<Cow<'a, str>>,
    /// What the server says of that.
    pub block_message: Option<Cow<'a, str>>,
    /// Token counts so far.
    pub usage: Usage,
    /// The id of the generation.
    pub response_id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    #[serde(borrow, default)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow, default)]
    prompt_feedback: Option<Feedback<'a>>,
    #[serde(default)]
    usage_metadata: Option<Usage>,
    #[serde(borrow, default)]
    response_id: Option<Cow<'a, str>>,
    #[serde(default)]
    model_version: Option<IgnoredAny>,
    #[serde(default)]
    create_time: Option<IgnoredAny>,
    #[serde(default)]
    model_status: Option<IgnoredAny>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(borrow, default)]
    finish_reason: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    finish_message: Option<Cow<'a, str>>,
    #[serde(default)]
    index: Option<u32>,
    #[serde(borrow, default)]
    continuation_token: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    grounding_metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    parts: Option<Vec<Part<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback<'a> {
    #[serde(borrow, default)]
    block_reason: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    block_reason_message: Option<Cow<'a, str>>,
}

/// Reads a JSON text: usually one message, several where a gateway glued events together or sent a
/// list, none for `{}`.
///
/// # Errors
/// [`Malformed`] if any of it is neither a response nor an error.
pub fn read_messages(json: &[u8]) -> Result<Vec<Message<'_>>, Malformed> {
    let malformed = |what: &dyn std::fmt::Display| Malformed { what: what.to_string() };
    let text = std::str::from_utf8(json).map_err(|error| malformed(&error))?;
    let mut messages = Vec::with_capacity(1);
    if text.trim_ascii_start().starts_with('[') {
        let items: Vec<&RawValue> =
            serde_json::from_str(text).map_err(|error| malformed(&error))?;
        for item in items {
            let wire = serde_json::from_str(item.get()).map_err(|error| malformed(&error))?;
            messages.extend(read_one(wire, item.get())?);
        }
        return Ok(messages);
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Wire<'_>>();
    let mut start = values.byte_offset();
    while let Some(wire) = values.next() {
        let wire = wire.map_err(|error| malformed(&error))?;
        let end = values.byte_offset();
        messages.extend(read_one(wire, &text[start..end])?);
        start = end;
    }
    Ok(messages)
}

fn read_one<'a>(wire: Wire<'a>, raw: &str) -> Result<Option<Message<'a>>, Malformed> {
    if let Some(error) = wire.error {
        return Ok(Some(Message::Error(ApiError::of_error_field(error))));
    }
    let known = wire.candidates.is_some()
        || wire.prompt_feedback.is_some()
        || wire.usage_metadata.is_some()
        || wire.response_id.is_some()
        || wire.model_version.is_some()
        || wire.create_time.is_some()
        || wire.model_status.is_some();
    if !known {
        return if is_empty_object(raw.trim_ascii()) {
            Ok(None)
        } else {
            Err(Malformed { what: "no field of a response in it".to_owned() })
        };
    }
    let mut response = Response {
        usage: wire.usage_metadata.unwrap_or_default(),
        response_id: wire.response_id.filter(|id| !id.is_empty()),
        ..Response::default()
    };
    if let Some(feedback) = wire.prompt_feedback {
        response.block_reason = feedback
            .block_reason
            .filter(|reason| !reason.is_empty() && reason != "BLOCK_REASON_UNSPECIFIED");
        response.block_message = feedback.block_reason_message;
    }
    // One candidate was asked for; others would need a recovery of their own.
    let first = wire.candidates.unwrap_or_default().into_iter().find(|c| c.index.unwrap_or(0) == 0);
    if let Some(candidate) = first {
        response.finish_reason = candidate.finish_reason;
        response.finish_message = candidate.finish_message;
        response.continuation_token =
            candidate.continuation_token.filter(|token| !token.is_empty());
        response.grounded =
            candidate.grounding_metadata.is_some_and(|raw| !is_empty_object(raw.get()));
        response.parts = candidate.content.and_then(|content| content.parts).unwrap_or_default();
    }
    Ok(Some(Message::Response(Box::new(response))))
}

fn is_empty_object(raw: &str) -> bool {
    raw.trim_start_matches('{').trim_end_matches('}').trim_ascii().is_empty()
}
