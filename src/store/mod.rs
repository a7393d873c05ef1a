//! One small durable file: a table of texts to bytes per name, written before it returns.
//!
//! What may live here: files, locks, and what can be wrong with them. What the bytes mean does not.
//! Over `redb`: a commit is on the disk, whole, or it never happened, whenever the process or the
//! power goes away. A file that is not what was written is an error and never a panic.

mod file;

pub use file::StoreError;
pub(crate) use file::set_aside;

use file::{lock, open};
use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition, TableError};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A table, by its name in the file.
pub(crate) type Table = TableDefinition<'static, &'static str, &'static [u8]>;

/// An open store. Held by one process at a time, and by one holder in it.
pub(crate) struct Store {
    path: PathBuf,
    version: u32,
    /// `None` after an error of the disk: the next call opens it anew.
    state: Mutex<Option<Database>>,
    /// Held beyond such an error, and let go of last.
    _lock: File,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens `folder/name`, or makes it where there is none, with its first contents on the disk
    /// before it has its name: an empty file is never a store.
    pub(crate) fn open(folder: &Path, name: &str, version: u32) -> Result<Self, StoreError> {
        let path = folder.join(name);
        let lock = lock(&path)?;
        let db = open(&path, version)?;
        Ok(Self { path, version, state: Mutex::new(Some(db)), _lock: lock })
    }

    /// The value of a key.
    pub(crate) fn get(&self, table: Table, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.with(|db| {
            let read = db.begin_read().map_err(storage)?;
            let table = match read.open_table(table) {
                Ok(table) => table,
                Err(TableError::TableDoesNotExist(_)) => return Ok(None),
                Err(error) => return Err(storage(error)),
            };
            let value = table.get(key).map_err(storage)?;
            Ok(value.map(|value| value.value().to_vec()))
        })
    }

    /// Calls `each` with all keys and values of a table.
    pub(crate) fn for_each(
        &self,
        table: Table,
        mut each: impl FnMut(&str, &[u8]),
    ) -> Result<(), StoreError> {
        self.with(|db| {
            let read = db.begin_read().map_err(storage)?;
            let table = match read.open_table(table) {
                Ok(table) => table,
                Err(TableError::TableDoesNotExist(_)) => return Ok(()),
                Err(error) => return Err(storage(error)),
            };
            for entry in table.iter().map_err(storage)? {
                let (key, value) = entry.map_err(storage)?;
                each(key.value(), value.value());
            }
            Ok(())
        })
    }

    /// Changes the store in one piece. When this returns without an error, the change is on the
    /// disk; with an error, it is as if it had never been asked for.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&Change<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.with(|db| {
            let mut write = db.begin_write().map_err(storage)?;
            // A commit of one phase may be taken back by a repair if its pages are damaged later;
            // with two, damage is an error that says so.
            write.set_two_phase_commit(true);
            let done = change(&Change { write: &write })?;
            write.commit().map_err(storage)?;
            Ok(done)
        })
    }

    fn with<T>(
        &self,
        call: impl FnOnce(&Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut state = self.lock();
        if state.is_none() {
            *state = Some(open(&self.path, self.version)?);
        }
        let Some(db) = state.as_ref() else {
            return Err(StoreError::Damaged("the store is not open".to_owned()));
        };
        // redb asserts what it could report where a file is not what it wrote.
        let result = catch_unwind(AssertUnwindSafe(|| call(db)))
            .unwrap_or_else(|_| Err(StoreError::Damaged("reading it broke off".to_owned())));
        if matches!(result, Err(StoreError::Io(_) | StoreError::Full(_) | StoreError::Damaged(_))) {
            // After an error of the disk redb wants to be opened anew.
            let broken = state.take();
            let _ = catch_unwind(AssertUnwindSafe(|| drop(broken)));
        }
        result
    }

    fn lock(&self) -> MutexGuard<'_, Option<Database>> {
        // A panic inside is caught before it could leave anything half-done here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A change under way.
pub(crate) struct Change<'w> {
    write: &'w redb::WriteTransaction,
}

impl Change<'_> {
    pub(crate) fn put(&self, table: Table, key: &str, value: &[u8]) -> Result<(), StoreError> {
        let mut table = self.write.open_table(table).map_err(storage)?;
        table.insert(key, value).map_err(storage)?;
        Ok(())
    }

    pub(crate) fn has(&self, table: Table, key: &str) -> Result<bool, StoreError> {
        let table = self.write.open_table(table).map_err(storage)?;
        Ok(table.get(key).map_err(storage)?.is_some())
    }

    pub(crate) fn remove(&self, table: Table, key: &str) -> Result<(), StoreError> {
        let mut table = self.write.open_table(table).map_err(storage)?;
        table.remove(key).map_err(storage)?;
        Ok(())
    }
}

/// Milliseconds since 1970: how records say when.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
}

/// A time as a record holds it.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn storage(error: impl Into<redb::Error>) -> StoreError {
    StoreError::of(error.into())
}
