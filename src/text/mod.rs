//! What can be known about the shown text alone: where it is safe to cut, what markup is open,
//! how many tokens it is worth.
//!
//! Pure functions of text live here. Nothing here knows of turns, of Gemini or of a clock.

mod abbreviation;
mod boundary;
mod checkpoint;
mod estimate;
mod inline;
mod known_words;
mod markdown;
mod seam;

pub use checkpoint::{Checkpoint, Cut, Fence};
pub use estimate::estimate_tokens;
pub(crate) use known_words::is_known_word;
pub use seam::{Seam, SeamContext, SeamCut, SeamKind};
