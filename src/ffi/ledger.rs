//! The durable ledger of effects.

use super::convert::natural;
use super::error::CallError;
use super::guard::guard;
use crate::effect::{self, EffectLedger};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// How an effect stands when a tool is about to run it.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Enum)]
pub enum EffectState {
    /// It was never begun, and now it is, on the disk: run the tool, then say that it is done.
    Fresh,
    /// It was run. Do not run the tool.
    Done {
        /// What was recorded.
        result: String,
    },
    /// Another task of this process runs it just now. Do not run the tool.
    InFlight,
    /// It was begun and never finished: perhaps it has happened. A rule of the app decides.
    Unknown {
        /// When it was begun, in milliseconds since 1970.
        begun_ms: i64,
    },
}

impl From<effect::EffectState> for EffectState {
    fn from(state: effect::EffectState) -> Self {
        match state {
            effect::EffectState::Fresh => Self::Fresh,
            effect::EffectState::Done { result } => Self::Done { result },
            effect::EffectState::InFlight => Self::InFlight,
            effect::EffectState::Unknown { begun } => {
                let begun = begun.duration_since(UNIX_EPOCH).unwrap_or_default();
                Self::Unknown { begun_ms: i64::try_from(begun.as_millis()).unwrap_or(i64::MAX) }
            }
        }
    }
}

/// The effects of an app, in a file. Every call reads or writes it and takes some milliseconds: not
/// for the main thread. Safe to use from any other.
#[derive(Debug, uniffi::Object)]
pub struct NativeLedger {
    ledger: EffectLedger,
}

#[uniffi::export]
impl NativeLedger {
    /// Opens the ledger of a folder, or begins one. A file that cannot be read is an error, and is
    /// left as it is: see `set_ledger_aside`.
    #[uniffi::constructor]
    pub fn open(folder: String) -> Result<Arc<Self>, CallError> {
        guard(|| Ok(Arc::new(Self { ledger: EffectLedger::open(folder)? })))
    }

    /// Asks for an effect before its tool runs. Only `Fresh` is a leave to run it; an error is none.
    pub fn begin(&self, key: String) -> Result<EffectState, CallError> {
        guard(|| Ok(self.ledger.begin(key)?.into()))
    }

    /// Records that an effect has happened, and its result.
    pub fn done(&self, key: String, result: String) -> Result<(), CallError> {
        guard(|| Ok(self.ledger.done(key, &result)?))
    }

    /// Leave to run an effect in an unknown state once more: the app has decided so.
    pub fn begin_again(&self, key: String) -> Result<(), CallError> {
        guard(|| Ok(self.ledger.begin_again(key)?))
    }

    /// The tool has ended, and nobody knows whether the effect has happened: it is unknown now.
    pub fn give_up(&self, key: String) -> Result<(), CallError> {
        guard(|| {
            self.ledger.give_up(key);
            Ok(())
        })
    }

    /// The app knows that the effect has not happened: it is fresh again.
    pub fn never_happened(&self, key: String) -> Result<(), CallError> {
        guard(|| Ok(self.ledger.never_happened(key)?))
    }

    /// Forgets effects that are done and were begun longer ago than that. Gives their number.
    pub fn forget_done(&self, age_ms: i64) -> Result<i32, CallError> {
        guard(|| {
            let age = Duration::from_millis(natural("age_ms", age_ms)?);
            Ok(i32::try_from(self.ledger.forget_done(age)?).unwrap_or(i32::MAX))
        })
    }

    /// The keys of all effects in an unknown state.
    pub fn unknown(&self) -> Result<Vec<String>, CallError> {
        guard(|| Ok(self.ledger.unknown()?))
    }
}

/// Renames a ledger that cannot be read, so that the next one begins empty; effects of before look
/// fresh then. Gives the new name, or nothing where there was no file.
#[uniffi::export]
pub fn set_ledger_aside(folder: String) -> Result<Option<String>, CallError> {
    guard(|| {
        let aside = EffectLedger::set_aside(folder)?;
        Ok(aside.map(|path| path.to_string_lossy().into_owned()))
    })
}
