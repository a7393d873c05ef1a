//! One step of a response: what is sent, or how long nothing is.

use serde::Deserialize;

use super::json::Json;

/// One step of a [`Response`](super::Response).
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// An event built from parts or a finish reason.
    Event(EventStep),
    /// An object sent as an event, as it is, with what the script lays over it.
    Json {
        /// The object.
        object: Json,
        /// Fields laid over it; with none the object keeps its bytes.
        over: EventStep,
    },
    /// An error body.
    Error(ErrorStep),
    /// Bytes.
    Raw(Vec<u8>),
    /// A pause, in milliseconds.
    WaitMs(u64),
    /// A pause until the next request has come, at most so many milliseconds.
    WaitNext(u64),
}

/// An event: `parts` absent means an event without `content`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventStep {
    /// The parts, in order.
    pub parts: Option<Vec<Part>>,
    /// `finishReason`.
    pub finish: Option<String>,
    /// `finishMessage`.
    pub finish_message: Option<String>,
    /// The event's own usage; else the response's.
    pub usage: Option<Usage>,
    /// `responseId`; else `r<k>` for the k-th request.
    pub response_id: Option<String>,
}

/// One part of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What the part holds.
    pub body: PartBody,
    /// Its `thoughtSignature`.
    pub sig: Option<String>,
}

/// What a [`Part`] holds.
#[derive(Clone, Debug, PartialEq)]
pub enum PartBody {
    /// Text of the answer.
    Text(String),
    /// Text of the thinking summary.
    Thought(String),
    /// A function call.
    Call {
        /// The function's name.
        name: String,
        /// The arguments; left out when `None`.
        args: Option<Json>,
        /// The provider's id; left out when `None`.
        id: Option<String>,
    },
    /// An object sent as the part, as it is.
    Raw(Json),
    /// `inlineData` with so many bytes of base64.
    Fill {
        /// The media type.
        mime_type: String,
        /// How many base64 characters to send.
        bytes: usize,
    },
}

/// Token counts of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Usage {
    /// Prompt, candidates, thoughts, as far as they are sent.
    Counts([Option<u64>; 3]),
    /// An object sent as it is.
    Object(Json),
}

/// How an error body is framed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorForm {
    /// Pretty JSON, without `data:`.
    #[default]
    Bare,
    /// The same in a list.
    Array,
    /// An event.
    Data,
}

/// An error body.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorStep {
    /// `error.code`.
    pub code: u16,
    /// How it is framed.
    pub form: ErrorForm,
    /// `error.status`; else the usual name of the code.
    pub status: Option<String>,
    /// `error.message`; else a sentence for the code.
    pub message: Option<String>,
    /// `error.details`.
    pub details: Option<Json>,
}

impl Step {
    /// An event with one text part.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::parts(vec![Part::text(text)])
    }

    /// An event with these parts.
    #[must_use]
    pub fn parts(parts: Vec<Part>) -> Self {
        Self::Event(EventStep { parts: Some(parts), ..EventStep::default() })
    }

    /// An event with a finish reason and no content.
    #[must_use]
    pub fn finish(reason: impl Into<String>) -> Self {
        Self::Event(EventStep { finish: Some(reason.into()), ..EventStep::default() })
    }

    /// An error body with this code, bare.
    #[must_use]
    pub fn error(code: u16) -> Self {
        Self::Error(ErrorStep {
            code,
            form: ErrorForm::Bare,
            status: None,
            message: None,
            details: None,
        })
    }

    /// Bytes, as they are.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Raw(bytes.into())
    }

    pub(crate) fn is_wait(&self) -> bool {
        matches!(self, Self::WaitMs(_) | Self::WaitNext(_))
    }
}

impl Part {
    /// A text part without a signature.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { body: PartBody::Text(text.into()), sig: None }
    }
}
