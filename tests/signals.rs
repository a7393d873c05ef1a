//! What the device says of its network, played against the pure machine: no clock, no sockets.

use rejoin::turn::{
    Action, AttemptNo, BodyEnd, Cause, Event, EventKind, Input, Policy, Signal, Turn, TurnSetup,
    WaitReason,
};
use std::time::Duration;

const BODY: &str = r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

struct Played {
    turn: Turn,
    events: Vec<Event>,
    sent: usize,
}

impl Played {
    fn start() -> Self {
        let policy = Policy { backoff_jitter: 0.0, ..Policy::default() };
        let setup = TurnSetup {
            turn_id: "t".to_owned(),
            body: BODY.to_owned(),
            policy,
            ..TurnSetup::default()
        };
        let mut turn = Turn::new(setup);
        turn.start(Duration::ZERO);
        let mut played = Self { turn, events: Vec::new(), sent: 0 };
        played.drain();
        played
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

    fn at(&mut self, now: u64, input: Input<'_>) {
        self.turn.handle(seconds(now), input);
        self.drain();
    }

    fn refused(&mut self, now: u64, attempt: AttemptNo, headers: &[(String, String)]) {
        self.at(now, Input::Sent { attempt });
        self.at(now, Input::Head { attempt, status: 503, headers });
        self.at(now, Input::End { attempt, end: BodyEnd::Clean });
    }

    fn waits(&self) -> Vec<(WaitReason, Option<u64>)> {
        let wait = |event: &Event| match &event.kind {
            EventKind::Waiting { for_ms, why, .. } => Some((*why, *for_ms)),
            _ => None,
        };
        self.events.iter().filter_map(wait).collect()
    }

    fn causes(&self) -> Vec<Cause> {
        let cause = |event: &Event| match &event.kind {
            EventKind::Dropped(dropped) => Some(dropped.cause),
            _ => None,
        };
        self.events.iter().filter_map(cause).collect()
    }
}

#[test]
fn a_network_that_comes_back_does_not_shorten_the_servers_delay() {
    let mut played = Played::start();
    played.at(0, Input::Signal(Signal::NetworkLost));
    let headers = [("retry-after".to_owned(), "60".to_owned())];
    played.refused(1, AttemptNo(1), &headers);
    assert_eq!(played.waits(), [(WaitReason::Offline, None)]);
    played.at(6, Input::Signal(Signal::NetworkAvailable));
    assert_eq!(played.waits()[1..], [(WaitReason::ServerAsked, Some(55_000))]);
    assert_eq!((played.sent, played.turn.next_wake()), (1, Some(seconds(61))));
    played.at(61, Input::Wake);
    assert_eq!(played.sent, 2);
}

#[test]
fn a_network_that_comes_back_ends_a_backoff_at_once() {
    let mut played = Played::start();
    played.at(0, Input::Signal(Signal::NetworkLost));
    played.refused(1, AttemptNo(1), &[]);
    played.at(2, Input::Signal(Signal::NetworkAvailable));
    assert_eq!(played.sent, 2);
}

#[test]
fn a_network_that_changes_before_the_request_left_is_no_drop() {
    let mut played = Played::start();
    played.at(1, Input::Signal(Signal::NetworkChanged));
    assert_eq!(played.causes(), [Cause::Unreachable]);
    played.at(2, Input::Wake);
    let attempt = AttemptNo(2);
    played.at(3, Input::Sent { attempt });
    played.at(4, Input::Signal(Signal::NetworkChanged));
    assert_eq!(played.causes(), [Cause::Unreachable, Cause::NetworkChanged]);
    played.at(5, Input::Cancel);
    let EventKind::Failed(failed) = &played.events.last().unwrap().kind else { panic!() };
    let bills: Vec<_> = failed.attempts.iter().map(|a| a.usage.billing.as_str()).collect();
    assert_eq!(bills, ["not_sent", "unknown", "not_sent"]);
}

#[test]
fn late_inputs_of_a_dead_attempt_are_discarded() {
    let mut played = Played::start();
    let (first, second) = (AttemptNo(1), AttemptNo(2));
    played.at(1, Input::Sent { attempt: first });
    played.at(2, Input::End { attempt: first, end: BodyEnd::Reset });
    let before = played.events.len();
    let event = b"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"late\"}]}}]}\n\n";
    played.at(3, Input::Bytes { attempt: first, bytes: event });
    played.at(3, Input::End { attempt: first, end: BodyEnd::Clean });
    assert_eq!(played.events.len(), before);
    played.at(4, Input::Sent { attempt: second });
    played.at(4, Input::Cancel);
    let end = played.events.len();
    played.at(5, Input::Bytes { attempt: second, bytes: event });
    played.at(5, Input::Cancel);
    played.at(99, Input::Wake);
    assert_eq!(played.events.len(), end);
}
