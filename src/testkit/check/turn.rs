//! A turn as a renderer sees it: text and resets applied in order.

use serde_json::Value;

/// What is left of a turn's events, and what was ever on the screen.
#[derive(Debug, Default)]
pub(super) struct Turn<'e> {
    /// The answer left after all resets.
    pub(super) text: String,
    /// The thinking summary left after all resets.
    pub(super) thoughts: String,
    /// How many `part` events are left.
    pub(super) parts: usize,
    /// Every state the answer was in, oldest first, as far as it grew: a prefix of a later state
    /// without a reset between is not listed.
    pub(super) shown: Vec<String>,
    /// Every reset and the text it left.
    pub(super) resets: Vec<(&'e Value, String)>,
    /// The `dropped` events.
    pub(super) dropped: Vec<&'e Value>,
    /// How many attempts began.
    pub(super) started: usize,
    /// The last event, if it ends the turn.
    pub(super) ending: Option<&'e Value>,
    /// Resets that cannot be applied, in words.
    pub(super) broken: Vec<String>,
    seen_tools: usize,
}

impl<'e> Turn<'e> {
    /// Applies the events.
    pub(super) fn replay(events: &'e [Value]) -> Self {
        let mut turn = Self::default();
        for event in events {
            let text = event["text"].as_str().unwrap_or_default();
            match kind(event) {
                "text" => turn.text.push_str(text),
                "thought" => turn.thoughts.push_str(text),
                "part" => turn.parts += 1,
                "tool_seen" => turn.seen_tools += 1,
                "attempt_started" => turn.started += 1,
                "dropped" => turn.dropped.push(event),
                "reset" => turn.reset(event),
                "completed" | "failed" => turn.ending = Some(event),
                _ => {}
            }
        }
        turn.shown.push(turn.text.clone());
        turn
    }

    fn reset(&mut self, event: &'e Value) {
        self.shown.push(self.text.clone());
        let seq = &event["seq"];
        let Some(keep) = event["keep_utf16"].as_u64() else {
            self.broken.push(format!("reset {seq} has no `keep_utf16`"));
            return;
        };
        match prefix_utf16(&self.text, keep) {
            Some(kept) => {
                let bytes = &event["keep_text_bytes"];
                if bytes.as_u64() != Some(kept as u64) {
                    let line = format!(
                        "reset {seq}: `keep_text_bytes` is {bytes}, but {keep} UTF-16 units are {kept} bytes"
                    );
                    self.broken.push(line);
                }
                self.text.truncate(kept);
            }
            None => self.broken.push(format!(
                "reset {seq} keeps {keep} UTF-16 units, which is no place in {:?}",
                self.text
            )),
        }
        let keep = event["keep_thought_utf16"].as_u64().unwrap_or(0);
        match prefix_utf16(&self.thoughts, keep) {
            Some(kept) => self.thoughts.truncate(kept),
            None => self.broken.push(format!("reset {seq} keeps more thoughts than there are")),
        }
        for (name, have) in [("keep_parts", &mut self.parts), ("keep_tools", &mut self.seen_tools)]
        {
            let keep = event[name].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
            if keep > *have {
                self.broken.push(format!("reset {seq}: `{name}` is {keep}, there are {have}"));
            }
            *have = keep.min(*have);
        }
        self.resets.push((event, self.text.clone()));
    }

    /// The attempts that the last event lists.
    pub(super) fn attempts(&self) -> &'e [Value] {
        self.ending.and_then(|event| event["attempts"].as_array()).map_or(&[], Vec::as_slice)
    }

    /// The `dropped` event of an attempt.
    pub(super) fn dropped_of(&self, attempt: u64) -> Option<&'e Value> {
        self.dropped.iter().copied().find(|event| event["attempt"].as_u64() == Some(attempt))
    }
}

/// An event's type.
pub(super) fn kind(event: &Value) -> &str {
    event["type"].as_str().unwrap_or_default()
}

/// The length in bytes of the first `units` UTF-16 code units; `None` beyond the end or within a
/// character.
fn prefix_utf16(text: &str, units: u64) -> Option<usize> {
    let mut left = units;
    for (at, c) in text.char_indices() {
        if left == 0 {
            return Some(at);
        }
        left = left.checked_sub(c.len_utf16() as u64)?;
    }
    (left == 0).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_prefixes_fall_on_characters_only() {
        assert_eq!(prefix_utf16("a😀b", 0), Some(0));
        assert_eq!(prefix_utf16("a😀b", 1), Some(1));
        assert_eq!(prefix_utf16("a😀b", 2), None);
        assert_eq!(prefix_utf16("a😀b", 3), Some(5));
        assert_eq!(prefix_utf16("a😀b", 4), Some(6));
        assert_eq!(prefix_utf16("a😀b", 5), None);
    }
}
