//! The loop that drives one turn: the only place where the state machine meets time and sockets.

use super::builder::Shared;
use super::clocks::{Reading, Watch};
use super::exchange::{Exchange, Incoming};
use super::handle::Command;
use super::headers::{ProviderError, insert, secrets_of};
use super::journal::{Pen, Recording};
use super::log::EventLog;
use crate::recorder::Recorder;
use crate::turn::{
    Action, AttemptNo, Budget, Event, EventKind, Input, Outgoing, Signal, Spend, Turn,
};
use http::HeaderMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tokio::time::Instant;

pub(super) struct DriverParts {
    pub shared: Arc<Shared>,
    pub model: String,
    pub turn_id: Arc<str>,
    pub log: EventLog,
    pub pen: Option<Pen>,
}

/// What the running attempt waits for.
enum Wire {
    Nothing,
    /// The journal: what may be billed is written down before it leaves.
    Record {
        outgoing: Outgoing,
        recording: Recording,
    },
    /// The app's header provider.
    Headers {
        outgoing: Outgoing,
        task: JoinHandle<Result<Vec<(String, String)>, ProviderError>>,
    },
    Exchange {
        attempt: AttemptNo,
        exchange: Exchange,
    },
}

pub(super) struct Driver {
    turn: Turn,
    recorder: Option<Recorder>,
    parts: DriverParts,
    commands: UnboundedReceiver<Command>,
    wire: Wire,
    began: Instant,
    /// What the purse knows of this turn.
    paid: Spend,
    /// What the turn was told last of the client's budget, where there is one.
    left: Option<Budget>,
    watch: Watch,
    /// The start of an attempt that is being written down: told when it is.
    held: Option<Event>,
    /// The turn's end, on its way to the disk.
    last_words: Option<(Event, Recording)>,
}

/// Closes the log even if the driver panics, so that no reader waits for ever.
struct CloseOnDrop(EventLog, Arc<str>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close(&self.1);
    }
}

impl Driver {
    pub(super) fn new(
        turn: Turn,
        recorder: Option<Recorder>,
        parts: DriverParts,
        commands: UnboundedReceiver<Command>,
    ) -> Self {
        // What a restored turn has spent was paid by another process.
        let paid = turn.spend();
        Self {
            turn,
            recorder,
            parts,
            commands,
            wire: Wire::Nothing,
            began: Instant::now(),
            paid,
            left: None,
            watch: Watch::new(Reading::now()),
            held: None,
            last_words: None,
        }
    }

    pub(super) async fn run(mut self) {
        let _close = CloseOnDrop(self.parts.log.clone(), self.parts.turn_id.clone());
        self.turn.start(Duration::ZERO);
        self.pay();
        loop {
            self.act();
            if self.turn.is_over() {
                if let Some((event, mut recording)) = self.last_words.take() {
                    // Who has seen the end acts on it, and must find it again after a crash.
                    recording.done().await;
                    self.parts.pen = None;
                    self.parts.log.push(event);
                }
                return;
            }
            let wake = self.turn.next_wake().map(|at| self.began + at);
            let due = self.parts.pen.as_ref().and_then(Pen::due);
            tokio::select! {
                // The app's word first: after a cancel nothing more may surface.
                biased;
                command = self.commands.recv() => {
                    self.look();
                    // A handle that is gone wants nothing any more.
                    self.obey(command.unwrap_or(Command::Cancel));
                }
                incoming = self.wire.next(&self.parts) => {
                    self.look();
                    self.take(incoming);
                }
                () = sleep_until(wake) => {
                    self.look();
                    self.handle(Input::Wake);
                }
                () = sleep_until(due) => self.write(),
                () = tokio::time::sleep_until(self.watch.next_look()) => self.look(),
            }
        }
    }

    fn act(&mut self) {
        let mut dropped = false;
        let has_pen = self.parts.pen.is_some();
        while let Some(action) = self.turn.poll_action() {
            match action {
                Action::Emit(event) => {
                    self.record(&event);
                    dropped |= matches!(event.kind, EventKind::Dropped(_));
                    self.tell_held();
                    if has_pen && matches!(event.kind, EventKind::AttemptStarted { .. }) {
                        self.held = Some(event);
                    } else {
                        self.tell(event);
                    }
                }
                Action::Abort { .. } => self.wire = Wire::Nothing,
                Action::Send(outgoing) => {
                    dropped = false;
                    self.wire = if let Some(recording) = self.write_now() {
                        Wire::Record { outgoing, recording }
                    } else {
                        self.tell_held();
                        Wire::begin(&self.parts, outgoing)
                    };
                }
            }
        }
        if dropped {
            self.write_now();
        }
    }

    fn tell(&mut self, event: Event) {
        if let Some(pen) = &mut self.parts.pen {
            if let Some(end) = self.turn.snapshot_of_end(&event.kind) {
                self.last_words = Some((event, pen.write_now(end)));
                return;
            }
            pen.note();
        }
        self.parts.log.push(event);
    }

    fn tell_held(&mut self) {
        if let Some(event) = self.held.take() {
            self.tell(event);
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Cancel => self.handle(Input::Cancel),
            Command::Signal(signal) => {
                self.handle(Input::Signal(signal));
                if signal == Signal::WillSuspend {
                    self.write_now();
                }
            }
            Command::Flush(tell) => {
                let recording = self.write_now();
                tokio::spawn(async move {
                    if let Some(mut recording) = recording {
                        recording.done().await;
                    }
                    let _ = tell.send(());
                });
            }
        }
    }

    /// Has the device slept?
    fn look(&mut self) {
        let gap = self.watch.look(Reading::now());
        if !gap.is_zero() {
            self.handle(Input::Slept { gap });
            // What it was told may be an end: nothing that comes next is for that attempt.
            self.act();
        }
    }

    fn write(&mut self) {
        let now = self.began.elapsed();
        if let Some(pen) = &mut self.parts.pen {
            pen.write(|| self.turn.snapshot(now));
        }
    }

    fn write_now(&mut self) -> Option<Recording> {
        let now = self.began.elapsed();
        let pen = self.parts.pen.as_mut()?;
        Some(pen.write_now(self.turn.snapshot(now)?))
    }

    fn record(&mut self, event: &Event) {
        if let Some(recorder) = &mut self.recorder {
            recorder.event(event);
        }
        // Before the last event is out: who has seen it may ask for the recording.
        if event.is_last()
            && let Some(recorder) = self.recorder.take()
        {
            // A bug there must not cost the answer: the turn has no recording, then.
            let finish = std::panic::AssertUnwindSafe(|| recorder.finish().into_text());
            if let Ok(recording) = std::panic::catch_unwind(finish) {
                self.parts.log.set_recording(recording);
            }
        }
    }

    fn handle(&mut self, input: Input<'_>) {
        let now = self.began.elapsed();
        let left = self.parts.shared.purse.left_for(&self.paid);
        if left != self.left {
            self.left = left;
            self.feed(now, Input::Budget(left.unwrap_or_default()));
        }
        self.feed(now, input);
        self.pay();
    }

    fn feed(&mut self, now: Duration, input: Input<'_>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.input(now, input);
        }
        self.turn.handle(now, input);
    }

    /// Before the app can know of it: a turn that it starts on the last event counts on.
    fn pay(&mut self) {
        let spend = self.turn.spend();
        if spend != self.paid {
            self.parts.shared.purse.pay(&self.paid, &spend);
            self.paid = spend;
        }
    }

    fn take(&mut self, (attempt, incoming): (AttemptNo, Incoming)) {
        match &incoming {
            Incoming::Recorded => self.tell_held(),
            Incoming::Secrets(secrets) => {
                for secret in secrets {
                    self.turn.keep_secret(secret.clone());
                    if let Some(recorder) = &mut self.recorder {
                        recorder.keep_secret(secret);
                    }
                }
            }
            Incoming::Sent => self.handle(Input::Sent { attempt }),
            Incoming::Head { status, headers } => {
                self.handle(Input::Head { attempt, status: *status, headers });
            }
            Incoming::Bytes(bytes) => {
                self.handle(Input::Bytes { attempt, bytes });
                // Also where it shows nothing: usage counts.
                if let Some(pen) = &mut self.parts.pen {
                    pen.note();
                }
            }
            Incoming::End(end) => self.handle(Input::End { attempt, end: *end }),
            Incoming::Unreachable(detail) => self.handle(Input::Unreachable { attempt, detail }),
            Incoming::Unsendable(detail) => self.handle(Input::Unsendable { attempt, detail }),
        }
    }
}

impl Wire {
    fn begin(parts: &DriverParts, outgoing: Outgoing) -> Self {
        match parts.shared.provider.clone() {
            Some(provider) => {
                let no = outgoing.attempt.0;
                let task = tokio::task::spawn_blocking(move || provider.headers(no));
                Self::Headers { outgoing, task }
            }
            None => Self::exchange(parts, &outgoing, parts.shared.headers.clone()),
        }
    }

    fn exchange(parts: &DriverParts, outgoing: &Outgoing, headers: HeaderMap) -> Self {
        let shared = &parts.shared;
        let url = shared.base_url.of_method(&parts.model, outgoing.endpoint);
        let exchange = Exchange::start(
            &shared.transport,
            outgoing.fresh_connection,
            &url,
            headers,
            outgoing.body.clone(),
        );
        Self::Exchange { attempt: outgoing.attempt, exchange }
    }

    /// The next thing for the running attempt; waits for ever where there is none. Safe to cancel.
    async fn next(&mut self, parts: &DriverParts) -> (AttemptNo, Incoming) {
        match self {
            Self::Nothing => std::future::pending().await,
            Self::Record { outgoing, recording } => {
                recording.done().await;
                let attempt = outgoing.attempt;
                *self = Self::begin(parts, outgoing.clone());
                (attempt, Incoming::Recorded)
            }
            Self::Exchange { attempt, exchange } => (*attempt, exchange.next().await),
            Self::Headers { outgoing, task } => {
                let given = task.await.map_err(|error| ProviderError(error.to_string()));
                let attempt = outgoing.attempt;
                let given = match given.and_then(|given| given) {
                    Ok(given) => given,
                    Err(error) => {
                        *self = Self::Nothing;
                        return (attempt, Incoming::Unreachable(error.to_string()));
                    }
                };
                let mut headers = parts.shared.headers.clone();
                let bad = given
                    .iter()
                    .find(|(name, value)| insert(&mut headers, name, value).is_none())
                    .map(|(name, _)| format!("the provider's header {name:?} cannot be sent"));
                if let Some(detail) = bad {
                    *self = Self::Nothing;
                    return (attempt, Incoming::Unsendable(detail));
                }
                let secrets = given.iter().flat_map(|(_, value)| secrets_of(value)).collect();
                *self = Self::exchange(parts, outgoing, headers);
                (attempt, Incoming::Secrets(secrets))
            }
        }
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
