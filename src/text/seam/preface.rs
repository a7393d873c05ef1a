//! Why this file exists: it tells an assistant talking about the task from an answer that goes on.

use super::words::{
    EXCUSES, GOINGS_ON, INTERRUPTIONS, LABELS, NODS, POINTERS, RESTS, SERVILE, TALK, TEXTS,
};

/// How surely a sentence or line at the start of a reply is not part of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Preface {
    /// Part of the answer.
    No,
    /// Not yet told: the sentence or line has not ended.
    Unended {
        /// It begins like a preface: worth waiting for its end.
        promising: bool,
    },
    /// A preface only if a repetition follows it. Ends at this byte.
    Weak(usize),
    /// A preface whatever follows. Ends at this byte.
    Sure(usize),
}

/// Real ones had up to 78 characters; a longer first sentence says something.
const LONGEST: usize = 200;
/// One that shares its line with the answer is shorter: "To continue:", "Sure, here is the rest of
/// the text:".
const LONGEST_INLINE: usize = 90;
/// `Sure` alone in a code block is a name.
const FEWEST_WORDS_IN_CODE: usize = 3;
/// "I'll continue the story." stands alone on its line in few words.
const SHORT_LINE_WORDS: usize = 6;

/// Reads the first sentence or line of `text`, which begins with no whitespace.
///
/// `code`: the committed text stops inside a code block, where a short line is code ("continue",
/// "suite:").
pub(super) fn preface(text: &str, ended: bool, code: bool) -> Preface {
    if let Some(label) = label(text, code) {
        return label;
    }
    let Some(sentence) = Sentence::first(text, ended) else {
        if text.chars().count() > LONGEST {
            return Preface::No;
        }
        return Preface::Unended { promising: is_promising(text) };
    };
    let said = plain(&text[..sentence.end]);
    if said.chars().count() > LONGEST {
        return Preface::No;
    }
    let (nods, rest) = without_nods(&said);
    let behind = sentence.end;
    if code && said.is_ascii() && said.split_whitespace().count() < FEWEST_WORDS_IN_CODE {
        return Preface::No;
    }
    if rest.is_empty() {
        // "Yes." on a line of its own may be the answer's, "Certainly!" is not.
        return match nods {
            true if sentence.line && begins(&said, SERVILE) => Preface::Sure(behind),
            true => Preface::Weak(behind),
            false => Preface::No,
        };
    }
    match announces(rest, nods, &sentence) {
        Strength::Sure => Preface::Sure(behind),
        Strength::Weak => Preface::Weak(behind),
        Strength::None => Preface::No,
    }
}

enum Strength {
    None,
    Weak,
    Sure,
}

fn announces(said: &str, nods: bool, sentence: &Sentence) -> Strength {
    let points = begins(said, POINTERS);
    let goes_on = begins(said, GOINGS_ON);
    let of_the_rest = has(said, RESTS);
    let talks = has(said, TALK);
    let excuse = begins(said, EXCUSES) || nods && has(said, EXCUSES);
    let short = sentence.line || said.chars().count() <= LONGEST_INLINE;
    let sure = match sentence.close {
        Close::Colon => {
            short
                && (goes_on && is_about_going_on(said)
                    || points && of_the_rest
                    || nods && (talks || of_the_rest && has(said, TEXTS)))
                || nods && points && sentence.line
        }
        Close::Stop | Close::Dots | Close::None => {
            let few_words = said.split_whitespace().count() <= SHORT_LINE_WORDS;
            let trails_off = matches!(sentence.close, Close::Dots);
            talks && (points || goes_on || excuse || nods)
                || nods && (points || goes_on) && of_the_rest && (sentence.line || has(said, TEXTS))
                || excuse && has(said, INTERRUPTIONS) && few_words
                || goes_on && (trails_off || sentence.line) && few_words && is_about_going_on(said)
        }
    };
    if sure {
        Strength::Sure
    } else if excuse || matches!(sentence.close, Close::Colon) && sentence.line {
        Strength::Weak
    } else {
        Strength::None
    }
}

/// "Continuing north, the road ..." goes on with the answer; "Continuing from where ..." talks
/// about it.
fn is_about_going_on(said: &str) -> bool {
    const ENGLISH: [&str; 6] =
        ["continuing", "continued", "to continue", "resuming", "going on", "carrying on"];
    const LINKS: [&str; 7] =
        ["from", "where", "directly", "seamlessly", "right", "immediately", "without"];
    let Some(opener) = ENGLISH.iter().find(|opener| said.starts_with(**opener)) else {
        return true;
    };
    let after = said[opener.len()..].trim_matches(|c: char| !c.is_alphanumeric());
    after.is_empty() || LINKS.iter().any(|link| starts_with_word(after, link)) || has(after, TEXTS)
}

/// A heading, a line in bold or in brackets that says "continued" and nothing else, or a heading
/// that ends with it.
fn label(text: &str, code: bool) -> Option<Preface> {
    let first = text.chars().next()?;
    if let Some(close) = match first {
        '(' => Some(')'),
        '[' => Some(']'),
        '（' => Some('）'),
        '【' => Some('】'),
        _ => None,
    } {
        let end = text.find(close)? + close.len_utf8();
        return is_label(&text[..end]).then_some(Preface::Sure(end));
    }
    if code {
        return None;
    }
    if !matches!(first, '#' | '*' | '_' | '-' | '—' | '–') && !begins(&plain(text), LABELS) {
        return None;
    }
    let end = text.find('\n')?;
    let line = &text[..end];
    let continued_heading = first == '#'
        && line
            .trim_end()
            .strip_suffix(')')
            .and_then(|line| line.rsplit_once('('))
            .is_some_and(|(_, note)| is_label(note));
    (is_label(line) || continued_heading).then_some(Preface::Sure(end))
}

fn is_label(line: &str) -> bool {
    let bare = plain(line);
    let bare = bare.trim_matches(|c: char| !c.is_alphanumeric() && c != '.');
    let bare = bare.trim_end_matches('.');
    LABELS.contains(&bare)
        || line.contains(['.', '…'])
            && line.chars().all(|c| matches!(c, '[' | ']' | '(' | ')' | '.' | '…' | ' '))
        || bare.split_whitespace().count() <= 5 && begins(bare, GOINGS_ON) && has(bare, TALK)
}

/// Whether an unended first sentence may become a preface.
fn is_promising(text: &str) -> bool {
    let said = plain(text);
    let (nods, rest) = without_nods(&said);
    nods || [POINTERS, GOINGS_ON, EXCUSES].iter().any(|list| begins(rest, list))
}

/// Lower case, straight apostrophes, no Markdown marks around it.
fn plain(text: &str) -> String {
    let text = text.trim().trim_start_matches(['#', '*', '_', '>', '-', '—', '–', ' ', '¡', '¿']);
    let text = text.trim_end_matches(['*', '_', ' ']);
    text.chars().flat_map(char::to_lowercase).map(|c| if c == '’' { '\'' } else { c }).collect()
}

fn without_nods(said: &str) -> (bool, &str) {
    let mut rest = said;
    let mut found = false;
    while let Some(nod) =
        NODS.iter().filter(|nod| starts_with_word(rest, nod)).max_by_key(|nod| nod.len())
    {
        let behind = &rest[nod.len()..];
        // "Sure enough, ..." and "Right after ..." nod at nobody; "Okay here is the rest" does.
        let spoken_on = behind.starts_with(' ')
            && (begins(&behind[1..], POINTERS) || begins(&behind[1..], GOINGS_ON));
        // French spaces its "!", and a dash has a space on both sides.
        let signed = behind.trim_start().starts_with(['!', ':', '—', '–', '-']);
        if behind.starts_with(|c: char| c.is_whitespace() || c.is_alphanumeric())
            && !spoken_on
            && !signed
        {
            break;
        }
        found = true;
        rest = behind.trim_start_matches(|c: char| !c.is_alphanumeric());
    }
    (found, rest)
}

fn begins(said: &str, list: &[&str]) -> bool {
    list.iter().any(|start| starts_with_word(said, start))
}

/// In scripts without spaces between words, and for stems, a beginning is enough.
fn starts_with_word(said: &str, start: &str) -> bool {
    said.strip_prefix(start)
        .is_some_and(|rest| !start.is_ascii() || !rest.starts_with(char::is_alphanumeric))
}

fn has(said: &str, list: &[&str]) -> bool {
    list.iter().any(|part| said.contains(part))
}

enum Close {
    Colon,
    Stop,
    Dots,
    None,
}

struct Sentence {
    end: usize,
    close: Close,
    /// The line ends with it.
    line: bool,
}

impl Sentence {
    /// The first sentence of the text, or its first line if that ends before.
    fn first(text: &str, ended: bool) -> Option<Self> {
        let mut before = ' ';
        for (at, c) in text.char_indices() {
            let end = at + c.len_utf8();
            let behind = text[end..].trim_start_matches(['*', '_', ')', '"', '”']);
            let marks = text.len() - end - behind.len();
            let next = behind.chars().next();
            let close = match c {
                '\n' => {
                    return Some(Self { end: at, close: Close::None, line: true });
                }
                ':' | '：' => Close::Colon,
                '…' => Close::Dots,
                '.' if before == '.' => Close::Dots,
                '.' | '!' | '?' | '。' | '！' | '？' => Close::Stop,
                _ => {
                    before = c;
                    continue;
                }
            };
            let after_digit = c == '.' && before.is_numeric();
            before = c;
            let spaced = next.is_some_and(char::is_whitespace)
                || !c.is_ascii() && next.is_some()
                || next.is_none() && ended;
            if !spaced || after_digit {
                continue;
            }
            let line = behind.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
            return Some(Self { end: end + marks, close, line });
        }
        ended.then_some(Self { end: text.len(), close: Close::None, line: true })
    }
}
