//! What the device says of itself, and what its clocks tell: networks, suspension, sleep.
//!
//! A socket does not say that it is dead. Whoever comes back from a sleep, or to another network,
//! would wait for `idle_timeout_ms` for bytes that cannot come.

use super::attempt::Broken;
use super::ending::EndedBy;
use super::event::{Cause, WaitReason};
use super::io::Signal;
use super::machine::{Phase, Turn};
use super::retry::Pending;
use std::time::Duration;

/// Phones tell of one change several times, within a second: it is one change.
pub(super) const SIGNALS_ARE_ONE: Duration = Duration::from_secs(1);

/// What the device has said.
#[derive(Debug, Default)]
pub(super) struct Device {
    pub offline: bool,
    /// It will be suspended, and has not come back.
    pub suspended_at: Option<Duration>,
    /// When a signal last led to an attempt.
    acted_at: Option<Duration>,
}

impl Turn {
    pub(super) fn signal(&mut self, now: Duration, signal: Signal) {
        match signal {
            Signal::NetworkLost => self.device.offline = true,
            Signal::NetworkAvailable => {
                self.device.offline = false;
                self.network_is_back(now);
            }
            Signal::NetworkChanged => self.changed(now, "the device changed its network"),
            Signal::NetworkChangedTo { metered: true } => {
                self.changed(now, "the device changed its network, to a metered one");
            }
            Signal::NetworkChangedTo { metered: false } => {
                self.changed(now, "the device changed its network, to an unmetered one");
            }
            Signal::WillSuspend => {
                self.device.suspended_at.get_or_insert(now);
            }
            Signal::Resumed => self.resumed(now),
        }
    }

    fn changed(&mut self, now: Duration, detail: &str) {
        self.device.offline = false;
        if matches!(self.phase, Phase::Running(_)) {
            self.abandon(now, Cause::NetworkChanged, detail);
        } else {
            self.network_is_back(now);
        }
    }

    fn network_is_back(&mut self, now: Duration) {
        if matches!(&self.phase, Phase::Waiting(pending)
            if pending.why == Some(WaitReason::Offline) && !pending.parked)
        {
            self.device.acted_at = Some(now);
            self.wait_is_over(now);
        }
    }

    fn resumed(&mut self, now: Duration) {
        let since = self.device.suspended_at.take();
        let gap = self.setup.policy.suspend_gap();
        match &mut self.phase {
            Phase::Running(attempt) => {
                let sign = attempt.last_byte_at.or(attempt.sent_at).unwrap_or(attempt.started);
                let silent = since.is_none_or(|since| sign <= since);
                let away = now.saturating_sub(since.unwrap_or(sign));
                if away >= gap || since.is_some() && silent && away >= SIGNALS_ARE_ONE {
                    self.abandon(now, Cause::Suspended, "the app was suspended");
                } else if since.is_some() && silent && attempt.last_byte_at.is_some() {
                    // It was gone for a moment only: a living stream shows itself soon.
                    attempt.probation = Some(now + SIGNALS_ARE_ONE);
                }
            }
            Phase::Waiting(pending) if pending.parked => {
                self.device.acted_at = Some(now);
                self.wait_is_over(now);
            }
            Phase::New | Phase::Restored(_) | Phase::Waiting(_) | Phase::Over => {}
        }
    }

    /// The device slept for `gap` without a word, or kept the process from running.
    pub(super) fn slept(&mut self, now: Duration, gap: Duration) {
        if gap < self.setup.policy.suspend_gap() {
            return;
        }
        match &mut self.phase {
            Phase::Running(_) => self.abandon(now, Cause::Suspended, "the device slept"),
            Phase::Waiting(pending)
                if !pending.parked && pending.why != Some(WaitReason::Offline) =>
            {
                // What was waited for has gone on meanwhile.
                pending.asked = pending.asked.saturating_sub(gap).max(now);
                pending.until = pending.until.saturating_sub(gap).max(now);
            }
            Phase::New | Phase::Restored(_) | Phase::Waiting(_) | Phase::Over => {}
        }
    }

    /// The running attempt's connection is dead, whatever it looks like.
    fn abandon(&mut self, now: Duration, cause: Cause, detail: &str) {
        let Phase::Running(attempt) = &self.phase else { return };
        let acted = self.device.acted_at;
        if acted.is_some_and(|at| now.saturating_sub(at) < SIGNALS_ARE_ONE) {
            return;
        }
        self.device.acted_at = Some(now);
        if cause == Cause::Suspended && attempt.whole_so_far(&self.answer).is_some() {
            // Only the end of the connection was missing, and nobody waits for that any more.
            self.abort();
            return self.end(now, EndedBy::Grace);
        }
        // What has not left cannot have been billed, and was no drop.
        let cause = if attempt.sent_at.is_some() { cause } else { Cause::Unreachable };
        self.broken(now, &Broken::new(cause, detail), true);
    }

    /// The app is about to be suspended: a request now would be paid and never be read. It goes on
    /// when the app is back, or after `offline_wait_ms` if nobody says so.
    pub(super) fn park(&mut self, now: Duration, mut pending: Pending) {
        pending.parked = true;
        pending.until = now + self.setup.policy.offline_wait();
        self.phase = Phase::Waiting(Box::new(pending));
    }
}
