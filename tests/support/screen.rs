//! What an app has to do with the events, written as EVENTS.md says it and nothing more.

use rejoin::turn::{EventKind, Reset};

/// A renderer.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Screen {
    pub text: String,
    pub thoughts: String,
    pub tools: Vec<String>,
    pub parts: Vec<String>,
    /// The longest text that was ever shown.
    pub longest: String,
}

impl Screen {
    pub fn of<'e>(events: impl IntoIterator<Item = &'e EventKind>) -> Self {
        let mut screen = Self::default();
        events.into_iter().for_each(|event| screen.apply(event));
        screen
    }

    pub fn apply(&mut self, event: &EventKind) {
        match event {
            EventKind::Text { text } => self.text.push_str(text),
            EventKind::Thought { text } => self.thoughts.push_str(text),
            EventKind::ToolSeen { name } => self.tools.push(name.clone()),
            EventKind::Part { part } => self.parts.push(part.as_str().to_owned()),
            EventKind::Reset(reset) => self.reset(reset),
            _ => {}
        }
        if self.text.len() > self.longest.len() {
            self.longest.clone_from(&self.text);
        }
    }

    fn reset(&mut self, reset: &Reset) {
        let kept = keep_utf16(&self.text, reset.keep_utf16.0);
        assert_eq!(
            kept.len() as u64,
            reset.keep_text_bytes,
            "keep_utf16 and keep_text_bytes are not the same text"
        );
        self.text.truncate(kept.len());
        let kept = keep_utf16(&self.thoughts, reset.keep_thought_utf16.0).len();
        self.thoughts.truncate(kept);
        let (tools, parts) = (reset.keep_tools as usize, reset.keep_parts as usize);
        assert!(tools <= self.tools.len(), "a reset keeps more tools than were seen");
        assert!(parts <= self.parts.len(), "a reset keeps more parts than were shown");
        self.tools.truncate(tools);
        self.parts.truncate(parts);
    }
}

/// The first `units` UTF-16 code units, which must be there and end at a character.
fn keep_utf16(text: &str, units: u64) -> &str {
    let mut left = units;
    for (at, c) in text.char_indices() {
        if left == 0 {
            return &text[..at];
        }
        left = left.checked_sub(c.len_utf16() as u64).expect("a reset cuts a character in two");
    }
    assert_eq!(left, 0, "a reset keeps more than is shown");
    text
}
