//! What a chain of attempts has brought so far: the text on the screen, the parts for the history,
//! the calls that wait.
//!
//! A restart begins a new `Answer`; a continuation begins one from the committed text; a resume
//! cuts the old one back to the server's checkpoint.

mod again;

pub(crate) use again::shown_parts;

use super::calls::{Call, CallError, CallStep, Calls, CallsMark, assembled_part};
use super::event::EventKind;
use super::units::{Json, Tokens, Utf16Len};
use crate::gemini::{Part, PartKind};
use crate::text::{Checkpoint, Cut, SeamCut, SeamKind, estimate_tokens};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

/// Kinds of content after which a continuation would break something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub tool: bool,
    pub code: bool,
    pub media: bool,
    pub grounding: bool,
}

/// What a part was worth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    /// It brought anything at all, thoughts included.
    pub content: bool,
    /// It brought something of the answer.
    pub said: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum HistoryPart {
    /// Text alone, which stands in the answer's text at this range.
    Shown(Range<usize>),
    /// A part kept verbatim; its text, if it is one, stands at the range.
    Verbatim { raw: String, shown: Option<Range<usize>> },
    /// Text that waits at the seam.
    Held { raw: Option<String>, text: String },
    /// Taken away at the seam, or folded into an earlier part.
    Gone,
}

/// The server's own checkpoint: all that came up to and with its event.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub token: Arc<str>,
    /// The request that the token continues.
    pub body: Arc<str>,
    parts: usize,
    thoughts: Utf16Len,
    tools: u32,
    part_events: u32,
    calls: CallsMark,
    last_call_part: usize,
    seen: Seen,
    code_running: bool,
}

/// What is kept for the next attempt, in a reset's terms.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Kept {
    pub thoughts: u64,
    pub tools: u32,
    pub parts: u32,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Answer {
    text: String,
    thoughts: Utf16Len,
    tools: u32,
    part_events: u32,
    parts: Vec<HistoryPart>,
    calls: Calls,
    last_call_part: usize,
    seen: Seen,
    code_running: bool,
    /// Thinking tokens of the chain, counted or estimated.
    thought_tokens: u64,
    #[serde(skip)]
    checkpoint: Checkpoint,
    /// Bytes that were there before the running attempt.
    base_len: usize,
    /// Tokens of those.
    base_tokens: Tokens,
    /// Bytes committed by an earlier continuation: they stay committed.
    floor: usize,
    /// What the dead attempt had after the committed text.
    remainder: String,
    /// Something of an answer came after what was kept, and nothing has taken its place yet.
    lost: bool,
    /// Estimated tokens that the seam took from the running attempt.
    trimmed_tokens: u64,
    mark: Option<Mark>,
}

impl Default for Tokens {
    fn default() -> Self {
        Self::NONE
    }
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn seen(&self) -> Seen {
        self.seen
    }

    pub(crate) fn see_grounding(&mut self) {
        self.seen.grounding = true;
    }

    pub(crate) fn thought_tokens(&self) -> u64 {
        self.thought_tokens
    }

    /// The server has counted so many thinking tokens in the running attempt.
    pub(crate) fn count_thoughts(&mut self, tokens: u64) {
        self.thought_tokens = self.thought_tokens.max(tokens);
    }

    /// True between code that the server runs and its result.
    pub(crate) fn code_running(&self) -> bool {
        self.code_running
    }

    pub(crate) fn calls(&self) -> &[Call] {
        self.calls.whole()
    }

    pub(crate) fn open_call(&self) -> Option<&str> {
        self.calls.open_name()
    }

    pub(crate) fn mark(&self) -> Option<&Mark> {
        self.mark.as_ref()
    }

    pub(crate) fn forget_mark(&mut self) {
        self.mark = None;
    }

    /// True if anything of an answer is there.
    pub(crate) fn says_anything(&self) -> bool {
        !self.text.is_empty() || self.tools > 0 || self.part_events > 0
    }

    /// True if a dead attempt had more than what was kept.
    pub(crate) fn lost_something(&self) -> bool {
        self.lost
    }

    /// True if the running attempt brought anything that was not there before it. What the seam
    /// took away does not count.
    pub(crate) fn went_on(&self) -> bool {
        let fresh = &self.text[self.base_len.min(self.text.len())..];
        !fresh.trim().is_empty() || self.tools > 0 || self.part_events > 0
    }

    /// The whitespace that followed the committed text; `None` where nothing is known.
    pub(crate) fn gap(&self) -> Option<String> {
        let blank = self.remainder.len() - self.remainder.trim_start().len();
        (!self.remainder.is_empty()).then(|| self.remainder[..blank].to_owned())
    }

    pub(crate) fn set_mark(&mut self, token: &str, body: &Arc<str>) {
        self.mark = Some(Mark {
            token: token.into(),
            body: body.clone(),
            parts: self.parts.len(),
            thoughts: self.thoughts,
            tools: self.tools,
            part_events: self.part_events,
            calls: self.calls.mark(),
            last_call_part: self.last_call_part,
            seen: self.seen,
            code_running: self.code_running,
        });
    }

    /// Takes one part of the running attempt. Text is held back while `hold` is set.
    pub(crate) fn take(
        &mut self,
        part: &Part<'_>,
        hold: bool,
        out: &mut Vec<EventKind>,
    ) -> Result<Taken, CallError> {
        let raw = || part.raw.to_owned();
        let mut said = true;
        let mut content = true;
        match &part.kind {
            PartKind::Text(text) => {
                said = !text.is_empty();
                content = said;
                let raw = (!part.plain_text).then(raw);
                if hold {
                    self.parts.push(HistoryPart::Held { raw, text: text.clone().into_owned() });
                } else {
                    self.show(text, raw);
                    if said {
                        out.push(EventKind::Text { text: text.clone().into_owned() });
                    }
                }
            }
            PartKind::Thought(text) => {
                said = false;
                content = !text.is_empty();
                self.thoughts = self.thoughts.plus(Utf16Len::of(text));
                self.parts.push(HistoryPart::Verbatim { raw: raw(), shown: None });
                if content {
                    out.push(EventKind::Thought { text: text.clone().into_owned() });
                }
            }
            PartKind::Call(fragment) => self.take_call(fragment, part.raw, out)?,
            PartKind::ExecutableCode | PartKind::CodeResult | PartKind::Media | PartKind::Other => {
                match part.kind {
                    PartKind::ExecutableCode => (self.seen.code, self.code_running) = (true, true),
                    PartKind::CodeResult => (self.seen.code, self.code_running) = (true, false),
                    PartKind::Media => self.seen.media = true,
                    _ => {}
                }
                self.part_events += 1;
                self.parts.push(HistoryPart::Verbatim { raw: raw(), shown: None });
                out.push(EventKind::Part { part: Json::trusted(raw()) });
            }
            PartKind::Bare => {
                (said, content) = (false, false);
                self.parts.push(HistoryPart::Verbatim { raw: raw(), shown: None });
            }
            PartKind::Empty => (said, content) = (false, false),
        }
        Ok(Taken { content, said })
    }

    fn take_call(
        &mut self,
        fragment: &crate::gemini::CallFragment<'_>,
        raw: &str,
        out: &mut Vec<EventKind>,
    ) -> Result<(), CallError> {
        match self.calls.take(fragment, raw)? {
            CallStep::Seen { name, whole } => {
                self.seen.tool = true;
                self.tools += 1;
                let raw = match self.calls.whole().last() {
                    Some(call) if whole && fragment.partial_args.is_some() => {
                        assembled_part(call, None)
                    }
                    _ => raw.to_owned(),
                };
                self.last_call_part = self.parts.len();
                self.parts.push(HistoryPart::Verbatim { raw, shown: None });
                out.push(EventKind::ToolSeen { name });
            }
            CallStep::Closed { part } => {
                // The call's place in the history is where it began.
                if let Some(place) = self.parts.get_mut(self.last_call_part) {
                    *place = HistoryPart::Verbatim { raw: part, shown: None };
                }
            }
            CallStep::More | CallStep::Ignored => {}
        }
        Ok(())
    }

    fn show(&mut self, text: &str, raw: Option<String>) {
        let start = self.text.len();
        self.text.push_str(text);
        self.checkpoint.push(text);
        let range = start..self.text.len();
        self.parts.push(match raw {
            Some(raw) => HistoryPart::Verbatim { raw, shown: Some(range) },
            None => HistoryPart::Shown(range),
        });
    }

    /// The seam is decided: shows what was held. Gives the text to show; for a restarted answer the
    /// caller has to send a reset before it.
    pub(crate) fn release(&mut self, cut: &SeamCut) -> String {
        let before = std::mem::take(&mut self.parts);
        let mut lead = cut.lead.as_str();
        if cut.kind == SeamKind::Restart {
            self.text.clear();
            self.checkpoint = Checkpoint::new();
            (self.base_len, self.base_tokens, self.floor) = (0, Tokens::NONE, 0);
            self.remainder.clear();
            self.lost = false;
            lead = "";
        }
        let start = self.text.len();
        self.text.push_str(lead);
        self.checkpoint.push(lead);
        let mut to_trim = cut.trim;
        for (i, part) in before.into_iter().enumerate() {
            match part {
                HistoryPart::Held { raw, text } => {
                    let trimmed = to_trim.min(text.len());
                    to_trim -= trimmed;
                    self.trimmed_tokens += estimate_tokens(&text[..trimmed]);
                    if trimmed > 0 && trimmed == text.len() {
                        self.parts.push(HistoryPart::Gone);
                    } else {
                        // A part from which something was taken is no longer what was signed.
                        self.show(&text[trimmed..], raw.filter(|_| trimmed == 0));
                    }
                }
                HistoryPart::Shown(range) if i == 0 && cut.kind != SeamKind::Restart => {
                    self.parts.push(HistoryPart::Shown(range.start..range.end + lead.len()));
                }
                HistoryPart::Shown(_) if cut.kind == SeamKind::Restart => {
                    self.parts.push(HistoryPart::Gone);
                }
                other => self.parts.push(other),
            }
        }
        self.text[start..].to_owned()
    }

    /// What a drop right now would commit.
    pub(crate) fn cut(&self) -> Option<Cut> {
        self.checkpoint.cut()
    }

    /// Output tokens of the running attempt: measured if the server counted, else estimated.
    pub(crate) fn received(&self, measured: Option<u64>) -> Tokens {
        if let Some(count) = measured.filter(|count| *count > 0) {
            return Tokens { count, exact: true };
        }
        let fresh = &self.text[self.base_len.min(self.text.len())..];
        let held: u64 = self
            .parts
            .iter()
            .map(|part| match part {
                HistoryPart::Held { text, .. } => estimate_tokens(text),
                _ => 0,
            })
            .sum();
        let estimate = estimate_tokens(fresh) + self.trimmed_tokens + held;
        // A count of zero beside text is a server that has not counted yet.
        Tokens { count: estimate, exact: estimate == 0 }
    }

    /// R of the first `len` bytes, where the running attempt brought `received` tokens.
    pub(crate) fn tokens_of(&self, len: usize, received: Tokens) -> Tokens {
        if len <= self.base_len {
            let base = &self.text[..self.base_len];
            return self.base_tokens.share(estimate_tokens(&base[..len]), estimate_tokens(base));
        }
        let fresh = estimate_tokens(&self.text[self.base_len..]) + self.trimmed_tokens;
        let part = estimate_tokens(&self.text[self.base_len..len]);
        self.base_tokens.plus(received.share(part, fresh))
    }

    /// A new answer on the committed text of this one.
    pub(crate) fn continued(&self, cut: &Cut, tokens: Tokens) -> Self {
        let text = self.text[..cut.len].to_owned();
        let fresh_remainder = &self.text[cut.len..];
        let blank = fresh_remainder.trim().is_empty();
        let remainder = if blank && cut.len == self.floor {
            self.remainder.clone()
        } else {
            fresh_remainder.to_owned()
        };
        Self {
            parts: vec![HistoryPart::Shown(0..text.len())],
            checkpoint: Checkpoint::continuing(&text),
            base_len: text.len(),
            base_tokens: tokens,
            floor: text.len(),
            remainder,
            // An attempt that brought nothing does not make its predecessor forgotten.
            lost: !blank || self.lost && self.text[self.floor..].trim().is_empty(),
            text,
            ..Self::default()
        }
    }

    /// This answer cut back to the server's checkpoint.
    pub(crate) fn resumed(mut self, received: Tokens) -> Self {
        let Some(mark) = self.mark.clone() else { return self };
        self.parts.truncate(mark.parts);
        let len =
            self.parts
                .iter()
                .rev()
                .find_map(|part| match part {
                    HistoryPart::Shown(range)
                    | HistoryPart::Verbatim { shown: Some(range), .. } => Some(range.end),
                    _ => None,
                })
                .unwrap_or(0);
        let base_tokens = self.tokens_of(len, received);
        let floor = self.floor.min(len);
        let mut checkpoint = Checkpoint::continuing(&self.text[..floor]);
        checkpoint.push(&self.text[floor..len]);
        let more = !self.text[len..].trim().is_empty()
            || self.tools > mark.tools
            || self.part_events > mark.part_events;
        let kept_nothing = self.text[self.base_len.min(len)..len].trim().is_empty();
        let lost = more || kept_nothing && self.lost;
        self.text.truncate(len);
        Self {
            lost,
            thoughts: mark.thoughts,
            tools: mark.tools,
            part_events: mark.part_events,
            calls: std::mem::take(&mut self.calls).resumed(&mark.calls),
            last_call_part: mark.last_call_part,
            seen: mark.seen,
            code_running: mark.code_running,
            checkpoint,
            base_len: len,
            base_tokens,
            floor,
            trimmed_tokens: 0,
            ..self
        }
    }

    /// What a reset keeps beside the text.
    pub(crate) fn kept(&self) -> Kept {
        Kept { thoughts: self.thoughts.0, tools: self.tools, parts: self.part_events }
    }

    /// The contents to append for the next turn: one model content.
    pub(crate) fn history(&self) -> Vec<Json> {
        let mut content = String::from("{\"role\":\"model\",\"parts\":[");
        let mut first = true;
        // The API takes no fragment back of a call that never ended.
        let fragment = self.open_call().map(|_| self.last_call_part);
        for (i, part) in self.parts.iter().enumerate() {
            if fragment == Some(i) {
                continue;
            }
            let comma = if first { "" } else { "," };
            match part {
                HistoryPart::Shown(range) => {
                    let text = serde_json::Value::from(&self.text[range.clone()]);
                    let _ = write!(content, "{comma}{{\"text\":{text}}}");
                }
                HistoryPart::Verbatim { raw, .. } => {
                    let _ = write!(content, "{comma}{raw}");
                }
                HistoryPart::Held { .. } | HistoryPart::Gone => continue,
            }
            first = false;
        }
        content.push_str("]}");
        if first { Vec::new() } else { vec![Json::trusted(content)] }
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}
