//! Finds out that the device slept, or that the process did, without being told.
//!
//! Two signs: the wall clock has gone further than the clock that stands still in a sleep, or a
//! pause took much longer than it was meant to.

use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// How often to look while a turn runs: a socket that died in a sleep is found after that long.
pub(super) const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What the clocks say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    pub steady: Instant,
    pub wall: SystemTime,
}

impl Reading {
    pub(super) fn now() -> Self {
        Self { steady: Instant::now(), wall: SystemTime::now() }
    }
}

/// The last look at the clocks.
#[derive(Debug)]
pub(super) struct Watch {
    last: Reading,
}

impl Watch {
    pub(super) fn new(now: Reading) -> Self {
        Self { last: now }
    }

    pub(super) fn next_look(&self) -> Instant {
        self.last.steady + LOOK_EVERY
    }

    /// For how long nothing could happen since the last look, beyond the time until this one was
    /// due. Zero in the usual case.
    pub(super) fn look(&mut self, now: Reading) -> Duration {
        let steady = now.steady.saturating_duration_since(self.last.steady);
        // A wall clock that was set back has nothing to tell.
        let wall = now.wall.duration_since(self.last.wall).unwrap_or_default();
        self.last = now;
        steady.max(wall).saturating_sub(steady.min(LOOK_EVERY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(steady_ms: u64, wall_ms: i64) -> u128 {
        let began = Reading { steady: Instant::now(), wall: SystemTime::now() };
        let wall = Duration::from_millis(wall_ms.unsigned_abs());
        let now = Reading {
            steady: began.steady + Duration::from_millis(steady_ms),
            wall: if wall_ms < 0 { began.wall - wall } else { began.wall + wall },
        };
        Watch::new(began).look(now).as_millis()
    }

    #[test]
    fn sleep_shows_in_either_clock_and_nothing_else_does() {
        assert_eq!(gap(1_000, 1_000), 0, "an ordinary pause");
        assert_eq!(gap(300, 300), 0, "woken early by bytes");
        assert_eq!(gap(31_000, 31_000), 30_000, "the process was frozen");
        assert_eq!(gap(1_000, 61_000), 60_000, "the device slept, and its steady clock with it");
        assert_eq!(gap(1_000, -3_600_000), 0, "the wall clock was set back");
        assert_eq!(gap(1_000, 1_400), 400, "drift is told and means nothing");
    }
}
