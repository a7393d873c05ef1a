//! The flight recorder: a turn's inputs, with their times, as a text that plays again.
//!
//! A turn is a pure function of its setup and its inputs, so whoever has these has the turn: a bug
//! report from a phone becomes a test. By default every word of the user and of the model is
//! replaced by filler of the same shape before anything leaves the device, and what an app may not
//! give away (keys, headers that it sent) is never in a recording at all.
//!
//! Pure: no file is written here. What may live here: the form of a recording, what is hidden in
//! it, and how it is played.

mod format;
mod record;
mod redact;
mod replay;
mod secrets;
mod shape;

pub use format::{Header, InputLine, Recording, RecordingError, What};
pub(crate) use record::Recorder;
pub use replay::{Replay, replay};

/// What a recording keeps of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Nothing: words become filler of the same length, case and script. Word lengths, punctuation,
    /// numbers of one or two digits, words that the rules know by name ("Dr", "Sure") and which
    /// words are equal stay visible.
    Shape,
    /// Everything, as received. For streams whose content is no secret.
    Text,
}
