//! The oracle: it is asked the gate's question, and knows when the line will break.
//!
//! It must send at once when there is a line, as every policy here must: to wait for a line that
//! holds would be cheaper still, and nobody would wait with it.

use super::play::{Attempted, MOST, Next, Player, State};

/// Deeper than this it goes on as it began: three ways after each drop are many after eight.
const LOOK_AHEAD: u32 = 6;

/// The course that is paid least; of equal ones the quickest.
pub(super) fn best(player: &Player<'_>) -> Attempted {
    let streams = from(player, State::default(), Next { stream: true, keep: false });
    let in_one_piece = from(player, State::default(), Next { stream: false, keep: false });
    cheaper(player, streams, in_one_piece)
}

fn from(player: &Player<'_>, mut state: State, next: Next) -> Attempted {
    if player.attempt(&mut state, next) {
        return state.sum;
    }
    if state.sum.attempts >= MOST {
        state.sum.failed = true;
        state.sum.time = state.at;
        return state.sum;
    }
    let has_kept = state.committed > 0.0;
    if state.sum.attempts >= LOOK_AHEAD {
        return from(player, state, Next { stream: true, keep: has_kept });
    }
    let mut best = from(player, state, Next { stream: true, keep: false });
    for next in [Next { stream: true, keep: true }, Next { stream: false, keep: true }] {
        if has_kept {
            best = cheaper(player, best, from(player, state, next));
        }
    }
    cheaper(player, best, from(player, state, Next { stream: false, keep: false }))
}

fn cheaper(player: &Player<'_>, one: Attempted, other: Attempted) -> Attempted {
    let prices = &player.simulation.prices;
    let cost = |turn: &Attempted| {
        // A turn that fails is worth nothing, whatever it saved.
        let failed = if turn.failed { f64::INFINITY } else { 0.0 };
        failed + turn.input * prices.input + turn.output * prices.output
    };
    let (a, b) = (cost(&one), cost(&other));
    if b < a || (b <= a && other.time < one.time) { other } else { one }
}
