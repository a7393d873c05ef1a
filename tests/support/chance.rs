//! What chance may do to a turn: answers, faults, policies, and what the device says meanwhile.

use super::*;
use proptest::prelude::*;
use rejoin::turn::{Endpoint, Policy, Signal};
use serde_json::{Value, json};

/// One step of a random answer.
#[derive(Debug, Clone)]
pub enum Step {
    Event(Value),
    Bytes(Vec<u8>),
    Wait(u64),
    Token,
    Hop { with_token: bool },
}

#[derive(Debug, Clone)]
pub enum Script {
    Refused(u16),
    Unreachable,
    Answer { steps: Vec<Step>, ends: bool, way: Way, after: u64 },
}

impl Script {
    /// The k-th reply. Tokens are new ones each time.
    pub fn reply(&self, k: usize, endpoint: Endpoint) -> Reply {
        let (steps, ends, way, after) = match self {
            Self::Refused(status) => return Reply::refusal(*status, &error(*status)),
            Self::Unreachable => return Reply::unreachable(),
            Self::Answer { steps, ends, way, after } => (steps, ends, way, after),
        };
        let mut reply = Reply(vec![(*after, What::Head(200, Vec::new()))]);
        let mut pause = 0;
        let mut all = Vec::new();
        let stop = [Step::Event(finish("STOP"))];
        for (i, step) in steps.iter().chain(stop.iter().filter(|_| *ends)).enumerate() {
            let token = format!("token-{k}-{i}");
            let event = match step {
                Step::Wait(ms) => {
                    pause += ms;
                    continue;
                }
                Step::Bytes(bytes) => {
                    reply
                        .0
                        .push((std::mem::take(&mut pause), What::Bytes(bytes.as_slice().into())));
                    continue;
                }
                Step::Event(event) => event.clone(),
                Step::Token => json!({"candidates": [{"continuationToken": token}]}),
                Step::Hop { with_token: false } => finish("CONTINUATION"),
                Step::Hop { with_token: true } => json!({"candidates": [
                    {"finishReason": "CONTINUATION", "continuationToken": token}]}),
            };
            if endpoint == Endpoint::Stream {
                let bytes = sse(&event).into_bytes();
                reply.0.push((std::mem::take(&mut pause), What::Bytes(bytes.as_slice().into())));
            }
            all.push(event);
        }
        if endpoint == Endpoint::Unary {
            let one = in_one_piece(&all).to_string();
            reply.0.push((pause, What::Bytes(one.as_bytes().into())));
        }
        reply.ended(*way)
    }
}

/// The same answer as one object.
fn in_one_piece(events: &[Value]) -> Value {
    let mut one = json!({});
    let mut parts = Vec::new();
    for event in events {
        let mut candidate = event["candidates"][0].clone();
        parts.extend(candidate["content"]["parts"].as_array().cloned().unwrap_or_default());
        for (key, value) in
            event.as_object().unwrap().iter().filter(|(key, _)| *key != "candidates")
        {
            one[key] = value.clone();
        }
        for (key, value) in candidate.as_object_mut().into_iter().flatten() {
            if one["candidates"].is_null() {
                one["candidates"] = json!([{}]);
            }
            one["candidates"][0][key] = value.take();
        }
    }
    if one["candidates"].is_array() {
        one["candidates"][0]["content"] = json!({"role": "model", "parts": parts});
    }
    one
}

fn words() -> impl Strategy<Value = String> {
    let word = proptest::sample::select(vec![
        "One. ",
        "Two sentences. Here. ",
        "half a",
        " word",
        "\n\n",
        "- item\n",
        "1. first\n",
        "2. second\n",
        "```rust\nfn x() {}\n",
        "```\n",
        "日本語です。",
        "🇯🇵 e\u{301}",
        "Done! ",
        "| a | b |\n",
        "**bold ",
        "3.14 ",
        "The lamp of the lighthouse was lit at six, and nobody knew by whom. ",
        "It burnt all night. ",
        "Certainly! Here is the continuation:\n\n",
        "no no ",
        "",
    ]);
    proptest::collection::vec(word, 0..5).prop_map(|words| words.concat())
}

fn step() -> impl Strategy<Value = Step> {
    let name = proptest::sample::select(vec!["pay", "mail"]);
    let id = proptest::option::of(proptest::sample::select(vec!["c1", "c2"]));
    let calls = (name, 0..2, id).prop_map(|(name, n, id)| call(name, &json!({ "n": n }), id));
    let fragment = proptest::sample::select(vec![
        json!({"name": "book", "willContinue": true}),
        json!({"partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}], "willContinue": true}),
        json!({}),
    ]);
    let others = proptest::sample::select(vec![
        json!({"executableCode": {"code": "1"}}),
        json!({"codeExecutionResult": {"output": "1"}}),
        json!({"inlineData": {"mimeType": "image/png", "data": "AA=="}}),
        json!({"text": "", "thoughtSignature": "c2ln"}),
        json!({"text": "Signed. ", "thoughtSignature": "c2ln"}),
        json!({"thoughtSignature": "c2ln"}),
        json!({"newKind": 1}),
    ]);
    let reasons = proptest::sample::select(vec![
        "STOP",
        "STOP",
        "MAX_TOKENS",
        "SAFETY",
        "NEW_REASON",
        "MALFORMED_FUNCTION_CALL",
        "OTHER",
        "MISSING_THOUGHT_SIGNATURE",
        "FINISH_REASON_UNSPECIFIED",
    ]);
    let usage = (0u64..900, 0u64..1500).prop_map(
        |(c, t)| json!({"usageMetadata": {"candidatesTokenCount": c, "thoughtsTokenCount": t}}),
    );
    prop_oneof![
        8 => words().prop_map(|words| Step::Event(text(&words))),
        2 => words().prop_map(|words| Step::Event(thought(&words))),
        2 => calls.prop_map(Step::Event),
        1 => fragment.prop_map(|call| Step::Event(part(&json!({ "functionCall": call })))),
        2 => others.prop_map(|other| Step::Event(part(&other))),
        1 => reasons.prop_map(|reason| Step::Event(finish(reason))),
        1 => usage.prop_map(Step::Event),
        1 => any::<u8>().prop_map(|id| Step::Event(json!({"responseId": format!("r{}", id % 2)}))),
        1 => Just(Step::Event(json!({"candidates": [{"groundingMetadata": {"x": 1}}]}))),
        1 => (0u64..4000).prop_map(Step::Wait),
        1 => Just(Step::Token),
        1 => any::<bool>().prop_map(|with_token| Step::Hop { with_token }),
        1 => proptest::sample::select(vec![error(503), error(429), "data: {\"a".to_owned(), ": x\n".to_owned()])
            .prop_map(|bytes| Step::Bytes(bytes.into_bytes())),
    ]
}

pub fn script() -> impl Strategy<Value = Script> {
    let answer = (
        proptest::collection::vec(step(), 0..9),
        any::<bool>(),
        proptest::sample::select(Way::ALL.to_vec()),
        prop_oneof![8 => 0u64..500, 1 => 500u64..3000],
    )
        .prop_map(|(steps, ends, way, after)| Script::Answer { steps, ends, way, after });
    prop_oneof![
        6 => answer,
        1 => proptest::sample::select(vec![429, 503, 400]).prop_map(Script::Refused),
        1 => Just(Script::Unreachable),
    ]
}

pub fn policy() -> impl Strategy<Value = Policy> {
    (
        proptest::sample::select(vec![0, 1, 5, u64::MAX]),
        (1u32..7, 1u32..4, 1u32..4),
        proptest::option::of(1u64..3000),
        proptest::sample::select(vec![(0, 0.0), (100, 1.0), (1500, 0.5)]),
        proptest::sample::select(vec![400, 32 << 20]),
    )
        .prop_map(
            |(min, (attempts, unsent, drops), spend, (hold, jitter), max_event_bytes)| Policy {
                min_continue_tokens: min,
                max_attempts: attempts,
                max_unsent: unsent,
                stream_drops_before_fallback: drops,
                max_output_spend_tokens: spend,
                seam_hold_ms: hold,
                backoff_jitter: jitter,
                max_event_bytes,
                first_byte_timeout_ms: 2000,
                idle_timeout_ms: 3000,
                non_streaming_timeout_ms: 5000,
                offline_wait_ms: 8000,
                ..Policy::default()
            },
        )
}

pub fn device() -> impl Strategy<Value = Vec<(u64, What)>> {
    let signal = prop_oneof![
        1 => Just(What::Cancel),
        2 => Just(What::Signal(Signal::NetworkLost)),
        2 => Just(What::Signal(Signal::NetworkAvailable)),
        2 => Just(What::Signal(Signal::NetworkChanged)),
        2 => Just(What::Signal(Signal::WillSuspend)),
        2 => Just(What::Signal(Signal::Resumed)),
        1 => (0u64..20_000).prop_map(What::Slept),
    ];
    proptest::collection::vec((0u64..20_000, signal), 0..5)
}
