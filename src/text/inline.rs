//! The markup and the brackets that are open inside a line of text, one character at a time.

use super::boundary::{is_extender, is_wide};

/// More open marks than this are no markup. Bounds the state against a text of nothing but "(".
const DEEPEST: usize = 32;
/// A tag that has not closed by then was a "less than".
const LONGEST_TAG: usize = 300;

/// What a character was to the markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing: a letter, a stop, a bracket that closes nothing.
    Plain,
    /// White space.
    Space,
    /// A straight quote, which may open or close.
    Quote,
    /// Opens a bracket or a quote.
    Opened,
    /// Closes the bracket or quote that was open.
    Closed,
    /// A closing mark with nothing open that it could close.
    Stray,
    /// Part of a run of markers whose meaning the next character decides.
    Run,
    /// Inside code, a formula, a tag or a link's address.
    Raw,
}

/// What a finished run of markers did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunEnd {
    pub(super) marker: char,
    pub(super) closed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    /// A run of `*`, `_` or `~`, with the markers that are still to be closed.
    Emphasis(char, usize),
    /// Waits for this closing character.
    Bracket(char),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Text,
    Code(usize),
    /// The address of a link, with the depth of its round brackets.
    Address(usize),
    Tag(usize),
    /// A formula between this many dollars, and how much of a plain word it has just shown.
    Dollars(usize, PlainWord),
    /// A formula after `\(` or `\[`, and what closes it after a backslash.
    Tex(char),
}

/// "$HOME is set" is no formula: a word between spaces tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlainWord {
    No,
    Letters(usize),
}

#[derive(Debug, Clone, Copy)]
struct Run {
    marker: char,
    count: usize,
    before: char,
}

#[derive(Debug, Clone)]
pub(super) struct Inline {
    mode: Mode,
    open: Vec<Open>,
    run: Option<Run>,
    previous: char,
    escaped: bool,
    after_link_text: bool,
    straight_open: bool,
}

impl Inline {
    pub(super) fn new() -> Self {
        Self {
            mode: Mode::Text,
            open: Vec::new(),
            run: None,
            previous: '\n',
            escaped: false,
            after_link_text: false,
            straight_open: false,
        }
    }

    /// Markup does not reach across blocks: whatever is open was never meant to be.
    pub(super) fn reset(&mut self) {
        self.open.clear();
        self.mode = Mode::Text;
        self.run = None;
        self.previous = '\n';
        self.escaped = false;
        self.after_link_text = false;
        self.straight_open = false;
    }

    /// Nothing is open: a sentence that ends here ends for the reader as well.
    /// True where a letter changes nothing but what came before the next character.
    pub(super) fn is_undisturbed(&self) -> bool {
        self.mode == Mode::Text && self.run.is_none() && !self.escaped && !self.after_link_text
    }

    /// Takes words and spaces while undisturbed.
    pub(super) fn take_words(&mut self, words: &str) {
        if let Some(last) = words.chars().next_back() {
            self.previous = last;
        }
    }

    pub(super) fn is_clear(&self) -> bool {
        self.mode == Mode::Text && self.open.is_empty()
    }

    pub(super) fn straight_quote_open(&self) -> bool {
        self.straight_open
    }

    pub(super) fn has_run(&self) -> bool {
        self.run.is_some()
    }

    /// Would the run that is not finished yet close all that is open, if nothing more came?
    pub(super) fn run_would_clear(&self) -> bool {
        let mut ahead = self.clone();
        ahead.finish_run('\n').is_some_and(|end| end.closed) && ahead.is_clear()
    }

    /// The line ends. True if its newline must not be cut at, for markup that goes on below.
    /// Plain brackets and quotes do not hold a newline: it is an end in itself.
    pub(super) fn end_line(&mut self) -> bool {
        self.finish_run('\n');
        if matches!(self.mode, Mode::Dollars(1, _)) {
            self.mode = Mode::Text;
        }
        self.previous = '\n';
        self.escaped = false;
        self.after_link_text = false;
        self.mode != Mode::Text
            || self.open.iter().any(|o| matches!(o, Open::Emphasis(..) | Open::Bracket(']')))
    }

    /// Must be called before [`feed`](Self::feed), which relies on no other run being unfinished.
    pub(super) fn finish_run_before(&mut self, c: char) -> Option<RunEnd> {
        match self.run {
            Some(run) if run.marker != c || self.escaped => self.finish_run(c),
            _ => None,
        }
    }

    fn finish_run(&mut self, next: char) -> Option<RunEnd> {
        let run = self.run.take()?;
        let closed = match run.marker {
            '`' => self.finish_backticks(run),
            '$' => self.finish_dollars(run, next),
            '<' => {
                if run.count == 1 && (next.is_ascii_alphabetic() || matches!(next, '/' | '!')) {
                    self.mode = Mode::Tag(0);
                }
                false
            }
            _ => self.finish_emphasis(run, next),
        };
        Some(RunEnd { marker: run.marker, closed })
    }

    fn finish_backticks(&mut self, run: Run) -> bool {
        match self.mode {
            Mode::Code(width) if width == run.count => self.mode = Mode::Text,
            Mode::Text => self.mode = Mode::Code(run.count),
            _ => {}
        }
        false
    }

    /// Pandoc's rule for dollars, and none that opens before a digit: that is a price.
    fn finish_dollars(&mut self, run: Run, next: char) -> bool {
        match self.mode {
            Mode::Dollars(width, _)
                if run.count >= width && (width == 2 || !run.before.is_whitespace()) =>
            {
                self.mode = Mode::Text;
            }
            Mode::Text if run.count == 2 => self.mode = Mode::Dollars(2, PlainWord::No),
            Mode::Text => {
                let opens = !next.is_whitespace()
                    && !next.is_ascii_digit()
                    && !matches!(next, '.' | ',' | ')' | '"' | '\'' | ';' | ':' | '!' | '?' | '*')
                    && !run.before.is_alphanumeric();
                if run.count == 1 && opens {
                    self.mode = Mode::Dollars(1, PlainWord::No);
                }
            }
            _ => {}
        }
        false
    }

    /// `CommonMark`'s delimiter runs, more lenient towards closing: after CJK punctuation models
    /// write `**…。**然` and mean an end.
    fn finish_emphasis(&mut self, run: Run, next: char) -> bool {
        let Run { marker, mut count, before } = run;
        if marker == '~' && count < 2 {
            return false;
        }
        let space_before = before.is_whitespace();
        let space_after = next.is_whitespace();
        let mark_before = is_mark(before);
        let mark_after = is_mark(next);
        let left = !space_after && (!mark_after || space_before || mark_before || is_wide(before));
        let within = before.is_ascii_alphanumeric() && next.is_ascii_alphanumeric();
        let can_open = left
            && match marker {
                '_' => space_before || mark_before,
                '*' => !(within && (count == 1 || before.is_ascii_digit())),
                _ => true,
            };
        let can_close = !space_before && (marker != '_' || space_after || mark_after);
        let mut closed = false;
        while count > 0 && can_close {
            let found =
                self.open.iter().rposition(|o| matches!(o, Open::Emphasis(m, _) if *m == marker));
            let Some(at) = found else { break };
            let Open::Emphasis(_, width) = self.open[at] else { break };
            if width <= count {
                self.open.truncate(at);
                count -= width;
                closed = true;
            } else if can_open {
                break;
            } else {
                self.open.truncate(at + 1);
                self.open[at] = Open::Emphasis(marker, width - count);
                count = 0;
                closed = true;
            }
        }
        if count > 0 && can_open {
            self.push(Open::Emphasis(marker, count));
        }
        closed
    }

    fn push(&mut self, open: Open) {
        if self.open.len() < DEEPEST {
            self.open.push(open);
        }
    }

    /// Takes the next character, after [`finish_run_before`](Self::finish_run_before).
    pub(super) fn feed(&mut self, c: char) -> Kind {
        let escaped = std::mem::take(&mut self.escaped);
        let after_link_text = std::mem::take(&mut self.after_link_text);
        let before = self.previous;
        if !is_extender(c) {
            self.previous = c;
        }
        match self.mode {
            Mode::Text if escaped => self.feed_escaped(c),
            Mode::Text => self.feed_text(c, before, after_link_text),
            mode => self.feed_raw(mode, c, before, escaped),
        }
    }

    fn feed_escaped(&mut self, c: char) -> Kind {
        match c {
            '(' => self.mode = Mode::Tex(')'),
            '[' => self.mode = Mode::Tex(']'),
            _ if c.is_whitespace() => return Kind::Space,
            // An escaped mark is no markup, neither for what comes after it.
            _ => return Kind::Plain,
        }
        Kind::Raw
    }

    fn feed_raw(&mut self, mode: Mode, c: char, before: char, escaped: bool) -> Kind {
        match mode {
            Mode::Code(_) if c == '`' => return self.mark(c, before),
            Mode::Address(depth) => match c {
                _ if escaped => {}
                '\\' => self.escaped = true,
                '(' => self.mode = Mode::Address(depth + 1),
                ')' if depth == 1 => self.mode = Mode::Text,
                ')' => self.mode = Mode::Address(depth - 1),
                _ => {}
            },
            Mode::Tag(length) => {
                let over = c == '>' || length > LONGEST_TAG;
                self.mode = if over { Mode::Text } else { Mode::Tag(length + 1) };
            }
            Mode::Dollars(width, word) => match c {
                _ if escaped => {}
                '\\' => self.escaped = true,
                '$' => return self.mark(c, before),
                _ if width == 1 => self.watch_words(word, c),
                _ => {}
            },
            Mode::Tex(close) => {
                if escaped && c == close {
                    self.mode = Mode::Text;
                } else {
                    self.escaped = c == '\\' && !escaped;
                }
            }
            Mode::Code(_) | Mode::Text => {}
        }
        Kind::Raw
    }

    fn watch_words(&mut self, word: PlainWord, c: char) {
        let word = match (word, c) {
            (PlainWord::Letters(n), ' ') if n >= 2 => {
                self.mode = Mode::Text;
                return;
            }
            (_, ' ') => PlainWord::Letters(0),
            (PlainWord::Letters(n), c) if c.is_alphabetic() => PlainWord::Letters(n + 1),
            _ => PlainWord::No,
        };
        self.mode = Mode::Dollars(1, word);
    }

    fn mark(&mut self, c: char, before: char) -> Kind {
        match &mut self.run {
            Some(run) => run.count += 1,
            None => self.run = Some(Run { marker: c, count: 1, before }),
        }
        Kind::Run
    }

    fn feed_text(&mut self, c: char, before: char, after_link_text: bool) -> Kind {
        match c {
            _ if c.is_whitespace() => Kind::Space,
            '*' | '_' | '~' | '`' | '$' | '<' => self.mark(c, before),
            '\\' => {
                self.escaped = true;
                Kind::Plain
            }
            '"' => {
                self.straight_open = !self.straight_open;
                Kind::Quote
            }
            '\'' => Kind::Quote,
            '(' if after_link_text => {
                self.mode = Mode::Address(1);
                Kind::Raw
            }
            // ":(" is a face.
            '(' if matches!(before, ':' | ';') => Kind::Plain,
            '“' if self.open.contains(&Open::Bracket('“')) => self.close(c),
            '»' if !self.open.contains(&Open::Bracket('»')) && starts(before) => {
                self.bracket('«')
            }
            '«' if self.open.contains(&Open::Bracket('«')) => self.close(c),
            '›' if !self.open.contains(&Open::Bracket('›')) && starts(before) => {
                self.bracket('‹')
            }
            '‹' if self.open.contains(&Open::Bracket('‹')) => self.close(c),
            _ => match closer_of(c) {
                Some(close) => self.bracket(close),
                None if is_closer(c) => self.close(c),
                None => Kind::Plain,
            },
        }
    }

    fn bracket(&mut self, close: char) -> Kind {
        self.push(Open::Bracket(close));
        Kind::Opened
    }

    fn close(&mut self, c: char) -> Kind {
        let matches = |o: &Open| match *o {
            Open::Bracket(close) => close == c || (close == '“' && c == '”'),
            Open::Emphasis(..) => false,
        };
        let Some(at) = self.open.iter().rposition(matches) else { return Kind::Stray };
        self.open.truncate(at);
        self.after_link_text = c == ']';
        Kind::Closed
    }
}

fn starts(before: char) -> bool {
    before.is_whitespace() || matches!(before, '(' | '[' | '*' | '_' | '—' | '–')
}

fn is_mark(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_whitespace()
}

fn closer_of(c: char) -> Option<char> {
    Some(match c {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '“' => '”',
        '„' => '“',
        '«' => '»',
        '‹' => '›',
        '（' => '）',
        '［' => '］',
        '｛' => '｝',
        '「' => '」',
        '『' => '』',
        '｢' => '｣',
        '【' => '】',
        '〖' => '〗',
        '〔' => '〕',
        '《' => '》',
        '〈' => '〉',
        '〝' => '〟',
        _ => return None,
    })
}

fn is_closer(c: char) -> bool {
    matches!(
        c,
        ')' | ']'
            | '}'
            | '”'
            | '’'
            | '»'
            | '›'
            | '）'
            | '］'
            | '｝'
            | '」'
            | '』'
            | '｣'
            | '】'
            | '〗'
            | '〕'
            | '》'
            | '〉'
            | '〟'
    )
}
