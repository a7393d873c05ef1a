//! Filler for words: the same word becomes the same filler all through one recording, under a key
//! that is thrown away.

use crate::text::is_known_word;
use std::hash::{BuildHasher, RandomState};

/// The key of one recording.
pub(super) struct Filler {
    key: RandomState,
}

/// How a word is to be treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// The model's words: those that the rules know by name stay.
    #[default]
    Text,
    /// The user's words, which no rule reads.
    Request,
    /// An error's message: what a turn reads in it stays.
    ErrorMessage,
}

impl Filler {
    pub(super) fn new() -> Self {
        Self { key: RandomState::new() }
    }

    /// A text that is not part of anything.
    pub(super) fn text(&self, text: &str) -> String {
        let chars: Vec<char> = text.chars().collect();
        let mut out = chars.clone();
        let mut at = 0;
        while at < chars.len() {
            let len = chars[at..].iter().take_while(|c| c.is_alphanumeric()).count();
            if len > 0 {
                let filled = self.word(&chars[at..at + len], Kind::Text);
                out[at..at + len].copy_from_slice(&filled);
            }
            at += len + 1;
        }
        out.into_iter().collect()
    }

    /// The filler for one word: as many characters, each as long in UTF-8 and in UTF-16.
    pub(super) fn word(&self, word: &[char], kind: Kind) -> Vec<char> {
        if stays(word, kind) {
            return word.to_vec();
        }
        let folded: String = word.iter().flat_map(|c| c.to_lowercase()).collect();
        // Once for the word: pictures are words of megabytes.
        let seed = self.key.hash_one(&folded);
        let of_place = |n: usize| self.key.hash_one((seed, n));
        word.iter().enumerate().map(|(n, c)| disguised(*c, of_place(n))).collect()
    }
}

fn stays(word: &[char], kind: Kind) -> bool {
    let digits = word.iter().take_while(|c| c.is_ascii_digit()).count();
    let rest: String = word[digits..].iter().collect();
    match kind {
        Kind::Request => false,
        // List numbers are read at a seam.
        Kind::Text => {
            let number = digits == word.len() && digits <= 2;
            number || is_known_word(&word.iter().collect::<String>())
        }
        // "Please retry in 34.4s", "limit: 0", "API_KEY_INVALID".
        Kind::ErrorMessage => {
            let time = digits > 0 && digits <= 6 && matches!(rest.as_str(), "" | "s" | "ms");
            let code = word.len() > 1 && word.iter().all(char::is_ascii_uppercase);
            time || code || matches!(rest.as_str(), "retry" | "in" | "limit")
        }
    }
}

/// Another character of the same kind and the same lengths.
fn disguised(c: char, hash: u64) -> char {
    let pick = |first: char, count: u32| {
        let step = u32::try_from(hash % u64::from(count)).unwrap_or(0);
        char::from_u32(u32::from(first) + step).unwrap_or(c)
    };
    match c {
        'a'..='z' => pick('a', 26),
        'A'..='Z' => pick('A', 26),
        // A number must not get or lose a leading zero.
        '0' => '0',
        '1'..='9' => pick('1', 9),
        '\u{4e00}'..='\u{9fbf}' => pick('\u{4e00}', 0x51c0),
        '\u{3041}'..='\u{3096}' => pick('\u{3041}', 0x56),
        '\u{30a1}'..='\u{30fa}' => pick('\u{30a1}', 0x5a),
        '\u{ac00}'..='\u{d7a3}' => pick('\u{ac00}', 11_172),
        _ => neighbour(c, hash),
    }
}

/// A letter of the same row of Unicode and of the same case.
fn neighbour(c: char, hash: u64) -> char {
    let same = |other: &char| {
        other.is_alphabetic() == c.is_alphabetic()
            && other.is_numeric() == c.is_numeric()
            && other.is_lowercase() == c.is_lowercase()
            && other.is_uppercase() == c.is_uppercase()
            && other.len_utf8() == c.len_utf8()
    };
    let row = u32::from(c) & !31;
    let start = u32::try_from(hash % 32).unwrap_or(0);
    (0..32).filter_map(|n| char::from_u32(row | ((start + n) % 32))).find(same).unwrap_or(c)
}
