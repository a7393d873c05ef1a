//! The blocks of a markdown text, line by line: lists and their numbers, fences, tables.

use super::boundary::is_wide;
use super::checkpoint::Fence;

/// Lists nested deeper than this are no lists.
const DEEPEST: usize = 16;
/// More digits are a year or a quantity, not the number of an item.
const LONGEST_NUMBER: usize = 3;
/// Text less indented than this is below a list, not in it.
const IN_ITEM: usize = 2;

/// What a character of the line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Part of what begins the line, or held back until that is known.
    Prefix,
    /// Text. What was held back ([`Lines::take_held`]) comes before it and is text too.
    Text,
    /// Part of a line that is kept whole or not at all: code, a table row.
    Whole,
}

/// How a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// A text line: what is open may go on in the next.
    Text,
    /// A line after which nothing is open.
    Closed,
    /// A list marker alone, which is not worth keeping without its item.
    Marker,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Indent,
    Bullet,
    Digits,
    Delimiter,
    Hashes,
    Ticks,
    /// The rest of a line that may open a fence.
    Info,
    Text,
    Whole,
    /// Lines inside a fence.
    Body(Body),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Indent,
    Markers(usize),
    Code,
}

#[derive(Debug, Clone, Copy)]
struct Level {
    indent: usize,
    next: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Lines {
    state: State,
    column: usize,
    quotes: usize,
    markers: usize,
    heading: bool,
    marker: char,
    held: String,
    levels: Vec<Level>,
    /// The last fence that was opened: a cut may lie inside it when the text is past it.
    fence: Option<Fence>,
    fence_open: bool,
    fence_quoted: bool,
    after_blank: bool,
    in_paragraph: bool,
    /// The last line was a table's line of dashes, or a row below it: rows need no leading bar.
    in_table: bool,
    only_table_marks: bool,
    bars: bool,
    block_started: bool,
}

impl Lines {
    pub(super) fn new() -> Self {
        Self {
            state: State::Indent,
            column: 0,
            quotes: 0,
            markers: 0,
            heading: false,
            marker: ' ',
            held: String::new(),
            levels: Vec::new(),
            fence: None,
            fence_open: false,
            fence_quoted: false,
            after_blank: true,
            in_paragraph: false,
            in_table: false,
            only_table_marks: true,
            bars: false,
            block_started: false,
        }
    }

    /// The number that an item after this point would carry.
    pub(super) fn next_number(&self) -> Option<u64> {
        self.levels.last().map(|level| level.next)
    }

    pub(super) fn in_open_fence(&self) -> bool {
        self.fence_open
    }

    /// The last fence that was opened, open or not.
    pub(super) fn last_fence(&self) -> Option<&Fence> {
        self.fence.as_ref()
    }

    /// True once after each character with which a new block began.
    pub(super) fn take_block_start(&mut self) -> bool {
        std::mem::take(&mut self.block_started)
    }

    /// What was taken for the beginning of the line and is text after all.
    pub(super) fn take_held(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// True past the markers of a line.
    pub(super) fn is_in_text(&self) -> bool {
        self.state == State::Text && self.held.is_empty() && !self.block_started
    }

    /// Takes letters and digits while in text.
    pub(super) fn take_word(&mut self) {
        self.only_table_marks = false;
    }

    pub(super) fn feed(&mut self, c: char) -> Role {
        self.only_table_marks &= matches!(c, '|' | '-' | ':' | ' ' | '\t' | '>');
        self.bars |= c == '|';
        match self.state {
            State::Text => Role::Text,
            State::Whole => Role::Whole,
            State::Body(body) => self.in_fence(body, c),
            State::Indent => self.in_indent(c),
            State::Bullet if matches!(c, ' ' | '\t') => self.bullet(c),
            State::Digits if c.is_ascii_digit() && self.held.len() < LONGEST_NUMBER => self.hold(c),
            State::Digits if matches!(c, '.' | ')') => {
                self.state = State::Delimiter;
                self.hold(c)
            }
            // "1、" needs no space after it.
            State::Digits if matches!(c, '、' | '．') => {
                self.number();
                self.column += 2;
                Role::Prefix
            }
            State::Delimiter if matches!(c, ' ' | '\t') => {
                self.number();
                self.in_indent(c)
            }
            State::Delimiter if is_wide(c) => {
                self.number();
                self.in_indent(c)
            }
            State::Hashes if c == '#' && self.held.len() < 6 => self.hold(c),
            State::Hashes if matches!(c, ' ' | '\t') => {
                self.begin_block();
                self.levels.clear();
                self.in_table = false;
                self.heading = true;
                self.held.clear();
                self.state = State::Text;
                Role::Prefix
            }
            State::Ticks if c == self.marker => self.hold(c),
            State::Ticks if self.held.len() >= 3 => {
                self.state = State::Info;
                self.hold(c)
            }
            State::Info if !(c == '`' && self.marker == '`') => self.hold(c),
            State::Bullet
            | State::Digits
            | State::Delimiter
            | State::Hashes
            | State::Ticks
            | State::Info => self.text(),
        }
    }

    fn hold(&mut self, c: char) -> Role {
        self.held.push(c);
        Role::Prefix
    }

    fn in_indent(&mut self, c: char) -> Role {
        let code = self.column >= 4 && self.levels.is_empty() && self.markers == 0;
        match c {
            ' ' => self.column += 1,
            '\t' => self.column += 4 - self.column % 4,
            '>' if self.column < 4 || !self.levels.is_empty() => {
                self.quotes += 1;
                self.column = 0;
                self.begin_block_unless_quoted();
            }
            '-' | '*' | '+' => return self.try_state(State::Bullet, c),
            '0'..='9' => return self.try_state(State::Digits, c),
            '#' if !code => return self.try_state(State::Hashes, c),
            '`' | '~' if !code => return self.try_state(State::Ticks, c),
            '|' => {
                self.begin_block();
                return self.whole();
            }
            // A blank line before makes it indented code, no blank line a paragraph's next line.
            _ if code && self.after_blank => {
                self.begin_block();
                return self.whole();
            }
            _ if c.is_whitespace() => self.column += 1,
            _ => return self.text(),
        }
        Role::Prefix
    }

    fn try_state(&mut self, state: State, c: char) -> Role {
        self.state = state;
        self.marker = c;
        self.hold(c)
    }

    /// Quoted lines in a row are one block; the first one begins it.
    fn begin_block_unless_quoted(&mut self) {
        if !self.in_paragraph {
            self.begin_block();
        }
    }

    fn begin_block(&mut self) {
        self.block_started = true;
        self.in_paragraph = false;
    }

    fn whole(&mut self) -> Role {
        self.leave_list_unless_indented();
        self.state = State::Whole;
        Role::Whole
    }

    fn leave_list_unless_indented(&mut self) {
        if self.column < IN_ITEM && self.markers == 0 {
            self.levels.clear();
        }
    }

    fn text(&mut self) -> Role {
        if self.in_table {
            self.held.clear();
            self.state = State::Whole;
            return Role::Whole;
        }
        if !self.in_paragraph || self.markers > 0 {
            self.begin_block();
            self.leave_list_unless_indented();
        }
        self.in_paragraph = true;
        self.state = State::Text;
        Role::Text
    }

    /// A bullet ends the numbers that are nested deeper, and only those: models write "- " below
    /// "1. " without indenting it.
    fn bullet(&mut self, c: char) -> Role {
        let indent = self.column;
        self.levels.retain(|level| level.indent < indent + IN_ITEM);
        self.item(1);
        self.in_indent(c)
    }

    fn number(&mut self) {
        let digits = self.held.trim_end_matches(['.', ')']);
        let indent = self.column;
        if let Ok(number) = digits.parse::<u64>() {
            self.levels.retain(|level| level.indent + IN_ITEM <= indent);
            if self.levels.len() < DEEPEST {
                self.levels.push(Level { indent, next: number + 1 });
            }
        }
        self.item(self.held.len());
    }

    fn item(&mut self, width: usize) {
        self.begin_block();
        self.in_table = false;
        self.markers += 1;
        self.column += width;
        self.held.clear();
        self.state = State::Indent;
    }

    fn in_fence(&mut self, body: Body, c: char) -> Role {
        let width = self.fence.as_ref().map_or(3, |fence| fence.width);
        let next = match body {
            Body::Indent if matches!(c, ' ' | '\t') => Body::Indent,
            Body::Indent if c == '>' && self.fence_quoted && self.quotes == 0 => {
                self.quotes = 1;
                Body::Indent
            }
            Body::Indent if self.fence_quoted && self.quotes == 0 => {
                // The quote is over, and with it the fence that it held.
                self.fence_open = false;
                self.state = State::Indent;
                return self.in_indent(c);
            }
            Body::Indent if c == self.marker => Body::Markers(1),
            Body::Markers(n) if c == self.marker => Body::Markers(n + 1),
            Body::Markers(n) if n >= width && c.is_whitespace() => body,
            _ => Body::Code,
        };
        self.state = State::Body(next);
        Role::Whole
    }

    /// The line ends with a newline.
    pub(super) fn end_line(&mut self) -> LineEnd {
        let end = match self.state {
            State::Body(body) => {
                let width = self.fence.as_ref().map_or(3, |fence| fence.width);
                if matches!(body, Body::Markers(n) if n >= width) {
                    self.fence_open = false;
                }
                LineEnd::Closed
            }
            State::Ticks | State::Info
                if self.held.starts_with("```") || self.held.starts_with("~~~") =>
            {
                self.open_fence();
                LineEnd::Closed
            }
            State::Indent if self.markers == 1 => LineEnd::Marker,
            State::Delimiter | State::Bullet => {
                // "3." alone at the end of a line: its item comes below, or never.
                if self.state == State::Delimiter {
                    self.number();
                } else {
                    self.item(1);
                }
                LineEnd::Marker
            }
            State::Whole | State::Indent => LineEnd::Closed,
            State::Text if self.heading => LineEnd::Closed,
            State::Text => LineEnd::Text,
            State::Digits | State::Hashes | State::Ticks | State::Info => {
                self.text();
                LineEnd::Text
            }
        };
        self.start_line(end);
        end
    }

    fn open_fence(&mut self) {
        self.begin_block();
        self.in_table = false;
        let width = self.held.chars().take_while(|c| *c == self.marker).count();
        let info = self.held[width..].split_whitespace().next().unwrap_or_default();
        self.fence_open = true;
        self.fence = Some(Fence { marker: self.marker, width, info: info.to_owned() });
        self.fence_quoted = self.quotes > 0;
    }

    fn start_line(&mut self, end: LineEnd) {
        let blank = self.state == State::Indent && self.markers == 0;
        let dashes = self.only_table_marks && self.bars && !blank;
        self.in_table = !blank && !self.fence_open && (self.in_table || dashes);
        self.in_paragraph = end == LineEnd::Text;
        self.after_blank = blank;
        self.heading = false;
        self.column = 0;
        self.quotes = 0;
        self.markers = 0;
        self.only_table_marks = true;
        self.bars = false;
        self.held.clear();
        self.state = if self.fence_open { State::Body(Body::Indent) } else { State::Indent };
        if let Some(fence) = &self.fence
            && self.fence_open
        {
            self.marker = fence.marker;
        }
    }
}
