//! Plays a story with Rejoin's own client, on the screen, and notes what it came to.

use super::outcome::{Cost, Outcome, REJOIN};
use super::pace::Pace;
use super::scenario::Outage;
use crate::exit::Stop;
use crate::pretty::Pretty;
use crate::stream::after;
use rejoin::client::{Client, TurnHandle, TurnRequest};
use rejoin::testkit::Script;
use rejoin::turn::{AttemptReport, ErrorKind, Event, EventKind, Policy, Signal};
use std::pin::Pin;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Events taken over at once.
const BATCH: usize = 256;

/// A turn to show.
pub struct Show<'a> {
    pub script: &'a Script,
    pub base_url: &'a str,
    pub pace: Pace,
    pub outage: Option<Outage>,
}

/// How it ended.
pub enum Shown {
    /// As the story goes.
    Over(Outcome),
    /// The user had enough.
    Interrupted,
}

impl Show<'_> {
    pub async fn run(&self, pretty: &mut Pretty) -> Result<Shown, Stop> {
        let turn = self.start()?;
        let mut outcome = Outcome::new(REJOIN);
        let mut network = Network { outage: self.outage, back: None, pace: self.pace };
        let mut interrupt: Pin<Box<dyn Future<Output = _>>> = Box::pin(tokio::signal::ctrl_c());
        let (mut cursor, mut interrupted) = (0, false);
        loop {
            let batch = tokio::select! {
                batch = turn.events_after(cursor, BATCH) => batch,
                () = network.is_back() => {
                    turn.signal(Signal::NetworkAvailable);
                    continue;
                }
                _ = &mut interrupt, if !interrupted => {
                    interrupted = true;
                    turn.cancel();
                    continue;
                }
                () = after(pretty.tick_every()) => {
                    pretty.tick()?;
                    continue;
                }
            };
            cursor = batch.next_cursor;
            for event in &batch.events {
                pretty.show(event)?;
                note(event, &mut outcome);
                network.look(&outcome.text, &turn);
            }
            if batch.finished {
                return Ok(if interrupted { Shown::Interrupted } else { Shown::Over(outcome) });
            }
        }
    }

    fn start(&self) -> Result<TurnHandle, String> {
        let client = Client::builder()
            .base_url(self.base_url)
            .policy(self.policy()?)
            .build()
            .map_err(|error| error.to_string())?;
        let mut request = TurnRequest::raw("m", self.script.request_body().to_string());
        if let Some(id) = &self.script.turn_id {
            request = request.turn_id(id);
        }
        client.start(request).map_err(|error| error.to_string())
    }

    /// Rejoin's defaults and what the script sets; its pauses at the story's pace.
    fn policy(&self) -> Result<Policy, String> {
        let mut policy = Policy::default();
        for (name, value) in &self.script.policy {
            policy.set(name, &value.to_string()).map_err(|error| error.to_string())?;
        }
        policy.backoff_base_ms = self.pace.of(policy.backoff_base_ms);
        Ok(policy)
    }
}

/// The device's network, as the story wants it.
struct Network {
    outage: Option<Outage>,
    back: Option<Instant>,
    pace: Pace,
}

impl Network {
    fn look(&mut self, shown: &str, turn: &TurnHandle) {
        if let Some(outage) = self.outage.take_if(|outage| shown.contains(outage.when_shown)) {
            turn.signal(Signal::NetworkLost);
            // A little more than the server is away: to fail once more would be another story.
            let margin = Duration::from_millis(150);
            self.back = Some(Instant::now() + self.pace.duration(outage.for_ms) + margin);
        }
    }

    async fn is_back(&mut self) {
        match self.back {
            Some(at) => sleep_until(at).await,
            None => std::future::pending().await,
        }
        self.back = None;
    }
}

/// Notes an event as a renderer sees it: append, and on a reset keep and drop.
fn note(event: &Event, outcome: &mut Outcome) {
    match &event.kind {
        EventKind::Text { text } => outcome.text.push_str(text),
        EventKind::Reset(reset) => {
            let keep = usize::try_from(reset.keep_text_bytes).unwrap_or(usize::MAX);
            let gone = outcome.text.split_off(keep.min(outcome.text.len()));
            outcome.taken_back += gone.chars().count();
            outcome.seam = outcome.text.len();
        }
        EventKind::Completed(completed) => {
            for call in &completed.tool_calls {
                outcome.payments.refund(Some(&call.effect_key));
            }
            outcome.costs = completed.attempts.iter().map(cost).collect();
        }
        EventKind::Failed(failed) => {
            outcome.costs = failed.attempts.iter().map(cost).collect();
            if failed.error.kind != ErrorKind::Cancelled {
                outcome.gave_up = Some(failed.error.kind.to_string());
            }
        }
        _ => {}
    }
}

fn cost(report: &AttemptReport) -> Cost {
    let usage = &report.usage;
    let output = match (usage.candidates_tokens, usage.thoughts_tokens) {
        (None, None) => None,
        (answer, thoughts) => Some(answer.unwrap_or(0) + thoughts.unwrap_or(0)),
    };
    Cost { billing: usage.billing, input: usage.prompt_tokens, output }
}
