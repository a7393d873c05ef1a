//! A turn on a terminal: the answer scrolls, and what is taken back is struck out where it stands.
//!
//! Lines are broken here, one column before the edge, so that each row is known and the terminal
//! wraps nothing by itself. A row can then be painted again in place, as long as it is still on
//! the screen and the window has not changed; rows that have scrolled away are left as they were,
//! and the line about the reset says in words how much is gone.

use super::style::{Line, Look, Span, harmless, painted};
use super::surface::{Channel, Surface, WIDEST, put};
use super::wrap::{rows_of, width, wrap};
use std::io::{Result, Write};

/// The size if it is not known.
const USUAL: (usize, usize) = (80, 24);

#[derive(Debug, Clone, PartialEq)]
enum Row {
    Text {
        channel: Channel,
        /// Where in its channel it begins, in bytes.
        start: usize,
        text: String,
        /// So many bytes of `text` still count; the rest is taken back.
        live: usize,
    },
    Line(Line),
    Tool {
        line: Line,
        held: bool,
    },
}

impl Row {
    fn spans(&self) -> Vec<Span> {
        match self {
            Self::Line(line) | Self::Tool { line, held: true } => line.0.clone(),
            Self::Tool { line, held: false } => {
                vec![Span { look: Look::Struck, text: line.bare() }]
            }
            Self::Text { channel, text, live, .. } => {
                let kept = match channel {
                    Channel::Answer => Look::Plain,
                    Channel::Thought => Look::Thought,
                };
                let visible = text.trim_end_matches(' ').len();
                let live = (*live).min(visible);
                let span = |look, text: &str| Span { look, text: text.to_owned() };
                // Spaces before what goes are not struck: a line in the air looks like a slip.
                let gap = text[live..visible].len() - text[live..visible].trim_start().len();
                vec![
                    span(kept, &text[..live + gap]),
                    span(Look::Struck, &text[live + gap..visible]),
                ]
            }
        }
    }

    fn painted(&self) -> String {
        self.spans().iter().map(|span| painted(span.look, &harmless(&span.text))).collect()
    }

    fn width(&self) -> usize {
        self.spans().iter().map(|span| width(&span.text)).sum()
    }
}

pub struct Screen<W> {
    out: W,
    size: fn() -> Option<(usize, usize)>,
    known: (usize, usize),
    rows: Vec<Row>,
    /// Rows before this one are not painted again: the window has changed since.
    frozen: usize,
    /// Bytes of each channel that are shown and count.
    answer: usize,
    thoughts: usize,
    /// The last row is open for more of this channel.
    open: Option<Channel>,
    /// The last row is a status.
    status: bool,
}

impl<W: Write> Screen<W> {
    pub fn new(out: W, size: fn() -> Option<(usize, usize)>) -> Self {
        Self {
            out,
            size,
            known: size().unwrap_or(USUAL),
            rows: Vec::new(),
            frozen: 0,
            answer: 0,
            thoughts: 0,
            open: None,
            status: false,
        }
    }

    /// Columns to use: one is left free, since a terminal may wrap after the last one or not.
    fn columns(&self) -> usize {
        self.known.0.saturating_sub(1).clamp(10, WIDEST)
    }

    /// A window of another size has moved the rows about: leave them alone from now on.
    fn look_at_the_window(&mut self) -> Result<()> {
        let size = (self.size)().unwrap_or(USUAL);
        if size != self.known {
            self.known = size;
            self.close()?;
            self.status = false;
            self.frozen = self.rows.len();
        }
        Ok(())
    }

    fn shown(&mut self, channel: Channel) -> &mut usize {
        match channel {
            Channel::Answer => &mut self.answer,
            Channel::Thought => &mut self.thoughts,
        }
    }

    /// Begins a row below all others.
    fn push(&mut self, row: Row) -> Result<()> {
        // The cursor stands at the end of the last row, or where the last closed line left it.
        let lead = if self.open.is_some() || self.status { "\n" } else { "" };
        put(&mut self.out, &format!("{lead}{}", row.painted()))?;
        self.rows.push(row);
        Ok(())
    }

    /// Paints the last row once more.
    fn paint_last(&mut self) -> Result<()> {
        let Some(row) = self.rows.last() else { return Ok(()) };
        put(&mut self.out, &format!("\r{}\u{1b}[K", row.painted()))
    }

    /// Paints a row above the cursor once more, and comes back.
    fn paint_above(&mut self, index: usize) -> Result<()> {
        let up = self.lines_up(index);
        let column = if self.open.is_some() || self.status {
            self.rows.last().map_or(0, Row::width)
        } else {
            0
        };
        let row = self.rows[index].painted();
        // To go right by no column is to go right by one.
        let right = if column > 0 { format!("\u{1b}[{column}C") } else { String::new() };
        put(&mut self.out, &format!("\u{1b}[{up}A\r{row}\u{1b}[K\u{1b}[{up}B\r{right}"))
    }

    /// How far above the cursor a row stands.
    fn lines_up(&self, index: usize) -> usize {
        let below_all = usize::from(self.open.is_none() && !self.status);
        self.rows.len() - 1 - index + below_all
    }

    fn can_paint(&self, index: usize) -> bool {
        index >= self.frozen && self.lines_up(index) < self.known.1
    }

    /// Ends the open row: the cursor goes below it.
    fn close(&mut self) -> Result<()> {
        if self.open.take().is_some() || std::mem::take(&mut self.status) {
            put(&mut self.out, "\n")?;
        }
        Ok(())
    }

    /// A paragraph's next piece; `start` is where it begins in its channel.
    fn extend(&mut self, channel: Channel, start: usize, piece: &str) -> Result<()> {
        let columns = self.columns();
        let (start, paragraph) = match self.rows.last() {
            Some(Row::Text { start, text, .. }) if self.open == Some(channel) => {
                (*start, format!("{text}{piece}"))
            }
            _ => {
                self.close()?;
                self.push(Row::Text { channel, start, text: String::new(), live: 0 })?;
                self.open = Some(channel);
                (start, piece.to_owned())
            }
        };
        for (n, range) in wrap(&paragraph, columns).into_iter().enumerate() {
            let text = paragraph[range.clone()].to_owned();
            let live = text.len();
            let row = Row::Text { channel, start: start + range.start, text, live };
            if n == 0 {
                if let Some(last) = self.rows.last_mut() {
                    *last = row;
                }
                self.paint_last()?;
            } else {
                self.push(row)?;
            }
        }
        Ok(())
    }
}

impl<W: Write> Surface for Screen<W> {
    fn text(&mut self, channel: Channel, piece: &str) -> Result<()> {
        self.look_at_the_window()?;
        let mut start = *self.shown(channel);
        *self.shown(channel) += piece.len();
        let mut rest = piece;
        if self.open != Some(channel) {
            // What follows a line of its own starts one; it needs no space before it.
            rest = piece.trim_start_matches(['\n', ' ']);
            start += piece.len() - rest.len();
            if rest.is_empty() {
                return Ok(());
            }
            if self.open.is_some() {
                // Thoughts and the answer stand apart.
                self.line(Line::new())?;
            }
        }
        let mut lines = rest.split('\n').peekable();
        while let Some(line) = lines.next() {
            self.extend(channel, start, line)?;
            start += line.len() + 1;
            if lines.peek().is_some() {
                self.push(Row::Text { channel, start, text: String::new(), live: 0 })?;
            }
        }
        Ok(())
    }

    fn tool(&mut self, line: Line) -> Result<()> {
        self.look_at_the_window()?;
        self.close()?;
        let line = rows_of(line, self.columns()).swap_remove(0);
        self.push(Row::Tool { line, held: true })?;
        put(&mut self.out, "\n")
    }

    fn line(&mut self, line: Line) -> Result<()> {
        self.look_at_the_window()?;
        self.close()?;
        for line in rows_of(line, self.columns()) {
            self.push(Row::Line(line))?;
            put(&mut self.out, "\n")?;
        }
        Ok(())
    }

    fn status(&mut self, line: Line) -> Result<()> {
        self.look_at_the_window()?;
        let line = rows_of(line, self.columns()).swap_remove(0);
        if self.status {
            if let Some(last) = self.rows.last_mut() {
                *last = Row::Line(line);
            }
            return self.paint_last();
        }
        self.close()?;
        self.push(Row::Line(line))?;
        self.status = true;
        Ok(())
    }

    fn take_back(&mut self, channel: Channel, keep: usize) -> Result<()> {
        self.look_at_the_window()?;
        let shown = self.shown(channel);
        *shown = (*shown).min(keep);
        let mut struck = false;
        for index in (0..self.rows.len()).rev() {
            let Row::Text { channel: of, start, text, live } = &mut self.rows[index] else {
                continue;
            };
            if *of != channel || *live == 0 {
                continue;
            }
            let mut stays = keep.saturating_sub(*start).min(*live);
            while !text.is_char_boundary(stays) {
                stays -= 1;
            }
            if stays == *live {
                // Rows come in order: all above this one stay as well.
                break;
            }
            *live = stays;
            struck = true;
            if self.can_paint(index) {
                self.paint_above_or_last(index)?;
            }
        }
        // What follows must not grow out of a row that is struck out.
        if struck && self.open.is_some() { self.close() } else { Ok(()) }
    }

    fn take_back_tools(&mut self, keep: usize) -> Result<()> {
        self.look_at_the_window()?;
        let mut held = 0;
        for index in 0..self.rows.len() {
            let Row::Tool { held: is_held @ true, .. } = &mut self.rows[index] else { continue };
            held += 1;
            if held > keep {
                *is_held = false;
                if self.can_paint(index) {
                    self.paint_above_or_last(index)?;
                }
            }
        }
        Ok(())
    }

    fn is_live(&self) -> bool {
        true
    }

    fn finish(&mut self) -> Result<()> {
        self.close()
    }
}

impl<W: Write> Screen<W> {
    fn paint_above_or_last(&mut self, index: usize) -> Result<()> {
        if self.lines_up(index) == 0 { self.paint_last() } else { self.paint_above(index) }
    }
}

#[cfg(test)]
mod tests;
