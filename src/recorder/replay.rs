//! Plays a recording: the same inputs, at the same times, into a new turn.

use super::format::{Recording, What};
use super::shape::shape;
use crate::turn::{Action, AttemptNo, BodyEnd, Budget, Event, Input, Signal, Turn};
use std::time::Duration;

/// What came of a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The events of the new turn.
    pub events: Vec<Event>,
    /// The first event, by number from 1, that is not as it was recorded; `None` if all are.
    pub differs_at: Option<usize>,
}

/// Plays a recording. Takes no longer than its inputs need: time is what the recording says.
#[must_use]
pub fn replay(recording: &Recording) -> Replay {
    let mut turn = Turn::new(recording.header.setup());
    let mut events = Vec::new();
    turn.start(Duration::ZERO);
    drain(&mut turn, &mut events);
    for line in &recording.inputs {
        feed(&mut turn, Duration::from_nanos(line.at_ns), &line.what);
        drain(&mut turn, &mut events);
    }
    let same = events.iter().zip(&recording.events).take_while(|(now, then)| shape(now) == **then);
    let same = same.count();
    let whole = same == events.len() && same == recording.events.len();
    Replay { events, differs_at: (!whole).then_some(same + 1) }
}

fn drain(turn: &mut Turn, events: &mut Vec<Event>) {
    while let Some(action) = turn.poll_action() {
        if let Action::Emit(event) = action {
            events.push(event);
        }
    }
}

fn feed(turn: &mut Turn, now: Duration, what: &What) {
    match what {
        What::Sent { attempt } => turn.handle(now, Input::Sent { attempt: AttemptNo(*attempt) }),
        What::Head { attempt, status, headers } => {
            let attempt = AttemptNo(*attempt);
            turn.handle(now, Input::Head { attempt, status: *status, headers });
        }
        What::Text { attempt, text } => {
            turn.handle(now, Input::Bytes { attempt: AttemptNo(*attempt), bytes: text.as_bytes() });
        }
        What::Bytes { attempt, bytes } => {
            let bytes = bytes_of(bytes);
            turn.handle(now, Input::Bytes { attempt: AttemptNo(*attempt), bytes: &bytes });
        }
        What::End { attempt, how } => {
            let end = match how.as_str() {
                "clean" => BodyEnd::Clean,
                "cut" => BodyEnd::Cut,
                _ => BodyEnd::Reset,
            };
            turn.handle(now, Input::End { attempt: AttemptNo(*attempt), end });
        }
        What::Unreachable { attempt, detail } => {
            turn.handle(now, Input::Unreachable { attempt: AttemptNo(*attempt), detail });
        }
        What::Unsendable { attempt, detail } => {
            turn.handle(now, Input::Unsendable { attempt: AttemptNo(*attempt), detail });
        }
        What::Wake => turn.handle(now, Input::Wake),
        What::Cancel => turn.handle(now, Input::Cancel),
        What::Signal { signal } => {
            if let Some(signal) = Signal::named(signal) {
                turn.handle(now, Input::Signal(signal));
            }
        }
        What::Slept { gap_ns } => {
            turn.handle(now, Input::Slept { gap: Duration::from_nanos(*gap_ns) });
        }
        What::Budget { output_tokens, money } => {
            let budget = Budget { output_tokens: *output_tokens, money: *money };
            turn.handle(now, Input::Budget(budget));
        }
    }
}

/// The bytes that characters of these numbers stand for.
pub(super) fn bytes_of(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
}
