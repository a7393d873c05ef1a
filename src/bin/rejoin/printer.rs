//! The ways to print a turn's events: for people, or one JSON object a line.

use crate::args::Events;
use crate::pretty::surface::surface;
use crate::pretty::{Ending, Pretty};
use rejoin::turn::Event;
use std::io::{Result, Write as _};
use std::time::Duration;

/// Prints events in one of the ways.
pub trait Printer {
    fn print(&mut self, event: &Event) -> Result<()>;
    /// How often `tick` wants to be called just now.
    fn tick_every(&self) -> Option<Duration>;
    /// Time has passed.
    fn tick(&mut self) -> Result<()>;
}

pub fn printer(events: Events) -> Box<dyn Printer> {
    match events {
        Events::Jsonl => Box::new(Jsonl),
        Events::Pretty => Box::new(Pretty::new(surface(false), Ending::Report)),
    }
}

struct Jsonl;

impl Printer for Jsonl {
    fn print(&mut self, event: &Event) -> Result<()> {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer(&mut out, event)?;
        out.write_all(b"\n")?;
        out.flush()
    }

    fn tick_every(&self) -> Option<Duration> {
        None
    }

    fn tick(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Printer for Pretty {
    fn print(&mut self, event: &Event) -> Result<()> {
        self.show(event)
    }

    fn tick_every(&self) -> Option<Duration> {
        Self::tick_every(self)
    }

    fn tick(&mut self) -> Result<()> {
        Self::tick(self)
    }
}
