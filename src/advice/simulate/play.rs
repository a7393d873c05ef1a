//! One turn under one policy.

use super::Simulation;
use super::world::{Line, Question};
use crate::turn::{self, Base, Chance, Evidence, Policy};

/// A policy to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Every drop starts over.
    AlwaysRestart,
    /// Every drop is continued, from the first whole sentence on.
    AlwaysContinue,
    /// Everything is fetched in one piece.
    NeverStream,
    /// Rejoin's gate with its defaults.
    Rejoin,
    /// Rejoin's gate, but streaming to the end however often it drops.
    RejoinStreams,
    /// Knows when the drops come, and chooses what is paid least.
    Oracle,
}

impl Strategy {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 6] = [
        Self::AlwaysRestart,
        Self::AlwaysContinue,
        Self::NeverStream,
        Self::Rejoin,
        Self::RejoinStreams,
        Self::Oracle,
    ];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AlwaysRestart => "always restart",
            Self::AlwaysContinue => "always continue",
            Self::NeverStream => "never stream",
            Self::Rejoin => "Rejoin",
            Self::RejoinStreams => "Rejoin, streaming on",
            Self::Oracle => "oracle",
        }
    }
}

/// Requests a turn may make, whatever its policy: nobody shall look cheap by giving up early.
pub(super) const MOST: u32 = 12;
/// Tokens of the instruction that a continuation adds.
const INSTRUCTION: f64 = 40.0;
/// Tokens of a repeated sentence or a preface.
const MENDED: f64 = 25.0;
/// The first pause after a refusal; it doubles.
const BACKOFF: f64 = 0.5;

/// What a turn came to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Attempted {
    pub input: f64,
    pub output: f64,
    pub time: f64,
    pub first_text: f64,
    pub seams: f64,
    pub taken_back: f64,
    pub attempts: u32,
    pub failed: bool,
}

/// One turn to play.
pub(super) struct Player<'a> {
    pub question: Question,
    pub line: &'a Line,
    pub simulation: &'a Simulation,
    /// What decides about the seams, the same for every policy.
    pub luck: u64,
}

/// How far a turn is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
    pub sum: Attempted,
    /// The moment.
    pub at: f64,
    /// Tokens on the screen.
    pub shown: f64,
    /// Tokens that can be built on.
    pub committed: f64,
    pub drops: u32,
    pub refusals: u32,
}

/// What to send next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Next {
    pub stream: bool,
    pub keep: bool,
}

impl Player<'_> {
    pub(super) fn play(&self, strategy: Strategy) -> Attempted {
        let mut state = State::default();
        let mut next = Next { stream: strategy != Strategy::NeverStream, keep: false };
        while state.sum.attempts < MOST {
            if self.attempt(&mut state, next) {
                return state.sum;
            }
            next = Self::next(strategy, &state);
        }
        state.sum.failed = true;
        state.sum.time = state.at;
        state.sum
    }

    /// Makes an attempt; true if it completed the turn.
    pub(super) fn attempt(&self, state: &mut State, next: Next) -> bool {
        let q = &self.question;
        state.at = self.line.up_from(state.at);
        let no = state.sum.attempts;
        state.sum.attempts += 1;
        if self.line.refuses(no) {
            // Refused before anything was generated: not billed, and no drop.
            state.at += 0.1 + BACKOFF * f64::from(1 << state.refusals.min(5));
            state.refusals += 1;
            return false;
        }
        let (kept, extra, anew) = self.seam(state, next, no);
        state.sum.input += q.prompt + if next.keep { state.committed + INSTRUCTION } else { 0.0 };
        let to_say = if anew { q.answer } else { q.answer - kept } + extra;
        let whole_at = state.at + q.first_token + to_say / q.speed;
        let cut = self.line.cut_after(state.at);
        let said = if cut < whole_at {
            ((cut - state.at - q.first_token) * q.speed).clamp(0.0, to_say)
        } else {
            to_say
        };
        // Every token that was generated until the cut is taken to be paid.
        state.sum.output += said;
        self.show(state, next, kept, if anew { said } else { said - extra.min(said) }, anew);
        if cut >= whole_at {
            state.at = whole_at;
            state.sum.time = whole_at;
            if state.sum.first_text == 0.0 {
                state.sum.first_text = if next.stream { whole_at } else { state.at };
            }
            return true;
        }
        state.at = cut;
        state.drops += 1;
        false
    }

    fn show(&self, state: &mut State, next: Next, kept: f64, new: f64, anew: bool) {
        let q = &self.question;
        let kept = if anew { 0.0 } else { kept };
        state.sum.taken_back += (state.shown - kept).max(0.0);
        let shown = if next.stream { new } else { 0.0 };
        if shown > 0.0 && state.sum.first_text == 0.0 {
            state.sum.first_text = state.at + q.first_token;
        }
        state.shown = kept + shown;
        // The last sentence is not whole.
        state.committed = (state.shown / q.sentence).floor() * q.sentence;
    }

    /// What is kept, what is said beside the rest, and whether the answer begins anew.
    fn seam(&self, state: &mut State, next: Next, no: u32) -> (f64, f64, bool) {
        if !next.keep || state.committed <= 0.0 {
            return (0.0, 0.0, false);
        }
        state.sum.seams += 1.0;
        let mut chance = Chance::new(self.luck ^ u64::from(no));
        let dice = chance.share();
        let seams = &self.simulation.seams;
        if dice < seams.restarted {
            (state.committed, 0.0, true)
        } else if dice < seams.restarted + seams.mended {
            (state.committed, MENDED, false)
        } else {
            (state.committed, 0.0, false)
        }
    }

    fn next(strategy: Strategy, state: &State) -> Next {
        match strategy {
            Strategy::AlwaysRestart => Next { stream: true, keep: false },
            Strategy::AlwaysContinue => Next { stream: true, keep: state.committed > 0.0 },
            Strategy::NeverStream => Next { stream: false, keep: false },
            Strategy::Rejoin | Strategy::Oracle => gate(&Policy::default(), state),
            Strategy::RejoinStreams => {
                let policy = Policy { stream_drops_before_fallback: u32::MAX, ..Policy::default() };
                gate(&policy, state)
            }
        }
    }
}

/// What the gate says.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn gate(policy: &Policy, state: &State) -> Next {
    let policy = Policy { max_attempts: u32::MAX, ..policy.clone() };
    let evidence = Evidence {
        attempts: state.sum.attempts,
        stream_drops: state.drops,
        has_committed: state.committed > 0.0,
        committed_tokens: state.committed as u64,
        ..Evidence::default()
    };
    match turn::decide(&evidence, &policy).next {
        Some((strategy, base)) => {
            Next { stream: strategy != turn::Strategy::NonStreaming, keep: base == Base::Committed }
        }
        None => Next { stream: true, keep: false },
    }
}
