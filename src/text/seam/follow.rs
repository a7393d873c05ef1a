//! Why this file exists: one walk along the reply that tells how far it says what the committed text already says.

use super::bounds::repeated_end;
use super::fold::{Folder, Mark, distinct_weight, weight, weight_of};
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

/// A repeated whole sentence or line counts from 9 folded characters ("Two is more.").
const WHOLE: usize = 9;
/// From the middle of a sentence on, 16 were never there by chance; from the middle of a word, a little more.
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
/// A near restart: this much matched, at this share of the way, and begun this close to the beginning.
const NEAR_HEAD: usize = 48;
const NEAR_START: usize = 48;

/// A stretch of the reply that is a stretch of the committed text.
#[derive(Debug, Clone, Copy)]
struct Block {
    from: usize,
    place: usize,
    len: usize,
}

/// A walk from one place of the reply on.
#[derive(Debug, Clone)]
pub(super) struct Follow {
    /// Byte of the reply it begins at.
    start: usize,
    folder: Folder,
    marks: Vec<Mark>,
    /// Where in the committed text all of the reply so far may stand.
    alive: Vec<usize>,
    /// Lengths at which the reply had come to the end of the committed text.
    complete: Vec<usize>,
    head: usize,
    blocks: Vec<Block>,
    block_open: bool,
    unmatched: usize,
    unmatched_in_all: usize,
    /// No repetition below this weight counts here.
    least: usize,
    /// The exact match is over and came to nothing.
    inexact: bool,
}

impl Follow {
    pub(super) fn new(start: usize, code: bool, least: usize) -> Self {
        Self {
            least,
            inexact: false,
            start,
            folder: Folder::new(code, start),
            marks: Vec::new(),
            alive: Vec::new(),
            complete: Vec::new(),
            head: 0,
            blocks: Vec::new(),
            block_open: false,
            unmatched: 0,
            unmatched_in_all: 0,
        }
    }

    /// Takes the next raw character.
    pub(super) fn push(&mut self, c: char, known: &Known) {
        let Some(mark) = self.folder.push(c) else { return };
        let k = self.marks.len();
        self.marks.push(mark);
        if k == self.head && known.at(k) == Some(mark.c) {
            self.head += 1;
        }
        if k == 0 {
            self.alive = (0..known.len()).filter(|&at| known.at(at) == Some(mark.c)).collect();
            if self.alive.is_empty() {
                self.count_unmatched(0);
            }
        } else if self.alive.is_empty() {
            self.resync(k, mark, known);
        } else {
            let first = self.alive.first().copied().filter(|_| self.alive.len() == 1);
            self.alive.retain(|&at| known.at(at + k) == Some(mark.c));
            if self.alive.is_empty() {
                self.lost(k, first, known);
            }
        }
        if self.alive.iter().any(|&at| at + k + 1 == known.len()) {
            self.complete.push(k + 1);
        }
    }

    /// Whether the reply still says what the committed text says: then holding on costs nothing.
    pub(super) fn follows(&self) -> bool {
        self.block_open || (!self.alive.is_empty() && weight_of(&self.marks) >= WHOLE)
    }

    /// Whether a word-for-word match may still be, or was, what it found.
    pub(super) fn is_exact(&self) -> bool {
        !self.inexact
    }

    fn lost(&mut self, k: usize, first: Option<usize>, known: &Known) {
        if let Some(place) = first.filter(|_| k * 2 >= known.gram()) {
            self.blocks.push(Block { from: 0, place, len: k });
            self.count_unmatched(k);
        } else {
            self.count_unmatched(0);
        }
    }

    fn count_unmatched(&mut self, from: usize) {
        let more = weight_of(&self.marks[from..]);
        self.unmatched += more;
        self.unmatched_in_all += more;
    }

    /// Looks for a phrase that the committed text has as well, and follows it from there.
    fn resync(&mut self, k: usize, mark: Mark, known: &Known) {
        let last = self.blocks.last_mut();
        if self.block_open {
            if let Some(block) = last {
                if known.at(block.place + block.len) == Some(mark.c) {
                    block.len += 1;
                    return;
                }
            }
            self.block_open = false;
            self.count_unmatched(k);
            return;
        }
        self.count_unmatched(k);
        let behind = last_end(&self.blocks);
        let gram = known.gram();
        if k + 1 < behind + gram {
            return;
        }
        let from = k + 1 - gram;
        if let Some(place) = known.only_place(&self.marks[from..]) {
            // The first words may have been those of another sentence.
            if self.blocks.first().is_some_and(|first| first.len < gram && first.place > place) {
                self.blocks.remove(0);
            }
            self.blocks.push(Block { from, place, len: gram });
            self.block_open = true;
            self.unmatched = 0;
            self.unmatched_in_all =
                self.unmatched_in_all.saturating_sub(weight_of(&self.marks[from..]));
        }
    }

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
        if self.near_head(known) { Found::Restart } else { Found::Nothing }
    }

    fn settled(&self, hold: usize) -> bool {
        !self.block_open && (self.unmatched >= SETTLED.min(hold) || self.unmatched_in_all >= hold)
    }

    fn exact(&self, text: &str, known: &Known, signs: &str) -> Option<Found> {
        let restated =
            self.complete.iter().rev().find_map(|&length| {
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

    /// One line of code counts as the same only at the same depth: `return None` stands twice in good code.
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
        if !at_end && !(ended && self.block_open) {
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
        let rising = self.blocks.windows(2).all(|two| two[0].place < two[1].place);
        if !rising || !at_end && self.starts_at_head() {
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
    fn near_head(&self, known: &Known) -> bool {
        let Some(last) = self.blocks.last() else { return false };
        let way = weight_of(&self.marks[..last.from + last.len]);
        let matched = self.matched();
        let span = last.place + last.len;
        self.starts_at_head()
            && matched >= NEAR_HEAD.max(known.repeated_head.min(NEAR_HEAD))
            && matched * 4 >= way * 3
            && span <= way * 3
            && last.place + last.len < known.len()
    }

    /// So much of the beginning that it need not go its own way first: later on it may pick from all over the text.
    fn plainly_anew(&self, known: &Known) -> bool {
        !self.block_open
            && self.near_head(known)
            && self.matched() >= 2 * NEAR_HEAD
            && last_end(&self.blocks) + 1 == self.marks.len()
            && self.blocks.last().is_some_and(|last| (last.place + last.len) * 2 < known.len())
    }

    fn starts_at_head(&self) -> bool {
        self.blocks
            .first()
            .is_some_and(|first| first.from <= NEAR_START && first.place <= NEAR_START)
    }

    fn matched(&self) -> usize {
        self.blocks
            .iter()
            .flat_map(|block| &self.marks[block.from..block.from + block.len])
            .map(|mark| weight(mark.c))
            .sum()
    }
}

fn last_end(blocks: &[Block]) -> usize {
    blocks.last().map_or(0, |block| block.from + block.len)
}
