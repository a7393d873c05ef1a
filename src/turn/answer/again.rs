//! An answer that was taken down as data: made whole again, and shown again.

use super::{Answer, HistoryPart};
use crate::gemini::{Part, PartKind};
use crate::text::Checkpoint;
use crate::turn::event::EventKind;
use crate::turn::units::Json;
use std::sync::Arc;

impl Answer {
    /// The request is kept beside a snapshot, not in it: a token that continues the caller's own
    /// request need not repeat it.
    pub(crate) fn lend_body(&mut self, body: &str) {
        if let Some(mark) = self.mark.as_mut().filter(|mark| *mark.body == *body) {
            mark.body = "".into();
        }
    }

    /// Undoes [`lend_body`](Self::lend_body).
    pub(crate) fn take_body(&mut self, body: &Arc<str>) {
        if let Some(mark) = self.mark.as_mut().filter(|mark| mark.body.is_empty()) {
            mark.body = body.clone();
        }
    }

    /// Checks an answer that was read, and rebuilds what follows from its text.
    pub(crate) fn rebuild(&mut self) -> Result<(), &'static str> {
        let fits = |at: usize| self.text.is_char_boundary(at);
        let shown = self.parts.iter().filter_map(|part| match part {
            HistoryPart::Shown(range) => Some(range),
            HistoryPart::Verbatim { shown, .. } => shown.as_ref(),
            HistoryPart::Held { .. } | HistoryPart::Gone => None,
        });
        let mut ranges = shown.clone().map(|range| (range.start, range.end));
        if !ranges.all(|(start, end)| start <= end && fits(start) && fits(end)) {
            return Err("a part stands outside of the text");
        }
        if !fits(self.base_len) || !fits(self.floor) {
            return Err("the kept text is longer than the text");
        }
        if self.mark.as_ref().is_some_and(|mark| mark.parts > self.parts.len()) {
            return Err("a checkpoint of the server lies behind the last part");
        }
        self.checkpoint = Checkpoint::continuing(&self.text[..self.floor]);
        self.checkpoint.push(&self.text[self.floor..]);
        Ok(())
    }

    /// What a screen has to be told to show this answer: the text, then thoughts, tools and parts.
    pub(crate) fn shown_again(&self, out: &mut Vec<EventKind>) {
        if !self.text.is_empty() {
            out.push(EventKind::Text { text: self.text.clone() });
        }
        let raws = self.parts.iter().filter_map(|part| match part {
            HistoryPart::Verbatim { raw, shown: None } => Some(raw.as_str()),
            _ => None,
        });
        shown_parts(raws, out);
        let open = self.calls.open_name().into_iter();
        let names = self.calls.whole().iter().map(|call| call.name.as_str()).chain(open);
        out.extend(names.map(|name| EventKind::ToolSeen { name: name.to_owned() }));
    }
}

/// Events that show the thoughts and the other parts among these, each a part as received.
pub(crate) fn shown_parts<'p>(raws: impl Iterator<Item = &'p str>, out: &mut Vec<EventKind>) {
    let mut thoughts = String::new();
    let mut others = Vec::new();
    for raw in raws {
        let Ok(part) = serde_json::from_str::<Part<'_>>(raw) else { continue };
        match part.kind {
            PartKind::Thought(text) => thoughts.push_str(&text),
            PartKind::ExecutableCode | PartKind::CodeResult | PartKind::Media | PartKind::Other => {
                others.push(EventKind::Part { part: Json::trusted(raw.to_owned()) });
            }
            PartKind::Text(_) | PartKind::Call(_) | PartKind::Bare | PartKind::Empty => {}
        }
    }
    if !thoughts.is_empty() {
        out.push(EventKind::Thought { text: thoughts });
    }
    out.append(&mut others);
}
