//! Writes what a Gemini server writes: events, errors, whole objects.

use super::Told;
use serde_json::{Value, json};

/// Line ends of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    AsIs,
    Lf,
    Cr,
}

/// The body with other line ends; its JSON has none of its own.
pub fn with_newlines(body: &str, line: Line) -> String {
    let lf = || body.replace("\r\n", "\n");
    match line {
        Line::AsIs => body.to_owned(),
        Line::Lf => lf(),
        Line::Cr => lf().replace('\n', "\r"),
    }
}

/// One event.
pub fn sse(event: &Value) -> String {
    format!("data: {event}\r\n\r\n")
}

/// An event with one part.
pub fn part(part: &Value) -> Value {
    json!({"candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}]})
}

pub fn text(text: &str) -> Value {
    part(&json!({ "text": text }))
}

pub fn thought(text: &str) -> Value {
    part(&json!({"text": text, "thought": true}))
}

pub fn call(name: &str, args: &Value, id: Option<&str>) -> Value {
    let mut call = json!({"name": name, "args": args});
    if let Some(id) = id {
        call["id"] = json!(id);
    }
    part(&json!({ "functionCall": call }))
}

pub fn finish(reason: &str) -> Value {
    json!({"candidates": [{"finishReason": reason, "index": 0}]})
}

/// A bare, pretty-printed error, as it arrives in the middle of a stream.
pub fn error(code: u16) -> String {
    let error =
        json!({"error": {"code": code, "message": "Try again later.", "status": "UNAVAILABLE"}});
    serde_json::to_string_pretty(&error).unwrap()
}

/// What `:generateContent` gives where a stream would have told this.
pub fn unary(told: &Told) -> String {
    let content = json!({"parts": told.parts, "role": "model"});
    let candidate = json!({"content": content, "finishReason": told.finish, "index": 0});
    let mut answer = json!({"candidates": [candidate], "modelVersion": "m"});
    if let Some(usage) = &told.usage {
        answer["usageMetadata"] = usage.clone();
    }
    serde_json::to_string_pretty(&answer).unwrap()
}
