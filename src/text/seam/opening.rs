//! Why this file exists: it walks the parts a reply may open with before the answer goes on, and
//! tells where it does.

use super::fold::folded;
use super::form::{Form, form_of, is_row_rule};
use super::preface::{Preface, preface};
use crate::text::Fence;

/// A nod, an excuse, an announcement, a rule and a fence: no reply opened with more.
const MOST_PARTS: usize = 5;

/// A place where the answer may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// Byte of the reply.
    pub(super) at: usize,
    /// What stands before is dropped, whatever follows.
    pub(super) sure: bool,
    /// What stands before is a repeated table header, not a preface.
    pub(super) header: bool,
}

/// What is known of the opening.
#[derive(Debug, Clone, Default)]
pub(super) struct Opening {
    pub(super) entries: Vec<Entry>,
    /// The next part has not ended and may still be one.
    pub(super) unended: bool,
    /// It looks so much like one that it is worth waiting for its end.
    pub(super) promising: bool,
}

enum Part {
    No,
    Unended(bool),
    Maybe(usize),
    /// As sure as what stands before it: talk is set off by a rule, and so are chapters.
    Rule(usize),
    Sure(usize),
    Header(usize),
}

/// Reads the opening of a reply as far as it is there.
pub(super) fn opening(
    text: &str,
    ended: bool,
    fence: Option<&Fence>,
    header: Option<&str>,
) -> Opening {
    let mut found = Opening::default();
    let mut at = 0;
    for _ in 0..MOST_PARTS {
        let start = skip_blank(text, at);
        if start == text.len() {
            found.unended = !ended;
            found.promising = found.unended && !found.entries.is_empty();
            break;
        }
        let talked = !found.entries.is_empty();
        let (end, sure, is_header) = match part(&text[start..], ended, fence, header, talked) {
            Part::No => break,
            Part::Unended(promising) => {
                found.unended = !ended;
                found.promising = promising && found.unended;
                break;
            }
            Part::Rule(end) => (end, found.entries.last().is_some_and(|entry| entry.sure), false),
            Part::Maybe(end) => (end, false, false),
            Part::Sure(end) => (end, true, false),
            Part::Header(end) => (end, true, true),
        };
        at = start + end;
        let entry = Entry { at: behind_blank(text, at), sure, header: is_header };
        found.entries.push(entry);
        if is_header {
            break;
        }
    }
    found
}

fn part(
    text: &str,
    ended: bool,
    fence: Option<&Fence>,
    header: Option<&str>,
    talked: bool,
) -> Part {
    if let Some(marker) = text.chars().next().filter(|c| matches!(c, '`' | '~')) {
        return fence_part(text, marker, ended, fence, talked);
    }
    if text.starts_with('|') {
        return header.map_or(Part::No, |header| header_part(text, ended, header));
    }
    if let Some(dots) = dots(text) {
        return dots_part(text, dots, ended, fence.is_some());
    }
    if text.starts_with("---") || text.starts_with("***") || text.starts_with("___") {
        return match text.find('\n') {
            Some(end) if form_of(&text[..end]) == Form::Rule => Part::Rule(end),
            Some(_) => Part::No,
            None => Part::Unended(false),
        };
    }
    if fence.is_some() && text.starts_with('#') {
        // In code this is a comment.
        return Part::No;
    }
    match preface(text, ended, fence.is_some()) {
        Preface::No => Part::No,
        Preface::Unended { promising } => Part::Unended(promising),
        Preface::Weak(end) => Part::Maybe(end),
        Preface::Sure(end) => Part::Sure(end),
    }
}

/// In an open fence a bare fence closes it, one with a language opens it again; after talk any
/// fence opens it again.
fn fence_part(text: &str, marker: char, ended: bool, fence: Option<&Fence>, talked: bool) -> Part {
    let width = text.chars().take_while(|&c| c == marker).count();
    let Some(line_end) = text.find('\n') else {
        return if ended { Part::No } else { Part::Unended(true) };
    };
    let info = text[width..line_end].trim();
    if width < 3 || info.contains(marker) {
        return Part::No;
    }
    match fence {
        None => Part::Maybe(line_end),
        Some(_) if !info.is_empty() || talked => Part::Sure(line_end),
        Some(_) => Part::No,
    }
}

fn dots(text: &str) -> Option<usize> {
    let dots = text.len() - text.trim_start_matches(['.', '…']).len();
    (text.starts_with("...") || text.starts_with('…')).then_some(dots)
}

/// Dots mark the join. Before a small letter they may be the author's own.
fn dots_part(text: &str, dots: usize, ended: bool, code: bool) -> Part {
    let behind = text[dots..].trim_start_matches([' ', '\t']);
    match behind.chars().next() {
        _ if code => Part::No,
        None if ended => Part::No,
        None => Part::Unended(true),
        Some(c) if c.is_lowercase() || matches!(c, ')' | ']' | '"' | '”') => Part::Maybe(dots),
        Some(_) => Part::Sure(dots),
    }
}

fn header_part(text: &str, ended: bool, header: &str) -> Part {
    let mut lines = text.split_inclusive('\n');
    let (Some(first), second) = (lines.next(), lines.next()) else {
        return Part::No;
    };
    let whole = |line: &str| ended || line.ends_with('\n');
    if !whole(first) {
        return Part::Unended(header.starts_with(&folded(first)));
    }
    if folded(first) != header {
        return Part::No;
    }
    match second {
        Some(second) if whole(second) && is_row_rule(second) => {
            Part::Header(first.len() + second.trim_end().len())
        }
        Some(second) if whole(second) => Part::No,
        _ => Part::Unended(true),
    }
}

/// The header of the table that the committed text ends in, folded.
pub(super) fn open_header(committed: &str) -> Option<String> {
    let mut rows = committed
        .trim_end_matches('\n')
        .lines()
        .rev()
        .take_while(|line| line.trim_start().starts_with('|'));
    let mut behind = rows.next()?;
    let mut header = None;
    for row in rows {
        if is_row_rule(behind) {
            header = Some(folded(row));
        }
        behind = row;
    }
    header
}

fn skip_blank(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}

/// Behind the blank lines, before the indentation.
fn behind_blank(text: &str, at: usize) -> usize {
    let start = skip_blank(text, at);
    text[at..start].rfind('\n').map_or(start, |newline| at + newline + 1)
}
