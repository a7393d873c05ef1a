//! Why this file exists: white space at the seam comes out as the unbroken text would have had it.

use super::SeamContext;
use super::fold::wide;
use super::form::{Form, form_in, form_of, form_told_by, leading_number, speaker};
use super::known::indent;

/// Bytes of the committed text that are asked for its form: some pages.
const LATELY: usize = 8_000;

/// Where the shown part of the reply begins, and what is put before it.
///
/// `at` is the byte from which the reply is not dropped. White space that the reply has there
/// counts as it is,
/// but never doubles what the committed text ends with.
///
/// `None`: too little of the first line is there to tell its form.
pub(super) fn join(
    context: &SeamContext,
    text: &str,
    at: usize,
    ended: bool,
) -> Option<(usize, String)> {
    let body = text[at..].trim_start();
    let line = body.split('\n').next().unwrap_or_default();
    let told = form_told_by(lately(&context.committed));
    let head = line.char_indices().nth(told).map_or(line, |(end, _)| &line[..end]);
    if !ended && (body.is_empty() || head.len() == body.len() && body.chars().count() < told) {
        return None;
    }
    if body.is_empty() {
        return Some((if at == 0 { 0 } else { text.len() }, String::new()));
    }
    Some(white_space(context, text, at, head))
}

fn white_space(context: &SeamContext, text: &str, at: usize, head: &str) -> (usize, String) {
    let body = text[at..].trim_start();
    let start = text.len() - body.len();
    let blank = &text[at..start];
    let indent = blank.rfind('\n').map_or(blank.len(), |newline| blank.len() - newline - 1);
    let spot = Spot {
        context,
        committed: lately(&context.committed),
        body: head,
        indent,
        breaks: breaks(blank),
        have: breaks(trailing(&context.committed)),
    };
    let keeps_indent = context.open_fence.is_some() || spot.form() == Form::Item && indent > 1;
    let kept = if keeps_indent { start - indent } else { start };
    if context.committed.is_empty() {
        return (kept, String::new());
    }
    if spot.breaks > 0 {
        if spot.have == 0 {
            return (at, String::new());
        }
        return (kept, "\n".repeat(spot.breaks.saturating_sub(spot.have)));
    }
    if blank.is_empty() {
        return (start, spot.unspaced());
    }
    if context.open_fence.is_some() {
        return (kept, "\n".repeat(usize::from(spot.have == 0)));
    }
    if spot.starts_line() || spot.have > 0 {
        return (kept, "\n".repeat(spot.needed().saturating_sub(spot.have)));
    }
    if context.committed.ends_with(char::is_whitespace) {
        return (start, String::new());
    }
    // One space is right, the reply's own if it is one. White space of another kind (U+3000, U+2028)
    // is text, and so is what the dead attempt had here, too.
    let spaces = blank.chars().all(|c| matches!(c, ' ' | '\t' | '\r'));
    if blank == " " || !spaces || context.gap.as_deref() == Some(blank) {
        (at, String::new())
    } else {
        (start, " ".to_owned())
    }
}

struct Spot<'a> {
    context: &'a SeamContext,
    /// Its last lines.
    committed: &'a str,
    /// The beginning of the first line shown, without its indentation.
    body: &'a str,
    /// White space before it on its line.
    indent: usize,
    /// Line breaks of the reply before its body.
    breaks: usize,
    /// Line breaks the committed text ends with.
    have: usize,
}

impl Spot<'_> {
    fn form(&self) -> Form {
        form_in(self.committed, self.body)
    }

    fn starts_line(&self) -> bool {
        self.form() != Form::Prose
    }

    /// The white space before a reply that brought none.
    fn unspaced(&self) -> String {
        let gap = self.context.gap.as_deref().unwrap_or_default();
        let in_fence = self.context.open_fence.is_some();
        if in_fence {
            // A closing fence is not indented with the code before it.
            let code = if self.form() == Form::Fence { gap.trim_matches([' ', '\t']) } else { gap };
            let breaks = self.have > 0 || code.contains('\n');
            return if breaks { code.to_owned() } else { format!("\n{code}") };
        }
        let on_its_line = !self.starts_line() || self.have > 0 || gap.contains('\n');
        if !gap.is_empty() && on_its_line {
            return gap.to_owned();
        }
        let committed = self.committed;
        let needed = self.needed();
        if needed > 0 || committed.ends_with(char::is_whitespace) {
            return "\n".repeat(needed.saturating_sub(self.have));
        }
        if self.goes_without_space() { String::new() } else { " ".to_owned() }
    }

    fn goes_without_space(&self) -> bool {
        let marks = ['*', '_', '~', '`', '"', '\''];
        let last = self.committed.trim_end_matches(marks).chars().next_back();
        let next = self.body.trim_start_matches(marks).chars().next();
        last.is_some_and(unspaced_script)
            || next.is_some_and(unspaced_script)
            || self.body.chars().next().is_some_and(|c| {
                matches!(c, ',' | '.' | ';' | ':' | '!' | '?' | ')' | ']' | '”' | '’' | '…')
            })
    }

    /// Line breaks that the form asks for.
    fn needed(&self) -> usize {
        // Where the committed text ends its line, the dead attempt has shown what comes before the
        // next one.
        if let (Some(gap), 1..) = (&self.context.gap, self.have) {
            return self.have + breaks(gap);
        }
        let committed = self.committed;
        let last_line = committed.trim_end().lines().next_back().unwrap_or_default();
        let last = form_in(committed, last_line);
        match self.form() {
            Form::Prose
                if matches!(
                    last,
                    Form::Item | Form::Row | Form::Heading | Form::Fence | Form::Rule
                ) =>
            {
                2
            }
            Form::Prose if last == Form::Quote => 2,
            Form::Prose => 0,
            Form::Item if last == Form::Heading => 1,
            Form::Item => spacing(committed, |line| same_list(line, self.body, self.indent))
                .or_else(|| (last == Form::Item && self.indent > indent(last_line)).then_some(1))
                .or_else(|| spacing(committed, |line| form_of(line) == Form::Item))
                .unwrap_or(if last == Form::Item { 1 } else { 2 }),
            Form::Row if last == Form::Row => 1,
            Form::Quote if last == Form::Quote => 1,
            Form::Speaker => spacing(committed, |line| speaker(line).is_some()).unwrap_or(1),
            _ => 2,
        }
    }
}

/// Line breaks before the last of the lines that `is` picks, seen between two of them.
fn spacing(committed: &str, is: impl Fn(&str) -> bool) -> Option<usize> {
    let lines: Vec<&str> = committed.lines().collect();
    let last = lines.iter().rposition(|line| is(line))?;
    let earlier = lines[..last].iter().any(|line| is(line));
    let before = lines[..last].last().is_some_and(|line| line.trim().is_empty());
    earlier.then_some(if before { 2 } else { 1 })
}

/// Items of one list: numbered alike, indented alike.
fn same_list(line: &str, other: &str, indented: usize) -> bool {
    let numbered = |line: &str| leading_number(line).is_some();
    form_of(line) == Form::Item && numbered(line) == numbered(other) && indent(line) == indented
}

/// The end of the committed text: what it was like far back says nothing about its white space now.
fn lately(committed: &str) -> &str {
    &committed[committed.floor_char_boundary(committed.len().saturating_sub(LATELY))..]
}

fn trailing(text: &str) -> &str {
    &text[text.trim_end().len()..]
}

fn breaks(blank: &str) -> usize {
    blank.matches('\n').count()
}

fn unspaced_script(c: char) -> bool {
    wide(c) || matches!(c as u32, 0x3000..=0x303F | 0xFF00..=0xFF65)
}
