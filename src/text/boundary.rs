//! Where a sentence ends: a terminator, its closers, and what must or must not follow.

use unicode_segmentation::UnicodeSegmentation;

use super::abbreviation::{AFTER_AN_ORDINAL, Before, Verdict, verdict};
use super::inline::{Kind, RunEnd};

/// Longer words are no abbreviations, so no more of a word is kept.
const WORD_KEPT: usize = 40;
/// "It works.[1, 2]": a source's number goes with its sentence. Longer brackets are text.
const LONGEST_CITATION: usize = 24;

/// How sure a terminator is of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Terminator {
    /// `.`, which may be part of a number, a name or an abbreviation.
    Stop,
    /// `!`, `?` and their like: an end where white space follows, or nothing yet.
    Mark,
    /// `。！？．` and their like: an end whatever follows.
    Wide,
}

fn terminator(c: char) -> Option<Terminator> {
    Some(match c {
        '.' => Terminator::Stop,
        // Beyond the base set: Arabic, Urdu, Hindi, Armenian, Ethiopic, and doubled marks.
        '!' | '?' | '؟' | '۔' | '।' | '॥' | '։' | '።' | '‼' | '⁇' | '⁈' | '⁉' => {
            Terminator::Mark
        }
        '。' | '．' | '！' | '？' | '｡' => Terminator::Wide,
        _ => return None,
    })
}

/// An end that has been seen, while it is not known yet what follows.
#[derive(Debug, Clone)]
struct Pending {
    end: usize,
    terminator: Terminator,
    verdict: Verdict,
    last: char,
    /// White space has followed.
    spaced: bool,
    /// Nothing was open when it did.
    free: bool,
    /// Nothing was open before the markers that follow directly.
    clear_before_run: bool,
    /// A mark with no word before it (" ![") or one in an address: not decided by itself.
    unsure: bool,
    /// Characters of a bracket that follows directly and may be a citation.
    citation: Option<usize>,
    /// The next word as far as it has come, while an ordinal depends on it.
    next_word: String,
}

enum Step {
    Hold,
    Drop,
    Accept,
}

/// Follows the words of a line and finds the ends of its sentences.
#[derive(Debug, Clone, Default)]
pub(super) struct Sentences {
    word: String,
    previous: String,
    position: usize,
    pending: Option<Pending>,
}

impl Sentences {
    /// A line begins: what was not an end by now is none.
    pub(super) fn start_line(&mut self) {
        self.pending = None;
        self.start_sentence();
        self.word.clear();
    }

    fn start_sentence(&mut self) {
        self.previous.clear();
        self.position = 0;
    }

    /// True where a combining mark would still be part of the end.
    pub(super) fn extend(&mut self, to: usize) -> bool {
        match &mut self.pending {
            Some(p) if !p.spaced && p.citation.is_none() => {
                p.end = to;
                true
            }
            _ => false,
        }
    }

    /// A run of markers is over; `at` is where it ends. Returns an end that is now certain.
    pub(super) fn after_run(&mut self, run: RunEnd, at: usize) -> Option<usize> {
        let p = self.pending.as_mut()?;
        if p.spaced {
            return None;
        }
        if run.closed {
            p.end = at;
            return None;
        }
        let step = p.directly_before(run.marker, p.clear_before_run);
        let accepted = self.settle(&step);
        if accepted.is_some() {
            self.word.clear();
        }
        accepted
    }

    /// True while an end waits for what follows.
    pub(super) fn is_undecided(&self) -> bool {
        self.pending.is_some()
    }

    /// Takes ASCII letters, digits and commas: what [`feed`](Self::feed) does with them one by one.
    pub(super) fn take_word(&mut self, letters: &str) {
        let room = WORD_KEPT.saturating_sub(self.word.len());
        self.word.push_str(&letters[..letters.len().min(room)]);
    }

    /// Takes a character of the text, with what it was to the markup, and whether nothing was
    /// open before it and after it. Returns an end that is now certain.
    pub(super) fn feed(
        &mut self,
        c: char,
        at: usize,
        kind: Kind,
        clear: (bool, bool),
    ) -> Option<usize> {
        let mut held = false;
        let accepted = match &mut self.pending {
            Some(p) => {
                let step = p.step(c, at, kind, clear);
                held = matches!(step, Step::Hold) && !p.spaced;
                self.settle(&step)
            }
            None => None,
        };
        if accepted == Some(at - c.len_utf8()) {
            // No space between: what was one word are two.
            self.word.clear();
        }
        if c.is_whitespace() {
            self.end_word();
            return accepted;
        }
        if let (false, Kind::Plain, Some(terminator)) = (held, kind, terminator(c)) {
            self.pending = Some(self.begin(c, at, terminator));
        }
        if self.word.len() < WORD_KEPT {
            self.word.push(c);
        }
        accepted
    }

    pub(super) fn end_word(&mut self) {
        if !self.word.is_empty() {
            std::mem::swap(&mut self.previous, &mut self.word);
            self.word.clear();
            self.position += 1;
        }
    }

    fn begin(&self, c: char, at: usize, terminator: Terminator) -> Pending {
        let before = Before { word: &self.word, previous: &self.previous, position: self.position };
        let number = !self.word.is_empty() && self.word.chars().all(char::is_numeric);
        let verdict = match terminator {
            Terminator::Stop if self.word.len() >= WORD_KEPT => Verdict::End,
            Terminator::Stop if self.word.ends_with(['.', '…']) => Verdict::Never,
            Terminator::Stop => verdict(before),
            Terminator::Wide if c == '．' && number && self.position == 0 => Verdict::Never,
            Terminator::Wide | Terminator::Mark => Verdict::End,
        };
        Pending {
            end: at,
            terminator,
            verdict,
            last: c,
            spaced: false,
            free: false,
            clear_before_run: false,
            unsure: self.word.is_empty()
                || self.word.contains("://")
                || self.word.starts_with("www."),
            citation: None,
            next_word: String::new(),
        }
    }

    fn settle(&mut self, step: &Step) -> Option<usize> {
        match step {
            Step::Hold => None,
            Step::Drop => {
                self.pending = None;
                None
            }
            Step::Accept => {
                self.start_sentence();
                self.pending.take().map(|p| p.end)
            }
        }
    }

    /// The end that counts if nothing more comes. `run_clears` says whether the unfinished run of
    /// markers after the text would close all that is open, if there is such a run; `run_end` is
    /// where it ends.
    pub(super) fn at_end(
        &self,
        clear: bool,
        quote_open: bool,
        run: Option<(bool, usize)>,
    ) -> Option<usize> {
        let p = self.pending.as_ref()?;
        if p.citation.is_some() || p.verdict == Verdict::Never {
            return None;
        }
        if p.spaced {
            let certain = p.verdict == Verdict::End && p.next_word.is_empty();
            return (p.free && certain).then_some(p.end);
        }
        let (clear, end) = match run {
            Some((clears, end)) => (clears, if clears { end } else { p.end }),
            None => (clear, p.end),
        };
        let decided = match p.terminator {
            Terminator::Stop => false,
            Terminator::Mark => !p.unsure && !quote_open,
            Terminator::Wide => !quote_open,
        };
        (decided && clear).then_some(end)
    }
}

impl Pending {
    fn step(&mut self, c: char, at: usize, kind: Kind, (before, after): (bool, bool)) -> Step {
        if self.citation.is_some() {
            return self.cite(c, at, kind);
        }
        if self.spaced {
            return self.after_space(c, at, kind, after);
        }
        match kind {
            Kind::Space => {
                self.spaced = true;
                self.free = after;
                let wide = self.terminator == Terminator::Wide && self.verdict == Verdict::End;
                if wide && after { Step::Accept } else { Step::Hold }
            }
            Kind::Closed | Kind::Stray | Kind::Quote => {
                self.end = at;
                self.last = c;
                Step::Hold
            }
            Kind::Run if matches!(c, '*' | '_' | '~') => {
                self.clear_before_run = before;
                Step::Hold
            }
            Kind::Plain if terminator(c).is_some() => self.lengthen(c, at),
            Kind::Opened if c == '[' && self.verdict == Verdict::End => {
                self.citation = Some(0);
                self.free = before;
                Step::Hold
            }
            _ => self.directly_before(c, before),
        }
    }

    /// "?!" is one end, "..." and "。。" are none.
    fn lengthen(&mut self, c: char, at: usize) -> Step {
        let Some(next) = terminator(c) else { return Step::Drop };
        if c == self.last && matches!(c, '.' | '。' | '．') {
            self.verdict = Verdict::Never;
        } else if next != Terminator::Stop {
            self.verdict = Verdict::End;
            self.terminator = match (self.terminator, next) {
                (Terminator::Wide, _) | (_, Terminator::Wide) => Terminator::Wide,
                _ => Terminator::Mark,
            };
        }
        self.end = at;
        self.last = c;
        Step::Hold
    }

    fn directly_before(&self, c: char, clear: bool) -> Step {
        if !clear || self.verdict == Verdict::Never {
            return Step::Drop;
        }
        let decimal = self.last == '．' && c.is_numeric();
        let ends = match self.terminator {
            Terminator::Wide => !decimal && c != '…',
            // No space is needed before a script that has none, nor before an emoji. Dashes and
            // dots are below the arrows.
            Terminator::Stop | Terminator::Mark => {
                self.verdict == Verdict::End
                    && (is_wide(c) || (c > '\u{2190}' && !c.is_alphanumeric()))
            }
        };
        if ends { Step::Accept } else { Step::Drop }
    }

    fn cite(&mut self, c: char, at: usize, kind: Kind) -> Step {
        let length = self.citation.unwrap_or(0);
        if kind == Kind::Closed && c == ']' && length > 0 {
            self.citation = None;
            self.end = at;
            self.last = c;
            return Step::Hold;
        }
        let plain = c.is_alphanumeric() || matches!(c, ' ' | ',' | ':' | '^' | '-' | '–');
        if plain && length < LONGEST_CITATION {
            self.citation = Some(length + 1);
            Step::Hold
        } else if self.terminator == Terminator::Wide && self.free {
            Step::Accept
        } else {
            Step::Drop
        }
    }

    fn after_space(&mut self, c: char, at: usize, kind: Kind, after: bool) -> Step {
        if kind == Kind::Closed && !self.free {
            // "« Il part. »": the closer comes after a space and still belongs to the end.
            self.end = at;
            self.spaced = false;
            return Step::Hold;
        }
        match kind {
            Kind::Space if self.next_word.is_empty() => return Step::Hold,
            _ if !self.free && !after => {
                return if kind == Kind::Space { Step::Hold } else { Step::Drop };
            }
            _ if !self.free => return Step::Drop,
            Kind::Quote | Kind::Opened if !matches!(c, '(' | '[' | '{') => return Step::Hold,
            Kind::Run if matches!(c, '*' | '_' | '~') => return Step::Hold,
            Kind::Plain if matches!(c, '¿' | '¡') => return Step::Hold,
            _ => {}
        }
        if !self.next_word.is_empty() {
            return self.ordinal(c);
        }
        match self.verdict {
            Verdict::Never => Step::Drop,
            _ if is_small(c) => Step::Drop,
            Verdict::Ordinal if c.is_alphabetic() => self.ordinal(c),
            Verdict::BeforeCapital if c.is_alphabetic() => Step::Accept,
            Verdict::Ordinal | Verdict::BeforeCapital => Step::Drop,
            Verdict::UnlessDigit if c.is_numeric() => Step::Drop,
            // "5! = 120" goes on.
            _ if matches!(c, '=' | '+' | ',' | ';' | ':' | '%' | '≈' | '×') => Step::Drop,
            Verdict::UnlessDigit | Verdict::End => Step::Accept,
        }
    }

    /// After a number: no end before a word that takes an ordinal, and no decision before it is
    /// known whether the word is one.
    fn ordinal(&mut self, c: char) -> Step {
        if c.is_alphabetic() {
            self.next_word.push(c);
            let word = self.next_word.as_str();
            if AFTER_AN_ORDINAL.iter().any(|o| o.starts_with(word)) {
                Step::Hold
            } else {
                Step::Accept
            }
        } else if AFTER_AN_ORDINAL.contains(&self.next_word.as_str()) {
            Step::Drop
        } else {
            Step::Accept
        }
    }
}

/// A letter that begins no sentence. Georgian has capitals in Unicode, but no one writes them.
fn is_small(c: char) -> bool {
    c.is_lowercase() && !matches!(c, '\u{10d0}'..='\u{10ff}')
}

/// Chinese, Japanese and Korean characters and their punctuation: text without spaces.
pub(super) fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{303f}' | '\u{3040}'..='\u{33ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

/// True for what stays in one grapheme with a terminator before it: combining marks, variation
/// selectors, joiners.
#[inline]
pub(super) fn is_extender(c: char) -> bool {
    !c.is_ascii() && is_extender_beyond_ascii(c)
}

fn is_extender_beyond_ascii(c: char) -> bool {
    // The tables cost more than the rest of a character does: ask them only where marks may be.
    let letters = matches!(c,
        '\0'..='\u{2ff}' | '\u{400}'..='\u{482}' | '\u{2010}'..='\u{2027}'
        | '\u{3000}'..='\u{3029}' | '\u{3041}'..='\u{3098}' | '\u{309b}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff01}'..='\u{ff9d}');
    if letters {
        return false;
    }
    let mut pair = [0; 5];
    pair[0] = b'.';
    let len = 1 + c.encode_utf8(&mut pair[1..]).len();
    std::str::from_utf8(&pair[..len]).is_ok_and(|pair| pair.graphemes(true).count() == 1)
}
