//! A turn's events as a person wants to see them.
//!
//! The answer scrolls, thoughts stand apart, a line says what happened to a broken attempt and
//! what follows, and what goes is struck out. What may live here: events in, lines out; how they
//! get onto a terminal or into a pipe is the [`surface`]'s business.

mod plain;
mod screen;
pub mod style;
pub mod surface;
pub mod table;
pub mod words;
pub mod wrap;

use rejoin::turn::{
    Completed, Dropped, Event, EventKind, Failed, Reset, ResetReason, Strategy, ToolCall, Utf16Len,
    WaitReason,
};
use std::io::Result;
use std::time::{Duration, Instant};
use style::{Line, Look};
use surface::{Channel, Surface};
use wrap::fitted;

/// Columns of a server's message, at most.
const DETAILS: usize = 300;

/// What is shown at the end of a turn besides its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The tools to run and what each attempt cost.
    Report,
    /// Nothing: the caller has its own.
    Bare,
}

/// Shows the events of one turn.
pub struct Pretty {
    surface: Box<dyn Surface>,
    ending: Ending,
    answer: String,
    thoughts: String,
    tools: usize,
    /// A pause that goes on: since when, how long, why, and before which attempt.
    waiting: Option<(Instant, Option<u64>, WaitReason, u32)>,
    /// A reset that came with a new attempt, whose strategy the next event tells.
    reset: Option<String>,
}

impl Pretty {
    pub fn new(surface: Box<dyn Surface>, ending: Ending) -> Self {
        Self {
            surface,
            ending,
            answer: String::new(),
            thoughts: String::new(),
            tools: 0,
            waiting: None,
            reset: None,
        }
    }

    pub fn line(&mut self, line: Line) -> Result<()> {
        self.surface.line(line)
    }

    /// How often [`tick`](Self::tick) wants to be called: only where a countdown is shown.
    pub fn tick_every(&self) -> Option<Duration> {
        (self.waiting.is_some() && self.surface.is_live()).then_some(Duration::from_millis(100))
    }

    /// Moves a countdown on.
    pub fn tick(&mut self) -> Result<()> {
        if self.surface.is_live() { self.show_waiting() } else { Ok(()) }
    }

    pub fn show(&mut self, event: &Event) -> Result<()> {
        if !matches!(event.kind, EventKind::Waiting { .. }) {
            self.stop_waiting()?;
        }
        match &event.kind {
            EventKind::Text { text } => {
                self.answer.push_str(text);
                self.surface.text(Channel::Answer, text)
            }
            EventKind::Thought { text } => {
                self.thoughts.push_str(text);
                self.surface.text(Channel::Thought, text)
            }
            EventKind::ToolSeen { name } => {
                self.tools += 1;
                self.surface.tool(apart(Look::Tool, format!("{name} is called for: held, not run")))
            }
            EventKind::Part { part } => {
                let what = format!("a part that is no text ({} bytes)", part.as_str().len());
                self.line(apart(Look::Tool, what))
            }
            EventKind::Dropped(dropped) => self.dropped(dropped),
            EventKind::Waiting { next_attempt, for_ms, why } => {
                self.waiting = Some((Instant::now(), *for_ms, *why, next_attempt.0));
                self.show_waiting()
            }
            EventKind::Reset(reset) => self.reset(reset),
            EventKind::AttemptStarted { strategy } => self.started(event.attempt.0, *strategy),
            EventKind::Completed(completed) => self.completed(completed),
            EventKind::Failed(failed) => self.failed(failed),
        }
    }

    fn dropped(&mut self, dropped: &Dropped) -> Result<()> {
        let line = apart(Look::Broken, words::cause(dropped))
            .and(Look::Dim, words::tokens(dropped))
            .and(Look::Dim, " → ")
            .and(Look::Strong, words::decision(&dropped.decision));
        self.line(line)
    }

    fn reset(&mut self, reset: &Reset) -> Result<()> {
        let keep = usize::try_from(reset.keep_text_bytes).unwrap_or(usize::MAX);
        let keep = keep.min(self.answer.len());
        let gone = self.answer.split_off(keep);
        let keep_thoughts = bytes_of(&self.thoughts, reset.keep_thought_utf16);
        self.thoughts.truncate(keep_thoughts);
        let tools = usize::try_from(reset.keep_tools).unwrap_or(usize::MAX).min(self.tools);
        let what = match self.tools - tools {
            0 => summary(&self.answer, &gone),
            calls => {
                let calls = words::count(calls, "held call");
                format!("{}, drops {calls}", summary(&self.answer, &gone))
            }
        };
        self.tools = tools;
        self.surface.take_back(Channel::Thought, keep_thoughts)?;
        self.surface.take_back(Channel::Answer, keep)?;
        self.surface.take_back_tools(tools)?;
        if reset.reason == ResetReason::AnswerRestarted {
            // In the middle of an attempt: no `attempt_started` follows.
            let line = apart(Look::Broken, "the model began its answer anew");
            return self.line(line.and(Look::Dim, format!(" · {what}")));
        }
        self.reset = Some(what);
        Ok(())
    }

    fn started(&mut self, attempt: u32, strategy: Strategy) -> Result<()> {
        let Some(what) = self.reset.take() else { return Ok(()) };
        let line = apart(Look::Strong, format!("attempt {attempt}, {strategy}"));
        self.line(line.and(Look::Dim, format!(" · {what}")))
    }

    fn show_waiting(&mut self) -> Result<()> {
        let Some((since, for_ms, why, attempt)) = self.waiting else { return Ok(()) };
        let passed = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let live = self.surface.is_live();
        let time = match for_ms {
            Some(ms) if live => format!(" {}", words::seconds(ms.saturating_sub(passed))),
            Some(ms) => format!(" {}", words::seconds(ms)),
            None if live => format!(" {}", words::seconds(passed)),
            None => String::new(),
        };
        let what = match why {
            WaitReason::Offline => format!("offline: waiting for a network{time}"),
            _ => format!("waiting{time} before attempt {attempt} ({})", words::wait(why)),
        };
        self.surface.status(apart(Look::Broken, what))
    }

    fn stop_waiting(&mut self) -> Result<()> {
        let Some((since, _, why, _)) = self.waiting.take() else { return Ok(()) };
        if !self.surface.is_live() {
            return Ok(());
        }
        let passed = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let what = format!("waited {} ({})", words::seconds(passed), words::wait(why));
        self.surface.status(apart(Look::Dim, what))
    }

    fn completed(&mut self, completed: &Completed) -> Result<()> {
        self.surface.finish()?;
        if self.ending == Ending::Bare {
            return Ok(());
        }
        let class = completed.finish.class.as_str();
        let look = if class == "complete" { Look::Whole } else { Look::Broken };
        self.line(Line::new())?;
        let line = apart(look, format!("completed: {class} ({})", completed.finish.reason));
        self.line(line)?;
        for call in &completed.tool_calls {
            for line in tool(call) {
                self.line(line)?;
            }
        }
        self.report(&completed.attempts)
    }

    fn failed(&mut self, failed: &Failed) -> Result<()> {
        self.surface.finish()?;
        let error = &failed.error;
        self.line(Line::new())?;
        self.line(apart(Look::Broken, format!("failed: {} ({})", error.kind, error.reason)))?;
        if let Some(details) = &error.details {
            // The server's whole body may follow its message; the JSON events have it.
            let message = details.split(": {").next().unwrap_or(details);
            self.line(Line::of(Look::Dim, format!("   {}", fitted(message, DETAILS))))?;
        }
        if self.ending == Ending::Bare { Ok(()) } else { self.report(&failed.attempts) }
    }

    fn report(&mut self, attempts: &[rejoin::turn::AttemptReport]) -> Result<()> {
        if attempts.is_empty() {
            return Ok(());
        }
        for line in table::attempts(attempts) {
            self.line(line)?;
        }
        Ok(())
    }
}

/// A line that does not belong to the answer.
pub fn apart(look: Look, text: impl Into<String>) -> Line {
    Line::of(Look::Dim, "── ").and(look, text)
}

fn summary(kept: &str, gone: &str) -> String {
    let of = |text: &str| words::count(text.chars().count(), "character");
    match (kept.is_empty(), gone.is_empty()) {
        (true, true) => "nothing was shown yet".to_owned(),
        (false, true) => "keeps all of it".to_owned(),
        (true, false) => format!("takes all {} back", of(gone)),
        (false, false) => format!("keeps {}, takes {} back", of(kept), gone.chars().count()),
    }
}

fn tool(call: &ToolCall) -> [Line; 2] {
    let call_line = Line::of(Look::Tool, format!("   run {}", call.name))
        .and(Look::Plain, format!(" {}", call.args.as_str()));
    let ordinal = if call.ordinal == 0 { String::new() } else { format!(" (#{})", call.ordinal) };
    let key_line = Line::of(Look::Dim, "       effect key ")
        .and(Look::Plain, format!("{}{ordinal}", call.effect_key));
    [call_line, key_line]
}

/// How many bytes of a text so many UTF-16 units are.
fn bytes_of(text: &str, units: Utf16Len) -> usize {
    let mut left = units.0;
    for (at, c) in text.char_indices() {
        let wide = c.len_utf16() as u64;
        if left < wide {
            return at;
        }
        left -= wide;
    }
    text.len()
}
