//! Why this file exists: a repeated text counts only where it also *ends* as the committed text
//! ended.
//!
//! "We fail often enough to forget" begins with the whole of "We fail often." and is no
//! restatement.

use super::fold::is_quote;

/// From this weight on no sentence begins like another by chance, so its end may differ.
/// (Twice the 29 letters that two sentences of an anaphora shared.)
const LONG: usize = 60;
/// Up to this weight a sentence may be quoted again inside the next one: `"Who goes there?" he said
/// again.`
const QUOTABLE: usize = 40;

/// Where the repeated part ends in the reply, if it ends there as the committed text did.
///
/// `from` is the byte behind its last folded character, `signs` what stands behind the last folded
/// character of the
/// committed text, `weight` how much was repeated.
pub(super) fn repeated_end(
    text: &str,
    from: usize,
    signs: &str,
    code: bool,
    weight: usize,
) -> Option<usize> {
    let (end, closed) = absorb(text, from, signs);
    let rest = &text[end..];
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let behind = &rest[blanks..];
    let line_ends = behind.is_empty() || behind.starts_with(['\n', '\r']);
    if line_ends {
        return Some(absorb_lines(text, end, signs));
    }
    if code || signs.is_empty() {
        let goes_on = blanks == 0 && behind.starts_with(char::is_alphanumeric);
        return (!goes_on && !signs.contains('\n')).then_some(end);
    }
    if closed {
        let same_sentence = weight < QUOTABLE && behind.starts_with(char::is_lowercase);
        return (!same_sentence).then_some(end);
    }
    let word_ends = blanks > 0 || !behind.starts_with(char::is_alphanumeric);
    (weight >= LONG && word_ends).then_some(end)
}

/// Takes the signs that belong to the repeated text: terminators, closers, marks that close.
fn absorb(text: &str, from: usize, signs: &str) -> (usize, bool) {
    let mut end = from;
    let mut closed = false;
    loop {
        let rest = &text[end..];
        let Some(c) = rest.chars().next() else { break };
        let run = rest.len() - rest.trim_start_matches(c).len();
        let next = rest[run..].chars().next();
        let takes = match c {
            '.' | '!' | '?' | '…' | '。' | '！' | '？' | '．' => {
                closed = true;
                true
            }
            ')' | ']' | '}' | '）' | '】' | '”' | '’' | '»' | '」' | '』' => true,
            ':' | '：' | ';' | ',' | '，' | '、' | '；' if signs.contains(c) => {
                closed = true;
                true
            }
            '*' | '_' | '~' | '`' | '"' | '\'' => {
                closes(next) || (is_quote(c) && next.is_some_and(is_quote))
            }
            '>' | '/' | '-' | '\\' => signs.contains(c),
            ' ' | '|' if signs.contains('|') => rest.trim_start().starts_with('|'),
            // French puts a space before these.
            ' ' | '\u{a0}' | '\u{202f}' => {
                next.is_some_and(|next| matches!(next, '!' | '?' | ':' | '»'))
            }
            _ => false,
        };
        if !takes {
            break;
        }
        end += run;
    }
    (end, closed)
}

/// Takes the lines of signs alone that the committed text ends with: a closing fence, a rule.
fn absorb_lines(text: &str, mut end: usize, signs: &str) -> usize {
    for line in signs.lines().skip(1).map(str::trim).filter(|line| !line.is_empty()) {
        let start = text.len() - text[end..].trim_start().len();
        let theirs = text[start..].lines().next().unwrap_or_default();
        if theirs.trim() != line {
            break;
        }
        end = start + theirs.trim_end().len();
    }
    end
}

fn closes(next: Option<char>) -> bool {
    next.is_none_or(|c| {
        c.is_whitespace()
            || matches!(c, '.' | '!' | '?' | ',' | ';' | ':' | ')' | '。' | '！' | '？' | '，')
    })
}
