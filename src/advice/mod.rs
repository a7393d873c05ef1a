//! What many drops say about the threshold of the gate. Pure: lines in, figures out.
//!
//! What may live here: reading the drop log, the sums over it, the arithmetic of a threshold, and
//! the simulation of policies. No files, no printing.
//!
//! The arithmetic: a restart pays for the R tokens in hand a second time, a continuation sends
//! them along as input instead, so that it saves R x (output price - input price). Against that
//! stands the seam, which is not free: its price is an opinion, and stated as one.

mod line;
mod simulate;
mod tally;
mod threshold;

pub use line::{DropLine, LineError};
pub use simulate::{Row, Seams, Simulation, Strategy, World, WorldRows, simulate};
pub use tally::{Continuations, Tally};
pub use threshold::{Advice, Prices, Recommendation, Threshold, advise};
