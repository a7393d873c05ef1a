//! Pauses between attempts: exponential, with jitter, from a seed so that a turn can be replayed.

use super::chance::Chance;
use super::policy::Policy;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The pauses of one turn.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Backoff {
    taken: u32,
    chance: Chance,
}

impl Backoff {
    pub(crate) fn new(seed: u64) -> Self {
        Self { taken: 0, chance: Chance::new(seed) }
    }

    /// The next pause: `base * 2^n`, at most the maximum, less a random share of it.
    pub(crate) fn next(&mut self, policy: &Policy) -> Duration {
        let doubled = policy.backoff_base_ms.saturating_mul(1 << self.taken.min(20));
        self.taken += 1;
        let full = doubled.min(policy.backoff_max_ms);
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss
        )]
        let pause = (full as f64 * (1.0 - policy.backoff_jitter * self.chance.share())) as u64;
        Duration::from_millis(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_maximum_and_jitter_only_shortens_them() {
        let exact = Policy {
            backoff_base_ms: 100,
            backoff_max_ms: 350,
            backoff_jitter: 0.0,
            ..Policy::default()
        };
        let mut backoff = Backoff::new(7);
        let pauses: Vec<_> = (0..4).map(|_| backoff.next(&exact).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 350, 350]);
        let jittered = Policy { backoff_jitter: 1.0, ..exact };
        let mut backoff = Backoff::new(7);
        let pauses: Vec<_> = (0..100).map(|_| backoff.next(&jittered).as_millis()).collect();
        assert!(pauses.iter().all(|pause| *pause <= 350));
        assert!(pauses.iter().collect::<std::collections::HashSet<_>>().len() > 50);
    }
}
