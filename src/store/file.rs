//! The file of a store: who may open it, with which mode, and whether it is what was written.

use super::Table;
use redb::{Builder, Database, ReadableDatabase as _, StorageBackend, TableDefinition};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Pages kept in memory: a store holds some megabytes, and a phone has other uses for its own.
const CACHE_BYTES: usize = 1 << 20;

/// How long a lock is asked for. To clear a killed process away takes a few milliseconds.
const LOCK_PATIENCE: Duration = Duration::from_millis(200);

/// Of the same types as every other table: each pair of types costs a phone some tens of kilobytes.
const META: Table = TableDefinition::new("meta");

/// A store that cannot be used as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another holder, in this process or another, has it open.
    #[error("{0} is in use by another process, or was opened before and not closed")]
    Locked(PathBuf),
    /// It was written by a version whose files this one cannot read.
    #[error("{path} was written by another version of the library ({found})")]
    Version {
        /// The file.
        path: PathBuf,
        /// What was found in it.
        found: String,
    },
    /// It is not what was written: truncated, or changed from outside.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// There is no room on the disk: nothing was recorded.
    #[error("there is no room to record it: {0}")]
    Full(String),
    /// Reading or writing failed: nothing was recorded.
    #[error("it cannot be read or written: {0}")]
    Io(String),
}

impl StoreError {
    pub(super) fn of(error: redb::Error) -> Self {
        match error {
            redb::Error::Io(error) => Self::io(&error),
            redb::Error::PreviousIo => Self::Io(error.to_string()),
            other => Self::Damaged(other.to_string()),
        }
    }

    pub(super) fn io(error: &std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::Full(error.to_string())
            }
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => Self::Damaged(error.to_string()),
            _ => Self::Io(error.to_string()),
        }
    }
}

/// Opens the database, whose lock is held.
pub(super) fn open(path: &Path, version: u32) -> Result<Database, StoreError> {
    if !path.exists() {
        create(path, folder_of(path), version)?;
    }
    looks_whole(path)?;
    let mut db = guarded(path, || {
        let backend = backend(OpenOptions::new().read(true).write(true).open(path)?)?;
        let mut db = Builder::new().set_cache_size(CACHE_BYTES).create_with_backend(backend)?;
        // Reads all of it once. Without this, damage shows when it is read, as something else.
        db.check_integrity()?;
        Ok(db)
    })?;
    check_version(path, &mut db, version)?;
    Ok(db)
}

/// Renames what is at `folder/name`, so that the next open begins with nothing. Gives the new name;
/// `None` where there was no file.
pub(crate) fn set_aside(folder: &Path, name: &str) -> Result<Option<PathBuf>, StoreError> {
    let path = folder.join(name);
    if !path.exists() {
        return Ok(None);
    }
    let _lock = lock(&path)?;
    let io = |error: std::io::Error| StoreError::io(&error);
    for number in 1_u32.. {
        let aside = folder.join(format!("{name}.aside-{number}"));
        if !aside.exists() {
            std::fs::rename(&path, &aside).map_err(io)?;
            sync_folder(folder_of(&path)).map_err(io)?;
            return Ok(Some(aside));
        }
    }
    Ok(None)
}

/// Made under another name and renamed when it is whole: what has the name is never half-made, and
/// an empty file is a damaged one.
fn create(path: &Path, folder: &Path, version: u32) -> Result<(), StoreError> {
    let fresh = path.with_extension("new");
    let io = |error: std::io::Error| StoreError::io(&error);
    match std::fs::remove_file(&fresh) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(error)),
        _ => {}
    }
    let made = private(&fresh, true).map_err(io).and_then(|file| {
        guarded(&fresh, || {
            let backend = backend(file)?;
            let db = Builder::new().set_cache_size(CACHE_BYTES).create_with_backend(backend)?;
            let write = db.begin_write()?;
            write.open_table(META)?.insert("version", &version.to_le_bytes()[..])?;
            write.commit()?;
            Ok(())
        })
    });
    let named = made.and_then(|()| {
        std::fs::rename(&fresh, path).and_then(|()| sync_folder(folder)).map_err(io)
    });
    if named.is_err() {
        let _ = std::fs::remove_file(&fresh);
    }
    named
}

fn check_version(path: &Path, db: &mut Database, version: u32) -> Result<(), StoreError> {
    let found = guarded(path, || {
        let table = db.begin_read()?.open_table(META)?;
        let found = table.get("version")?.map(|found| found.value().to_vec());
        Ok(found)
    })?;
    let found = found.and_then(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?)));
    match found {
        Some(found) if found == version => Ok(()),
        Some(found) => {
            Err(StoreError::Version { path: path.to_owned(), found: format!("format {found}") })
        }
        None => Err(StoreError::Damaged("it does not say its version".to_owned())),
    }
}

/// Runs calls of redb: its errors by their meaning, and its assertions as errors.
fn guarded<T>(path: &Path, call: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, StoreError> {
    let result = catch_unwind(AssertUnwindSafe(call))
        .map_err(|_| StoreError::Damaged("it is no whole database".to_owned()))?;
    result.map_err(|error| match error {
        redb::Error::DatabaseAlreadyOpen => StoreError::Locked(path.to_owned()),
        redb::Error::UpgradeRequired(found) => {
            StoreError::Version { path: path.to_owned(), found: format!("redb file {found}") }
        }
        other => StoreError::of(other),
    })
}

/// The length that the header promises, checked here because redb asserts it, and an assertion
/// writes to standard error. Offsets: `design.md` of redb 3, "super-header".
fn looks_whole(path: &Path) -> Result<(), StoreError> {
    const MAGIC: &[u8; 9] = b"redb\x1a\x0a\xa9\x0d\x0a";
    const HEADER: usize = 320;
    let io = |error: std::io::Error| StoreError::io(&error);
    let mut file = File::open(path).map_err(io)?;
    let len = file.metadata().map_err(io)?.len();
    let mut header = [0; HEADER];
    let damaged = |what: &str| Err(StoreError::Damaged(what.to_owned()));
    if file.read_exact(&mut header).is_err() {
        return damaged("it is shorter than its header");
    }
    if header[..MAGIC.len()] != *MAGIC {
        return damaged("it is no database");
    }
    let number = |at: usize| {
        let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
        u64::from(u32::from_le_bytes(bytes))
    };
    let [page, head_pages, most_pages, regions, rest] = [12, 16, 20, 24, 28].map(number);
    let trailing = if rest == 0 { 0 } else { head_pages + rest };
    let pages = (head_pages + most_pages).checked_mul(regions).map(|pages| pages + trailing + 1);
    match pages.and_then(|pages| pages.checked_mul(page)) {
        Some(promised) if page == 4096 && promised <= len => Ok(()),
        _ => damaged("it is shorter than its header says"),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A folder that only its owner may enter. One that is there already keeps its mode.
fn make_folder(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A file that only its owner may read, whatever the process' mask.
fn private(path: &Path, new: bool) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(!new).create_new(new).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps)] // As where it can fail.
fn backend(file: File) -> Result<impl StorageBackend, redb::Error> {
    Ok(OwnFile(file))
}

#[cfg(not(unix))]
fn backend(file: File) -> Result<impl StorageBackend, redb::Error> {
    Ok(redb::backends::FileBackend::new(file)?)
}

/// A file without a lock of redb's, which an assertion of redb's would leave behind: the store has
/// its own.
#[cfg(unix)]
#[derive(Debug)]
struct OwnFile(File);

#[cfg(unix)]
impl StorageBackend for OwnFile {
    fn len(&self) -> std::io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, out, offset)
    }

    fn set_len(&self, len: u64) -> std::io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> std::io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.0, data, offset)
    }
}

/// Held as long as the store is open, and let go of by the system when the process dies: that is
/// how a live holder is told from a dead one. In a file of its own, because the standard library
/// cannot lock on Android, where redb would go without.
pub(super) fn lock(path: &Path) -> Result<File, StoreError> {
    make_folder(folder_of(path)).map_err(|error| StoreError::io(&error))?;
    let file = private(&path.with_extension("lock"), false).map_err(|e| StoreError::io(&e))?;
    // A process that was killed lets go when the system has cleared it away, and one that is being
    // forked holds everything for a moment: neither is a live holder.
    let patience = Instant::now() + LOCK_PATIENCE;
    loop {
        #[cfg(unix)]
        let taken = rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)
            .map_err(std::io::Error::from);
        #[cfg(not(unix))]
        let taken = file.try_lock().map_err(std::io::Error::from);
        match taken {
            Ok(()) => return Ok(file),
            Err(error) if error.kind() != ErrorKind::WouldBlock => {
                return Err(StoreError::io(&error));
            }
            Err(_) if Instant::now() < patience => std::thread::sleep(LOCK_PATIENCE / 20),
            Err(_) => return Err(StoreError::Locked(path.to_owned())),
        }
    }
}

/// A new name is only on the disk when its folder is.
fn sync_folder(folder: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
