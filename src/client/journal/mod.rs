//! The turn journal: turns that outlive the process, in one file of a folder.
//!
//! A turn is written as a snapshot: before each of its requests leaves, at each drop and at its
//! end at once, and in between as text comes, a few times a second at most. Writing happens on a
//! thread of its own and holds no socket up; reading happens where it is asked for.

mod pen;
mod record;
#[cfg(all(test, feature = "testkit"))]
mod tests;
mod writer;

pub(super) use pen::{ErrorSlot, Pen, Recording};
pub(super) use record::Loaded;

use crate::store::{Store, StoreError, Table, now_ms, set_aside};
use crate::turn::Snapshot;
use record::{Head, read_head};
use redb::TableDefinition;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use writer::Writer;

const NAME: &str = "turns.redb";
const VERSION: u32 = 1;
const TURNS: Table = TableDefinition::new("turns");
const REQUESTS: Table = TableDefinition::new("requests");

/// Who comes back to an answer does so within a day; a week leaves room for a holiday.
const MAX_AGE: Duration = Duration::from_hours(24 * 7);
/// Some hundred turns of text, or a few with pictures.
const MAX_BYTES: u64 = 16 << 20;

/// Where and how to keep turns.
#[derive(Debug, Clone)]
pub struct JournalConfig {
    folder: PathBuf,
    max_age: Duration,
    max_bytes: u64,
    keep_text: bool,
}

impl JournalConfig {
    /// A journal in this folder, of the app alone: on iOS not one of an app group, whose locks get a
    /// suspended app killed. The folder is made if it is not there.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), max_age: MAX_AGE, max_bytes: MAX_BYTES, keep_text: true }
    }

    /// Turns that were written last longer ago are forgotten when the journal is opened and when a
    /// turn begins. A week by default.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = age;
        self
    }

    /// The bytes that turns and their requests may take together; the oldest are forgotten first,
    /// running ones never. 16 MiB by default. The file itself may be larger by what was freed in it.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// False keeps all that the user and the model said out of the journal, the request too. A
    /// restored turn then needs its request again and begins its answer anew, and its `dropped`
    /// says so; what it has cost is still known. True by default.
    #[must_use]
    pub fn keep_text(mut self, keep: bool) -> Self {
        self.keep_text = keep;
        self
    }
}

/// A turn in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournaledTurn {
    /// Its id.
    pub turn_id: String,
    /// The model that it asks.
    pub model: String,
    /// When it was written last.
    pub saved: SystemTime,
    /// True if it is over: to restore it tells its end again and sends nothing.
    pub over: bool,
    /// What it takes, in bytes, with its request.
    pub bytes: u64,
}

/// An open journal. Cheap to clone; all clones are one journal. Safe to use from any thread; calls
/// that return a `Result` read or write a file, and take some milliseconds.
#[derive(Debug, Clone)]
pub struct Journal {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    books: Arc<Books>,
    writer: Writer,
    set_aside: Option<PathBuf>,
}

/// The store and what belongs into it.
#[derive(Debug)]
struct Books {
    store: Store,
    config: JournalConfig,
    /// Turns that run in this process.
    live: Mutex<HashSet<String>>,
    /// Commits so far.
    #[cfg(test)]
    commits: std::sync::atomic::AtomicUsize,
}

impl Journal {
    /// Opens the journal of a folder, or begins one. A file that is damaged or was written by
    /// another version is renamed, and an empty journal begun: see [`Journal::set_aside`]. Files
    /// are readable for their owner alone.
    ///
    /// # Errors
    /// [`StoreError::Locked`] while another process (or another opening in this one) has it,
    /// [`StoreError::Full`] and [`StoreError::Io`].
    pub fn open(config: JournalConfig) -> Result<Self, StoreError> {
        let (store, set_aside) = match Store::open(&config.folder, NAME, VERSION) {
            Ok(store) => (store, None),
            Err(StoreError::Damaged(_) | StoreError::Version { .. }) => {
                // What cannot be read may still be somebody's text: one such file, not a pile.
                remove_older(&config.folder);
                let aside = set_aside(&config.folder, NAME)?;
                (Store::open(&config.folder, NAME, VERSION)?, aside)
            }
            Err(error) => return Err(error),
        };
        let books = Arc::new(Books {
            store,
            config,
            live: Mutex::default(),
            #[cfg(test)]
            commits: std::sync::atomic::AtomicUsize::default(),
        });
        books.expire()?;
        let writer = Writer::start(books.clone()).map_err(|error| {
            StoreError::Io(format!("there is no thread for the journal: {error}"))
        })?;
        Ok(Self { inner: Arc::new(Inner { books, writer, set_aside }) })
    }

    /// The new name of a file that could not be read when this journal was opened. Its turns are
    /// lost to the app; the file is kept until the next one is set aside.
    #[must_use]
    pub fn set_aside(&self) -> Option<&Path> {
        self.inner.set_aside.as_deref()
    }

    /// The turns in it, the one written last first.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub fn turns(&self) -> Result<Vec<JournaledTurn>, StoreError> {
        self.inner.books.turns()
    }

    /// Forgets a turn and its request. One that runs writes itself again.
    ///
    /// # Errors
    /// [`StoreError`] if that cannot be recorded.
    pub fn forget(&self, turn_id: &str) -> Result<(), StoreError> {
        self.inner.books.forget(&[turn_id.to_owned()])
    }

    pub(super) fn load(&self, turn_id: &str) -> Result<Option<Loaded>, StoreError> {
        self.inner.books.load(turn_id)
    }

    /// Makes a turn this one's alone; `None` if it runs already.
    pub(super) fn claim(&self, turn_id: &str) -> Option<Claim> {
        let claimed = self.inner.books.live().insert(turn_id.to_owned());
        claimed.then(|| Claim { journal: self.clone(), turn_id: turn_id.to_owned() })
    }
}

/// What a turn and its handle share of the journal; nothing where there is none.
#[derive(Default)]
pub(super) struct Hand {
    pub pen: Option<Pen>,
    pub error: ErrorSlot,
}

impl Hand {
    /// A turn that was begun without its text stays without it.
    pub(super) fn new(journal: &Journal, claim: Claim, model: &str, keep_text: bool) -> Self {
        let error = ErrorSlot::default();
        let pen = Pen::new(journal.clone(), claim, model, keep_text, error.clone());
        Self { pen: Some(pen), error }
    }
}

/// A running turn's right to be written.
#[derive(Debug)]
pub(super) struct Claim {
    journal: Journal,
    turn_id: String,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.journal.inner.books.live().remove(&self.turn_id);
    }
}

/// What is written of one turn.
struct Row<'a> {
    model: &'a str,
    snapshot: &'a Snapshot,
    /// It is the first of its turn.
    first: bool,
}

impl Books {
    fn live(&self) -> MutexGuard<'_, HashSet<String>> {
        // A panic cannot leave a set half-changed.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn load(&self, turn_id: &str) -> Result<Option<Loaded>, StoreError> {
        let Some(record) = self.store.get(TURNS, turn_id)? else { return Ok(None) };
        let request = self.store.get(REQUESTS, turn_id)?;
        Loaded::read(&record, request.as_deref()).map(Some)
    }

    /// Writes some turns in one piece.
    fn write(&self, turns: &[Row<'_>]) -> Result<(), StoreError> {
        #[cfg(test)]
        self.commits.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.store.change(|change| {
            for Row { model, snapshot, first } in turns {
                let turn_id = snapshot.turn_id();
                match snapshot.body() {
                    // It never changes, and may be megabytes: once, unless that write failed.
                    Some(body) if *first || !change.has(REQUESTS, turn_id)? => {
                        change.put(REQUESTS, turn_id, body.as_bytes())?;
                    }
                    Some(_) => {}
                    // Of an older turn of this id, whose text was kept.
                    None => change.remove(REQUESTS, turn_id)?,
                }
                change.put(TURNS, turn_id, &record::write(model, snapshot))?;
            }
            Ok(())
        })
    }

    fn turns(&self) -> Result<Vec<JournaledTurn>, StoreError> {
        let mut requests = std::collections::HashMap::new();
        self.store.for_each(REQUESTS, |turn_id, body| {
            requests.insert(turn_id.to_owned(), body.len() as u64);
        })?;
        let mut turns = Vec::new();
        self.store.for_each(TURNS, |turn_id, record| {
            // A record that cannot be read is as old as can be: the first to be forgotten.
            let head = read_head(record).unwrap_or_else(Head::unreadable);
            turns.push(JournaledTurn {
                turn_id: turn_id.to_owned(),
                model: head.model,
                saved: UNIX_EPOCH + Duration::from_millis(head.saved_ms),
                over: head.over,
                bytes: record.len() as u64 + requests.get(turn_id).copied().unwrap_or(0),
            });
        })?;
        turns.sort_by_key(|turn| std::cmp::Reverse(turn.saved));
        Ok(turns)
    }

    fn forget(&self, turn_ids: &[String]) -> Result<(), StoreError> {
        if turn_ids.is_empty() {
            return Ok(());
        }
        self.store.change(|change| {
            turn_ids.iter().try_for_each(|turn_id| {
                change.remove(TURNS, turn_id)?;
                change.remove(REQUESTS, turn_id)
            })
        })
    }

    /// Forgets what is too old, and what is too much.
    fn expire(&self) -> Result<(), StoreError> {
        let horizon = UNIX_EPOCH + Duration::from_millis(now_ms());
        let horizon = horizon.checked_sub(self.config.max_age).unwrap_or(UNIX_EPOCH);
        let live = self.live().clone();
        let (mut bytes, mut old) = (0_u64, Vec::new());
        for turn in self.turns()? {
            bytes = bytes.saturating_add(turn.bytes);
            let expired = turn.saved < horizon || bytes > self.config.max_bytes;
            if expired && !live.contains(&turn.turn_id) {
                old.push(turn.turn_id);
            }
        }
        self.forget(&old)
    }
}

fn remove_older(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&format!("{NAME}.aside-")) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
