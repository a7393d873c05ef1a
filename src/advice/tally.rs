//! The sums over a drop log. Memory does not grow with the log.

use super::line::{DropLine, NextLine};
use crate::turn::Chance;
use std::collections::BTreeMap;

/// R up to here is counted token by token; longer answers than this are no longer told apart.
/// Gemini's largest output is 65,536 tokens.
const MOST_R: usize = 65_536;
/// Where a bar of the histogram begins: finer where drops are short.
const EDGES: [u64; 13] = [0, 25, 50, 100, 150, 200, 300, 400, 600, 800, 1200, 2000, 4000];
/// Times to a drop that are kept for the simulation.
const SAMPLE: usize = 4096;
/// Names of causes and reasons are a few dozen; a log of something else must not fill the memory.
const MOST_NAMES: usize = 64;

/// What happened to continuations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Continuations {
    /// How many drops were followed by one whose reply is known.
    pub known: u64,
    /// The reply went on as it should.
    pub clean: u64,
    /// It repeated or prefaced something, which was taken out before anybody saw it.
    pub mended: u64,
    /// It began the whole answer anew: paid in full, and the screen was reset.
    pub restarted: u64,
    /// It was refused or came back empty: paid for nothing, or not at all.
    pub wasted: u64,
}

/// The sums over many drops.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Drops.
    pub drops: u64,
    /// Drops whose R was measured.
    pub exact: u64,
    /// Drops by cause.
    pub causes: BTreeMap<String, u64>,
    /// Drops by the reason that decided first.
    pub reasons: BTreeMap<String, u64>,
    /// Drops by what the gate chose.
    pub strategies: BTreeMap<String, u64>,
    /// What happened to continuations.
    pub continuations: Continuations,
    /// Drops that were followed by a pause, and the sum of those pauses in milliseconds.
    pub waits: (u64, u64),
    /// Prompt tokens of attempts that dropped, where known.
    pub prompt_tokens: u64,
    /// Output tokens (answer and thoughts) of attempts that dropped, at least.
    pub output_tokens: u64,
    /// Tokens and milliseconds of streams from which a speed can be told.
    speed: (u64, u64),
    /// Seconds from an attempt's start to its drop: a sample, each drop as likely as any other.
    pub times: Vec<f64>,
    /// Drops of which the time is known.
    timed: u64,
    chance: Chance,
    /// Drops for which the threshold decides, by R.
    by_r: Vec<u32>,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            drops: 0,
            exact: 0,
            causes: BTreeMap::new(),
            reasons: BTreeMap::new(),
            strategies: BTreeMap::new(),
            continuations: Continuations::default(),
            waits: (0, 0),
            prompt_tokens: 0,
            output_tokens: 0,
            speed: (0, 0),
            times: Vec::new(),
            timed: 0,
            chance: Chance::new(1),
            by_r: vec![0; MOST_R + 1],
        }
    }
}

impl Tally {
    /// Adds one drop.
    pub fn add(&mut self, drop: &DropLine<'_>) {
        self.drops += 1;
        self.exact += u64::from(drop.exact);
        count(&mut self.causes, &drop.cause);
        count(&mut self.strategies, &drop.decision.strategy);
        if let Some(reason) = drop.decision.reasons.first() {
            count(&mut self.reasons, reason);
        }
        let usage = drop.usage;
        let answer = usage.candidates_tokens.unwrap_or(0).max(drop.received_tokens);
        let output = answer.saturating_add(usage.thoughts_tokens.unwrap_or(0));
        self.prompt_tokens = self.prompt_tokens.saturating_add(usage.prompt_tokens.unwrap_or(0));
        self.output_tokens = self.output_tokens.saturating_add(output);
        // Shorter ones tell how long the model thought, not how fast it speaks.
        if let Some(took) = drop.took_ms.filter(|took| *took > 0 && drop.received_tokens >= 50) {
            self.speed.0 = self.speed.0.saturating_add(drop.received_tokens);
            self.speed.1 = self.speed.1.saturating_add(took);
        }
        if let Some(took) = drop.took_ms {
            self.sample(took);
        }
        if drop.is_for_the_threshold() {
            let r = usize::try_from(drop.committed_tokens).unwrap_or(MOST_R).min(MOST_R);
            self.by_r[r] = self.by_r[r].saturating_add(1);
        }
        if let Some(next) = &drop.next {
            if next.waited_ms > 0 {
                self.waits.0 += 1;
                self.waits.1 = self.waits.1.saturating_add(next.waited_ms);
            }
            if drop.was_continued() {
                self.continuations.add(next);
            }
        }
    }

    fn sample(&mut self, millis: u64) {
        #[allow(clippy::cast_precision_loss)]
        let seconds = millis as f64 / 1000.0;
        self.timed += 1;
        if self.times.len() < SAMPLE {
            return self.times.push(seconds);
        }
        let place = usize::try_from(self.chance.next() % self.timed).unwrap_or(usize::MAX);
        if let Some(old) = self.times.get_mut(place) {
            *old = seconds;
        }
    }

    /// Drops for which the threshold decides.
    #[must_use]
    pub fn for_the_threshold(&self) -> u64 {
        self.by_r.iter().map(|count| u64::from(*count)).sum()
    }

    /// Output tokens a second, where the log tells.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // A speed needs no more digits.
    pub fn tokens_per_second(&self) -> Option<f64> {
        let (tokens, millis) = self.speed;
        (millis > 0).then(|| tokens as f64 * 1000.0 / millis as f64)
    }

    /// Drops for which the threshold decides, with an R of at least `low` and below `high`.
    #[must_use]
    pub fn between(&self, low: u64, high: u64) -> u64 {
        self.range(low, high).map(|(_, count)| count).sum()
    }

    /// Those drops by R: where a bar begins, where the next one does, and how many there are.
    pub fn histogram(&self) -> impl Iterator<Item = (u64, Option<u64>, u64)> + '_ {
        EDGES.into_iter().enumerate().map(|(n, low)| {
            let high = EDGES.get(n + 1).copied();
            (low, high, self.between(low, high.unwrap_or(u64::MAX)))
        })
    }

    /// The tokens of those drops.
    #[must_use]
    pub fn tokens_between(&self, low: u64, high: u64) -> u64 {
        self.range(low, high).map(|(r, count)| r * count).sum()
    }

    /// The R below which this share (0 to 1) of those drops lies.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let total = self.for_the_threshold();
        let rank = ((total as f64 * share).ceil() as u64).clamp(1, total.max(1));
        let mut seen = 0;
        self.range(0, u64::MAX).find_map(|(r, count)| {
            seen += count;
            (seen >= rank).then_some(r)
        })
    }

    fn range(&self, low: u64, high: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let at = |r: u64| usize::try_from(r).unwrap_or(usize::MAX).min(MOST_R + 1);
        let (low, high) = (at(low), at(high));
        let part = self.by_r.get(low..high.max(low)).unwrap_or_default();
        part.iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(move |(n, count)| ((low + n) as u64, u64::from(*count)))
    }
}

impl Continuations {
    fn add(&mut self, next: &NextLine<'_>) {
        let counter = match next.seam.as_deref() {
            Some("clean") => &mut self.clean,
            Some("restart") => &mut self.restarted,
            Some(_) => &mut self.mended,
            None => match next.cause.as_deref() {
                Some("refused" | "empty") => &mut self.wasted,
                None if next.outcome == "completed" => &mut self.clean,
                // It dropped before a word, or never left: it says nothing about seams.
                Some(_) | None => return,
            },
        };
        *counter += 1;
        self.known += 1;
    }

    /// The share (0 to 1) that was paid for without saving anything.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn lost_share(&self) -> f64 {
        if self.known == 0 {
            return 0.0;
        }
        (self.restarted + self.wasted) as f64 / self.known as f64
    }
}

fn count(names: &mut BTreeMap<String, u64>, name: &str) {
    if let Some(count) = names.get_mut(name) {
        *count += 1;
    } else {
        let name = if names.len() < MOST_NAMES { name } else { "other" };
        *names.entry(name.to_owned()).or_default() += 1;
    }
}
