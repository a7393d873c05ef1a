//! The checkpoint: the longest prefix of the shown text that is safe to build on.

use super::boundary::{Sentences, is_extender};
use super::inline::Inline;
use super::markdown::{LineEnd, Lines, Role};
use serde::{Deserialize, Serialize};

/// The longest safe cut of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// How much of the text is kept, in bytes of UTF-8. Never inside a character or a grapheme.
    pub len: usize,
    /// Where the kept text ends in an item of a numbered list: the number after that item's.
    pub next_number: Option<u64>,
    /// Where the kept text ends inside a code block: the fence that is open.
    pub open_fence: Option<Fence>,
}

/// A code fence that has been opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fence {
    /// `` ` `` or `~`.
    pub marker: char,
    /// How many markers opened it: as many close it, at least.
    pub width: usize,
    /// The first word after the markers, by custom the language; empty if there is none.
    pub info: String,
}

/// A place to cut at, and what is open there.
#[derive(Debug, Clone, Copy)]
struct Mark {
    len: usize,
    next_number: Option<u64>,
    in_fence: bool,
}

/// Finds the longest safe cut of a text that comes in pieces.
///
/// Every character is looked at once; the state is bounded but for the line that may open a code
/// fence. How the text is divided into pieces makes no difference.
///
/// ```
/// # use rejoin::text::Checkpoint;
/// let mut checkpoint = Checkpoint::new();
/// checkpoint.push("Dr. Smith came at 3.1");
/// assert_eq!(checkpoint.cut(), None);
/// checkpoint.push("5. He le");
/// assert_eq!(checkpoint.cut().map(|cut| cut.len), Some("Dr. Smith came at 3.15.".len()));
/// ```
#[derive(Debug, Clone)]
pub struct Checkpoint {
    len: usize,
    /// Something other than white space has come: a cut before it keeps nothing.
    solid: bool,
    carriage_return: bool,
    best: Option<Mark>,
    /// A newline inside markup that has not closed: a cut as soon as a new block begins.
    held_newline: Option<Mark>,
    lines: Lines,
    inline: Inline,
    sentences: Sentences,
}

impl Default for Checkpoint {
    fn default() -> Self {
        Self::new()
    }
}

impl Checkpoint {
    /// A checkpoint that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self {
            len: 0,
            solid: false,
            carriage_return: false,
            best: None,
            held_newline: None,
            lines: Lines::new(),
            inline: Inline::new(),
            sentences: Sentences::default(),
        }
    }

    /// A checkpoint over text that was kept before. What has been kept once stays committed: the
    /// cut never falls below it, even where its last full stop alone would be undecided.
    #[must_use]
    pub fn continuing(committed: &str) -> Self {
        let mut checkpoint = Self::new();
        checkpoint.push(committed);
        if !committed.is_empty() {
            checkpoint.best = Some(checkpoint.mark(committed.len()));
        }
        checkpoint
    }

    /// Takes the next piece of the text.
    pub fn push(&mut self, chunk: &str) {
        let mut rest = chunk;
        while let Some(c) = rest.chars().next() {
            let plain = self.plain_words(rest);
            if plain > 0 {
                rest = &rest[plain..];
                continue;
            }
            self.len += c.len_utf8();
            self.take(c);
            rest = &rest[c.len_utf8()..];
        }
    }

    /// Takes the words and spaces at the start of `text` in one go where nothing is undecided: most
    /// of a text is such, and nothing can end there. Gives their length.
    fn plain_words(&mut self, text: &str) -> usize {
        let quiet = !self.carriage_return
            && self.lines.is_in_text()
            && self.inline.is_undisturbed()
            && !self.sentences.is_undecided();
        if !quiet {
            return 0;
        }
        let mut at = 0;
        while let Some(first) = text.as_bytes().get(at) {
            if *first == b' ' {
                self.sentences.end_word();
                at += 1;
                continue;
            }
            let letters =
                text[at..].bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b',');
            let end = at + letters.count();
            if end == at {
                break;
            }
            self.solid = true;
            self.lines.take_word();
            self.sentences.take_word(&text[at..end]);
            at = end;
        }
        self.inline.take_words(&text[..at]);
        self.len += at;
        at
    }

    /// How many bytes have been pushed, with those continued from.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if no text has come.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What a drop right now would commit; nothing where no cut is safe.
    #[must_use]
    pub fn cut(&self) -> Option<Cut> {
        let mark = match (self.best, self.end_if_nothing_follows()) {
            (best, None) => best?,
            (Some(best), Some(end)) if best.len >= end => best,
            (_, Some(end)) => self.mark(end),
        };
        let open_fence = self.lines.last_fence().filter(|_| mark.in_fence).cloned();
        Some(Cut { len: mark.len, next_number: mark.next_number, open_fence })
    }

    fn end_if_nothing_follows(&self) -> Option<usize> {
        let run = self.inline.has_run().then(|| (self.inline.run_would_clear(), self.len));
        let clear = self.inline.is_clear();
        self.sentences.at_end(clear, self.inline.straight_quote_open(), run)
    }

    fn mark(&self, len: usize) -> Mark {
        Mark { len, next_number: self.lines.next_number(), in_fence: self.lines.in_open_fence() }
    }

    fn commit(&mut self, mark: Mark) {
        if self.solid && self.best.is_none_or(|best| best.len < mark.len) {
            self.best = Some(mark);
        }
    }

    fn commit_end(&mut self, end: Option<usize>) {
        if let Some(end) = end {
            let mark = self.mark(end);
            self.commit(mark);
        }
    }

    fn take(&mut self, c: char) {
        if std::mem::take(&mut self.carriage_return) && c != '\n' {
            // Alone it ends no line; it is white space.
            self.take_in_line(' ', self.len - c.len_utf8());
        }
        match c {
            '\r' => self.carriage_return = true,
            '\n' => self.end_line(),
            _ => self.take_in_line(c, self.len),
        }
    }

    fn take_in_line(&mut self, c: char, at: usize) {
        self.solid |= !c.is_whitespace();
        let role = self.lines.feed(c);
        if self.lines.take_block_start() {
            self.start_block();
        }
        if role == Role::Text {
            self.replay_held(at - c.len_utf8());
            self.text(c, at);
        }
    }

    fn replay_held(&mut self, end: usize) {
        let held = self.lines.take_held();
        let mut at = end - held.len();
        for c in held.chars() {
            at += c.len_utf8();
            self.text(c, at);
        }
    }

    fn start_block(&mut self) {
        if let Some(mark) = self.held_newline.take() {
            self.commit(mark);
        }
        self.inline.reset();
        self.sentences.start_line();
    }

    fn end_line(&mut self) {
        let end = self.lines.end_line();
        if self.lines.take_block_start() {
            self.start_block();
        }
        let goes_on = self.inline.end_line() && end == LineEnd::Text;
        self.sentences.start_line();
        let mark = self.mark(self.len);
        match end {
            LineEnd::Marker => {}
            LineEnd::Text if goes_on => self.held_newline = Some(mark),
            LineEnd::Text | LineEnd::Closed => {
                self.held_newline = None;
                self.commit(mark);
            }
        }
        if end != LineEnd::Text {
            self.inline.reset();
        }
    }

    fn text(&mut self, c: char, at: usize) {
        if let Some(run) = self.inline.finish_run_before(c) {
            let end = self.sentences.after_run(run, at - c.len_utf8());
            self.commit_end(end);
        }
        if is_extender(c) && self.sentences.extend(at) {
            return;
        }
        let before = self.inline.is_clear();
        let kind = self.inline.feed(c);
        let clear = (before, self.inline.is_clear());
        let end = self.sentences.feed(c, at, kind, clear);
        self.commit_end(end);
    }
}
