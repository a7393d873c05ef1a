//! All words that the rules of this folder know by name: whoever disguises a text and wants the
//! same decisions for it leaves these as they are.

use super::{abbreviation, seam};
use std::collections::HashSet;
use std::sync::OnceLock;

/// True for a word (letters and digits only) that an abbreviation, a month, a preface or a web
/// address is recognised by. Case does not matter.
pub(crate) fn is_known_word(word: &str) -> bool {
    static WORDS: OnceLock<HashSet<String>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let phrases = abbreviation::words().chain(seam::phrases());
        let addresses = ["http", "https", "www", "com", "org", "net"];
        phrases
            .chain(addresses)
            .flat_map(|phrase| phrase.split(|c: char| !c.is_alphanumeric()))
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    });
    words.contains(&word.to_lowercase())
}
