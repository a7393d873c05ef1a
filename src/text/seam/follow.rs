//! Why this file exists: one walk along the reply that tells how far it says what the committed
//! text already says.

use super::fold::{Folder, Mark, weight_of};
use super::known::Known;
use super::verdict::WHOLE;

/// A stretch of the reply that is a stretch of the committed text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) from: usize,
    pub(super) place: usize,
    pub(super) len: usize,
}

/// A walk from one place of the reply on.
#[derive(Debug, Clone)]
pub(super) struct Follow {
    /// Byte of the reply it begins at.
    pub(super) start: usize,
    folder: Folder,
    pub(super) marks: Vec<Mark>,
    /// Where in the committed text all of the reply so far may stand.
    pub(super) alive: Vec<usize>,
    /// Lengths at which the reply had come to the end of the committed text.
    pub(super) complete: Vec<usize>,
    pub(super) head: usize,
    pub(super) blocks: Vec<Block>,
    pub(super) block_open: bool,
    pub(super) unmatched: usize,
    pub(super) unmatched_in_all: usize,
    /// No repetition below this weight counts here.
    pub(super) least: usize,
    /// The exact match is over and came to nothing.
    pub(super) inexact: bool,
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
        let Some(mark) = self.folder.push(c) else {
            return;
        };
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
        if self.block_open {
            let last = self.blocks.last_mut();
            if let Some(block) = last
                && known.at(block.place + block.len) == Some(mark.c)
            {
                block.len += 1;
                return;
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
}

pub(super) fn last_end(blocks: &[Block]) -> usize {
    blocks.last().map_or(0, |block| block.from + block.len)
}
