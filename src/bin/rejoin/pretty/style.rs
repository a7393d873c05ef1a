//! The few looks that a line can have, and the one place where an escape code is written.

use anstyle::{AnsiColor, Effects, Style as Ansi};

/// How a piece of a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// The answer itself.
    Plain,
    /// Beside the point: thoughts, numbers, explanations.
    Dim,
    /// The model's thinking.
    Thought,
    /// Taken back.
    Struck,
    /// What a reader should see first.
    Strong,
    /// Something broke.
    Broken,
    /// Something is whole.
    Whole,
    /// A tool, a key.
    Tool,
}

impl Look {
    fn ansi(self) -> Ansi {
        let color = |color: AnsiColor| Ansi::new().fg_color(Some(color.into()));
        match self {
            Self::Plain => Ansi::new(),
            Self::Dim => Ansi::new().effects(Effects::DIMMED),
            Self::Thought => Ansi::new().effects(Effects::DIMMED | Effects::ITALIC),
            // Dim as well: not every terminal can strike out.
            Self::Struck => Ansi::new().effects(Effects::DIMMED | Effects::STRIKETHROUGH),
            Self::Strong => Ansi::new().effects(Effects::BOLD),
            Self::Broken => color(AnsiColor::Yellow),
            Self::Whole => color(AnsiColor::Green),
            Self::Tool => color(AnsiColor::Cyan),
        }
    }
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub look: Look,
    pub text: String,
}

/// A line of its own, apart from the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line(pub Vec<Span>);

impl Line {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn of(look: Look, text: impl Into<String>) -> Self {
        Self::new().and(look, text)
    }

    /// The line with one more piece. Whatever a server or a model put into it, it stays a line.
    pub fn and(mut self, look: Look, text: impl Into<String>) -> Self {
        self.0.push(Span { look, text: harmless(&text.into()).replace('\n', " ") });
        self
    }

    /// The line without its looks.
    pub fn bare(&self) -> String {
        self.0.iter().map(|span| span.text.as_str()).collect()
    }
}

/// The piece with the escape codes of its look.
pub fn painted(look: Look, text: &str) -> String {
    if text.is_empty() || look == Look::Plain {
        return text.to_owned();
    }
    let style = look.ansi();
    format!("{style}{text}{style:#}")
}

/// A model's text must not be able to steer the terminal: control characters other than line
/// breaks are shown as the replacement character, tabs as spaces.
pub fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push('\n'),
            '\t' => out.push_str("    "),
            '\r' => {}
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

/// Whether looks may be used: only on a terminal that understands them, and only where the user
/// has not asked for none (<https://no-color.org>: set and not empty).
pub fn wanted(is_terminal: bool, no_color: Option<&str>, term: Option<&str>) -> bool {
    let refused = no_color.is_some_and(|value| !value.is_empty());
    is_terminal && !refused && !matches!(term, None | Some("dumb" | ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_for_terminals_whose_user_wants_them() {
        assert!(wanted(true, None, Some("xterm-256color")));
        assert!(wanted(true, Some(""), Some("tmux")));
        assert!(!wanted(true, Some("1"), Some("xterm")));
        assert!(!wanted(true, None, Some("dumb")));
        assert!(!wanted(true, None, None));
        assert!(!wanted(false, None, Some("xterm")));
    }

    #[test]
    fn a_models_text_cannot_steer_the_terminal() {
        assert_eq!(harmless("a\u{1b}[2Jb\r\n\tc\u{9b}m"), "a\u{fffd}[2Jb\n    c\u{fffd}m");
        assert_eq!(Line::of(Look::Dim, "one\ntwo").bare(), "one two");
    }

    #[test]
    fn what_is_taken_back_is_struck_out_and_dim() {
        assert_eq!(painted(Look::Struck, "x"), "\u{1b}[2m\u{1b}[9mx\u{1b}[0m");
        assert_eq!(painted(Look::Plain, "x"), "x");
    }
}
