//! What the proofs over the pure core share: virtual time, a renderer, a slow reader, streams.
//! Nothing here opens a socket, sleeps or reads a clock.
#![allow(dead_code, unused_imports)]

pub mod chance;
mod folders;
mod invariants;
mod pair;
pub mod proof;
mod screen;
mod slow;
mod streams;
mod wire;

pub use invariants::{assert_invariants, assert_invariants_given, assert_restored};
pub use pair::{BODY, Happening, Pair, Reply, Run, Way, What, replay, replay_with};
pub use screen::Screen;
pub use slow::{Told, finish_reason, first_difference, slow_read};
pub use streams::{Stream, own_streams, recordings};
pub use wire::{Line, call, error, finish, part, sse, text, thought, unary, with_newlines};

/// How often chance is asked: `PROPTEST_CASES`, or so many times.
pub fn chances(cases: u32) -> proptest::test_runner::Config {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    proptest::test_runner::Config {
        cases: asked.unwrap_or(cases),
        failure_persistence: None,
        ..Default::default()
    }
}
