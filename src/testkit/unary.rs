//! The steps of a response merged into the one JSON object that `:generateContent` answers with.

use serde_json::{Map, Value, json};

use super::body::Move;
use super::json::Json;
use super::response::Response;
use super::step::{ErrorForm, ErrorStep, Step};
use super::wire::{error_bytes, event_json, object_json};

/// Pauses and, where the last event stood, the one object. An error step makes the whole body
/// that error. Bytes count as events as far as they are `data:` lines; with nothing but other
/// bytes, these are the body, as they are.
pub(crate) fn items(response: &Response, response_id: &str) -> Vec<Move> {
    let mut merged: Option<Value> = None;
    let mut error: Option<&ErrorStep> = None;
    let mut raw = Vec::new();
    let mut items = Vec::new();
    // Where the body goes: after the last step that sends anything.
    let mut place = None;
    for step in &response.send {
        match step {
            Step::WaitMs(ms) => items.push(Move::Wait(*ms)),
            Step::WaitNext(ms) => items.push(Move::WaitNext(*ms)),
            other => {
                place = Some(items.len());
                match other {
                    Step::Event(event) => {
                        let json = event_json(event, response.usage.as_ref(), response_id);
                        merge_text(&mut merged, &json);
                    }
                    Step::Json { object, over } => {
                        merge_text(&mut merged, &object_json(object, over));
                    }
                    Step::Raw(bytes) => {
                        merge_sse(&mut merged, bytes);
                        raw.extend_from_slice(bytes);
                    }
                    Step::Error(step) => error = Some(step),
                    Step::WaitMs(_) | Step::WaitNext(_) => {}
                }
            }
        }
    }
    let body = match (error, merged) {
        (Some(step), _) => {
            let step = ErrorStep { form: ErrorForm::Bare, ..step.clone() };
            error_bytes(&step, response.newline)
        }
        (None, Some(value)) => format!("{value}\n").into_bytes(),
        (None, None) => raw,
    };
    if let Some(place) = place {
        items.insert(place, Move::Write(body));
    }
    items
}

/// Merges the `data:` lines of raw bytes.
fn merge_sse(merged: &mut Option<Value>, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for data in text.split(['\r', '\n']).filter_map(|line| line.strip_prefix("data:")) {
        merge_text(merged, data.trim_start());
    }
}

fn merge_text(merged: &mut Option<Value>, json: &str) {
    let Ok(Value::Object(event)) = Json::parse(json).map(|json| json.to_value()) else { return };
    let whole = merged.get_or_insert_with(|| json!({}));
    for (key, value) in event {
        match (key.as_str(), value) {
            ("candidates", Value::Array(candidates)) => merge_candidates(whole, candidates),
            // Counts are cumulative, ids constant: the last one stands.
            (_, value) => whole[key.as_str()] = value,
        }
    }
}

/// Candidates merge by position; of each, parts are appended and all else is replaced.
fn merge_candidates(whole: &mut Value, candidates: Vec<Value>) {
    if !whole["candidates"].is_array() {
        whole["candidates"] = json!([]);
    }
    let Some(known) = whole["candidates"].as_array_mut() else { return };
    for (index, candidate) in candidates.into_iter().enumerate() {
        let Value::Object(fields) = candidate else { continue };
        if known.len() <= index {
            known.push(Value::Object(Map::new()));
        }
        for (key, value) in fields {
            if key == "content" {
                merge_content(&mut known[index]["content"], value);
            } else {
                known[index][key.as_str()] = value;
            }
        }
    }
}

fn merge_content(known: &mut Value, content: Value) {
    let Value::Object(fields) = content else { return };
    if !known.is_object() {
        *known = json!({});
    }
    for (key, value) in fields {
        match (known.get_mut(&key), value) {
            (Some(Value::Array(parts)), Value::Array(more)) if key == "parts" => parts.extend(more),
            (_, value) => known[key.as_str()] = value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(response: &str) -> Vec<Move> {
        items(&serde_json::from_str(response).unwrap(), "r3")
    }

    fn body(response: &str) -> Value {
        let items = of(response);
        let [Move::Write(bytes)] = items.as_slice() else { panic!("{items:?}") };
        serde_json::from_slice(bytes).unwrap()
    }

    #[test]
    fn parts_join_and_the_last_finish_and_usage_stand() {
        let value = body(
            r#"{"usage": [5, 9, 0], "send": ["I ", {"text": "look. ", "usage": [5, 2, 0]},
                {"call": "f", "args": {"q": 1}},
                {"json": {"candidates": [{"content": {"parts": [{"text": "x"}]}, "continuationToken": "t"}]}},
                {"finish": "STOP"}]}"#,
        );
        assert_eq!(
            value["candidates"][0]["content"],
            json!({"role": "model", "parts": [{"text": "I "}, {"text": "look. "},
                {"functionCall": {"name": "f", "args": {"q": 1}}}, {"text": "x"}]})
        );
        assert_eq!(value["candidates"][0]["finishReason"], "STOP");
        assert_eq!(value["candidates"][0]["continuationToken"], "t");
        assert_eq!(value["usageMetadata"]["candidatesTokenCount"], 9);
        assert_eq!(value["responseId"], "r3");
    }

    #[test]
    fn an_error_step_is_the_whole_body() {
        assert_eq!(
            body(r#"{"send": ["a", {"error": 503, "form": "data"}]}"#)["error"]["code"],
            503
        );
    }

    #[test]
    fn raw_data_lines_merge_and_a_raw_page_stays_a_page() {
        let value = body(
            r#"{"send": [": k\n", {"raw": ": k\n\ndata: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\r\n\r\n"}]}"#,
        );
        assert_eq!(value["candidates"][0]["finishReason"], "STOP");
        assert_eq!(of(r#"{"send": [{"raw": "<p>hi"}]}"#), [Move::Write(b"<p>hi".to_vec())]);
    }

    #[test]
    fn waits_stay_in_front_of_the_object_or_behind_it() {
        let items = of(r#"{"send": ["a", {"wait_ms": 5}, "b", {"wait_next": 7}]}"#);
        assert!(
            matches!(items.as_slice(), [Move::Wait(5), Move::Write(_), Move::WaitNext(7)]),
            "{items:?}"
        );
    }

    #[test]
    fn nothing_sent_is_no_body() {
        assert_eq!(of(r#"{"end": "hang"}"#), []);
    }
}
