//! Why this file exists: what a line *is* decides what white space stands before it.

/// The longest name of a speaker, in characters.
const NAME: usize = 30;

/// The form of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Prose,
    Item,
    Heading,
    Row,
    Fence,
    Quote,
    Rule,
    Speaker,
}

/// The form of a line by itself: a speaker is told by [`form_in`].
pub(super) fn form_of(line: &str) -> Form {
    let line = line.trim();
    let hashes = line.len() - line.trim_start_matches('#').len();
    if (1..=6).contains(&hashes) && line[hashes..].starts_with([' ', '\t']) {
        Form::Heading
    } else if line.starts_with("```") || line.starts_with("~~~") {
        Form::Fence
    } else if line.starts_with('|') {
        Form::Row
    } else if line.starts_with('>') {
        Form::Quote
    } else if is_rule(line) {
        Form::Rule
    } else if is_item(line) {
        Form::Item
    } else {
        Form::Prose
    }
}

/// The form of a line that is to follow `before`.
pub(super) fn form_in(before: &str, line: &str) -> Form {
    let form = form_of(line);
    let speaks = form == Form::Prose
        && speaker(line).is_some()
        && before.lines().filter_map(speaker).count() >= 2;
    if speaks { Form::Speaker } else { form }
}

/// How many characters of a line tell its form: `**123. ` and `###### ` have seven; a speaker's
/// name needs more.
pub(super) fn form_told_by(before: &str) -> usize {
    if before.lines().filter_map(speaker).count() >= 2 { NAME + 2 } else { 8 }
}

/// The number a list line begins with, and whether that is certain: a number at the very end may go
/// on.
pub(super) fn leading_number(text: &str) -> Option<(u64, bool)> {
    let text = text.trim_start().trim_start_matches(['#', '*', '_', ' ']);
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = text[..digits].parse().ok()?;
    match text[digits..].chars().next() {
        None => Some((number, false)),
        Some('.' | ')' | '）' | '、' | '．' | ':') => Some((number, true)),
        Some(_) => None,
    }
}

pub(super) fn is_row_rule(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|')
        && line.contains('-')
        && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

fn is_rule(line: &str) -> bool {
    let Some(mark) = line.chars().next().filter(|c| matches!(c, '-' | '*' | '_')) else {
        return false;
    };
    line.chars().filter(|&c| c == mark).count() >= 3 && line.chars().all(|c| c == mark || c == ' ')
}

fn is_item(line: &str) -> bool {
    let bullet = line.strip_prefix(['-', '*', '+', '•']).is_some_and(|rest| rest.starts_with(' '));
    let bare = line.trim_start_matches(['*', '_']);
    let digits = bare.len() - bare.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let behind = &bare[digits..];
    // Four digits are a year.
    let numbered = (1..=3).contains(&digits)
        && match behind.chars().next() {
            Some('.' | ')') => behind[1..].is_empty() || behind[1..].starts_with([' ', '*']),
            Some('、' | '．' | '）') => true,
            _ => false,
        };
    bullet || numbered
}

/// `Anna:` at the start of a line, also in bold.
pub(super) fn speaker(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(['*', '_', ' ']);
    let colon = line.find([':', '：'])?;
    let name = line[..colon].trim_end_matches(['*', '_', ' ']);
    let short = name.chars().count() <= NAME && name.split_whitespace().count() <= 4;
    let named = name.chars().next().is_some_and(|c| c.is_alphabetic() && !c.is_lowercase());
    (short && named).then_some(name)
}
