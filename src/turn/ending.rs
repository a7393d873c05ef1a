//! When and how an attempt ends: its timers, and whether what it brought is whole.
//!
//! There is no end marker on the wire. A finish reason is needed, and neither enough nor final.

use super::answer::Answer;
use super::attempt::{Attempt, Broken, Endpoint, frame_broken};
use super::event::{Cause, ErrorKind, EventKind};
use super::gate::Base;
use super::policy::Policy;
use crate::gemini::{FinishClass, Tail, Verdict};
use std::time::Duration;

/// How a body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyEnd {
    /// Its framing is complete, or it is framed by the end of the connection.
    Clean,
    /// The connection ended before the framing was complete.
    Cut,
    /// The connection was reset.
    Reset,
}

/// What ended an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndedBy {
    Body(BodyEnd),
    /// No byte for too long.
    Idle,
    /// No byte at all for too long.
    FirstByteTimeout,
    /// A finish reason, and then nothing for `finish_grace_ms`.
    Grace,
    /// No sign of life after the app was away.
    Suspended,
}

/// What an attempt was worth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ending {
    /// The turn's answer.
    Whole(FinishClass),
    /// The server asks for a next hop.
    Hop,
    /// Not whole.
    Broken(Broken),
}

/// What a timer of an attempt is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timer {
    Ends(EndedBy),
    SeamHold,
}

impl Attempt {
    /// The next moment at which something is due.
    pub(crate) fn next_timer(&self, answer: &Answer, policy: &Policy) -> Option<(Duration, Timer)> {
        let sent_at = self.sent_at?;
        let life = match (self.endpoint, self.last_byte_at) {
            (Endpoint::Unary, byte) => {
                let by = if byte.is_some() { EndedBy::Idle } else { EndedBy::FirstByteTimeout };
                (sent_at + policy.non_streaming_timeout(), Timer::Ends(by))
            }
            (Endpoint::Stream, None) => {
                (sent_at + policy.first_byte_timeout(), Timer::Ends(EndedBy::FirstByteTimeout))
            }
            (Endpoint::Stream, Some(byte)) => {
                (byte + policy.idle_timeout(), Timer::Ends(EndedBy::Idle))
            }
        };
        let grace = self
            .is_finished(answer)
            .then_some((self.ended.at + policy.finish_grace(), Timer::Ends(EndedBy::Grace)));
        let hold = self
            .hold
            .as_ref()
            .filter(|hold| !hold.timed_out)
            .and_then(|hold| Some((hold.since? + policy.seam_hold(), Timer::SeamHold)));
        let probation = self.probation.map(|at| (at, Timer::Ends(EndedBy::Suspended)));
        [Some(life), grace, hold, probation].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    /// A finish reason was seen that can be believed without the end of the body. Where nothing was
    /// said yet the server may still be about to speak, and a retry would pay a second time.
    fn is_finished(&self, answer: &Answer) -> bool {
        self.ended.reason.is_some()
            && !self.ended.overtaken
            && !self.ended.unreliable
            && !self.decoder.is_mid_event()
            && (self.said || answer.says_anything() || !self.wants_content())
    }

    /// The class of the answer, where nothing but the end of the connection is missing.
    pub(crate) fn whole_so_far(&self, answer: &Answer) -> Option<FinishClass> {
        if self.is_error_answer() || !self.is_finished(answer) {
            return None;
        }
        match self.judge(self.ended.reason.as_ref()?.verdict(), answer) {
            Ending::Whole(class) => Some(class),
            Ending::Hop | Ending::Broken(_) => None,
        }
    }

    /// Only a complete answer has to say something: a token limit or a policy may leave none.
    fn wants_content(&self) -> bool {
        self.ended
            .reason
            .as_ref()
            .is_some_and(|reason| reason.verdict() == Verdict::Over(FinishClass::Complete))
    }

    /// `seam_hold_ms` is over.
    pub(crate) fn seam_time_up(&mut self, answer: &mut Answer, out: &mut Vec<EventKind>) {
        let Some(hold) = &mut self.hold else { return };
        hold.timed_out = true;
        if let Some(cut) = hold.seam.time_up() {
            self.release(&cut, answer, out);
        }
    }

    /// The attempt is over: what was it worth?
    pub(crate) fn end(
        &mut self,
        now: Duration,
        by: EndedBy,
        answer: &mut Answer,
        out: &mut Vec<EventKind>,
    ) -> Ending {
        if let (true, Some(status)) = (self.is_error_answer(), self.http_status) {
            return Ending::Broken(self.refused(status));
        }
        let tail = match self.last_event(now, answer, out) {
            Ok(tail) => tail,
            Err(broken) => {
                self.release_all(answer, out);
                return Ending::Broken(broken);
            }
        };
        self.release_all(answer, out);
        let clean = by == EndedBy::Body(BodyEnd::Clean);
        let believed = self.ended.reason.is_some()
            && !self.ended.overtaken
            && tail == Tail::Clean
            && (clean || !self.ended.unreliable)
            // Where the server holds the connection open, it holds the trailer back as well.
            && (by == EndedBy::Grace || self.encoding.is_whole());
        match &self.ended.reason {
            Some(reason) if believed => self.judge(reason.verdict(), answer),
            _ => Ending::Broken(Self::early(by)),
        }
    }

    /// Hands over a last event that lacks its blank line.
    fn last_event(
        &mut self,
        now: Duration,
        answer: &mut Answer,
        out: &mut Vec<EventKind>,
    ) -> Result<Tail, Broken> {
        let mut decoder = std::mem::replace(&mut self.decoder, crate::gemini::FrameDecoder::new(0));
        let result = match decoder.finish() {
            Ok((Some(json), tail)) => self.frame(now, json, answer, out).map(|()| tail),
            Ok((None, tail)) => Ok(tail),
            Err(error) => Err(frame_broken(&error)),
        };
        self.decoder = decoder;
        result
    }

    fn judge(&self, verdict: Verdict, answer: &Answer) -> Ending {
        match verdict {
            Verdict::Over(FinishClass::Complete) => {
                if let Some(name) = answer.open_call() {
                    let detail = format!("the arguments of {name:?} never ended");
                    return Ending::Broken(Broken::new(Cause::Malformed, detail));
                }
                if self.nothing_was_missing(answer) {
                    return Ending::Whole(FinishClass::Complete);
                }
                Ending::Broken(Broken::new(
                    Cause::Empty,
                    "a finish reason came, and nothing new was said",
                ))
            }
            Verdict::Over(class) => Ending::Whole(class),
            Verdict::Continuation => Ending::Hop,
            Verdict::ModelFault | Verdict::CallerFault => {
                let name = self.ended.reason.as_ref().map_or("", |reason| reason.as_str());
                let mut broken =
                    Broken::new(Cause::ModelFault, format!("the model ended with {name}"));
                broken.words.clone_from(&self.ended.message);
                if verdict == Verdict::CallerFault {
                    broken.terminal = Some(ErrorKind::BadRequest);
                }
                Ending::Broken(broken)
            }
        }
    }

    /// Something was said, or nothing had to be.
    fn nothing_was_missing(&self, answer: &Answer) -> bool {
        match self.base {
            Base::Nothing => self.said,
            Base::Committed => answer.went_on() || !answer.lost_something(),
            Base::Token => self.said || answer.says_anything() && !answer.lost_something(),
        }
    }

    fn early(by: EndedBy) -> Broken {
        let (cause, detail) = match by {
            EndedBy::Body(BodyEnd::Reset) => (Cause::Reset, "the connection was reset"),
            EndedBy::Idle => (Cause::Idle, "no byte came for too long"),
            EndedBy::FirstByteTimeout => (Cause::FirstByteTimeout, "no byte came at all"),
            EndedBy::Suspended => (Cause::Suspended, "the app was suspended"),
            EndedBy::Body(_) | EndedBy::Grace => {
                (Cause::ClosedEarly, "the body ended without a finish reason that holds")
            }
        };
        Broken::new(cause, detail)
    }
}
