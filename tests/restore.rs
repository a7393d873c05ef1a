//! A turn that is taken down as data at any moment and goes on elsewhere ends with the same answer.

mod support;

use proptest::prelude::*;
use rejoin::turn::{
    Action, AttemptNo, Billing, Budget, Cause, Completed, Endpoint, Event, EventKind, Outcome,
    Outgoing, Policy, Restore, Snapshot, SnapshotError, Strategy as Kind, Turn, TurnSetup,
};
use serde_json::{Value, json};
use std::time::Duration;
use support::chance::{Script, Step, device, policy, script};
use support::proof::{Hand, all_streams, setup};
use support::*;

/// Through the journal's form and back, as in another process.
fn through_json(snapshot: &Snapshot) -> Snapshot {
    let read = Snapshot::from_json(&snapshot.to_json()).expect("what was written can be read");
    assert_eq!(read.to_json(), snapshot.to_json(), "a snapshot changes by being read");
    read.with_body(snapshot.body().expect("a body")).expect("the same request")
}

fn restored(snapshot: &Snapshot) -> Turn {
    let snapshot = through_json(snapshot);
    Turn::restore(Restore {
        snapshot,
        budget: Budget::default(),
        secrets: Vec::new(),
        away: Duration::from_mins(1),
    })
    .unwrap()
}

/// A turn to which things happen one by one.
struct Old {
    turn: Turn,
    events: Vec<Event>,
    sent: usize,
    now: Duration,
}

impl Old {
    fn start(setup: TurnSetup) -> Self {
        let mut old =
            Self { turn: Turn::new(setup), events: Vec::new(), sent: 0, now: Duration::ZERO };
        old.turn.start(Duration::ZERO);
        old.drain();
        old
    }

    fn drain(&mut self) {
        while let Some(action) = self.turn.poll_action() {
            match action {
                Action::Emit(event) => self.events.push(event),
                Action::Send(_) => self.sent += 1,
                Action::Abort { .. } => {}
            }
        }
    }

    fn feed(&mut self, happening: &Happening) {
        self.now = happening.at;
        happening.feed(&mut self.turn);
        self.drain();
    }

    fn what(&mut self, what: What) {
        let (at, attempt) = (self.now, AttemptNo(1));
        self.feed(&Happening { at, attempt, what });
    }

    fn attempt(&self) -> (AttemptNo, Kind) {
        let started = |event: &Event| match event.kind {
            EventKind::AttemptStarted { strategy } => Some((event.attempt, strategy)),
            _ => None,
        };
        self.events.iter().rev().find_map(started).expect("an attempt")
    }

    fn screen(&self) -> Screen {
        Screen::of(self.events.iter().map(|event| &event.kind))
    }
}

/// How a well-behaved model goes on: exactly the rest, or all of it where the request asks for it.
fn answer_to(stream: &Stream, request: &Outgoing) -> Reply {
    let body: Value = serde_json::from_str(&request.body).unwrap();
    let contents = body["contents"].as_array().unwrap();
    if contents.len() == 1 {
        return match request.endpoint {
            Endpoint::Stream => Reply::whole(&stream.body),
            Endpoint::Unary => Reply::whole(unary(&stream.told)),
        };
    }
    let committed = contents[contents.len() - 2]["parts"][0]["text"].as_str().unwrap();
    let rest = stream.told.text.strip_prefix(committed).expect("committed text is a prefix");
    Reply::whole(sse(&text(rest)) + &sse(&finish(&stream.told.finish)))
}

fn completed(run: &Run) -> &Completed {
    match run.last() {
        EventKind::Completed(completed) => completed,
        other => panic!("{other:?}"),
    }
}

/// Kills the process after each event of the stream, and goes on in another one.
fn killed_after_each_event(stream: &Stream, policy: &Policy) -> (usize, usize) {
    let whole = Hand::of(&stream.told);
    let (mut kills, mut continued) = (0, 0);
    let mut old = Old::start(setup(policy.clone()));
    old.what(What::Sent);
    old.what(What::Head(200, Vec::new()));
    for (i, event) in std::iter::once(None).chain(stream.events.iter().map(Some)).enumerate() {
        if let Some(event) = event {
            old.what(What::Bytes(sse(event).into_bytes().into()));
        }
        let label = format!("{} killed after event {i}", stream.name);
        let snapshot = old.turn.snapshot(old.now).expect("it runs");
        let run = Pair::of(restored(&snapshot), |_, request| answer_to(stream, request)).run();
        assert_restored(&run, AttemptNo(1), Kind::Initial);
        let shown =
            Screen::of(run.events.iter().map(|event| &event.kind).take_while(|kind| {
                !matches!(kind, EventKind::Dropped(_) | EventKind::Completed(_))
            }));
        let seen = old.screen();
        assert_eq!((&shown.text, &shown.thoughts), (&seen.text, &seen.thoughts), "{label}");
        assert_eq!((&shown.tools, &shown.parts), (&seen.tools, &seen.parts), "{label}");
        let hand = Hand::after(&run).unwrap_or_else(|failure| panic!("{label}: {failure}"));
        let completed = completed(&run);
        if completed.attempts.len() == 1 {
            // Nothing but the end of the connection was missing.
            assert!(event.is_some_and(|event| finish_reason(event).is_some()), "{label}");
            continue;
        }
        kills += 1;
        let [dead, next] = &completed.attempts[..] else { panic!("{label}: {completed:?}") };
        assert_eq!(dead.cause, Some(Cause::Suspended), "{label}");
        assert_eq!(dead.outcome, Outcome::Dropped, "{label}");
        let billing = dead.usage.billing;
        assert!(matches!(billing, Billing::LowerBound | Billing::Unknown), "{label}: {billing}");
        continued += usize::from(next.strategy == Kind::Continue);
        if next.strategy == Kind::Continue {
            assert_eq!(hand.text, whole.text, "{label}");
        } else {
            assert_eq!(hand.differs(&whole), None, "{label}");
        }
    }
    (kills, continued)
}

#[test]
fn a_turn_restored_after_any_event_of_any_stream_ends_with_the_unbroken_answer() {
    let (mut kills, mut continued) = (0, 0);
    for stream in all_streams() {
        let never = Policy { min_continue_tokens: u64::MAX, ..Policy::default() };
        let always = Policy { min_continue_tokens: 1, ..Policy::default() };
        let at_once = Policy { stream_drops_before_fallback: 1, ..never.clone() };
        for policy in [never, always, at_once] {
            let (k, c) = killed_after_each_event(&stream, &policy);
            (kills, continued) = (kills + k, continued + c);
        }
    }
    println!("restore: {kills} kills, {continued} continued, 0 violations");
    assert!(kills > 200 && continued > 20, "{kills} kills, {continued} continued");
}

/// A turn against these scripts; past them the server is well.
fn play(turn: Turn, scripts: &[Script], from: usize, device: &[(u64, What)]) -> Run {
    let pair = Pair::of(turn, move |k: usize, request: &Outgoing| {
        let well = Script::Answer {
            steps: vec![Step::Event(text("All is well."))],
            ends: true,
            way: Way::Clean,
            after: 1,
        };
        scripts.get(from + k).unwrap_or(&well).reply(k, request.endpoint)
    });
    device.iter().fold(pair, |pair, (at, what)| pair.at(*at, what.clone())).run()
}

proptest! {
    #![proptest_config(chances(1500))]

    #[test]
    fn whatever_happened_before_the_kill_the_contract_holds_after_it(
        scripts in proptest::collection::vec(script(), 1..7),
        policy in policy(),
        device in device(),
        kill in any::<proptest::sample::Index>(),
        text_out in proptest::bool::weighted(0.2),
    ) {
        let setup = TurnSetup { step: Some("s".to_owned()), ..setup(policy.clone()) };
        let inputs = play(Turn::new(setup.clone()), &scripts, 0, &device).inputs;
        let mut old = Old::start(setup);
        for happening in &inputs[..kill.index(inputs.len() + 1)] {
            old.feed(happening);
        }
        let (attempt, strategy) = old.attempt();
        let now = old.now;
        let Some(mut snapshot) = old.turn.snapshot(now) else {
            // Over: it is told again, and nothing is sent.
            prop_assert!(old.turn.is_over());
            let last = &old.events.last().unwrap().kind;
            let run = Pair::of(restored(&old.turn.snapshot_of_end(last).unwrap()), |_, _| panic!()).run();
            prop_assert_eq!(run.last(), last);
            if let EventKind::Completed(completed) = last {
                let screen = Screen::of(run.events.iter().map(|event| &event.kind));
                prop_assert_eq!((&screen.text, screen.tools.len()), (&completed.text, completed.tool_calls.len()));
            }
            return Ok(());
        };
        if text_out {
            let body = snapshot.body().unwrap().to_owned();
            snapshot = snapshot.without_text().with_body(&body).unwrap();
        }
        let before: Vec<_> = old.screen().text.chars().collect();
        let run = play(restored(&snapshot), &scripts, old.sent, &[]);
        assert_restored(&run, attempt, strategy);
        if text_out {
            let kept = run.events.iter().any(|event| matches!(&event.kind, EventKind::Reset(reset)
                if event.attempt == AttemptNo(attempt.0 + 1) && reset.keep_utf16.0 > 0));
            prop_assert!(!kept, "text that was kept out came back");
        } else if !before.is_empty() {
            prop_assert!(matches!(run.events[0].kind, EventKind::Text { .. }), "the partial at once");
        }
        // What was spent before the kill counts after it.
        let sent = old.sent + run.requests.len();
        let hops = run.events.iter().chain(&old.events).filter(|event| {
            matches!(&event.kind, EventKind::AttemptStarted { strategy: Kind::Resume })
        });
        let budget = (policy.max_attempts + policy.max_unsent) as usize + hops.count();
        prop_assert!(sent <= budget, "{sent} requests, {budget} allowed");
    }
}

/// A turn with some text, one event in.
fn begun() -> Old {
    let mut old = Old::start(setup(Policy { min_continue_tokens: 1, ..Policy::default() }));
    old.what(What::Sent);
    old.what(What::Head(200, Vec::new()));
    old.what(What::Bytes(sse(&text("A secret story. It be")).into_bytes().into()));
    old
}

#[test]
fn without_text_nothing_of_the_talk_is_in_it_and_the_answer_begins_again() {
    let old = begun();
    let snapshot = old.turn.snapshot(old.now).unwrap().without_text();
    let json = snapshot.to_json();
    assert!(!json.contains("secret") && !json.contains("Tell me."), "{json}");
    let bare =
        Restore { snapshot, budget: Budget::default(), secrets: Vec::new(), away: Duration::ZERO };
    assert_eq!(Turn::restore(bare.clone()).unwrap_err(), SnapshotError::RequestNeeded);
    let other = bare.snapshot.clone().with_body("{}");
    assert_eq!(other.unwrap_err(), SnapshotError::AnotherRequest);
    let snapshot = bare.snapshot.clone().with_body(BODY).unwrap();
    let run = Pair::of(Turn::restore(Restore { snapshot, ..bare }).unwrap(), |_, _| {
        Reply::whole(sse(&text("A story.")) + &sse(&finish("STOP")))
    })
    .run();
    assert_restored(&run, AttemptNo(1), Kind::Initial);
    let EventKind::Dropped(dropped) = &run.events[0].kind else { panic!("{:?}", run.events) };
    assert!(dropped.detail.as_ref().unwrap().contains("begins again"), "{dropped:?}");
    assert_eq!(completed(&run).text, "A story.");
}

#[test]
fn an_answer_whose_text_was_kept_out_is_not_asked_for_again() {
    let mut old = begun();
    old.what(What::Bytes(sse(&finish("STOP")).into_bytes().into()));
    old.what(What::End(rejoin::turn::BodyEnd::Clean));
    let last = &old.events.last().unwrap().kind;
    let snapshot = old.turn.snapshot_of_end(last).unwrap().without_text();
    let error = Turn::restore(Restore {
        snapshot,
        budget: Budget::default(),
        secrets: Vec::new(),
        away: Duration::ZERO,
    });
    assert_eq!(error.unwrap_err(), SnapshotError::TextNotKept { outcome: Outcome::Completed });
}

#[test]
fn a_delay_that_the_server_asked_for_outlives_the_process() {
    let mut old = Old::start(setup(Policy::default()));
    old.what(What::Sent);
    old.what(What::Head(503, vec![("retry-after".to_owned(), "60".to_owned())]));
    old.what(What::End(rejoin::turn::BodyEnd::Clean));
    for (away, rest) in [(20, Some(40_000)), (90, None)] {
        let snapshot = through_json(&old.turn.snapshot(old.now).unwrap());
        let away = Duration::from_secs(away);
        let turn = Turn::restore(Restore {
            snapshot,
            budget: Budget::default(),
            secrets: Vec::new(),
            away,
        })
        .unwrap();
        let run =
            Pair::of(turn, |_, _| Reply::whole(sse(&text("Hello.")) + &sse(&finish("STOP")))).run();
        assert_restored(&run, AttemptNo(1), Kind::Initial);
        let waits: Vec<_> = run
            .events
            .iter()
            .filter_map(|event| match event.kind {
                EventKind::Waiting { for_ms, .. } => for_ms,
                _ => None,
            })
            .collect();
        assert_eq!(waits, rest.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn what_is_no_snapshot_is_an_error_and_never_a_crash() {
    let old = begun();
    let json = old.turn.snapshot(old.now).unwrap().to_json();
    assert!(Snapshot::from_json(&json).is_ok());
    for end in 0..json.len() {
        if json.is_char_boundary(end) {
            assert!(Snapshot::from_json(&json[..end]).is_err());
        }
    }
    let newer = json.replacen("\"version\":1", "\"version\":2", 1);
    let version = SnapshotError::Version { found: 2 };
    assert_eq!(Snapshot::from_json(&newer).unwrap_err(), version);
    let value: Value = serde_json::from_str(&json).unwrap();
    for (field, wrong) in [
        ("base_len", json!(9999)),
        ("floor", json!(9999)),
        ("parts", json!([{"Shown": {"start": 3, "end": 9999}}])),
        ("text", json!(null)),
    ] {
        let mut value = value.clone();
        value["answer"][field] = wrong;
        let read = Snapshot::from_json(&value.to_string());
        assert!(matches!(read, Err(SnapshotError::Damaged(_))), "{field}: {read:?}");
    }
}
