//! A running attempt: bytes in, pieces of the answer out, until it breaks or ends.

use super::answer::Answer;
use super::billing::Meter;
use super::calls::CallError;
use super::event::{Cause, ErrorKind, EventKind, Reset, ResetReason};
use super::gate::{Base, Strategy};
use super::policy::Policy;
use super::units::{AttemptNo, Utf16Len};
use crate::gemini::{
    ApiError, Encoding, FinishClass, FinishReason, FrameDecoder, FrameError, Message, PartKind,
    RefusalKind, Response, Verdict, read_messages,
};
use crate::text::{Seam, SeamCut, SeamKind, estimate_tokens};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// Which of the two methods an attempt calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Endpoint {
    /// `:streamGenerateContent?alt=sse`
    Stream,
    /// `:generateContent`
    Unary,
}

/// Why an attempt is not whole.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Broken {
    pub cause: Cause,
    pub detail: Option<String>,
    /// The server's own words, if it had any.
    pub words: Option<String>,
    /// Set where no retry cures it.
    pub terminal: Option<ErrorKind>,
    /// The pause that the server asks for.
    pub delay: Option<Duration>,
    /// The server took offence at the request itself, not at its load.
    pub offended: bool,
}

impl Broken {
    pub(crate) fn new(cause: Cause, detail: impl Into<String>) -> Self {
        Self {
            cause,
            detail: Some(detail.into()),
            words: None,
            terminal: None,
            delay: None,
            offended: false,
        }
    }

    pub(crate) fn of_error(
        cause: Cause,
        error: &ApiError,
        http_status: u16,
        retry_after: Option<&str>,
    ) -> Self {
        let refusal = error.refusal(http_status, retry_after);
        let terminal = match refusal.kind {
            RefusalKind::Transient => None,
            RefusalKind::BadRequest => Some(ErrorKind::BadRequest),
            RefusalKind::Unauthorized => Some(ErrorKind::Unauthorized),
            RefusalKind::Forbidden => Some(ErrorKind::Forbidden),
            RefusalKind::NotFound => Some(ErrorKind::NotFound),
            RefusalKind::QuotaExhausted => Some(ErrorKind::QuotaExhausted),
        };
        let code = if http_status >= 400 { Some(http_status) } else { error.code };
        Self {
            cause,
            detail: Some(error.summary()),
            words: Some(error.raw.clone()),
            terminal,
            delay: refusal.delay,
            offended: terminal.is_some() && code != Some(429),
        }
    }
}

/// Text held back at the start of a continuation.
#[derive(Debug)]
pub(super) struct Hold {
    pub seam: Seam,
    /// When the first text was held.
    pub since: Option<Duration>,
    pub timed_out: bool,
}

/// What the attempt has said of its own end.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub reason: Option<FinishReason>,
    pub message: Option<String>,
    pub at: Duration,
    /// Content has come after the reason: it was not the end.
    pub overtaken: bool,
    /// That has happened at all: in this stream a finish reason says little.
    pub unreliable: bool,
}

#[derive(Debug)]
pub(crate) struct Attempt {
    pub no: AttemptNo,
    pub strategy: Strategy,
    pub base: Base,
    pub endpoint: Endpoint,
    /// A hop that the server asked for: it does not count against `max_attempts`.
    pub is_hop: bool,
    pub body: Arc<str>,
    pub started: Duration,
    /// How long it ran in a process before this one.
    pub before: Duration,
    pub waited: Duration,
    pub sent_at: Option<Duration>,
    /// The app was away for a moment: without a byte until then the connection counts as dead.
    pub probation: Option<Duration>,
    pub http_status: Option<u16>,
    pub meter: Meter,
    /// Anything has come, thoughts included.
    pub content: bool,
    /// Something of the answer has come.
    pub said: bool,
    pub(super) last_byte_at: Option<Duration>,
    pub(super) ended: Ended,
    pub(super) hold: Option<Hold>,
    /// What the held text turned out to be.
    pub seam: Option<SeamKind>,
    pub(super) decoder: FrameDecoder,
    pub(super) encoding: Encoding,
    pub(super) error_body: Vec<u8>,
    retry_after: Option<String>,
    response_id: Option<String>,
}

/// How much of an error's body is read: Gemini's are a few hundred bytes, a proxy's page is not
/// worth more.
const ERROR_BODY_BYTES: usize = 64 << 10;

impl Attempt {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        no: AttemptNo,
        strategy: Strategy,
        base: Base,
        endpoint: Endpoint,
        body: Arc<str>,
        seam: Option<Seam>,
        started: Duration,
        policy: &Policy,
    ) -> Self {
        Self {
            no,
            strategy,
            base,
            endpoint,
            is_hop: false,
            body,
            started,
            before: Duration::ZERO,
            waited: Duration::ZERO,
            sent_at: None,
            probation: None,
            http_status: None,
            meter: Meter::default(),
            content: false,
            said: false,
            last_byte_at: None,
            ended: Ended::default(),
            hold: seam.map(|seam| Hold { seam, since: None, timed_out: false }),
            seam: None,
            decoder: FrameDecoder::new(policy.max_event_bytes),
            encoding: Encoding::Identity,
            error_body: Vec::new(),
            retry_after: None,
            response_id: None,
        }
    }

    /// The answer's status is no success.
    pub(crate) fn is_error_answer(&self) -> bool {
        self.http_status.is_some_and(|status| !(200..300).contains(&status))
    }

    pub(crate) fn head(
        &mut self,
        now: Duration,
        status: u16,
        headers: &[(String, String)],
    ) -> Result<(), Broken> {
        let header = |name: &str| {
            headers
                .iter()
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.as_str())
        };
        self.http_status = Some(status);
        self.retry_after = header("retry-after").map(str::to_owned);
        if self.is_error_answer() {
            // Nobody thinks about the body of an error: its silence is not a first byte's.
            self.last_byte_at = Some(now);
            return Ok(());
        }
        let html = |value: &str| value.trim_start().to_ascii_lowercase().starts_with("text/html");
        if header("content-type").is_some_and(html) {
            return Err(Broken::new(
                Cause::NotAStream,
                "the answer is a web page: a portal or proxy is in the way",
            ));
        }
        self.encoding = Encoding::of(header("content-encoding"))
            .map_err(|error| Broken::new(Cause::NotAStream, error.to_string()))?;
        Ok(())
    }

    pub(crate) fn bytes(
        &mut self,
        now: Duration,
        bytes: &[u8],
        answer: &mut Answer,
        out: &mut Vec<EventKind>,
    ) -> Result<(), Broken> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.last_byte_at = Some(now);
        self.probation = None;
        if let (true, Some(status)) = (self.is_error_answer(), self.http_status) {
            let room = ERROR_BODY_BYTES.saturating_sub(self.error_body.len());
            self.error_body.extend_from_slice(&bytes[..bytes.len().min(room)]);
            // A page without end must not hold the retry up.
            return if bytes.len() < room { Ok(()) } else { Err(self.refused(status)) };
        }
        for piece in bytes.chunks(self.encoding.step().min(bytes.len())) {
            let decoder = &mut self.decoder;
            self.encoding
                .decode(piece, &mut |plain| decoder.feed(plain))
                .map_err(|error| Broken::new(Cause::Malformed, error.to_string()))?;
            self.pump(now, answer, out)?;
        }
        Ok(())
    }

    fn pump(
        &mut self,
        now: Duration,
        answer: &mut Answer,
        out: &mut Vec<EventKind>,
    ) -> Result<(), Broken> {
        // Frames borrow from the decoder while the rest of the attempt takes them.
        let mut decoder = std::mem::replace(&mut self.decoder, FrameDecoder::new(0));
        let result = loop {
            match decoder.next_frame() {
                Ok(Some(json)) => {
                    if let Err(broken) = self.frame(now, json, answer, out) {
                        break Err(broken);
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(frame_broken(&error)),
            }
        };
        self.decoder = decoder;
        result
    }

    pub(super) fn frame(
        &mut self,
        now: Duration,
        json: &[u8],
        answer: &mut Answer,
        out: &mut Vec<EventKind>,
    ) -> Result<(), Broken> {
        let messages = read_messages(json)
            .map_err(|error| Broken::new(Cause::Malformed, error.to_string()))?;
        for message in messages {
            match message {
                Message::Response(response) => self.response(now, &response, answer, out)?,
                Message::Error(error) => {
                    let cause = if self.content { Cause::ServerError } else { Cause::Refused };
                    let status = self.http_status.unwrap_or(200);
                    return Err(Broken::of_error(
                        cause,
                        &error,
                        status,
                        self.retry_after.as_deref(),
                    ));
                }
            }
        }
        Ok(())
    }

    fn response(
        &mut self,
        now: Duration,
        response: &Response<'_>,
        answer: &mut Answer,
        out: &mut Vec<EventKind>,
    ) -> Result<(), Broken> {
        if let Some(id) = &response.response_id {
            match &self.response_id {
                Some(known) if known != id => {
                    return Err(Broken::new(
                        Cause::Spliced,
                        "the response id changed: a layer below sent the request again",
                    ));
                }
                Some(_) => {}
                None => self.response_id = Some(id.clone().into_owned()),
            }
        }
        self.meter.take(response.usage);
        if let Some(thoughts) = response.usage.thoughts {
            answer.count_thoughts(thoughts);
        }
        // Beside a candidate it is a remark: the candidate's own reason decides.
        if let Some(reason) = &response.block_reason
            && response.parts.is_empty()
            && response.finish_reason.is_none()
        {
            let message = response.block_message.as_deref().unwrap_or("");
            let cause = if self.content { Cause::ServerError } else { Cause::Refused };
            let detail = format!("the prompt was blocked: {reason} {message}");
            let mut broken = Broken::new(cause, detail.trim_end());
            broken.terminal = Some(ErrorKind::Blocked);
            broken.offended = true;
            return Err(broken);
        }
        if response.grounded {
            answer.see_grounding();
        }
        let mut content = false;
        for part in &response.parts {
            if let (PartKind::Thought(text), None) = (&part.kind, response.usage.thoughts) {
                answer.count_thoughts(answer.thought_tokens() + estimate_tokens(text));
            }
            let taken = answer
                .take(part, self.hold.is_some(), out)
                .map_err(|error: CallError| Broken::new(Cause::Malformed, error.to_string()))?;
            content |= taken.content;
            self.said |= taken.said;
            if let (Some(hold), PartKind::Text(text)) = (&mut self.hold, &part.kind)
                && !text.is_empty()
            {
                hold.since.get_or_insert(now);
                if let Some(cut) = hold.seam.push(text) {
                    self.release(&cut, answer, out);
                }
            }
        }
        self.content |= content;
        if content && self.ended.reason.is_some() {
            self.ended.overtaken = true;
            self.ended.unreliable = true;
        }
        self.finish(now, response, answer);
        Ok(())
    }

    fn finish(&mut self, now: Duration, response: &Response<'_>, answer: &mut Answer) {
        let reason = response.finish_reason.as_deref().and_then(FinishReason::new);
        if let Some(token) = &response.continuation_token {
            answer.set_mark(token, &self.body);
        }
        let Some(reason) = reason else { return };
        // STOP on code that the server runs means "running": neither an end nor a sign of a server
        // that says STOP everywhere. Any other reason means what it says there, too.
        if answer.code_running() && reason.verdict() == Verdict::Over(FinishClass::Complete) {
            return;
        }
        let keeps_token = match reason.verdict() {
            Verdict::Continuation => true,
            Verdict::Over(_) => response.continuation_token.is_some(),
            // What the model made wrong is not to be gone on with.
            Verdict::ModelFault | Verdict::CallerFault => false,
        };
        if !keeps_token {
            answer.forget_mark();
        }
        self.ended.reason = Some(reason);
        self.ended.message = response.finish_message.as_deref().map(str::to_owned);
        self.ended.at = now;
        self.ended.overtaken = false;
    }

    /// The seam is decided: from here on text flows.
    pub(super) fn release(&mut self, cut: &SeamCut, answer: &mut Answer, out: &mut Vec<EventKind>) {
        let said = self.hold.take().is_some_and(|hold| hold.since.is_some());
        self.seam = said.then_some(cut.kind);
        let text = answer.release(cut);
        if cut.kind == SeamKind::Restart {
            // What this attempt has brought beside text is not part of what the model began anew.
            let kept = answer.kept();
            out.push(EventKind::Reset(Reset {
                keep_utf16: Utf16Len::ZERO,
                keep_text_bytes: 0,
                keep_thought_utf16: Utf16Len(kept.thoughts),
                keep_tools: kept.tools,
                keep_parts: kept.parts,
                reason: ResetReason::AnswerRestarted,
            }));
        }
        if !text.is_empty() {
            out.push(EventKind::Text { text });
        }
    }

    /// Decides the seam with what is there.
    pub(super) fn release_all(&mut self, answer: &mut Answer, out: &mut Vec<EventKind>) {
        if let Some(hold) = &mut self.hold {
            let cut = hold.seam.finish();
            self.release(&cut, answer, out);
        }
    }

    /// The server's name for the end, or "" if it gave none.
    pub(crate) fn finish_reason(&self) -> &str {
        self.ended.reason.as_ref().map_or("", FinishReason::as_str)
    }

    /// The answer of a refusal, read at its end.
    pub(super) fn refused(&self, status: u16) -> Broken {
        let error = ApiError::of_body(status, &self.error_body);
        Broken::of_error(Cause::Refused, &error, status, self.retry_after.as_deref())
    }
}

pub(super) fn frame_broken(error: &FrameError) -> Broken {
    let cause = match error {
        FrameError::TooLarge { .. } => Cause::TooLarge,
        FrameError::NotAStream => Cause::NotAStream,
        FrameError::Malformed => Cause::Malformed,
    };
    Broken::new(cause, error.to_string())
}
