//! How a turn stands in the store: a line that a list can be made of, then the snapshot.

use crate::store::{StoreError, now_ms};
use crate::turn::{Snapshot, SnapshotError};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Head {
    pub model: String,
    /// Milliseconds since 1970.
    pub saved_ms: u64,
    pub over: bool,
}

impl Head {
    pub(super) fn unreadable() -> Self {
        Self { model: String::new(), saved_ms: 0, over: true }
    }
}

/// A turn that was read.
#[derive(Debug)]
pub(in super::super) struct Loaded {
    pub model: String,
    /// How long ago it was written.
    pub away: Duration,
    pub snapshot: Result<Snapshot, SnapshotError>,
}

pub(super) fn write(model: &str, snapshot: &Snapshot) -> Vec<u8> {
    let head = Head { model: model.to_owned(), saved_ms: now_ms(), over: snapshot.is_over() };
    // A text, a number and a flag: nothing in here fails to be written.
    let mut record = serde_json::to_vec(&head).unwrap_or_default();
    record.push(b'\n');
    record.extend_from_slice(snapshot.to_json().as_bytes());
    record
}

pub(super) fn read_head(record: &[u8]) -> Option<Head> {
    let line = record.split(|byte| *byte == b'\n').next()?;
    serde_json::from_slice(line).ok()
}

impl Loaded {
    pub(super) fn read(record: &[u8], request: Option<&[u8]>) -> Result<Self, StoreError> {
        let damaged = || StoreError::Damaged("the turn's record cannot be read".to_owned());
        let head = read_head(record).ok_or_else(damaged)?;
        let at = memchr::memchr(b'\n', record).ok_or_else(damaged)?;
        let text = |bytes| std::str::from_utf8(bytes).map_err(|_| damaged());
        let mut snapshot = Snapshot::from_json(text(&record[at + 1..])?);
        if let (Ok(read), Some(request)) = (&snapshot, request) {
            snapshot = read.clone().with_body(text(request)?);
        }
        let away = Duration::from_millis(now_ms().saturating_sub(head.saved_ms));
        Ok(Self { model: head.model, away, snapshot })
    }
}
