//! The shapes of chance that a world is made of.

use crate::turn::Chance;

impl Chance {
    /// Waiting times of this mean between events that know nothing of each other.
    pub(super) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.share()).ln()
    }

    /// A size whose logarithm is bell-shaped, around this median.
    pub(super) fn log_normal(&mut self, median: f64, spread: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        let bell = radius * (std::f64::consts::TAU * self.share()).cos();
        median * (bell * spread).exp()
    }
}
