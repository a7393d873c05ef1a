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
        self.at_ms(now * 1000, input);
    }

    /// Wakes the turn where it asked for it, as a client does.
    fn at_ms(&mut self, now: u64, input: Input<'_>) {
        self.until_ms(now);
        self.turn.handle(Duration::from_millis(now), input);
        self.drain();
    }

    fn until_ms(&mut self, now: u64) {
        while let Some(wake) = self.turn.next_wake().filter(|at| *at < Duration::from_millis(now)) {
            self.turn.handle(wake, Input::Wake);
            self.drain();
        }
    }

    /// The running attempt has said something.
    fn speaks(&mut self, now_ms: u64, attempt: u32, text: &str) {
        let attempt = AttemptNo(attempt);
        let event = format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"{text}\"}}]}}}}]}}\n\n"
        );
        self.at_ms(now_ms, Input::Sent { attempt });
        self.at_ms(now_ms, Input::Bytes { attempt, bytes: event.as_bytes() });
    }

    fn signal(&mut self, now_ms: u64, signal: Signal) {
        self.at_ms(now_ms, Input::Signal(signal));
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

#[test]
fn five_signals_in_a_second_make_one_attempt() {
    use Signal::{NetworkAvailable, NetworkChanged, NetworkChangedTo, NetworkLost, Resumed};
    let mut played = Played::start();
    played.speaks(1_000, 1, "Hello");
    let burst = [NetworkLost, NetworkChanged, NetworkAvailable, Resumed, NetworkChanged];
    for (n, signal) in burst.into_iter().enumerate() {
        played.signal(10_000 + 200 * n as u64, signal);
        // The new request leaves between them, and its server takes its time.
        played.at_ms(10_100 + 200 * n as u64, Input::Sent { attempt: AttemptNo(2) });
    }
    assert_eq!((played.causes(), played.sent), (vec![Cause::NetworkChanged], 2));
    // A change of its own is none of them.
    played.speaks(12_000, 2, "Hello");
    played.signal(13_000, NetworkChangedTo { metered: true });
    assert_eq!((played.causes().len(), played.sent), (2, 2), "the second drop waits by backoff");
    let EventKind::Dropped(dropped) = &played.events[played.events.len() - 2].kind else {
        panic!()
    };
    assert!(dropped.detail.as_ref().unwrap().ends_with("to a metered one"));
}

#[test]
fn an_app_that_was_away_for_long_goes_on_at_once() {
    let mut played = Played::start();
    played.speaks(1_000, 1, "Hello");
    played.signal(2_000, Signal::WillSuspend);
    // The last seconds before the system suspends it: bytes still come.
    played.speaks(4_000, 1, " there");
    played.signal(12_000, Signal::Resumed);
    assert_eq!((played.causes(), played.sent), (vec![Cause::Suspended], 2));
    assert!(played.waits().is_empty());
}

#[test]
fn a_moment_away_costs_nothing_where_the_stream_lives() {
    let mut played = Played::start();
    played.speaks(1_000, 1, "Hello");
    played.signal(2_000, Signal::WillSuspend);
    played.speaks(3_000, 1, " there");
    played.signal(4_000, Signal::Resumed);
    // Silent, but for a moment only: it shows itself within a second.
    played.signal(5_000, Signal::WillSuspend);
    played.signal(5_300, Signal::Resumed);
    played.speaks(6_200, 1, ", you");
    played.until_ms(20_000);
    // And a signal that comes out of the blue, while words come.
    played.speaks(20_000, 1, "!");
    played.signal(21_000, Signal::Resumed);
    assert_eq!((played.causes(), played.sent), (vec![], 1));
}

#[test]
fn a_stream_that_was_silent_while_the_app_was_away_is_abandoned() {
    let mut played = Played::start();
    played.speaks(1_000, 1, "Hello");
    played.signal(2_000, Signal::WillSuspend);
    played.signal(3_500, Signal::Resumed);
    assert_eq!((played.causes(), played.sent), (vec![Cause::Suspended], 2));

    let mut played = Played::start();
    played.speaks(1_000, 1, "Hello");
    played.signal(2_000, Signal::WillSuspend);
    played.signal(2_300, Signal::Resumed);
    assert_eq!(played.sent, 1);
    played.until_ms(3_299);
    assert_eq!(played.sent, 1);
    played.until_ms(3_301);
    assert_eq!((played.causes(), played.sent), (vec![Cause::Suspended], 2));

    let mut played = Played::start();
    played.speaks(1_000, 1, "Hello");
    played.signal(9_000, Signal::Resumed);
    assert_eq!((played.causes(), played.sent), (vec![Cause::Suspended], 2));
}

#[test]
fn what_drops_while_the_app_is_away_waits_for_its_return() {
    let mut played = Played::start();
    played.speaks(1_000, 1, "Hello");
    played.signal(2_000, Signal::WillSuspend);
    played.at_ms(3_000, Input::End { attempt: AttemptNo(1), end: BodyEnd::Reset });
    played.until_ms(90_000);
    assert_eq!((played.causes(), played.sent), (vec![Cause::Reset], 1));
    played.signal(90_000, Signal::Resumed);
    played.signal(90_200, Signal::NetworkChanged);
    assert_eq!((played.causes(), played.sent), (vec![Cause::Reset], 2));
    assert!(played.waits().is_empty(), "nothing to tell a screen that is off");
}

#[test]
fn an_app_that_never_says_it_is_back_is_not_waited_for_for_ever() {
    let mut played = Played::start();
    played.speaks(1_000, 1, "Hello");
    played.signal(2_000, Signal::WillSuspend);
    played.at_ms(3_000, Input::End { attempt: AttemptNo(1), end: BodyEnd::Reset });
    played.until_ms(3_000 + 600_000);
    assert_eq!(played.sent, 1);
    played.until_ms(3_001 + 600_000);
    assert_eq!(played.sent, 2);
}

#[test]
fn an_answer_that_was_whole_but_for_its_end_is_not_asked_for_again() {
    for sleep in [false, true] {
        let mut played = Played::start();
        played.speaks(1_000, 1, "Hello.");
        let finish = b"data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n";
        played.at_ms(1_500, Input::Bytes { attempt: AttemptNo(1), bytes: finish });
        if sleep {
            played.at_ms(2_000, Input::Slept { gap: seconds(3600) });
        } else {
            played.signal(1_600, Signal::WillSuspend);
            played.signal(4_000, Signal::Resumed);
        }
        let last = &played.events.last().unwrap().kind;
        assert!(matches!(last, EventKind::Completed(done) if done.text == "Hello."), "{last:?}");
        assert_eq!((played.causes(), played.sent), (vec![], 1));
    }
}

#[test]
fn sleep_without_a_word_is_a_drop_if_it_was_long() {
    let mut played = Played::start();
    played.speaks(1_000, 1, "Hello");
    played.at_ms(2_000, Input::Slept { gap: Duration::from_millis(4_999) });
    assert!(played.causes().is_empty());
    played.at_ms(3_000, Input::Slept { gap: seconds(5) });
    played.signal(3_100, Signal::Resumed);
    assert_eq!((played.causes(), played.sent), (vec![Cause::Suspended], 2));
    let EventKind::Dropped(dropped) = &played.events[2].kind else { panic!() };
    assert_eq!(dropped.decision.reasons[0].as_str(), "no_checkpoint");

    // What a server asked for passes in a sleep, too.
    let mut played = Played::start();
    played.refused(1, AttemptNo(1), &[("retry-after".to_owned(), "60".to_owned())]);
    played.at_ms(2_000, Input::Slept { gap: seconds(50) });
    played.until_ms(10_900);
    assert_eq!(played.sent, 1);
    played.until_ms(11_100);
    assert_eq!(played.sent, 2);
}

#[test]
fn a_sleep_before_the_request_left_is_no_drop() {
    let mut played = Played::start();
    played.at_ms(2_000, Input::Slept { gap: seconds(50) });
    assert_eq!(played.causes(), [Cause::Unreachable]);
}
