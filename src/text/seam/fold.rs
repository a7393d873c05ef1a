//! Why this file exists: overlaps are judged on *folded* text, and folding is one pass that never
//! looks back.
//!
//! Folding drops whitespace, quotes and Markdown marks and lowers the case,
//! so that a restated line is found although its bold or its curly quotes are gone.
//! In an open code fence signs are content and stay.

use std::collections::BTreeSet;

/// One folded character and where it ended in the raw text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) c: char,
    /// Byte offset just behind the raw character.
    pub(super) end: usize,
    /// The first character of a sentence or line.
    pub(super) unit: bool,
    /// The first character of a word.
    pub(super) word: bool,
}

/// Folds a text character by character.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // Four facts about the last character, each by itself.
pub(super) struct Folder {
    code: bool,
    at: usize,
    in_word: bool,
    ended: bool,
    fresh: bool,
}

impl Folder {
    pub(super) fn new(code: bool, at: usize) -> Self {
        Self { code, at, in_word: false, ended: false, fresh: true }
    }

    /// Takes the next raw character; gives its mark unless folding drops it.
    pub(super) fn push(&mut self, c: char) -> Option<Mark> {
        self.at += c.len_utf8();
        let kept = fold(c, self.code);
        if kept.is_none() {
            match c {
                // A full-width terminator needs no space behind it.
                '\n' | '。' | '！' | '？' | '．' => self.fresh = true,
                '.' | '!' | '?' | '…' => self.ended = true,
                _ if c.is_whitespace() => self.fresh |= self.ended,
                // An apostrophe does not begin a new word.
                '\'' | '’' if self.in_word => return None,
                _ => {}
            }
            self.in_word = false;
        }
        let c = kept?;
        // A sign that is kept is a word by itself.
        let letter = c.is_alphanumeric() || c == '_';
        let word = !self.in_word || !letter || wide(c);
        let unit = self.fresh;
        self.in_word = letter;
        self.fresh = false;
        self.ended = false;
        Some(Mark { c, end: self.at, unit, word })
    }
}

/// Folds a whole text that begins at the byte `at`.
pub(super) fn fold_all(text: &str, at: usize, code: bool) -> Vec<Mark> {
    let mut folder = Folder::new(code, at);
    text.chars().filter_map(|c| folder.push(c)).collect()
}

/// The folded characters of a line, for comparing two lines.
pub(super) fn folded(text: &str) -> String {
    text.chars().filter_map(|c| fold(c, false)).collect()
}

fn fold(c: char, code: bool) -> Option<char> {
    let keep = if code {
        !c.is_whitespace() && !is_quote(c)
    } else {
        c.is_alphanumeric()
            || matches!(c, '+' | '=' | '/' | '%' | '&' | '@' | '<' | '^' | '$' | '€' | '£')
    };
    keep.then(|| c.to_lowercase().next().unwrap_or(c))
}

pub(super) fn is_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | '`'
            | '“'
            | '”'
            | '„'
            | '‟'
            | '‘'
            | '’'
            | '‚'
            | '«'
            | '»'
            | '‹'
            | '›'
            | '「'
            | '」'
            | '『'
            | '』'
            | '＂'
    )
}

/// A script that writes words without spaces between them.
pub(super) fn wide(c: char) -> bool {
    let kana_or_thai = matches!(c as u32, 0x0E00..=0x0E7F | 0x3040..=0x30FF | 0x31F0..=0x31FF);
    kana_or_thai || is_han(c)
}

fn is_han(c: char) -> bool {
    matches!(c as u32, 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF)
}

/// How much a character says, in Latin letters: a Han character or a Hangul syllable is worth two.
pub(super) fn weight(c: char) -> usize {
    let ideograph = is_han(c) || matches!(c as u32, 0xAC00..=0xD7AF);
    1 + usize::from(ideograph)
}

pub(super) fn weight_of(marks: &[Mark]) -> usize {
    marks.iter().map(|mark| weight(mark.c)).sum()
}

/// The weight of the *different* words: "boom, boom, boom" says no more than "boom".
pub(super) fn distinct_weight(marks: &[Mark]) -> usize {
    let mut words: BTreeSet<Vec<char>> = BTreeSet::new();
    let mut word = Vec::new();
    for mark in marks {
        if mark.word && !word.is_empty() {
            words.insert(std::mem::take(&mut word));
        }
        word.push(mark.c);
    }
    words.insert(word);
    words.iter().flatten().map(|&c| weight(c)).sum()
}
