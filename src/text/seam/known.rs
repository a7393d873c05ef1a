//! Why this file exists: the committed text, folded and indexed once, within fixed bounds.

use std::collections::HashMap;

use super::fold::{Mark, fold_all, weight, wide};

/// Folded characters kept of the end: restated blocks ran to 570 characters, seven times that is ample.
const TAIL: usize = 4_000;
/// Folded characters kept of the start: a restart shows within its first few sentences.
const HEAD: usize = 2_000;
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
    /// How far the last line is indented.
    pub(super) indent: usize,
    gram: usize,
    grams: HashMap<Vec<char>, Place>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    last: usize,
    count: usize,
}

impl Known {
    pub(super) fn new(committed: &str, code: bool) -> Self {
        let mut marks = fold_all(committed, code);
        if marks.len() > HEAD + TAIL {
            let tail = marks.split_off(marks.len() - TAIL);
            marks.truncate(HEAD);
            marks.push(Mark { c: HOLE, end: 0, unit: true, word: true });
            marks.extend(tail);
        }
        let wides = marks.iter().filter(|mark| wide(mark.c)).count();
        // Long enough not to be there by chance: two words of Latin, a phrase of Japanese.
        let gram = if wides * 2 > marks.len() { 8 } else { 12 };
        let mut grams: HashMap<Vec<char>, Place> = HashMap::new();
        for at in 0..(marks.len() + 1).saturating_sub(gram) {
            let key = marks[at..at + gram].iter().map(|mark| mark.c).collect();
            let place = grams.entry(key).or_insert(Place { last: at, count: 0 });
            place.last = at;
            place.count += 1;
        }
        let repeated_head = repeated_head(&marks);
        let indent = committed.trim_end().lines().next_back().map_or(0, indent);
        Self { marks, repeated_head, code, indent, gram, grams }
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

    /// Where the text has this phrase, if it has it exactly once: shared wording of a list is no evidence.
    pub(super) fn only_place(&self, phrase: &[Mark]) -> Option<usize> {
        let key: Vec<char> = phrase.iter().map(|mark| mark.c).collect();
        self.grams.get(&key).filter(|place| place.count == 1).map(|place| place.last)
    }

    /// Whether the end of the text from `start` on is there a second time, as whole units: a refrain.
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
