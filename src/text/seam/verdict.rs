//! Why this file exists: it turns a walk along the reply into a finding, by thresholds that are
//! named here.

use super::bounds::repeated_end;
use super::fold::{distinct_weight, weight_of};
use super::follow::{Follow, last_end};
use super::form::{Form, form_of};
use super::known::{Known, indent};

/// What a walk has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Not known yet.
    Open,
    /// Nothing of the committed text.
    Nothing,
    /// The end of the committed text, up to this byte of the reply.
    Restated(usize),
    /// The beginning of the committed text, and then on its own way.
    Restart,
}

/// A text that repeats itself over and over has many ends that fit; the longest ones are enough to
/// look at.
const MOST_ENDS: usize = 32;
/// A repeated whole sentence or line counts from 9 folded characters ("Two is more.").
pub(super) const WHOLE: usize = 9;
/// From the middle of a sentence on, 16 were never there by chance; from the middle of a word, a
/// little more.
const PART: usize = 16;
const PART_OF_WORD: usize = 20;
/// A restart needs this much of the beginning: two sentences of an anaphora shared 29.
const RESTART: usize = 32;
/// and this much more of it than the text itself repeats further on.
const RESTART_BEYOND_REPEATS: usize = 12;
/// A single line below this that the committed text already has twice is a refrain.
const REFRAIN: usize = 48;
/// A reply that ended inside a repetition: as long as this, none of it is new.
const UNFINISHED: usize = 48;
/// This much without a match settles the matter (60 decided nearly all of 142 real replies).
const SETTLED: usize = 60;
/// A near restatement: this long, nearly all of it matched, two whole sentences word for word.
/// Less would eat list items that share their wording.
const NEAR_TAIL: usize = 100;
/// Where nothing but words left out tells it from the committed text, this much is enough.
const LESS: usize = 60;
/// A near restart: this much matched, at this share of the way, and begun this close to the
/// beginning.
const NEAR_HEAD: usize = 48;
const NEAR_START: usize = 48;

impl Follow {
    /// What is known now. `ended`: nothing will follow.
    pub(super) fn found(
        &mut self,
        text: &str,
        known: &Known,
        signs: &str,
        hold: usize,
        ended: bool,
    ) -> Found {
        if !ended && (self.marks.is_empty() || !self.alive.is_empty()) {
            return Found::Open;
        }
        if !self.inexact {
            if let Some(found) = self.exact(text, known, signs) {
                return found;
            }
            self.inexact = self.alive.is_empty();
        }
        if !self.alive.is_empty() && weight_of(&self.marks) >= UNFINISHED {
            return Found::Restated(text.len());
        }
        if self.least > 0 {
            // Behind what may be talk only a word-for-word match tells.
            return if ended || self.settled(hold) { Found::Nothing } else { Found::Open };
        }
        if let Some(found) = self.near_tail(text, known, signs, ended) {
            return found;
        }
        if self.plainly_anew(known) {
            return Found::Restart;
        }
        if !ended && !self.settled(hold) {
            return Found::Open;
        }
        if self.near_head(known, NEAR_HEAD) { Found::Restart } else { Found::Nothing }
    }

    fn settled(&self, hold: usize) -> bool {
        !self.block_open && (self.unmatched >= SETTLED.min(hold) || self.unmatched_in_all >= hold)
    }

    fn exact(&self, text: &str, known: &Known, signs: &str) -> Option<Found> {
        let restated =
            self.complete.iter().rev().take(MOST_ENDS).find_map(|&length| {
                self.restated(length, text, known, signs).map(|end| (length, end))
            });
        let head: usize = weight_of(&self.marks[..self.head]);
        let begun = head >= RESTART && head >= known.repeated_head + RESTART_BEYOND_REPEATS;
        match restated {
            // The end of the text may begin like its beginning: the longer one is meant.
            Some((length, end)) if !begun || self.head < length + PART => {
                Some(Found::Restated(end))
            }
            _ if begun => Some(Found::Restart),
            _ => None,
        }
    }

    fn restated(&self, length: usize, text: &str, known: &Known, signs: &str) -> Option<usize> {
        let start = known.len() - length;
        let said = &known.marks[start..];
        let first = said.first()?;
        let weight = distinct_weight(said);
        let needed = match (first.unit, first.word) {
            (true, _) if known.code && !self.is_same_line(start, text, known) => PART,
            (true, _) => WHOLE,
            (_, true) => PART,
            _ => PART_OF_WORD,
        };
        if weight < needed.max(self.least) || (weight < REFRAIN && known.is_refrain(start)) {
            return None;
        }
        repeated_end(text, self.marks[length - 1].end, signs, known.code, weight)
    }

    /// One line of code counts as the same only at the same depth: `return None` stands twice in
    /// good code.
    fn is_same_line(&self, start: usize, text: &str, known: &Known) -> bool {
        let before = text[self.start..].trim_start();
        let blank = &text[self.start..text.len() - before.len()];
        let line = blank.rsplit('\n').next().unwrap_or_default();
        known.whole_units(start, known.len()) > 1 || indent(line) == known.indent
    }

    /// The end of the committed text again, with a word changed on the way.
    fn near_tail(&self, text: &str, known: &Known, signs: &str, ended: bool) -> Option<Found> {
        let last = self.blocks.last()?;
        let length = last.from + last.len;
        let at_end = last.place + last.len == known.len();
        if !(at_end || ended && self.block_open) {
            return None;
        }
        let matched: usize = self.matched();
        let way = weight_of(&self.marks[..length]);
        let units: usize =
            self.blocks.iter().map(|b| known.whole_units(b.place, b.place + b.len)).sum();
        // Words left out, none put in: such a reply says nothing new, a parallel sentence does.
        let only_less = way >= LESS && matched * 100 >= way * 97;
        let nearly = way >= NEAR_TAIL && matched * 20 >= way * 17 && units >= 2;
        if !only_less && !nearly {
            return None;
        }
        // Items of a list share their wording down to one word: a last item that was not said yet
        // would be lost whole.
        let item = || {
            let line = text[self.start..].trim_start().lines().next().unwrap_or_default();
            form_of(line) == Form::Item
        };
        if !at_end && item() {
            return None;
        }
        let rising = self.blocks.windows(2).all(|two| two[0].place < two[1].place);
        if !rising || !at_end && self.starts_at_head(known) {
            return None;
        }
        if at_end {
            if self.block_open && !ended {
                return None;
            }
            return repeated_end(text, self.marks[length - 1].end, signs, known.code, way)
                .map(Found::Restated);
        }
        // The reply ended on the way there: nothing of it is new.
        Some(Found::Restated(text.len()))
    }

    /// The beginning of the committed text again, in other words here and there.
    ///
    /// Judged by the stretches up to any of them: further on, a new text may borrow from
    /// everywhere.
    fn near_head(&self, known: &Known, enough: usize) -> bool {
        if !self.starts_at_head(known) {
            return false;
        }
        let mut matched = 0;
        self.blocks.iter().any(|block| {
            let end = block.from + block.len;
            let span = block.place + block.len;
            matched += weight_of(&self.marks[block.from..end]);
            let way = weight_of(&self.marks[..end]);
            matched >= enough && matched * 4 >= way * 3 && span <= way * 3 && span < known.len()
        })
    }

    /// So much of the beginning that it need not go its own way first: later on it may pick from
    /// all over the text.
    fn plainly_anew(&self, known: &Known) -> bool {
        !self.block_open
            && self.near_head(known, 2 * NEAR_HEAD)
            && last_end(&self.blocks) + 1 == self.marks.len()
            && self.blocks.last().is_some_and(|last| (last.place + last.len) * 2 < known.len())
    }

    fn starts_at_head(&self, known: &Known) -> bool {
        self.blocks.first().is_some_and(|first| {
            // Items of a list are alike: only one with the first one's own beginning is the first
            // again.
            let reach = if known.listed { 0 } else { NEAR_START };
            first.from <= reach && first.place <= reach
        })
    }

    fn matched(&self) -> usize {
        let blocks = self.blocks.iter();
        blocks.map(|block| weight_of(&self.marks[block.from..block.from + block.len])).sum()
    }
}
