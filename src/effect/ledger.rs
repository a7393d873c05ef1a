//! The durable ledger of effects: what was begun is on the disk before the tool runs.
//!
//! A tool call that was begun and never finished has perhaps happened. Nobody can know, so the ledger
//! says `Unknown`, and the app decides by the tool: run it again, ask, or never.

use crate::store::{Store, StoreError, Table, millis, now_ms, set_aside};
use redb::TableDefinition;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const NAME: &str = "effects.redb";
const VERSION: u32 = 1;
const EFFECTS: Table = TableDefinition::new("effects");

/// How an effect stands when a tool is about to run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectState {
    /// It was never begun, and now it is, on the disk: run the tool, then tell
    /// [`EffectLedger::done`].
    Fresh,
    /// It was run: this is what [`EffectLedger::done`] was told. Do not run the tool.
    Done {
        /// The result.
        result: String,
    },
    /// Another task of this process runs it just now. Do not run the tool.
    InFlight,
    /// It was begun and never finished: perhaps it has happened. Do not run the tool before a rule
    /// of the app has decided, see [`EffectLedger::begin_again`].
    Unknown {
        /// When it was begun.
        begun: SystemTime,
    },
}

/// A ledger that cannot do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The file cannot be used. Nothing was recorded: do not run the tool.
    #[error("the effect ledger: {0}")]
    Store(#[from] StoreError),
    /// `done` or `begin_again` for an effect that nobody began.
    #[error("the effect {0} was not begun: call `begin` first")]
    NotBegun(String),
    /// `begin_again` for an effect that is done, or that another task runs.
    #[error("the effect {0} is not in an unknown state")]
    NotUnknown(String),
}

/// One effect on the disk.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    /// Milliseconds since 1970.
    begun_ms: u64,
    /// Which opening of the ledger began it. A ledger is open in one process at a time, so another
    /// session's is a dead one's.
    session: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
}

/// The effects of an app, in one file of a folder. Cheap to clone; all clones are one ledger. Every
/// call reads or writes a file, and takes some milliseconds: not for a phone's main thread.
#[derive(Debug, Clone)]
pub struct EffectLedger {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    store: Store,
    session: u64,
    /// Begun in this session and not over: the rest of what is begun is unknown.
    running: Mutex<HashSet<String>>,
}

impl EffectLedger {
    /// Opens the ledger in a folder, or begins one where there is none. Files are readable for their
    /// owner alone, and so is the folder if it is made here.
    ///
    /// # Errors
    /// [`StoreError::Locked`] while another process (or another opening in this one) has it;
    /// [`StoreError::Damaged`] and [`StoreError::Version`] leave the file as it is, see
    /// [`EffectLedger::set_aside`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, LedgerError> {
        let store = Store::open(folder.as_ref(), NAME, VERSION)?;
        let mut damaged = false;
        store.for_each(EFFECTS, |_, value| {
            damaged |= serde_json::from_slice::<Record>(value).is_err();
        })?;
        if damaged {
            return Err(StoreError::Damaged("a record cannot be read".to_owned()).into());
        }
        let session = RandomState::new().build_hasher().finish();
        let inner = Inner { store, session, running: Mutex::default() };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Renames a ledger that cannot be read, so that the next [`open`](Self::open) begins an empty
    /// one. Never deletes: the file is the only witness of what has run. Whoever calls this knows
    /// that effects of before look fresh now, and has to keep old turns from running theirs again.
    /// Gives the new name, or `None` where there was no file.
    ///
    /// # Errors
    /// [`StoreError::Locked`] while somebody has it open, [`StoreError::Io`].
    pub fn set_aside(folder: impl AsRef<Path>) -> Result<Option<PathBuf>, LedgerError> {
        Ok(set_aside(folder.as_ref(), NAME)?)
    }

    /// Asks for an effect before its tool runs. Only [`EffectState::Fresh`] is a leave to run it,
    /// and then it is on the disk that it was begun.
    ///
    /// # Errors
    /// [`LedgerError::Store`] where it could not be recorded: do not run the tool.
    pub fn begin(&self, key: impl AsRef<str>) -> Result<EffectState, LedgerError> {
        let key = key.as_ref();
        let inner = &*self.inner;
        // Held over the write: of two tasks that begin at once, one is the second.
        let mut running = inner.running();
        let found = inner.get(key)?;
        Ok(match found {
            None => {
                inner.put(key, &inner.record(None))?;
                running.insert(key.to_owned());
                EffectState::Fresh
            }
            Some(Record { result: Some(result), .. }) => EffectState::Done { result },
            Some(record) if record.session == inner.session && running.contains(key) => {
                EffectState::InFlight
            }
            Some(record) => {
                let begun = UNIX_EPOCH + Duration::from_millis(record.begun_ms);
                EffectState::Unknown { begun }
            }
        })
    }

    /// Records that an effect has happened, and its result, for whoever asks for it again. Also for
    /// one in an unknown state, of which the app has found out that it happened.
    ///
    /// # Errors
    /// [`LedgerError::NotBegun`]; [`LedgerError::Store`] where it could not be recorded: the effect
    /// has happened, and is unknown from now on.
    pub fn done(&self, key: impl AsRef<str>, result: &str) -> Result<(), LedgerError> {
        let key = key.as_ref();
        let inner = &*self.inner;
        let mut running = inner.running();
        let record = inner.get(key)?.ok_or_else(|| LedgerError::NotBegun(key.to_owned()))?;
        // The tool is over, whether that can be recorded or not.
        running.remove(key);
        inner.put(key, &Record { result: Some(result.to_owned()), ..record })
    }

    /// Leave to run an effect in an unknown state once more: the app's rule for the tool said so,
    /// or its user did.
    ///
    /// # Errors
    /// [`LedgerError::NotUnknown`] if it is done, or another task runs it;
    /// [`LedgerError::NotBegun`]; [`LedgerError::Store`]: do not run the tool.
    pub fn begin_again(&self, key: impl AsRef<str>) -> Result<(), LedgerError> {
        let key = key.as_ref();
        let inner = &*self.inner;
        let mut running = inner.running();
        let record = inner.get(key)?.ok_or_else(|| LedgerError::NotBegun(key.to_owned()))?;
        if record.result.is_some() || running.contains(key) {
            return Err(LedgerError::NotUnknown(key.to_owned()));
        }
        inner.put(key, &inner.record(None))?;
        running.insert(key.to_owned());
        Ok(())
    }

    /// The tool has ended, and whether the effect has happened cannot be told, as after an
    /// exception: from now on it is unknown.
    pub fn give_up(&self, key: impl AsRef<str>) {
        // On the disk it has been begun and not done all the while.
        self.inner.running().remove(key.as_ref());
    }

    /// Takes an effect off the books, of which the app knows that it has not happened: to begin it
    /// gives [`EffectState::Fresh`] again.
    ///
    /// # Errors
    /// [`LedgerError::Store`] where that could not be recorded.
    pub fn never_happened(&self, key: impl AsRef<str>) -> Result<(), LedgerError> {
        let key = key.as_ref();
        let inner = &*self.inner;
        let mut running = inner.running();
        inner.store.change(|change| change.remove(EFFECTS, key))?;
        running.remove(key);
        Ok(())
    }

    /// Forgets effects that are done and were begun longer than `age` ago. Unknown ones stay: only
    /// the app can settle them. Choose an age beyond which no turn is restored. Gives their number.
    ///
    /// # Errors
    /// [`LedgerError::Store`].
    pub fn forget_done(&self, age: Duration) -> Result<usize, LedgerError> {
        let inner = &*self.inner;
        let _running = inner.running();
        let horizon = now_ms().saturating_sub(millis(age));
        let mut old = Vec::new();
        inner.store.for_each(EFFECTS, |key, value| {
            let record = serde_json::from_slice::<Record>(value);
            if record.is_ok_and(|record| record.result.is_some() && record.begun_ms < horizon) {
                old.push(key.to_owned());
            }
        })?;
        if !old.is_empty() {
            inner
                .store
                .change(|change| old.iter().try_for_each(|key| change.remove(EFFECTS, key)))?;
        }
        Ok(old.len())
    }

    /// The keys of all effects in an unknown state, for an app that settles them when it starts.
    ///
    /// # Errors
    /// [`LedgerError::Store`].
    pub fn unknown(&self) -> Result<Vec<String>, LedgerError> {
        let inner = &*self.inner;
        let running = inner.running();
        let mut unknown = Vec::new();
        inner.store.for_each(EFFECTS, |key, value| {
            let record = serde_json::from_slice::<Record>(value);
            if record.is_ok_and(|record| record.result.is_none()) && !running.contains(key) {
                unknown.push(key.to_owned());
            }
        })?;
        Ok(unknown)
    }
}

impl Inner {
    fn get(&self, key: &str) -> Result<Option<Record>, LedgerError> {
        let Some(value) = self.store.get(EFFECTS, key)? else { return Ok(None) };
        let record = serde_json::from_slice(&value)
            .map_err(|error| StoreError::Damaged(format!("a record cannot be read: {error}")))?;
        Ok(Some(record))
    }

    fn put(&self, key: &str, record: &Record) -> Result<(), LedgerError> {
        let value = serde_json::to_vec(record)
            .map_err(|error| StoreError::Io(format!("a record cannot be written: {error}")))?;
        Ok(self.store.change(|change| change.put(EFFECTS, key, &value))?)
    }

    fn record(&self, result: Option<String>) -> Record {
        Record { begun_ms: now_ms(), session: self.session, result }
    }

    fn running(&self) -> MutexGuard<'_, HashSet<String>> {
        // Whoever panicked had not changed the set yet.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
