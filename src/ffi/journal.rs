//! Where turns are kept.

use super::convert::{long, natural};
use super::error::CallError;
use crate::client::{self, Journal};
use std::time::{Duration, UNIX_EPOCH};

/// Where and how a client keeps its turns.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct JournalConfig {
    /// A folder of the app alone, made if it is not there: on Android in `noBackupFilesDir`, on iOS
    /// in Application Support and not in an app group. One client of one process at a time uses it.
    pub folder: String,
    /// Turns that were written last longer ago are forgotten. Default a week, in milliseconds.
    #[uniffi(default = None)]
    pub max_age_ms: Option<i64>,
    /// What turns and their requests may take together; the oldest are forgotten first. Default 16
    /// MiB.
    #[uniffi(default = None)]
    pub max_bytes: Option<i64>,
    /// False keeps all that the user and the model said out of it. To restore a turn then takes its
    /// request again, and its answer begins anew.
    #[uniffi(default = true)]
    pub keep_text: bool,
}

/// A turn in the journal.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct JournaledTurn {
    /// Its id.
    pub turn_id: String,
    /// The model that it asks.
    pub model: String,
    /// When it was written last, in milliseconds since 1970.
    pub saved_ms: i64,
    /// True if it is over: to restore it tells its end again and sends nothing.
    pub over: bool,
    /// What it takes, in bytes, with its request.
    pub bytes: i64,
}

impl From<client::JournaledTurn> for JournaledTurn {
    fn from(turn: client::JournaledTurn) -> Self {
        let saved = turn.saved.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            turn_id: turn.turn_id,
            model: turn.model,
            saved_ms: i64::try_from(saved.as_millis()).unwrap_or(i64::MAX),
            over: turn.over,
            bytes: long(turn.bytes),
        }
    }
}

pub(super) fn open(config: &JournalConfig) -> Result<Journal, CallError> {
    let mut core = client::JournalConfig::new(&config.folder).keep_text(config.keep_text);
    if let Some(age) = config.max_age_ms {
        core = core.max_age(Duration::from_millis(natural("max_age_ms", age)?));
    }
    if let Some(bytes) = config.max_bytes {
        core = core.max_bytes(natural("max_bytes", bytes)?);
    }
    Ok(Journal::open(core)?)
}
