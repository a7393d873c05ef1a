//! Cuts the bytes of a body into JSON texts: server-sent events, bare JSON, or a JSON array.
//!
//! Written for Gemini's streams rather than for SSE at large, because general decoders panic on a
//! byte order mark, drop the last event, or end cleanly on an in-band error.
//! Lines end at CR, LF or CRLF only: U+2028 and its kin are data.

use super::bare::{BareScanner, Step};

/// Why a body cannot be cut into events any further.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// One event is longer than `max_event_bytes`.
    #[error("an event is longer than {max} bytes")]
    TooLarge {
        /// The bound that was passed.
        max: usize,
    },
    /// A page, or another text that is no stream of events.
    #[error("the body is not a stream of events")]
    NotAStream,
    /// Bare text that is neither an event nor JSON.
    #[error("the body has text that is not JSON")]
    Malformed,
}

/// How the bytes of a body stood when it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// At an end of an event.
    Clean,
    /// In the middle of an event: the server had more to say.
    Partial,
}

/// Cuts a body into JSON texts. Feed bytes with [`feed`](Self::feed), then call
/// [`next_frame`](Self::next_frame) until it gives `None`; at the end of the body call
/// [`finish`](Self::finish).
#[derive(Debug)]
pub struct FrameDecoder {
    max: usize,
    buf: Vec<u8>,
    /// Bytes of `buf` that are dealt with.
    pos: usize,
    /// Bytes of `buf` already searched for a line end.
    scanned: usize,
    data: Vec<u8>,
    data_lines: usize,
    /// A field has come since the last dispatch: an event has begun.
    in_event: bool,
    ignore_event: bool,
    skip_lf: bool,
    at_start: bool,
    bare: Option<BareScanner>,
    frames: u64,
    garbage: bool,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

impl FrameDecoder {
    /// A decoder that refuses events longer than `max_event_bytes`.
    #[must_use]
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            max: max_event_bytes,
            buf: Vec::new(),
            pos: 0,
            scanned: 0,
            data: Vec::new(),
            data_lines: 0,
            in_event: false,
            ignore_event: false,
            skip_lf: false,
            at_start: true,
            bare: None,
            frames: 0,
            garbage: false,
        }
    }

    /// Takes the next bytes of the body.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.pos > 0 {
            self.buf.drain(..self.pos);
            self.scanned -= self.pos;
            self.pos = 0;
        }
        self.buf.extend_from_slice(bytes);
    }

    /// True while the bytes so far stop inside an event. Comments do not count.
    #[must_use]
    pub fn is_mid_event(&self) -> bool {
        if let Some(bare) = &self.bare {
            return bare.is_mid_value();
        }
        let rest = &self.buf[self.pos..];
        let rest = if self.skip_lf { rest.strip_prefix(b"\n").unwrap_or(rest) } else { rest };
        self.event_has_begun() || !(self.ignore_event || is_filler(rest))
    }

    /// A field has come since the last dispatch, and not one of a keep-alive or of `[DONE]`.
    fn event_has_begun(&self) -> bool {
        self.in_event
            && !self.ignore_event
            && (self.data_lines == 0 || self.data_is_worth_reading())
    }

    /// The next whole JSON text, or `None` until more bytes are fed.
    ///
    /// # Errors
    /// [`FrameError`] when the body cannot be read any further; the decoder is then of no use.
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, FrameError> {
        if self.at_start && !self.pass_bom() {
            return Ok(None);
        }
        loop {
            if self.bare.is_some() {
                return match self.scan_bare()? {
                    BareOutcome::Frame => {
                        self.frames += 1;
                        Ok(self.bare.as_ref().map(|bare| bare.value.as_slice()))
                    }
                    BareOutcome::LastFrame => {
                        self.frames += 1;
                        self.data = self.bare.take().map(|bare| bare.value).unwrap_or_default();
                        self.data_lines = 0;
                        Ok(Some(&self.data))
                    }
                    BareOutcome::Lines => continue,
                    BareOutcome::NeedMore => Ok(None),
                };
            }
            if self.skip_lf && self.pos < self.buf.len() {
                self.skip_lf = false;
                if self.buf[self.pos] == b'\n' {
                    self.pos += 1;
                    self.scanned = self.scanned.max(self.pos);
                }
            }
            match self.buf.get(self.pos).copied() {
                None => return Ok(None),
                Some(b'{' | b'[') if self.take_unended() => {
                    self.frames += 1;
                    return Ok(Some(&self.data));
                }
                Some(b'{' | b'[') => {
                    self.bare = Some(BareScanner::default());
                    continue;
                }
                Some(b'<') => return Err(FrameError::NotAStream),
                Some(_) => {}
            }
            let from = self.scanned.max(self.pos);
            let Some(offset) = memchr::memchr2(b'\r', b'\n', &self.buf[from..]) else {
                self.scanned = self.buf.len();
                self.check_size(self.buf.len() - self.pos)?;
                return Ok(None);
            };
            let (start, end) = (self.pos, from + offset);
            self.check_size(end - start)?;
            self.skip_lf = self.buf[end] == b'\r';
            self.pos = end + 1;
            self.scanned = self.pos;
            if self.take_line(start, end)? {
                self.frames += 1;
                return Ok(Some(&self.data));
            }
        }
    }

    /// The end of the body: hands out a last event that lacks its blank line, if its JSON is whole.
    ///
    /// # Errors
    /// [`FrameError::NotAStream`] if the body had text but nothing that is an event.
    pub fn finish(&mut self) -> Result<(Option<&[u8]>, Tail), FrameError> {
        if let Some(bare) = &self.bare {
            return Ok((None, if bare.is_mid_value() { Tail::Partial } else { Tail::Clean }));
        }
        let (start, end) = (self.pos, self.buf.len());
        // A bare `data:` announces an event of which nothing came: it stays a partial line.
        let rest_is_data = self.buf[start..end]
            .strip_prefix(b"data:")
            .is_some_and(|value| !value.trim_ascii().is_empty());
        if is_done_marker(&self.buf[start..end]) {
            self.pos = end;
        } else if rest_is_data {
            self.pos = end;
            if self.take_line(start, end)? {
                self.frames += 1;
            }
        }
        let partial_line = !self.ignore_event && !is_filler(&self.buf[self.pos..end]);
        if self.data_lines > 0 && !partial_line && self.data_is_worth_reading() {
            if is_whole_json(&self.data) {
                self.frames += 1;
                self.data_lines = 0;
                self.in_event = false;
                return Ok((Some(&self.data), Tail::Clean));
            }
            return Ok((None, Tail::Partial));
        }
        if self.frames == 0
            && (self.garbage || partial_line && !is_field_start(&self.buf[self.pos..]))
        {
            return Err(FrameError::NotAStream);
        }
        let begun = partial_line || self.event_has_begun();
        let tail = if begun { Tail::Partial } else { Tail::Clean };
        Ok((None, tail))
    }

    /// False until it is known whether the body opens with a byte order mark.
    fn pass_bom(&mut self) -> bool {
        if self.buf.len() < BOM.len() && BOM.starts_with(&self.buf) {
            return false;
        }
        if self.buf.starts_with(BOM) {
            self.pos = BOM.len();
            self.scanned = self.scanned.max(self.pos);
        }
        self.at_start = false;
        true
    }

    fn check_size(&self, extra: usize) -> Result<(), FrameError> {
        if self.data.len().saturating_mul(usize::from(self.data_lines > 0)) + extra > self.max {
            return Err(FrameError::TooLarge { max: self.max });
        }
        Ok(())
    }

    /// Takes one line; true if it ended an event whose data is now in `data`.
    fn take_line(&mut self, start: usize, end: usize) -> Result<bool, FrameError> {
        let line = &self.buf[start..end];
        if line.is_empty() {
            let worth = self.data_lines > 0 && self.data_is_worth_reading();
            self.data_lines = 0;
            self.in_event = false;
            self.ignore_event = false;
            return Ok(worth);
        }
        let colon = memchr::memchr(b':', line);
        let (name, value) = match colon {
            Some(0) => return Ok(false),
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &[][..]),
        };
        match name {
            b"data" => {
                self.in_event = true;
                if self.data_lines == 0 {
                    self.data.clear();
                } else {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.data_lines += 1;
                if self.data.len() > self.max {
                    return Err(FrameError::TooLarge { max: self.max });
                }
            }
            b"event" => {
                self.in_event = true;
                self.ignore_event =
                    matches!(value, b"ping" | b"keepalive" | b"keep-alive" | b"heartbeat");
            }
            b"id" | b"retry" => self.in_event = true,
            _ => {
                let text = line.trim_ascii_start();
                if text.is_empty() {
                    return Ok(false);
                }
                if matches!(text[0], b'{' | b'[') {
                    // Indented bare JSON: read it again from its first bracket.
                    self.pos = end - text.len();
                    self.scanned = self.pos;
                    self.skip_lf = false;
                    self.bare = Some(BareScanner::default());
                    return Ok(false);
                }
                if text[0] == b'<' {
                    return Err(FrameError::NotAStream);
                }
                self.garbage = true;
            }
        }
        Ok(false)
    }

    /// Ends an event that lacks its blank line where something else begins; true if it is whole.
    fn take_unended(&mut self) -> bool {
        let whole =
            self.data_lines > 0 && self.data_is_worth_reading() && is_whole_json(&self.data);
        (self.data_lines, self.in_event, self.ignore_event) = (0, false, false);
        whole
    }

    /// Keep-alives sent as data, `[DONE]` of gateways and empty events are no events.
    fn data_is_worth_reading(&self) -> bool {
        let data = self.data.trim_ascii();
        !(self.ignore_event || data.is_empty() || data[0] == b':' || data == b"[DONE]")
    }

    fn scan_bare(&mut self) -> Result<BareOutcome, FrameError> {
        let Some(bare) = &mut self.bare else { return Ok(BareOutcome::Lines) };
        while self.pos < self.buf.len() {
            let byte = self.buf[self.pos];
            self.pos += 1;
            self.scanned = self.pos;
            match bare.take(byte) {
                Step::More => {
                    if bare.value.len() > self.max {
                        return Err(FrameError::TooLarge { max: self.max });
                    }
                }
                Step::Object if bare.in_array() => return Ok(BareOutcome::Frame),
                Step::Object => return Ok(BareOutcome::LastFrame),
                Step::Done => {
                    self.bare = None;
                    return Ok(BareOutcome::Lines);
                }
                Step::Broken => return Err(FrameError::Malformed),
            }
        }
        Ok(BareOutcome::NeedMore)
    }
}

enum BareOutcome {
    Frame,
    LastFrame,
    Lines,
    NeedMore,
}

fn is_whole_json(data: &[u8]) -> bool {
    let mut values =
        serde_json::Deserializer::from_slice(data).into_iter::<serde::de::IgnoredAny>().peekable();
    values.peek().is_some() && values.all(|value| value.is_ok())
}

/// `data: [DONE]`, whole or cut short: a gateway's word that nothing follows.
fn is_done_marker(rest: &[u8]) -> bool {
    let Some(value) = rest.strip_prefix(b"data:") else { return false };
    let value = value.strip_prefix(b" ").unwrap_or(value);
    value.len() >= 2 && b"[DONE]".starts_with(value)
}

/// The start of a line that announces nothing: white space, a comment, `[DONE]`.
fn is_filler(rest: &[u8]) -> bool {
    rest.trim_ascii().is_empty() || rest[0] == b':' || is_done_marker(rest)
}

/// True for the start of a line that may yet become a field.
fn is_field_start(rest: &[u8]) -> bool {
    [&b"data"[..], b"event", b"id", b"retry"]
        .iter()
        .any(|name| name.starts_with(rest) || rest.starts_with(name))
}
