//! The thread that writes. Of each turn only the newest snapshot waits, so that a slow disk costs
//! writes and never memory.

use super::{Books, Row};
use crate::store::StoreError;
use crate::turn::Snapshot;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// What became of a write, and how long it took.
pub(super) type Written = (Result<(), StoreError>, Duration);

struct Waiting {
    model: Arc<str>,
    snapshot: Snapshot,
    told: Vec<oneshot::Sender<Written>>,
    /// It is the first of its turn: others may have to go.
    first: bool,
}

impl Waiting {
    fn row(&self) -> Row<'_> {
        Row { model: &self.model, snapshot: &self.snapshot, first: self.first }
    }
}

#[derive(Default)]
struct Inner {
    waiting: BTreeMap<String, Waiting>,
    closed: bool,
}

#[derive(Default)]
struct Mailbox {
    inner: Mutex<Inner>,
    changed: Condvar,
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing is left half-done in here by a panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for something to write; `None` when nothing will come.
    fn take(&self) -> Option<Vec<Waiting>> {
        let mut inner = self.lock();
        loop {
            if !inner.waiting.is_empty() {
                return Some(std::mem::take(&mut inner.waiting).into_values().collect());
            }
            if inner.closed {
                return None;
            }
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The writing end of a journal. Dropping it writes what waits, and lets the file go.
pub(super) struct Writer {
    mailbox: Arc<Mailbox>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl Writer {
    pub(super) fn start(books: Arc<Books>) -> std::io::Result<Self> {
        let mailbox = Arc::new(Mailbox::default());
        let own = mailbox.clone();
        let thread = std::thread::Builder::new().name("rejoin-journal".to_owned());
        let thread = thread.spawn(move || {
            while let Some(turns) = own.take() {
                write(&books, turns);
            }
        })?;
        Ok(Self { mailbox, thread: Some(thread) })
    }

    /// Writes the snapshot soon, in place of an older one of its turn that waits.
    pub(super) fn write(
        &self,
        model: &Arc<str>,
        snapshot: Snapshot,
        first: bool,
    ) -> oneshot::Receiver<Written> {
        let (tell, told) = oneshot::channel();
        {
            let mut inner = self.mailbox.lock();
            if let Some(waiting) = inner.waiting.get_mut(snapshot.turn_id()) {
                waiting.snapshot = snapshot;
                waiting.told.push(tell);
            } else {
                let turn_id = snapshot.turn_id().to_owned();
                let model = model.clone();
                let waiting = Waiting { model, snapshot, told: vec![tell], first };
                inner.waiting.insert(turn_id, waiting);
            }
        }
        self.mailbox.changed.notify_one();
        told
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.mailbox.lock().closed = true;
        self.mailbox.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write(books: &Books, turns: Vec<Waiting>) {
    let began = Instant::now();
    let rows: Vec<_> = turns.iter().map(Waiting::row).collect();
    let result = books.write(&rows);
    let grows = result.is_ok() && turns.iter().any(|waiting| waiting.first);
    let took = began.elapsed();
    for tell in turns.into_iter().flat_map(|waiting| waiting.told) {
        // Most writes nobody waits for.
        let _ = tell.send((result.clone(), took));
    }
    if grows {
        // After the requests were let go. What cannot be forgotten now is so the next time.
        let _ = books.expire();
    }
}
