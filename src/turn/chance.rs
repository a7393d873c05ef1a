//! Seeded chance: the same seed, the same numbers, on every machine.

use serde::{Deserialize, Serialize};

/// `SplitMix64`: small, good enough to spread phones apart, and any seed will do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 up to 1, never 1.
    #[allow(clippy::cast_precision_loss)] // 53 bits are what a double has.
    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
