//! The bytes of events and errors, as Gemini sends them.
//!
//! Field order is Gemini's, which is why objects are written by serde from structs here and not
//! from a [`serde_json::Value`], whose keys are sorted.

use serde::Serialize;

use super::json::Json;
use super::response::Newline;
use super::step::{ErrorForm, ErrorStep, EventStep, Part, PartBody, Usage};

/// The `modelVersion` of every event.
const MODEL: &str = "m";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    candidates: [Candidate<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_metadata: Option<UsageMetadata<'a>>,
    model_version: &'a str,
    response_id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_message: Option<&'a str>,
    index: u32,
}

#[derive(Serialize)]
struct Content<'a> {
    parts: Vec<WirePart<'a>>,
    role: &'a str,
}

/// A part and its siblings; a raw part is one object by itself.
#[derive(Serialize)]
#[serde(untagged)]
enum WirePart<'a> {
    Built(Box<BuiltPart<'a>>),
    Raw(Json),
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct BuiltPart<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<InlineData<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<&'a Json>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum UsageMetadata<'a> {
    Object(&'a Json),
    Counts(Counts),
}

// The names are the wire's.
#[allow(clippy::struct_field_names)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Counts {
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_token_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates_token_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thoughts_token_count: Option<u64>,
    total_token_count: u64,
}

/// An event's JSON. `usage` is the response's, for an event that has none of its own.
pub(crate) fn event_json(step: &EventStep, usage: Option<&Usage>, response_id: &str) -> String {
    let content = step
        .parts
        .as_ref()
        .map(|parts| Content { parts: parts.iter().map(wire_part).collect(), role: "model" });
    let event = Event {
        candidates: [Candidate {
            content,
            finish_reason: step.finish.as_deref(),
            finish_message: step.finish_message.as_deref(),
            index: 0,
        }],
        usage_metadata: step.usage.as_ref().or(usage).map(usage_metadata),
        model_version: MODEL,
        response_id: step.response_id.as_deref().unwrap_or(response_id),
    };
    to_json(&event)
}

/// An object sent as it is, unless the step lays fields over it.
pub(crate) fn object_json(object: &Json, over: &EventStep) -> String {
    if *over == EventStep::default() {
        return object.as_str().to_owned();
    }
    let mut value = object.to_value();
    let candidate = &mut value["candidates"];
    if candidate.get(0).is_none() {
        *candidate = serde_json::json!([{}]);
    }
    let candidate = &mut candidate[0];
    if let Some(finish) = &over.finish {
        candidate["finishReason"] = finish.as_str().into();
    }
    if let Some(message) = &over.finish_message {
        candidate["finishMessage"] = message.as_str().into();
    }
    if let Some(usage) = &over.usage {
        value["usageMetadata"] = usage_value(usage);
    }
    if let Some(id) = &over.response_id {
        value["responseId"] = id.as_str().into();
    }
    value.to_string()
}

/// Usage as the tree that a merged response needs.
fn usage_value(usage: &Usage) -> serde_json::Value {
    Json::parse(&to_json(&usage_metadata(usage))).map_or(serde_json::Value::Null, |j| j.to_value())
}

fn wire_part(part: &Part) -> WirePart<'_> {
    let mut built = BuiltPart { thought_signature: part.sig.as_deref(), ..BuiltPart::default() };
    match &part.body {
        PartBody::Text(text) => built.text = Some(text),
        PartBody::Thought(text) => {
            built.text = Some(text);
            built.thought = true;
        }
        PartBody::Call { name, args, id } => {
            built.function_call =
                Some(FunctionCall { id: id.as_deref(), name, args: args.as_ref() });
        }
        PartBody::Fill { mime_type, bytes } => {
            // Base64 of zeros; whole groups of four stay decodable.
            built.inline_data = Some(InlineData { mime_type, data: "A".repeat(*bytes) });
        }
        PartBody::Raw(object) => return WirePart::Raw(signed(object, part.sig.as_deref())),
    }
    WirePart::Built(Box::new(built))
}

/// A raw part, with a signature where the script gives one beside it.
fn signed(object: &Json, sig: Option<&str>) -> Json {
    let Some(sig) = sig else { return object.clone() };
    let mut value = object.to_value();
    value["thoughtSignature"] = sig.into();
    Json::from(value)
}

fn usage_metadata(usage: &Usage) -> UsageMetadata<'_> {
    match usage {
        Usage::Object(object) => UsageMetadata::Object(object),
        Usage::Counts(counts) => UsageMetadata::Counts(Counts {
            prompt_token_count: counts[0],
            candidates_token_count: counts[1],
            thoughts_token_count: counts[2],
            total_token_count: counts.iter().flatten().sum(),
        }),
    }
}

/// `data: JSON` and a blank line.
pub(crate) fn sse(json: &str, newline: Newline) -> Vec<u8> {
    let end = newline.as_str();
    format!("data: {json}{end}{end}").into_bytes()
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: ErrorFields<'a>,
}

#[derive(Serialize)]
struct ErrorFields<'a> {
    code: u16,
    message: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a Json>,
}

/// The bytes of an error step in a stream.
pub(crate) fn error_bytes(step: &ErrorStep, newline: Newline) -> Vec<u8> {
    let body = ErrorBody {
        error: ErrorFields {
            code: step.code,
            message: step.message.as_deref().unwrap_or_else(|| usual_message(step.code)),
            status: step.status.as_deref().unwrap_or_else(|| usual_status(step.code)),
            details: step.details.as_ref(),
        },
    };
    match step.form {
        ErrorForm::Data => sse(&to_json(&body), newline),
        ErrorForm::Bare => format!("{}\n", to_pretty(&body)).into_bytes(),
        ErrorForm::Array => format!("[{}\n]\n", to_pretty(&body)).into_bytes(),
    }
}

/// The name of a code in `google.rpc.Code`, by the mapping that its documentation gives.
fn usual_status(code: u16) -> &'static str {
    match code {
        400 | 413 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        402 => "FAILED_PRECONDITION",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        408 | 504 => "DEADLINE_EXCEEDED",
        409 => "ABORTED",
        416 => "OUT_OF_RANGE",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        500 => "INTERNAL",
        501 => "UNIMPLEMENTED",
        502 | 503 => "UNAVAILABLE",
        _ => "UNKNOWN",
    }
}

/// A plain sentence. None holds words that clients classify by: a script has to give those.
fn usual_message(code: u16) -> &'static str {
    match code {
        400 => "Request contains an invalid argument.",
        401 => "Request is missing required authentication credential.",
        403 => "The caller does not have permission.",
        404 => "Requested entity was not found.",
        429 => "Resource has been exhausted.",
        499 => "The operation was cancelled.",
        500 => "An internal error has occurred.",
        503 => "The model is overloaded. Please try again later.",
        504 => "Deadline expired before operation could complete.",
        _ => "The request failed.",
    }
}

/// These structs have string keys only, so writing them cannot fail.
fn to_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn to_pretty<T: Serialize>(value: &T) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::Step;

    fn event(step: &str, usage: Option<&Usage>) -> String {
        match serde_json::from_str::<Step>(step).unwrap() {
            Step::Event(step) => event_json(&step, usage, "r1"),
            Step::Json { object, over } => object_json(&object, &over),
            other => panic!("{other:?} is no event"),
        }
    }

    #[test]
    fn a_text_event_is_byte_for_byte_the_template() {
        let usage = Usage::Counts([Some(5), Some(2), Some(0)]);
        assert_eq!(
            event(r#""X""#, Some(&usage)),
            r#"{"candidates":[{"content":{"parts":[{"text":"X"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":0,"totalTokenCount":7},"modelVersion":"m","responseId":"r1"}"#
        );
    }

    #[test]
    fn a_call_keeps_its_id_arguments_and_signature() {
        assert_eq!(
            event(r#"{"call":"n","args":{"b": 2.0, "a": 1},"id":"a1","sig":"c2ln"}"#, None),
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"id":"a1","name":"n","args":{"b":2.0,"a":1}},"thoughtSignature":"c2ln"}],"role":"model"},"index":0}],"modelVersion":"m","responseId":"r1"}"#
        );
    }

    #[test]
    fn finish_alone_has_no_content_and_empty_text_has_one() {
        assert!(!event(r#"{"finish":"STOP"}"#, None).contains("content"));
        assert!(event(r#"{"text":"","finish":"STOP"}"#, None).contains(r#""parts":[{"text":""}]"#));
    }

    #[test]
    fn missing_counts_are_not_sent_and_the_total_is_the_sum() {
        let json = event(r#"{"text":"a","usage":[10,null,4]}"#, None);
        let usage = r#""usageMetadata":{"promptTokenCount":10,"thoughtsTokenCount":4,"totalTokenCount":14}"#;
        assert!(json.contains(usage), "{json}");
        assert!(
            event(r#"{"text":"a","usage":{"trafficType":"X"}}"#, None)
                .contains(r#"{"trafficType":"X"}"#)
        );
    }

    #[test]
    fn a_json_step_is_sent_as_it_is_and_can_be_laid_over() {
        assert_eq!(event("{\"json\": {\n\"z\": 1.0,\n \"a\": {}}}", None), r#"{"z":1.0,"a":{}}"#);
        let over = event(r#"{"json":{"candidates":[{"x":1}]},"finish":"STOP"}"#, None);
        assert_eq!(over, r#"{"candidates":[{"finishReason":"STOP","x":1}]}"#);
    }

    #[test]
    fn an_error_comes_in_three_forms() {
        let error = |form| {
            let mut step = ErrorStep {
                code: 503,
                form,
                status: None,
                message: Some("No.".into()),
                details: None,
            };
            step.details = Some(Json::parse("[]").unwrap());
            String::from_utf8(error_bytes(&step, Newline::Lf)).unwrap()
        };
        let bare = "{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"No.\",\n    \"status\": \"UNAVAILABLE\",\n    \"details\": []\n  }\n}";
        assert_eq!(error(ErrorForm::Bare), format!("{bare}\n"));
        assert_eq!(error(ErrorForm::Array), format!("[{bare}\n]\n"));
        assert_eq!(
            error(ErrorForm::Data),
            "data: {\"error\":{\"code\":503,\"message\":\"No.\",\"status\":\"UNAVAILABLE\",\"details\":[]}}\n\n"
        );
    }
}
