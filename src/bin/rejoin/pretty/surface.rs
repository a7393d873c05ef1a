//! What a turn is shown on: a terminal that can be painted, or a stream of text that cannot.

use super::plain::Plain;
use super::screen::Screen;
use super::style::{Line, wanted};
use std::io::{IsTerminal as _, Result, Write};

/// Which of the two texts of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    Answer,
    Thought,
}

/// Shows a turn. Lengths are bytes of what the channel has shown and not taken back.
pub trait Surface {
    /// Appends to a channel.
    fn text(&mut self, channel: Channel, piece: &str) -> Result<()>;
    /// A line about a call that is held.
    fn tool(&mut self, line: Line) -> Result<()>;
    /// A line of its own.
    fn line(&mut self, line: Line) -> Result<()>;
    /// A line that the next call of this replaces where that can be done.
    fn status(&mut self, line: Line) -> Result<()>;
    /// Takes back all of a channel after its first `keep` bytes.
    fn take_back(&mut self, channel: Channel, keep: usize) -> Result<()>;
    /// Takes back all held calls after the first `keep`.
    fn take_back_tools(&mut self, keep: usize) -> Result<()>;
    /// Whether `status` lines replace each other.
    fn is_live(&self) -> bool;
    /// Ends whatever line is open.
    fn finish(&mut self) -> Result<()>;
}

/// Columns of an answer: longer lines are hard to read, however wide the window is.
pub const WIDEST: usize = 100;

/// The surface for this process's standard output. `wrap`: break lines even where it is no
/// terminal.
pub fn surface(wrap: bool) -> Box<dyn Surface> {
    let out = std::io::stdout();
    let env = |name| std::env::var(name).ok();
    if wanted(out.is_terminal(), env("NO_COLOR").as_deref(), env("TERM").as_deref()) {
        return Box::new(Screen::new(out, size));
    }
    Box::new(Plain::new(out, wrap.then(columns)))
}

/// Columns to print in: the window's, or what `COLUMNS` says, or 80.
pub fn columns() -> usize {
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    let columns = if std::io::stdout().is_terminal() { size().map(|(wide, _)| wide) } else { None };
    columns.or_else(told).unwrap_or(80).clamp(20, WIDEST)
}

/// Columns and rows of the window.
fn size() -> Option<(usize, usize)> {
    let (wide, high) = terminal_size::terminal_size()?;
    Some((usize::from(wide.0), usize::from(high.0)))
}

/// Writes and flushes: every piece is to be seen when it comes.
pub fn put(out: &mut impl Write, text: &str) -> Result<()> {
    out.write_all(text.as_bytes())?;
    out.flush()
}
