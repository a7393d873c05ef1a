//! The seam: where the reply to a continuation meets the committed text.
//!
//! Models asked to go on often repeat the end of what is there, talk about the task first, or begin
//! anew.
//! So the start of a reply is held back until it is known which; then one [`SeamCut`] says what to
//! show.
//! What may live here: rules that read the reply and the committed text. What may not: time, I/O,
//! events.
//!
//! The one invariant: the cut depends on the characters of the reply, never on how they were
//! chunked.
//! It holds because the rules run once per character, in order.
//!
//! - `fold`: comparing without white space, case, quotes and marks
//! - `known`: the committed text, indexed
//! - `walk`, `follow`, `verdict`: how far the reply says what is known, and what follows from that
//! - `bounds`: whether a repetition ends where the committed text did
//! - `opening`, `preface`, `words`: what stands before the answer goes on
//! - `head`: a title or salutation begun again
//! - `form`, `lead`: white space

mod bounds;
mod fold;
mod follow;
mod form;
mod head;
mod known;
mod lead;
mod opening;
mod preface;
mod verdict;
mod walk;
mod words;

use super::Fence;
use fold::weight;
use follow::Follow;
use known::Known;
use opening::{Entry, Opening, opening};
use serde::{Deserialize, Serialize};
use verdict::Found;
use walk::{Walk, found};

/// What a seam knows before the reply begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeamContext {
    /// The text that is shown and stays.
    pub committed: String,
    /// White space that followed the committed text in the dead attempt; `None` where nothing
    /// followed it.
    pub gap: Option<String>,
    /// The number the next list item ought to have.
    pub next_number: Option<u64>,
    /// The code fence that the committed text leaves open.
    pub open_fence: Option<Fence>,
}

/// Every phrase that a preface is recognised by.
pub(super) fn phrases() -> impl Iterator<Item = &'static str> {
    words::all()
}

/// What a reply turned out to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeamKind {
    /// It goes on.
    Clean,
    /// It repeats the end of the committed text.
    Restatement,
    /// It talks about the task, or opens a fence that is open.
    Preface,
    /// Both, in this order.
    PrefaceAndRestatement,
    /// It begins the whole answer anew.
    Restart,
}

/// The decision: what to show is `lead + reply[trim..]`, after the committed text or, for a
/// restart, instead of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeamCut {
    /// What the reply began with.
    pub kind: SeamKind,
    /// Bytes of the reply dropped from its start.
    pub trim: usize,
    /// White space put between the committed text and the rest.
    pub lead: String,
}

/// A repetition after what may be a preface must be this long: then both are told with one look.
const AFTER_MAYBE: usize = 16;

/// Holds back the start of a reply until its cut is known.
#[derive(Debug, Clone)]
pub struct Seam {
    context: SeamContext,
    hold_chars: usize,
    known: Known,
    /// Signs and white space behind the last folded character of the committed text.
    signs: String,
    table_header: Option<String>,
    text: String,
    /// Characters of `text` that the rules have seen, in bytes.
    seen: usize,
    weight: usize,
    opening: Opening,
    from_start: Walk,
    /// One walk per entry of the opening.
    walks: Vec<Walk>,
    /// Decided; only the form of the first line shown is not known yet.
    decided: Option<(SeamKind, usize)>,
}

impl Seam {
    /// A seam behind the committed text. `hold_chars` bounds the text that matches nothing and is
    /// held all the same.
    #[must_use]
    pub fn new(context: SeamContext, hold_chars: usize) -> Self {
        let code = context.open_fence.is_some();
        let known = Known::new(&context.committed, code);
        let last = known.marks.last().map_or(0, |mark| mark.end);
        let signs = context.committed[last..].to_owned();
        let table_header = opening::open_header(&context.committed);
        Self {
            hold_chars,
            signs,
            table_header,
            text: String::new(),
            seen: 0,
            weight: 0,
            opening: Opening { unended: true, ..Opening::default() },
            from_start: Walk { at: 0, follow: Follow::new(0, code, 0) },
            walks: Vec::new(),
            decided: None,
            known,
            context,
        }
    }

    /// Takes more of the reply. `None`: all of it is still held. Not to be called once a cut was
    /// given.
    pub fn push(&mut self, chunk: &str) -> Option<SeamCut> {
        self.text.push_str(chunk);
        while let Some(c) = self.text[self.seen..].chars().next() {
            self.take(c);
            if self.decided.is_none() {
                self.decided = self.decide(false);
            }
            if let Some(cut) = self.cut(false) {
                return Some(cut);
            }
        }
        None
    }

    /// The time to hold text is over: decides with what is there.
    /// `None` where the reply still follows the committed text: then nothing is lost by holding on.
    pub fn time_up(&mut self) -> Option<SeamCut> {
        let follows =
            self.from_start.follow.follows() || self.walks.iter().any(|walk| walk.follow.follows());
        if follows { None } else { Some(self.finish()) }
    }

    /// The reply is over or broke off: decides with what is there.
    pub fn finish(&mut self) -> SeamCut {
        if self.decided.is_none() {
            self.read_opening(true);
            self.decided = self.decide(true);
        }
        self.cut(true).unwrap_or(SeamCut { kind: SeamKind::Clean, trim: 0, lead: String::new() })
    }

    fn take(&mut self, c: char) {
        let before = self.text[..self.seen].chars().next_back();
        self.seen += c.len_utf8();
        self.weight += weight(c);
        self.from_start.follow.push(c, &self.known);
        for walk in &mut self.walks {
            walk.follow.push(c, &self.known);
        }
        // A part of the opening ends where white space follows, or right behind a full-width sign
        // or a bracket.
        let may_end = c.is_whitespace()
            || before.is_some_and(|c| !c.is_ascii() || matches!(c, ')' | ']' | '.'));
        if self.opening.unended && may_end {
            self.read_opening(false);
        }
    }

    fn read_opening(&mut self, ended: bool) {
        let text = &self.text[..self.seen];
        self.opening =
            opening(text, ended, self.context.open_fence.as_ref(), self.table_header.as_deref());
        for entry in &self.opening.entries[self.walks.len().min(self.opening.entries.len())..] {
            let least = if entry.sure { 0 } else { AFTER_MAYBE };
            let mut follow = Follow::new(entry.at, self.known.code, least);
            for c in text[entry.at..].chars() {
                follow.push(c, &self.known);
            }
            self.walks.push(Walk { at: entry.at, follow });
        }
    }

    fn decide(&mut self, ended: bool) -> Option<(SeamKind, usize)> {
        let sure_index = self.opening.entries.iter().rposition(|entry| entry.sure);
        let sure = sure_index.map(|index| self.opening.entries[index]);
        let from_start = self.found_from_start(ended);
        let exact = self.from_start.follow.is_exact();
        let (mut open, near) = match (from_start, told(from_start, SeamKind::Restatement, 0)) {
            // What is sure to be talk is compared only from its end on, unless the answer itself
            // talks like that.
            _ if sure.is_some() && !exact => (false, None),
            (Found::Open, _) => (true, None),
            (_, Some(cut)) if exact => return Some(cut),
            // Nearly the same with the talk, perhaps word for word behind it: the walks are asked
            // first.
            (_, near) => (false, near),
        };
        for index in 0..self.walks.len() {
            if sure_index.is_some_and(|sure| index < sure) {
                continue;
            }
            let kind = self.kind_of(self.opening.entries.get(index).copied());
            let found = self.found_from(index, ended);
            if let Some(cut) = told(found, kind, self.walks[index].at) {
                return Some(cut);
            }
            open |= found == Found::Open;
        }
        if near.is_some() && (!open || ended) {
            return near;
        }
        let waits = self.opening.unended && self.opening.promising && self.weight < self.hold_chars;
        if !ended && (open || waits) {
            return None;
        }
        Some(match sure {
            Some(entry) if entry.header => (SeamKind::Restatement, entry.at),
            Some(entry) => (SeamKind::Preface, entry.at),
            None => (SeamKind::Clean, 0),
        })
    }

    fn found_from_start(&mut self, ended: bool) -> Found {
        let Self { from_start, text, seen, known, signs, context, hold_chars, .. } = self;
        found(from_start, &text[..*seen], known, signs, context, *hold_chars, ended)
    }

    fn found_from(&mut self, index: usize, ended: bool) -> Found {
        let Self { walks, text, seen, known, signs, context, hold_chars, .. } = self;
        found(&mut walks[index], &text[..*seen], known, signs, context, *hold_chars, ended)
    }

    fn kind_of(&self, entry: Option<Entry>) -> SeamKind {
        let only_header =
            self.opening.entries.len() == 1 && entry.is_some_and(|entry| entry.header);
        if only_header { SeamKind::Restatement } else { SeamKind::PrefaceAndRestatement }
    }

    /// The decided cut, once the form of the first line shown is known.
    fn cut(&self, ended: bool) -> Option<SeamCut> {
        let (kind, at) = self.decided?;
        let text = &self.text[..self.seen];
        if kind == SeamKind::Restart {
            let blank = text[at..].len() - text[at..].trim_start().len();
            return Some(SeamCut { kind, trim: at + blank, lead: String::new() });
        }
        let (trim, lead) = lead::join(&self.context, text, at, ended)?;
        Some(SeamCut { kind, trim, lead })
    }
}

fn told(found: Found, kind: SeamKind, at: usize) -> Option<(SeamKind, usize)> {
    match found {
        Found::Open | Found::Nothing => None,
        Found::Restated(end) => Some((kind, end)),
        Found::Restart => Some((SeamKind::Restart, at)),
    }
}
