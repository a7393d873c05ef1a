//! What is asked, and when the line breaks.
//!
//! The numbers of the models are assumptions, stated here and nowhere else. They are there to
//! compare policies with, not to tell anybody's bill.

use crate::turn::Chance;

/// Where somebody uses an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// A cut in five minutes: the line of a home.
    Calm,
    /// Tunnels: half a minute of line, ten seconds of none.
    Train,
    /// One long cut, such as a lift's, somewhere in the first seconds.
    Lift,
    /// A cell at its edge: a reset every ten seconds, back at once.
    WeakCell,
    /// An overloaded server: a third of the requests is refused, streams break off.
    Overload,
    /// Turns that drop when those of the log did.
    Log,
}

impl World {
    pub(super) const MODELS: [Self; 5] =
        [Self::Calm, Self::Train, Self::Lift, Self::WeakCell, Self::Overload];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Calm => "calm",
            Self::Train => "train",
            Self::Lift => "lift",
            Self::WeakCell => "weak cell",
            Self::Overload => "overload",
            Self::Log => "your log",
        }
    }
}

/// One question and its answer, in tokens and seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question {
    pub prompt: f64,
    pub answer: f64,
    /// From the request to the first token.
    pub first_token: f64,
    /// Tokens a second.
    pub speed: f64,
    /// Tokens of a sentence: so much is lost at a checkpoint, at most.
    pub sentence: f64,
}

impl Question {
    /// Chat of a phone: prompts around 800 tokens with their history, answers around 450.
    pub(super) fn random(chance: &mut Chance) -> Self {
        Self {
            prompt: chance.log_normal(800.0, 0.8).clamp(20.0, 30_000.0),
            answer: chance.log_normal(450.0, 0.9).clamp(10.0, 8000.0),
            first_token: chance.log_normal(0.8, 0.4).clamp(0.2, 10.0),
            // Phones' streams, not data sheets: models of the Flash kind and slower.
            speed: chance.log_normal(90.0, 0.4).clamp(20.0, 400.0),
            sentence: 22.0,
        }
    }
}

/// When the line is cut, and until when it stays so.
#[derive(Debug, Clone)]
pub(super) struct Line {
    cuts: Vec<(f64, f64)>,
    /// The share of requests that the server refuses, by the attempt's place in this list.
    refused: Vec<bool>,
}

/// Longer than any turn.
const HORIZON: f64 = 3600.0;
/// So many attempts are looked at.
const ATTEMPTS: usize = 64;

impl Line {
    pub(super) fn random(world: World, log: &[f64], chance: &mut Chance) -> Self {
        let (mut cuts, mut at) = (Vec::new(), 0.0);
        let (on, off, refused) = match world {
            World::Calm => (300.0, 3.0, 0.0),
            World::Train => (30.0, 10.0, 0.0),
            World::WeakCell => (10.0, 0.2, 0.0),
            World::Overload => (20.0, 0.0, 1.0 / 3.0),
            World::Lift => {
                let start = chance.share() * 12.0;
                cuts.push((start, start + 20.0));
                (600.0, 3.0, 0.0)
            }
            World::Log => (0.0, 0.5, 0.0),
        };
        while at < HORIZON && cuts.len() < 4 * ATTEMPTS {
            at += if world == World::Log {
                #[allow(clippy::cast_possible_truncation)]
                let place = chance.next() as usize % log.len().max(1);
                log.get(place).copied().unwrap_or(60.0).max(0.01)
            } else {
                chance.exponential(on)
            };
            let until = at + if off > 0.0 { chance.exponential(off) } else { 0.0 };
            cuts.push((at, until));
            at = until;
        }
        cuts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let refused = (0..ATTEMPTS).map(|_| chance.share() < refused).collect();
        Self { cuts, refused }
    }

    /// The first moment from `at` on at which there is a line.
    pub(super) fn up_from(&self, at: f64) -> f64 {
        let inside = self.cuts.iter().find(|(from, until)| *from <= at && at < *until);
        inside.map_or(at, |(_, until)| self.up_from(*until))
    }

    /// The next cut after `at`.
    pub(super) fn cut_after(&self, at: f64) -> f64 {
        self.cuts.iter().map(|(from, _)| *from).find(|from| *from > at).unwrap_or(f64::INFINITY)
    }

    /// Whether the server refuses the request with this number.
    pub(super) fn refuses(&self, attempt: u32) -> bool {
        self.refused.get(attempt as usize).copied().unwrap_or(false)
    }
}
