//! The stories of the two articles, and everything that chance can think of, told to a turn.

mod support;

use proptest::prelude::*;
use rejoin::effect::EffectKey;
use rejoin::turn::{
    AttemptNo, Billing, BodyEnd, Completed, Endpoint, EventKind, Input, Outgoing, Policy, Signal,
    Strategy as Kind, TurnSetup,
};
use serde_json::{Value, json};
use std::time::Duration;
use support::*;

fn setup(policy: Policy) -> TurnSetup {
    TurnSetup { turn_id: "t".to_owned(), body: BODY.to_owned(), policy, ..TurnSetup::default() }
}

fn body(events: &[Value]) -> String {
    events.iter().map(sse).collect()
}

fn completed(run: &Run) -> &Completed {
    match run.last() {
        EventKind::Completed(completed) => completed,
        other => panic!("{other:?}"),
    }
}

fn refund() -> Value {
    json!({"order": "K-204", "cents": 1250})
}

/// The help desk's answer: it breaks off in mid-word, and comes again in other words.
fn first_try() -> String {
    body(&[
        text("Looking at order K-204. "),
        call("pay_back", &refund(), Some("c1")),
        text("I send the mon"),
    ])
}

fn second_try() -> String {
    body(&[
        text("I looked at order K-204. "),
        call("pay_back", &refund(), Some("c7")),
        text("The cup was broken, so you get all of it back."),
        finish("STOP"),
    ])
}

fn help_desk(first: &str, way: Way) -> Run {
    let run = Pair::new(setup(Policy::default()), |k, _| match k {
        0 => Reply::cut(first, way),
        _ => Reply::whole(second_try()),
    })
    .run();
    assert_invariants(&run);
    run
}

/// What three clients make of the same events: the text shown, and how often the tool ran.
fn three_policies(run: &Run) -> [(String, usize); 3] {
    let kinds = || run.events.iter().map(|event| &event.kind);
    let glued = kinds().filter_map(|kind| match kind {
        EventKind::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let ran_at_once = kinds().filter(|kind| matches!(kind, EventKind::ToolSeen { .. })).count();
    let naive = (glued.collect(), ran_at_once);
    let reset_only = (Screen::of(kinds()).text, ran_at_once);
    let rejoin = (completed(run).text.clone(), completed(run).tool_calls.len());
    [naive, reset_only, rejoin]
}

#[test]
fn three_policies_on_one_broken_stream() {
    let run = help_desk(&first_try(), Way::Reset);
    let clean = "I looked at order K-204. The cup was broken, so you get all of it back.";
    let glued = "Looking at order K-204. I send the mon".to_owned() + clean;
    let [naive, reset_only, rejoin] = three_policies(&run);
    assert_eq!(naive, (glued, 2), "naive: glued, and paid twice");
    assert_eq!(reset_only, (clean.to_owned(), 2), "reset only: clean, and paid twice");
    assert_eq!(rejoin, (clean.to_owned(), 1), "reset, and wait for the end");
}

#[test]
fn the_key_of_a_call_is_the_same_whatever_its_id_and_attempt() {
    // As if the first attempt had come to its end.
    let unbroken = first_try() + &sse(&finish("STOP"));
    let run = Pair::new(setup(Policy::default()), |_, _| Reply::whole(&unbroken)).run();
    let (c1, broken) = (&completed(&run).tool_calls[0], help_desk(&first_try(), Way::Cut));
    let c7 = &completed(&broken).tool_calls[0];
    assert_eq!(c1.provider_id.as_deref(), Some("c1"));
    assert_eq!(c7.provider_id.as_deref(), Some("c7"));
    assert_eq!(c1.effect_key, c7.effect_key);
    let key = EffectKey::new("t", "pay_back", &refund(), 0, None).unwrap();
    assert_eq!(key.as_str(), c7.effect_key);
}

#[test]
fn the_socket_closes_after_a_call_in_mid_word_and_just_before_the_finish() {
    let whole = second_try();
    let after = |mark: &str| {
        whole.find(mark).unwrap() + whole[whole.find(mark).unwrap()..].find("\r\n\r\n").unwrap() + 4
    };
    let places = [
        ("after the call", after("functionCall")),
        ("in mid-word", whole.find("broken").unwrap() + 3),
        ("just before the finish", whole.rfind("data:").unwrap()),
        ("in the finish", whole.len() - 9),
    ];
    for (place, at) in places {
        for way in Way::ALL {
            let run = help_desk(&whole[..at], way);
            let completed = completed(&run);
            assert!(completed.text.starts_with("I looked"), "{place}, {way:?}");
            assert_eq!(completed.tool_calls.len(), 1, "{place}, {way:?}: one refund");
            let bills: Vec<_> = completed.attempts.iter().map(|a| a.usage.billing).collect();
            assert_eq!(bills, [Billing::Unknown; 2], "{place}, {way:?}: two attempts were paid");
        }
    }
}

/// One step of a random answer.
#[derive(Debug, Clone)]
enum Step {
    Event(Value),
    Bytes(Vec<u8>),
    Wait(u64),
    Token,
    Hop { with_token: bool },
}

#[derive(Debug, Clone)]
enum Script {
    Refused(u16),
    Unreachable,
    Answer { steps: Vec<Step>, ends: bool, way: Way, after: u64 },
}

impl Script {
    /// The k-th reply. Tokens are new ones each time.
    fn reply(&self, k: usize, endpoint: Endpoint) -> Reply {
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
        "MISSING_THOUGHT_SIGNATURE",
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

fn script() -> impl Strategy<Value = Script> {
    let answer = (
        proptest::collection::vec(step(), 0..9),
        any::<bool>(),
        proptest::sample::select(Way::ALL.to_vec()),
        0u64..3000,
    )
        .prop_map(|(steps, ends, way, after)| Script::Answer { steps, ends, way, after });
    prop_oneof![
        6 => answer,
        1 => proptest::sample::select(vec![429, 503, 400]).prop_map(Script::Refused),
        1 => Just(Script::Unreachable),
    ]
}

fn policy() -> impl Strategy<Value = Policy> {
    (
        proptest::sample::select(vec![0, 1, 5, u64::MAX]),
        (1u32..7, 1u32..4, 1u32..4),
        proptest::option::of(1u64..3000),
        proptest::sample::select(vec![(0, 0.0), (100, 1.0), (1500, 0.5)]),
        proptest::sample::select(vec![100, 32 << 20]),
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
                max_event_bytes: if max_event_bytes < 1000 { 4000 } else { max_event_bytes },
                first_byte_timeout_ms: 2000,
                idle_timeout_ms: 3000,
                non_streaming_timeout_ms: 5000,
                offline_wait_ms: 8000,
                ..Policy::default()
            },
        )
}

fn device() -> impl Strategy<Value = Vec<(u64, What)>> {
    let signal = prop_oneof![
        1 => Just(What::Cancel),
        2 => Just(What::Signal(Signal::NetworkLost)),
        2 => Just(What::Signal(Signal::NetworkAvailable)),
        2 => Just(What::Signal(Signal::NetworkChanged)),
    ];
    proptest::collection::vec((0u64..20_000, signal), 0..4)
}

/// A turn against these scripts; past them the server is well.
fn play(setup: TurnSetup, scripts: &[Script], device: &[(u64, What)]) -> Run {
    let pair = Pair::new(setup, |k: usize, request: &Outgoing| {
        let well = Script::Answer {
            steps: vec![Step::Event(text("All is well."))],
            ends: true,
            way: Way::Clean,
            after: 1,
        };
        scripts.get(k).unwrap_or(&well).reply(k, request.endpoint)
    });
    device.iter().fold(pair, |pair, (at, what)| pair.at(*at, what.clone())).run()
}

/// Everything that an old connection may still say.
fn late_tail(turn: &mut rejoin::turn::Turn, now: Duration, over: u32) {
    let tail = body(&[text("late"), call("pay", &json!({}), None), finish("STOP")]);
    for attempt in (1..=over).map(AttemptNo) {
        turn.handle(now, Input::Sent { attempt });
        turn.handle(now, Input::Head { attempt, status: 503, headers: &[] });
        turn.handle(now, Input::Bytes { attempt, bytes: tail.as_bytes() });
        turn.handle(now, Input::End { attempt, end: BodyEnd::Clean });
        turn.handle(now, Input::Unreachable { attempt, detail: "late" });
    }
    if turn.is_over() {
        turn.handle(now, Input::Cancel);
        turn.handle(now, Input::Signal(Signal::NetworkChanged));
        turn.start(now);
    }
    if turn.next_wake().is_none_or(|wake| wake > now) {
        turn.handle(now, Input::Wake);
    }
}

proptest! {
    #![proptest_config(chances(3000))]

    #[test]
    fn whatever_happens_the_contract_holds(
        scripts in proptest::collection::vec(script(), 1..7),
        policy in policy(),
        device in device(),
        seed in any::<u64>(),
    ) {
        let setup = || TurnSetup { seed, step: Some("s".to_owned()), ..setup(policy.clone()) };
        let run = play(setup(), &scripts, &device);
        assert_invariants(&run);
        let told = run.jsonl();
        prop_assert_eq!(&replay(setup(), &run.inputs), &told, "a replay tells another story");
        let disturbed = replay_with(setup(), &run.inputs, late_tail);
        prop_assert_eq!(&disturbed, &told, "late bytes changed the story");
        let budget = |kind: Kind| kind != Kind::Resume;
        let counted = run.events.iter().filter(|event| {
            matches!(&event.kind, EventKind::AttemptStarted { strategy } if budget(*strategy))
        });
        prop_assert!(counted.count() as u32 <= policy.max_attempts + policy.max_unsent);
    }
}
