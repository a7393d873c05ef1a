//! An event without its words: what two runs of a turn must agree on.

use crate::turn::{Event, EventKind, Utf16Len};
use serde_json::{Value, json};

/// The event's type, attempt and numbers; lengths in place of texts.
pub(super) fn shape(event: &Event) -> Value {
    let mut shape = match &event.kind {
        EventKind::Text { text } => json!({"type": "text", "text_utf16": Utf16Len::of(text)}),
        EventKind::Thought { text } => {
            json!({"type": "thought", "thought_utf16": Utf16Len::of(text)})
        }
        EventKind::Part { part } => {
            let keys: Option<Vec<String>> = serde_json::from_str::<Value>(part.as_str())
                .ok()
                .and_then(|part| Some(part.as_object()?.keys().cloned().collect()));
            json!({"type": "part", "part_fields": keys})
        }
        EventKind::Completed(done) => json!({
            "type": "completed",
            "text_utf16": Utf16Len::of(&done.text),
            "finish": done.finish,
            "tools": done.tool_calls.iter().map(|call| &call.name).collect::<Vec<_>>(),
            "attempts": done.attempts,
            "spend": done.spend,
        }),
        EventKind::Failed(failed) => json!({
            "type": "failed",
            "partial_utf16": Utf16Len::of(&failed.partial_text),
            "kind": failed.error.kind,
            "reason": failed.error.reason,
            "http_status": failed.error.http_status,
            "attempts": failed.attempts,
            "spend": failed.spend,
        }),
        EventKind::AttemptStarted { .. }
        | EventKind::ToolSeen { .. }
        | EventKind::Dropped(_)
        | EventKind::Waiting { .. }
        | EventKind::Reset(_) => serde_json::to_value(&event.kind).unwrap_or_default(),
    };
    if let Value::Object(fields) = &mut shape {
        fields.insert("attempt".to_owned(), event.attempt.0.into());
        // The server's own words.
        fields.remove("detail");
    }
    shape
}
