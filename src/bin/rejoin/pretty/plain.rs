//! A turn as plain text, for pipes, files, dumb terminals and whoever wants no colours: what is
//! printed stays printed, so what is taken back is named in brackets.

use super::style::{Line, harmless};
use super::surface::{Channel, Surface, put};
use super::wrap::{head, tail, width, wrap};
use std::io::{Result, Write};

/// What is taken back is quoted whole up to so many columns, else its two ends.
const QUOTED: usize = 160;
/// Columns of each of the two ends.
const END: usize = 60;

pub struct Plain<W> {
    out: W,
    /// Break lines here; `None`: print the text as it is.
    columns: Option<usize>,
    /// What the channels show, without what was taken back.
    answer: String,
    thoughts: String,
    /// The channel whose line is open.
    open: Option<Channel>,
    /// Columns used on the open line, where lines are broken.
    used: usize,
    /// Spaces before the next word; none if the line breaks there.
    gap: usize,
    /// The beginning of a word, held back until it is known to fit.
    word: String,
}

impl<W: Write> Plain<W> {
    pub fn new(out: W, columns: Option<usize>) -> Self {
        Self {
            out,
            columns,
            answer: String::new(),
            thoughts: String::new(),
            open: None,
            used: 0,
            gap: 0,
            word: String::new(),
        }
    }

    /// Prints with line breaks; the last word waits, since it may go on.
    fn print(&mut self, piece: &str, columns: usize) -> Result<()> {
        let mut rest = piece;
        while let Some(at) = rest.find([' ', '\n']) {
            self.word.push_str(&rest[..at]);
            self.flush_word(columns)?;
            if rest[at..].starts_with('\n') {
                put(&mut self.out, "\n")?;
                (self.used, self.gap) = (0, 0);
            } else {
                self.gap += 1;
            }
            rest = &rest[at + 1..];
        }
        self.word.push_str(rest);
        Ok(())
    }

    fn flush_word(&mut self, columns: usize) -> Result<()> {
        let word = std::mem::take(&mut self.word);
        if word.is_empty() {
            return Ok(());
        }
        let gap = std::mem::take(&mut self.gap);
        if self.used > 0 && self.used + gap + width(&word) > columns {
            put(&mut self.out, "\n")?;
            self.used = 0;
        } else {
            put(&mut self.out, &" ".repeat(gap))?;
            self.used += gap;
        }
        // Longer than a line, or of a script without spaces.
        let rows: Vec<_> = wrap(&word, columns).into_iter().map(|row| &word[row]).collect();
        self.used += width(rows.last().copied().unwrap_or(""));
        put(&mut self.out, &rows.join("\n"))
    }

    fn close(&mut self) -> Result<()> {
        if self.open.take().is_none() {
            return Ok(());
        }
        if let Some(columns) = self.columns {
            self.flush_word(columns)?;
        }
        (self.used, self.gap) = (0, 0);
        put(&mut self.out, "\n")
    }
}

impl<W: Write> Surface for Plain<W> {
    fn text(&mut self, channel: Channel, piece: &str) -> Result<()> {
        let mut shown = harmless(piece);
        if self.open != Some(channel) {
            self.close()?;
            self.open = Some(channel);
            // What follows a line of its own starts one; it needs no space before it.
            shown = shown.trim_start_matches([' ', '\n']).to_owned();
            if channel == Channel::Thought {
                shown.insert_str(0, "(thinking) ");
            }
        }
        match channel {
            Channel::Answer => self.answer.push_str(piece),
            Channel::Thought => self.thoughts.push_str(piece),
        }
        match self.columns {
            Some(columns) => self.print(&shown, columns),
            None => put(&mut self.out, &shown),
        }
    }

    fn tool(&mut self, line: Line) -> Result<()> {
        self.line(line)
    }

    fn line(&mut self, line: Line) -> Result<()> {
        self.close()?;
        let text = line.bare();
        for row in wrap(&text, self.columns.unwrap_or(usize::MAX)) {
            put(&mut self.out, &format!("{}\n", text[row].trim_end()))?;
        }
        Ok(())
    }

    fn status(&mut self, line: Line) -> Result<()> {
        self.line(line)
    }

    fn take_back(&mut self, channel: Channel, keep: usize) -> Result<()> {
        let (shown, what) = match channel {
            Channel::Answer => (&mut self.answer, "dropped"),
            Channel::Thought => (&mut self.thoughts, "thoughts dropped"),
        };
        if keep >= shown.len() {
            return Ok(());
        }
        let gone = harmless(&shown.split_off(keep)).replace('\n', " ");
        let gone = gone.trim();
        if gone.is_empty() {
            return Ok(());
        }
        let quoted = if width(gone) <= QUOTED {
            gone.to_owned()
        } else {
            format!("{} … {}", head(gone, END).trim_end(), tail(gone, END).trim_start())
        };
        self.close()?;
        let text = format!("[{what}: {quoted}]");
        let rows = wrap(&text, self.columns.unwrap_or(usize::MAX));
        for row in rows {
            put(&mut self.out, &format!("{}\n", &text[row]))?;
        }
        Ok(())
    }

    fn take_back_tools(&mut self, _keep: usize) -> Result<()> {
        // The line about the next attempt says so in words.
        Ok(())
    }

    fn is_live(&self) -> bool {
        false
    }

    fn finish(&mut self) -> Result<()> {
        self.close()
    }
}

#[cfg(test)]
mod tests {
    use super::super::style::Look;
    use super::*;

    fn shown(columns: Option<usize>, play: impl FnOnce(&mut Plain<&mut Vec<u8>>)) -> String {
        let mut out = Vec::new();
        play(&mut Plain::new(&mut out, columns));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_taken_back_is_named_in_brackets() {
        let text = shown(None, |plain| {
            plain.text(Channel::Answer, "Two is more. Thr").unwrap();
            plain.line(Line::of(Look::Broken, "-- reset")).unwrap();
            plain.take_back(Channel::Answer, 12).unwrap();
            plain.text(Channel::Answer, " Three is\ta crowd.").unwrap();
            plain.take_back(Channel::Answer, 99).unwrap();
            plain.finish().unwrap();
        });
        assert_eq!(text, "Two is more. Thr\n-- reset\n[dropped: Thr]\nThree is    a crowd.\n");
    }

    #[test]
    fn words_are_whole_even_if_they_come_in_pieces() {
        let text = shown(Some(20), |plain| {
            for piece in ["It costs less tha", "n lunch d", "id, ", "and\n\nmore"] {
                plain.text(Channel::Answer, piece).unwrap();
            }
            plain.finish().unwrap();
        });
        assert_eq!(text, "It costs less than\nlunch did, and\n\nmore\n");
    }

    #[test]
    fn long_text_that_goes_is_quoted_by_its_ends() {
        let text = shown(None, |plain| {
            plain.text(Channel::Answer, &format!("first {} last", "x".repeat(300))).unwrap();
            plain.take_back(Channel::Answer, 0).unwrap();
        });
        let quoted = text.lines().last().unwrap();
        assert!(quoted.starts_with("[dropped: first xx") && quoted.ends_with("xx last]"));
        assert!(quoted.contains(" … ") && width(quoted) < QUOTED);
    }
}
