//! One response of the flaky server, as a script or a test writes it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::step::{Step, Usage};

/// How long `hang` stays silent at most, in milliseconds.
const HANG_MS: u64 = 8000;

/// One response: the steps it sends and how it breaks.
///
/// In Rust, start from the default, a whole empty stream:
///
/// ```
/// use rejoin::testkit::{End, Response, Step};
/// let dropped = Response {
///     send: vec![Step::text("Hello "), Step::text("wor")],
///     end: End::Reset,
///     ..Response::default()
/// };
/// # let _ = dropped;
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Response {
    /// The steps, in order.
    pub send: Vec<Step>,
    /// How it ends.
    pub end: End,
    /// How long `hang` stays silent at most, in milliseconds.
    pub hang_ms: u64,
    /// The HTTP status.
    pub status: u16,
    /// Headers that replace or join the default ones.
    pub headers: BTreeMap<String, String>,
    /// How the body is framed; `None`: chunked for a stream, by length otherwise.
    pub framing: Option<Framing>,
    /// How bytes are grouped into TCP segments.
    pub segment: Segment,
    /// Line ends of events.
    pub newline: Newline,
    /// Usage for every event that has none of its own.
    pub usage: Option<Usage>,
    /// Whether a status line and headers are sent at all.
    pub head: bool,
    /// The wait before the status line, in milliseconds.
    pub head_after_ms: u64,
    /// So many bytes at the end of the body are not sent.
    pub lose: usize,
    /// Whether the body is compressed.
    pub gzip: bool,
    /// Instead of a response: nothing listens for so many milliseconds.
    pub refuse_ms: Option<u64>,
}

impl Default for Response {
    fn default() -> Self {
        Self {
            send: Vec::new(),
            end: End::Eof,
            hang_ms: HANG_MS,
            status: 200,
            headers: BTreeMap::new(),
            framing: None,
            segment: Segment::Event,
            newline: Newline::Crlf,
            usage: None,
            head: true,
            head_after_ms: 0,
            lose: 0,
            gzip: false,
            refuse_ms: None,
        }
    }
}

/// How a response ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Framing completed; the connection stays open where the framing allows it.
    #[default]
    Eof,
    /// FIN, framing not completed.
    Cut,
    /// RST, a little after the last byte.
    Reset,
    /// Silence until the client closes, then `Cut`.
    Hang,
}

/// How the body is framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Framing {
    /// One chunk a segment.
    Chunked,
    /// Ends with the connection.
    Close,
    /// `content-length`.
    Length,
}

/// How bytes are grouped into TCP segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Segment {
    /// One step each.
    #[default]
    Event,
    /// Everything up to the next wait.
    All,
    /// So many bytes each; at least 1.
    Bytes(usize),
    /// Split at these offsets into the body.
    Offsets(Vec<usize>),
}

/// Line ends of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Newline {
    /// `\r\n`, as Gemini sends.
    #[default]
    Crlf,
    /// `\n`.
    Lf,
    /// `\r`.
    Cr,
}

impl Newline {
    /// The characters themselves.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Crlf => "\r\n",
            Self::Lf => "\n",
            Self::Cr => "\r",
        }
    }
}

impl<'de> Deserialize<'de> for Segment {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Name(String),
            Bytes(usize),
            Offsets(Vec<usize>),
        }
        const FORMS: &str =
            "`segment` is \"event\", \"all\", a number of bytes or a list of offsets";
        match Form::deserialize(deserializer) {
            Ok(Form::Name(name)) if name == "event" => Ok(Self::Event),
            Ok(Form::Name(name)) if name == "all" => Ok(Self::All),
            Ok(Form::Bytes(bytes)) if bytes > 0 => Ok(Self::Bytes(bytes)),
            Ok(Form::Offsets(offsets)) => Ok(Self::Offsets(offsets)),
            _ => Err(serde::de::Error::custom(FORMS)),
        }
    }
}

impl Response {
    /// A stream of these steps that ends whole.
    #[must_use]
    pub fn of(send: Vec<Step>) -> Self {
        Self { send, ..Self::default() }
    }

    /// An HTTP error with the usual body for its status.
    #[must_use]
    pub fn error(status: u16) -> Self {
        Self { status, send: vec![Step::error(status)], ..Self::default() }
    }

    /// Nothing listens for so many milliseconds.
    #[must_use]
    pub fn refuse(ms: u64) -> Self {
        Self { refuse_ms: Some(ms), ..Self::default() }
    }

    /// What serde cannot say: keys that exclude each other.
    pub(crate) fn validate(&self) -> Result<(), String> {
        if self.refuse_ms.is_some() {
            let alone = Self { refuse_ms: self.refuse_ms, ..Self::default() };
            if *self != alone {
                return Err("`refuse_ms` stands alone in its response".into());
            }
        }
        if !self.head && !self.send.iter().all(Step::is_wait) {
            return Err("without a head, `send` may only wait".into());
        }
        if !(200..=599).contains(&self.status) {
            return Err(format!("`status` {} is not 200 to 599", self.status));
        }
        if let Some((name, _)) = self.headers.iter().find(|(name, value)| {
            name.is_empty()
                || !name.bytes().all(|b| b.is_ascii_graphic() && b != b':')
                || value.contains(['\r', '\n'])
        }) {
            return Err(format!("header `{name}` cannot be sent"));
        }
        Ok(())
    }
}
