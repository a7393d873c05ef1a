//! The stories of the two articles, and everything that chance can think of, told to a turn.

mod support;

use proptest::prelude::*;
use rejoin::effect::EffectKey;
use rejoin::turn::{
    AttemptNo, Billing, BodyEnd, Completed, EventKind, Input, Outgoing, Policy, Signal,
    Strategy as Kind, TurnSetup,
};
use serde_json::{Value, json};
use std::time::Duration;
use support::chance::{Script, Step, device, policy, script};
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
        let sent = run.events.iter().filter(|event| {
            matches!(&event.kind, EventKind::AttemptStarted { strategy } if *strategy != Kind::Resume)
        });
        let budget = policy.max_attempts + policy.max_unsent;
        prop_assert!(sent.count() <= budget as usize, "more requests than the policy allows");
    }
}
