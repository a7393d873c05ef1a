//! A slow reader of streams that shares nothing with the crate: blank lines and `serde_json::Value`.
//! What it says of a whole body is what a turn has to come to.

use serde_json::{Map, Value, json};

/// What a whole body says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    pub text: String,
    pub thoughts: String,
    pub calls: Vec<(String, Value)>,
    pub finish: String,
    /// The parts of the history.
    pub parts: Vec<Value>,
    pub usage: Option<Value>,
}

/// The events of a body, whatever its line ends. `None` if one is no JSON object.
pub fn slow_events(body: &str) -> Option<Vec<Value>> {
    let body = body.strip_prefix('\u{feff}').unwrap_or(body);
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Vec::new();
    for block in body.split("\n\n") {
        let data: Vec<_> = block.lines().filter_map(|line| line.strip_prefix("data:")).collect();
        let data = data.join("\n");
        if !data.trim().is_empty() {
            events.push(serde_json::from_str(&data).ok().filter(Value::is_object)?);
        }
    }
    Some(events)
}

/// Why an event says that the answer is over, if it does.
pub fn finish_reason(event: &Value) -> Option<&str> {
    let reason = event["candidates"][0]["finishReason"].as_str()?;
    (reason != "FINISH_REASON_UNSPECIFIED").then_some(reason)
}

/// Reads a whole body, or as much of it as `events` holds.
pub fn slow_read(events: &[Value]) -> Told {
    let mut told = Told::default();
    let mut open: Option<usize> = None;
    for event in events {
        if event["usageMetadata"].is_object() {
            told.usage = Some(event["usageMetadata"].clone());
        }
        let candidate = &event["candidates"][0];
        if let Some(reason) = finish_reason(event) {
            reason.clone_into(&mut told.finish);
        }
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            if let Some(call) = part.get("functionCall") {
                read_call(&mut told, &mut open, part, call);
                continue;
            }
            if part.as_object().is_some_and(Map::is_empty) {
                continue;
            }
            let text = part["text"].as_str().unwrap_or("");
            match part["thought"].as_bool() {
                Some(true) => told.thoughts.push_str(text),
                _ => told.text.push_str(text),
            }
            told.parts.push(part.clone());
        }
    }
    for part in &told.parts {
        if let Some(call) = part.get("functionCall") {
            let args = call.get("args").cloned().unwrap_or_else(|| json!({}));
            told.calls.push((call["name"].as_str().unwrap().to_owned(), args));
        }
    }
    told
}

fn read_call(told: &mut Told, open: &mut Option<usize>, part: &Value, call: &Value) {
    let goes_on = call["willContinue"] == json!(true);
    let partial = call.get("partialArgs").and_then(Value::as_array);
    if open.is_none() && !goes_on && partial.is_none() {
        told.parts.push(part.clone());
        return;
    }
    let place = *open.get_or_insert_with(|| {
        let mut whole = part.clone();
        let fields = whole["functionCall"].as_object_mut().unwrap();
        fields.remove("partialArgs");
        fields.remove("willContinue");
        fields.insert("args".to_owned(), json!({}));
        told.parts.push(whole);
        told.parts.len() - 1
    });
    for arg in partial.into_iter().flatten() {
        let path = arg["jsonPath"].as_str().unwrap();
        let pointer = path.trim_start_matches('$').replace('[', ".").replace(']', "");
        let mut at = &mut told.parts[place]["functionCall"]["args"];
        for key in pointer.split('.').filter(|key| !key.is_empty()) {
            if at.is_null() {
                *at = if key.parse::<usize>().is_ok() { json!([]) } else { json!({}) };
            }
            at = match (key.parse::<usize>(), at) {
                (Ok(index), Value::Array(items)) => {
                    items.resize(items.len().max(index + 1), Value::Null);
                    &mut items[index]
                }
                (_, Value::Object(fields)) => fields.entry(key.to_owned()).or_insert(Value::Null),
                (_, other) => panic!("{path} does not fit {other}"),
            };
        }
        if let Some(piece) = arg["stringValue"].as_str() {
            *at = json!(at.as_str().unwrap_or("").to_owned() + piece);
        } else if let Some(value) = arg.get("numberValue").or(arg.get("boolValue")) {
            *at = value.clone();
        }
    }
    if !goes_on {
        *open = None;
    }
}

/// Where two texts part, for people.
pub fn first_difference(a: &str, b: &str) -> String {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| {
        let from = text.floor_char_boundary(same.saturating_sub(30));
        let to = text.ceil_char_boundary((same + 30).min(text.len()));
        text[from..to].to_owned()
    };
    format!("at byte {same}: {:?} / {:?}", around(a), around(b))
}
