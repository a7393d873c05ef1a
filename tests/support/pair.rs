//! A turn and a scripted server on a simulated link, in virtual time.
//!
//! The driver does what a client has to do and no more: drain the actions, wait for the earlier of
//! the next input and `next_wake`, close what the turn aborts.

use rejoin::turn::{
    Action, AttemptNo, BodyEnd, Event, EventKind, Input, Outgoing, Signal, Turn, TurnSetup,
};
use std::sync::Arc;
use std::time::Duration;

/// A request body that asks for nothing special.
pub const BODY: &str = r#"{"contents":[{"role":"user","parts":[{"text":"Tell me."}]}]}"#;

/// More inputs than any of these stories needs: beyond it, the turn goes round in circles.
const MAX_INPUTS: usize = 200_000;

/// What can happen to a turn.
#[derive(Debug, Clone)]
pub enum What {
    Sent,
    Head(u16, Vec<(String, String)>),
    Bytes(Arc<[u8]>),
    End(BodyEnd),
    Unreachable,
    Wake,
    Cancel,
    Signal(Signal),
    /// So many milliseconds of sleep.
    Slept(u64),
}

/// Something that happened, when, and to which attempt.
#[derive(Debug, Clone)]
pub struct Happening {
    pub at: Duration,
    pub attempt: AttemptNo,
    pub what: What,
}

impl Happening {
    pub fn feed(&self, turn: &mut Turn) {
        let attempt = self.attempt;
        let input = match &self.what {
            What::Sent => Input::Sent { attempt },
            What::Head(status, headers) => Input::Head { attempt, status: *status, headers },
            What::Bytes(bytes) => Input::Bytes { attempt, bytes },
            What::End(end) => Input::End { attempt, end: *end },
            What::Unreachable => Input::Unreachable { attempt, detail: "nobody listens" },
            What::Wake => Input::Wake,
            What::Cancel => Input::Cancel,
            What::Signal(signal) => Input::Signal(*signal),
            What::Slept(ms) => Input::Slept { gap: Duration::from_millis(*ms) },
        };
        turn.handle(self.at, input);
    }
}

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Clean,
    Reset,
    /// FIN without the last chunk.
    Cut,
    Silence,
}

impl Way {
    pub const ALL: [Self; 4] = [Self::Clean, Self::Reset, Self::Cut, Self::Silence];
}

/// What the server does with one request: each step so many milliseconds after the one before.
/// Without an end the connection stays open and silent.
#[derive(Debug, Clone, Default)]
pub struct Reply(pub Vec<(u64, What)>);

impl Reply {
    /// A whole body, ended cleanly.
    pub fn whole(body: impl AsRef<[u8]>) -> Self {
        Self::cut(body, Way::Clean)
    }

    /// A body that ends in some way.
    pub fn cut(body: impl AsRef<[u8]>, way: Way) -> Self {
        Self::pieces([body.as_ref()], way)
    }

    /// A body in pieces, all at once.
    pub fn pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, way: Way) -> Self {
        let mut reply = Self(vec![(1, What::Head(200, Vec::new()))]);
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            reply.0.push((0, What::Bytes(piece.into())));
        }
        reply.ended(way)
    }

    pub fn ended(mut self, way: Way) -> Self {
        let end = match way {
            Way::Clean => BodyEnd::Clean,
            Way::Reset => BodyEnd::Reset,
            Way::Cut => BodyEnd::Cut,
            Way::Silence => return self,
        };
        self.0.push((1, What::End(end)));
        self
    }

    /// An error status.
    pub fn refusal(status: u16, body: &str) -> Self {
        let mut reply = Self::whole(body);
        reply.0[0].1 = What::Head(status, Vec::new());
        reply
    }

    /// No connection.
    pub fn unreachable() -> Self {
        Self(vec![(1, What::Unreachable)])
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let What::Head(_, headers) = &mut self.0[0].1 {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }
}

/// All that a turn did, and all that was done to it.
#[derive(Debug)]
pub struct Run {
    pub events: Vec<Event>,
    pub requests: Vec<Outgoing>,
    pub inputs: Vec<Happening>,
}

impl Run {
    pub fn last(&self) -> &EventKind {
        &self.events.last().expect("a turn has events").kind
    }

    pub fn jsonl(&self) -> String {
        jsonl(&self.events)
    }
}

fn jsonl(events: &[Event]) -> String {
    events.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect()
}

/// The driver. `server` is asked for its reply to the k-th request, from 0.
pub struct Pair<S> {
    turn: Turn,
    server: S,
    now: Duration,
    queue: Vec<Happening>,
    open: Option<AttemptNo>,
    run: Run,
}

impl<S: FnMut(usize, &Outgoing) -> Reply> Pair<S> {
    pub fn new(setup: TurnSetup, server: S) -> Self {
        Self::of(Turn::new(setup), server)
    }

    /// With a turn that has not started, such as a restored one.
    pub fn of(turn: Turn, server: S) -> Self {
        Self {
            turn,
            server,
            now: Duration::ZERO,
            queue: Vec::new(),
            open: None,
            run: Run { events: Vec::new(), requests: Vec::new(), inputs: Vec::new() },
        }
    }

    /// The app or the device does something, so many milliseconds after the start.
    pub fn at(mut self, ms: u64, what: What) -> Self {
        self.schedule(Duration::from_millis(ms), AttemptNo(0), what);
        self
    }

    pub fn run(mut self) -> Run {
        self.turn.start(Duration::ZERO);
        self.drain();
        while !self.turn.is_over() {
            self.step();
            assert!(self.run.inputs.len() < MAX_INPUTS, "the turn goes round in circles");
        }
        assert_eq!(self.open, None, "a connection is left open after the turn");
        assert_eq!(self.turn.next_wake(), None, "a turn that is over wants to be woken");
        self.run
    }

    fn step(&mut self) {
        let wake = self.turn.next_wake();
        let next = self.queue.first().map(|happening| happening.at);
        let happening = match (next, wake) {
            (Some(next), wake) if wake.is_none_or(|wake| next <= wake) => self.queue.remove(0),
            (_, Some(wake)) => {
                Happening { at: wake.max(self.now), attempt: AttemptNo(0), what: What::Wake }
            }
            _ => panic!("the turn waits for nothing: {:#?}", self.run.events),
        };
        self.now = happening.at;
        if matches!(happening.what, What::End(_) | What::Unreachable) {
            self.open = None;
        }
        happening.feed(&mut self.turn);
        self.run.inputs.push(happening);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(action) = self.turn.poll_action() {
            match action {
                Action::Emit(event) => self.run.events.push(event),
                Action::Abort { attempt } => {
                    self.queue.retain(|happening| happening.attempt != attempt);
                    self.open = self.open.filter(|open| *open != attempt);
                }
                Action::Send(outgoing) => self.send(outgoing),
            }
        }
    }

    fn send(&mut self, outgoing: Outgoing) {
        assert_eq!(self.open.replace(outgoing.attempt), None, "two connections at once");
        let reply = (self.server)(self.run.requests.len(), &outgoing);
        let mut at = self.now;
        if !matches!(reply.0.first(), Some((_, What::Unreachable))) {
            self.schedule(at, outgoing.attempt, What::Sent);
        }
        for (after, what) in reply.0 {
            at += Duration::from_millis(after);
            self.schedule(at, outgoing.attempt, what);
        }
        self.run.requests.push(outgoing);
    }

    fn schedule(&mut self, at: Duration, attempt: AttemptNo, what: What) {
        let place = self.queue.partition_point(|other| other.at <= at);
        self.queue.insert(place, Happening { at, attempt, what });
    }
}

/// The events of the same inputs once more.
pub fn replay(setup: TurnSetup, inputs: &[Happening]) -> String {
    replay_with(setup, inputs, |_, _, _| ())
}

/// The events of the same inputs, with something done to the turn after each: `disturb` gets the
/// turn, the time and the number of the last attempt that is over.
pub fn replay_with(
    setup: TurnSetup,
    inputs: &[Happening],
    mut disturb: impl FnMut(&mut Turn, Duration, u32),
) -> String {
    let mut turn = Turn::new(setup);
    let (mut events, mut over) = (Vec::new(), 0);
    let mut drain = |turn: &mut Turn, over: &mut u32| {
        while let Some(action) = turn.poll_action() {
            match action {
                Action::Emit(event) => {
                    if matches!(event.kind, EventKind::Dropped(_) | EventKind::Completed(_)) {
                        *over = event.attempt.0;
                    }
                    events.push(event);
                }
                Action::Send(outgoing) => *over = outgoing.attempt.0 - 1,
                Action::Abort { .. } => {}
            }
        }
    };
    turn.start(Duration::ZERO);
    drain(&mut turn, &mut over);
    for happening in inputs {
        happening.feed(&mut turn);
        drain(&mut turn, &mut over);
        disturb(&mut turn, happening.at, over);
        drain(&mut turn, &mut over);
    }
    jsonl(&events)
}
