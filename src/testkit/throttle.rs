//! A slow network between server and client, by the names of the Android emulator.
//!
//! Values are those that the emulator prints for `emulator -help-netspeed` and
//! `emulator -help-netdelay`. Older emulators (`android_netspeeds` in AOSP's
//! `external/qemu/android/android-constants.c`, Android 5.1) had others under the same names,
//! `gprs` 40/80 kbit/s and 150 to 550 ms for one: these are the current ones.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long one piece of a paced segment takes: short enough that text comes steadily, long
/// enough for a timer of a millisecond.
const PIECE: Duration = Duration::from_millis(20);

/// A speed and a delay. Applied to what the server sends; requests are small and pass at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Throttle {
    /// The profile's name.
    pub name: &'static str,
    /// Up-link, in bits a second; 0 is no limit. Told, not applied.
    pub up_bps: u64,
    /// Down-link, in bits a second; 0 is no limit.
    pub down_bps: u64,
    /// The shortest delay of a segment, in milliseconds.
    pub min_delay_ms: u64,
    /// The longest delay of a segment, in milliseconds.
    pub max_delay_ms: u64,
    /// Where the delays start from: the same seed gives the same ones.
    pub seed: u64,
}

impl Throttle {
    /// Every profile, from slow to unlimited.
    pub const ALL: [Self; 9] = [
        Self::profile("gsm", [14_400, 14_400], [150, 550]),
        Self::profile("hscsd", [14_400, 57_600], [80, 400]),
        Self::profile("gprs", [28_800, 57_600], [35, 200]),
        Self::profile("umts", [384_000, 384_000], [35, 200]),
        Self::profile("edge", [473_600, 473_600], [80, 400]),
        Self::profile("hsdpa", [5_760_000, 13_980_000], [0, 0]),
        Self::profile("lte", [58_000_000, 173_000_000], [0, 0]),
        Self::profile("evdo", [75_000_000, 280_000_000], [0, 0]),
        Self::profile("full", [0, 0], [0, 0]),
    ];

    const fn profile(name: &'static str, speed: [u64; 2], delay: [u64; 2]) -> Self {
        Self {
            name,
            up_bps: speed[0],
            down_bps: speed[1],
            min_delay_ms: delay[0],
            max_delay_ms: delay[1],
            seed: 1,
        }
    }

    /// The profile of this name; `none` is another name of `full`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == "none" { "full" } else { name };
        Self::ALL.into_iter().find(|profile| profile.name == name)
    }

    /// GSM/CSD: 14.4 kbit/s, 150 to 550 ms.
    #[must_use]
    pub fn gsm() -> Self {
        Self::ALL[0].clone()
    }

    /// GPRS: 57.6 kbit/s down, 35 to 200 ms.
    #[must_use]
    pub fn gprs() -> Self {
        Self::ALL[2].clone()
    }

    /// UMTS/3G: 384 kbit/s, 35 to 200 ms.
    #[must_use]
    pub fn umts() -> Self {
        Self::ALL[3].clone()
    }

    /// EDGE/EGPRS: 473.6 kbit/s, 80 to 400 ms.
    #[must_use]
    pub fn edge() -> Self {
        Self::ALL[4].clone()
    }

    /// LTE: 173 Mbit/s down, no delay.
    #[must_use]
    pub fn lte() -> Self {
        Self::ALL[6].clone()
    }

    /// No limit and no delay.
    #[must_use]
    pub fn full() -> Self {
        Self::ALL[8].clone()
    }

    /// The same network with other delays.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}

impl Default for Throttle {
    fn default() -> Self {
        Self::full()
    }
}

/// The down-link, shared by all connections of a server as a phone's is.
#[derive(Debug)]
pub(crate) struct Link {
    throttle: Throttle,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// When the link has sent what it was given so far.
    free: Instant,
    random: u64,
}

impl Link {
    pub(crate) fn new(throttle: Throttle) -> Self {
        let state = State { free: Instant::now(), random: throttle.seed };
        Self { throttle, state: Mutex::new(state) }
    }

    /// How many bytes to write at once.
    pub(crate) fn piece_len(&self) -> usize {
        match self.throttle.down_bps {
            0 => usize::MAX,
            bps => usize::try_from(u128::from(bps) * PIECE.as_millis() / 8000)
                .unwrap_or(usize::MAX)
                .max(1),
        }
    }

    /// The delay of the next segment.
    pub(crate) fn delay(&self) -> Duration {
        let Throttle { min_delay_ms: min, max_delay_ms: max, .. } = self.throttle;
        let span = max.saturating_sub(min) + 1;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Duration::from_millis(min + next_random(&mut state.random) % span)
    }

    /// Puts so many bytes on the link; returns when the last of them is through.
    pub(crate) fn through(&self, bytes: usize) -> Instant {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if self.throttle.down_bps == 0 {
            return now;
        }
        let nanos = bytes as u128 * 8_000_000_000 / u128::from(self.throttle.down_bps);
        let takes = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        state.free = state.free.max(now) + takes;
        state.free
    }
}

/// `SplitMix64`: small, and the same everywhere.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_found_by_its_name() {
        for profile in Throttle::ALL {
            assert_eq!(Throttle::named(profile.name), Some(profile));
        }
        assert_eq!(Throttle::named("none"), Some(Throttle::full()));
        assert_eq!(Throttle::named("5g"), None);
    }

    #[test]
    fn delays_stay_in_their_range_and_repeat_with_their_seed() {
        let delays = |seed| {
            let link = Link::new(Throttle::edge().seeded(seed));
            (0..50).map(|_| link.delay().as_millis()).collect::<Vec<_>>()
        };
        assert!(delays(7).iter().all(|ms| (80..=400).contains(ms)));
        assert_eq!(delays(7), delays(7));
        assert_ne!(delays(7), delays(8));
    }

    #[test]
    fn the_link_takes_the_time_its_speed_says() {
        let link = Link::new(Throttle::gsm());
        let first = link.through(900);
        assert!(first >= Instant::now() + Duration::from_millis(400));
        assert_eq!(link.through(900) - first, Duration::from_millis(500));
        assert_eq!(link.piece_len(), 36);
    }
}
