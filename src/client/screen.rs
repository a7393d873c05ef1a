//! What a screen that applied all events so far shows: for subscribers that come late.

use crate::turn::{AttemptNo, Event, EventKind, Reset, Strategy};

/// The state of a screen, as the renderer's two rules make it: append, and keep what a reset says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Screen {
    /// How many events this state includes: the cursor to read on from.
    pub cursor: u64,
    /// The running or last attempt; 0 before the first event.
    pub attempt: u32,
    /// What that attempt is.
    pub strategy: Option<Strategy>,
    /// The answer so far.
    pub text: String,
    /// The thinking summary so far.
    pub thoughts: String,
    /// Names of the tools seen, in order.
    pub tools_seen: Vec<String>,
    /// Other parts so far, each a JSON object.
    pub parts: Vec<String>,
    /// The last reset and the attempt it began.
    pub last_reset: Option<(AttemptNo, Reset)>,
    /// The event that came last.
    pub last_event: Option<Event>,
    /// True if no event will follow.
    pub finished: bool,
}

impl Screen {
    /// Applies the events that it does not include yet. Events before the cursor are never looked
    /// at again, so that many snapshots of a turn cost no more than one.
    pub(super) fn advance(&mut self, events: &[Event]) {
        let done = usize::try_from(self.cursor).unwrap_or(usize::MAX).min(events.len());
        for event in &events[done..] {
            self.apply(event);
        }
        if let Some(last) = events.last() {
            self.last_event = Some(last.clone());
        }
        self.cursor = events.len() as u64;
    }

    fn apply(&mut self, event: &Event) {
        self.attempt = event.attempt.0;
        match &event.kind {
            EventKind::AttemptStarted { strategy } => self.strategy = Some(*strategy),
            EventKind::Text { text } => self.text.push_str(text),
            EventKind::Thought { text } => self.thoughts.push_str(text),
            EventKind::ToolSeen { name } => self.tools_seen.push(name.clone()),
            EventKind::Part { part } => self.parts.push(part.as_str().to_owned()),
            EventKind::Reset(reset) => {
                truncate_utf16(&mut self.text, reset.keep_utf16.0);
                truncate_utf16(&mut self.thoughts, reset.keep_thought_utf16.0);
                self.tools_seen.truncate(reset.keep_tools as usize);
                self.parts.truncate(reset.keep_parts as usize);
                self.last_reset = Some((event.attempt, reset.clone()));
            }
            EventKind::Dropped(_)
            | EventKind::Waiting { .. }
            | EventKind::Completed(_)
            | EventKind::Failed(_) => {}
        }
    }
}

fn truncate_utf16(text: &mut String, keep: u64) {
    let mut units = 0;
    let end = text.char_indices().find_map(|(at, c)| {
        units += c.len_utf16() as u64;
        (units > keep).then_some(at)
    });
    if let Some(end) = end {
        text.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_cuts_in_utf16_units() {
        let mut text = "a😀b".to_owned();
        truncate_utf16(&mut text, 3);
        assert_eq!(text, "a😀");
        truncate_utf16(&mut text, 9);
        assert_eq!(text, "a😀");
        truncate_utf16(&mut text, 0);
        assert_eq!(text, "");
    }
}
