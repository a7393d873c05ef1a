//! Why this file exists: the committed text, folded and indexed once, within fixed bounds.

use std::collections::HashMap;

use super::fold::{Mark, fold_all, weight, wide};
use super::form::{Form, form_of};

/// Folded characters kept of the end: restated blocks ran to 570 characters, seven times that is
/// ample.
const TAIL: usize = 4_000;
/// Folded characters kept of the start: a restart shows within its first few sentences.
const HEAD: usize = 2_000;
/// Raw bytes looked at for one folded character: three for a Han character, and some white space.
const RAW: usize = 4;
/// Stands between head and tail where the middle was left out; folding never yields it.
const HOLE: char = '\0';

/// The committed text as the reply is compared with.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// Head and tail, with a hole between where the text is longer.
    pub(super) marks: Vec<Mark>,
    /// The weight of the longest beginning that the text itself has again further on.
    pub(super) repeated_head: usize,
    pub(super) code: bool,
    /// It begins with a list item.
    pub(super) listed: bool,
    /// How far the last line is indented.
    pub(super) indent: usize,
    gram: usize,
    grams: HashMap<u64, Place>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    last: usize,
    count: usize,
}

impl Known {
    pub(super) fn new(committed: &str, code: bool) -> Self {
        let marks = fold_ends(committed, code);
        let wides = marks.iter().filter(|mark| wide(mark.c)).count();
        // Long enough not to be there by chance: two words of Latin, a phrase of Japanese.
        let gram = if wides * 2 > marks.len() { 8 } else { 12 };
        let mut grams: HashMap<u64, Place> = HashMap::new();
        for at in 0..(marks.len() + 1).saturating_sub(gram) {
            let key = hash(&marks[at..at + gram]);
            let place = grams.entry(key).or_insert(Place { last: at, count: 0 });
            place.last = at;
            place.count += 1;
        }
        let repeated_head = repeated_head(&marks);
        let listed =
            committed.trim_start().lines().next().is_some_and(|line| form_of(line) == Form::Item);
        let indent = committed.trim_end().lines().next_back().map_or(0, indent);
        Self { marks, repeated_head, code, listed, indent, gram, grams }
    }

    pub(super) fn len(&self) -> usize {
        self.marks.len()
    }

    pub(super) fn at(&self, place: usize) -> Option<char> {
        self.marks.get(place).map(|mark| mark.c)
    }

    /// How many characters a near match needs to begin.
    pub(super) fn gram(&self) -> usize {
        self.gram
    }

    /// Where the text has this phrase, if it has it exactly once: shared wording of a list is no
    /// evidence.
    pub(super) fn only_place(&self, phrase: &[Mark]) -> Option<usize> {
        let place = self.grams.get(&hash(phrase)).filter(|place| place.count == 1)?.last;
        let same = self.marks[place..].iter().zip(phrase).all(|(ours, theirs)| ours.c == theirs.c);
        same.then_some(place)
    }

    /// Whether the end of the text from `start` on is there a second time, as whole units: a
    /// refrain.
    pub(super) fn is_refrain(&self, start: usize) -> bool {
        let unit = &self.marks[start..];
        (0..start).any(|at| {
            self.marks[at].unit
                && self.marks.get(at + unit.len()).is_none_or(|next| next.unit)
                && self.marks[at..].iter().zip(unit).all(|(a, b)| a.c == b.c)
        })
    }

    /// Whole sentences or lines between two places.
    pub(super) fn whole_units(&self, from: usize, to: usize) -> usize {
        let starts = self.marks[from..to].iter().filter(|mark| mark.unit).count();
        let closed = self.marks.get(to).is_none_or(|mark| mark.unit);
        (starts + usize::from(closed)).saturating_sub(1)
    }
}

/// Folds the text, of a very long one its two ends.
fn fold_ends(committed: &str, code: bool) -> Vec<Mark> {
    let head = committed.floor_char_boundary(HEAD * RAW);
    let tail = committed.floor_char_boundary(committed.len().saturating_sub(TAIL * RAW));
    let hole = Mark { c: HOLE, end: head, unit: true, word: true };
    let (mut marks, mut last) = if head < tail {
        (fold_all(&committed[..head], 0, code), fold_all(&committed[tail..], tail, code))
    } else {
        let mut all = fold_all(committed, 0, code);
        if all.len() <= HEAD + TAIL {
            return all;
        }
        let last = all.split_off(all.len() - TAIL);
        (all, last)
    };
    marks.truncate(HEAD);
    marks.push(hole);
    marks.extend(last.drain(last.len().saturating_sub(TAIL)..));
    marks
}

/// FNV-1a over the characters: a hit is compared, so any good mixing will do.
fn hash(phrase: &[Mark]) -> u64 {
    phrase.iter().fold(0xcbf2_9ce4_8422_2325, |hash, mark| {
        (hash ^ u64::from(u32::from(mark.c))).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The white space a line begins with, in characters.
pub(super) fn indent(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).count()
}

/// The longest common beginning of the text and any later place in it (Z-function, linear).
fn repeated_head(marks: &[Mark]) -> usize {
    let mut z = vec![0_usize; marks.len()];
    let (mut left, mut right, mut longest) = (0, 0, 0);
    for at in 1..marks.len() {
        let mut length = if at < right { z[at - left].min(right - at) } else { 0 };
        while at + length < marks.len() && marks[length].c == marks[at + length].c {
            length += 1;
        }
        if at + length > right {
            (left, right) = (at, at + length);
        }
        z[at] = length;
        longest = longest.max(length);
    }
    marks[..longest].iter().map(|mark| weight(mark.c)).sum()
}
