//! Plays thousands of seeded turns under the same drops for several policies.
//!
//! Coarse on purpose: tokens, seconds and cuts of the line, no bytes. What the state machine does
//! with bytes is proven elsewhere; here it is asked what its decisions are worth. Rejoin's own
//! decisions come from [`decide`](crate::turn::decide) itself.

mod chance;
mod oracle;
mod play;
mod world;

use super::tally::Tally;
use super::threshold::Prices;
use crate::turn::Chance;
use play::{Attempted, Player};
use world::{Line, Question};

pub use play::Strategy;
pub use world::World;

/// What a simulation needs.
#[derive(Debug, Clone)]
pub struct Simulation {
    /// Turns for each world.
    pub turns: u32,
    /// The same seed gives the same turns.
    pub seed: u64,
    /// What tokens cost.
    pub prices: Prices,
    /// What replies to continuations begin with.
    pub seams: Seams,
}

/// What replies to continuations begin with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seams {
    /// The share (0 to 1) that begins the whole answer anew.
    pub restarted: f64,
    /// The share that repeats or prefaces something, which costs a few tokens.
    pub mended: f64,
}

impl Seams {
    /// As the drop log has them; where it has too few, as small models behave at worst: 1 of 30
    /// begins anew, 1 of 6 repeats something.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn of(tally: &Tally) -> Self {
        let known = tally.continuations;
        if known.known < 30 {
            return Self { restarted: 1.0 / 30.0, mended: 1.0 / 6.0 };
        }
        let share = |count: u64| count as f64 / known.known as f64;
        Self { restarted: share(known.restarted + known.wasted), mended: share(known.mended) }
    }
}

/// What one policy came to in one world, per turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The policy.
    pub strategy: Strategy,
    /// Input tokens paid, on average.
    pub input: f64,
    /// Output tokens paid, on average.
    pub output: f64,
    /// Money for a thousand turns.
    pub money: f64,
    /// Seconds to the first text, on average.
    pub first_text: f64,
    /// Seconds to the whole answer: half of the turns took no longer.
    pub median: f64,
    /// The same for nine of ten.
    pub p90: f64,
    /// Seams shown in a hundred turns.
    pub seams: f64,
    /// Tokens that were shown and taken back, on average.
    pub taken_back: f64,
    /// The share (0 to 1) that gave up.
    pub failed: f64,
}

/// All policies in one world.
#[derive(Debug, Clone, PartialEq)]
pub struct WorldRows {
    /// The world.
    pub world: World,
    /// Cuts of the line that a turn met under the first policy, on average.
    pub cuts: f64,
    /// One row for each policy.
    pub rows: Vec<Row>,
}

impl WorldRows {
    /// What this policy paid beyond the oracle, as a share: 0.1 is a tenth more.
    #[must_use]
    pub fn beyond_oracle(&self, strategy: Strategy) -> Option<f64> {
        let money =
            |wanted| self.rows.iter().find(|row| row.strategy == wanted).map(|row| row.money);
        let oracle = money(Strategy::Oracle)?;
        // At no price nothing is dearer than anything.
        (oracle > 0.0).then_some(money(strategy)? / oracle - 1.0)
    }
}

/// Plays all policies in all worlds; with a log that tells when drops come, in its world as well.
#[must_use]
pub fn simulate(simulation: &Simulation, log: &[f64]) -> Vec<WorldRows> {
    let mut worlds = World::MODELS.to_vec();
    if !log.is_empty() {
        worlds.push(World::Log);
    }
    worlds.into_iter().map(|world| play_world(simulation, world, log)).collect()
}

fn play_world(simulation: &Simulation, world: World, log: &[f64]) -> WorldRows {
    let mut sums: Vec<Sum> = Strategy::ALL.into_iter().map(Sum::new).collect();
    let mut cuts = 0.0;
    for turn in 0..simulation.turns {
        let seed = simulation.seed ^ (u64::from(turn) << 20);
        let mut chance = Chance::new(seed);
        let question = Question::random(&mut chance);
        let line = Line::random(world, log, &mut chance);
        let player = Player { question, line: &line, simulation, luck: chance.next() };
        for sum in &mut sums {
            let attempted = match sum.strategy {
                Strategy::Oracle => oracle::best(&player),
                strategy => player.play(strategy),
            };
            if sum.strategy == Strategy::AlwaysRestart {
                cuts += f64::from(attempted.attempts.saturating_sub(1));
            }
            sum.add(&attempted);
        }
    }
    let turns = f64::from(simulation.turns.max(1));
    let rows = sums.into_iter().map(|sum| sum.row(turns, &simulation.prices)).collect();
    WorldRows { world, cuts: cuts / turns, rows }
}

struct Sum {
    strategy: Strategy,
    all: Attempted,
    times: Vec<f64>,
    failed: f64,
}

impl Sum {
    fn new(strategy: Strategy) -> Self {
        Self { strategy, all: Attempted::default(), times: Vec::new(), failed: 0.0 }
    }

    fn add(&mut self, turn: &Attempted) {
        self.all.input += turn.input;
        self.all.output += turn.output;
        self.all.seams += turn.seams;
        self.all.taken_back += turn.taken_back;
        self.all.first_text += turn.first_text;
        self.times.push(turn.time);
        self.failed += if turn.failed { 1.0 } else { 0.0 };
    }

    fn row(mut self, turns: f64, prices: &Prices) -> Row {
        self.times.sort_by(f64::total_cmp);
        let at = |share: f64| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let place = (turns * share) as usize;
            self.times.get(place.min(self.times.len().saturating_sub(1))).copied().unwrap_or(0.0)
        };
        Row {
            strategy: self.strategy,
            input: self.all.input / turns,
            output: self.all.output / turns,
            money: (self.all.input * prices.input + self.all.output * prices.output)
                / 1000.0
                / turns,
            first_text: self.all.first_text / turns,
            median: at(0.5),
            p90: at(0.9),
            seams: self.all.seams * 100.0 / turns,
            taken_back: self.all.taken_back / turns,
            failed: self.failed / turns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<WorldRows> {
        let prices = Prices { input: 0.30, output: 2.50, seam: None, second: 0.0 };
        let seams = Seams { restarted: 1.0 / 30.0, mended: 1.0 / 6.0 };
        let simulation = Simulation { turns: 2000, seed: 1, prices, seams };
        simulate(&simulation, &[2.0, 3.0, 4.0])
    }

    #[test]
    fn nobody_pays_less_than_the_oracle_and_equal_seeds_agree() {
        let worlds = all();
        assert_eq!(worlds.len(), World::MODELS.len() + 1);
        for world in &worlds {
            for row in &world.rows {
                let beyond = world.beyond_oracle(row.strategy).unwrap();
                assert!(row.failed > 0.0 || beyond >= -1e-9, "{:?} {row:?} {beyond}", world.world);
            }
        }
        assert_eq!(worlds, all());
    }

    #[test]
    fn in_a_calm_world_every_stream_pays_once() {
        let worlds = all();
        let calm = worlds.iter().find(|world| world.world == World::Calm).unwrap();
        for row in &calm.rows {
            assert!(calm.beyond_oracle(row.strategy).unwrap() < 0.05, "{row:?}");
        }
    }
}
