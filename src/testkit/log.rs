//! What the server has seen: one record a request, filled in as its response is played.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::http::Incoming;

/// One request and what became of its response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestRecord {
    /// When the request had been read, since the server started.
    pub at: Duration,
    /// The number of its connection, from 1 in order of acceptance.
    pub connection: usize,
    /// The HTTP method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The query, without its `?`; empty where there is none.
    pub query: String,
    /// The headers, names in small letters, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Whether the response is over, in whatever way. The two fields below are known only then.
    pub ended: bool,
    /// Whether the client closed the connection before the response was over.
    pub client_closed: bool,
    /// Whether all of the response was sent and its framing completed.
    pub complete: bool,
}

impl RequestRecord {
    /// The arrival, in milliseconds since the server started.
    #[must_use]
    pub fn at_ms(&self) -> u128 {
        self.at.as_millis()
    }

    /// The body as JSON, if it is.
    #[must_use]
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// The first header of this name, which is in small letters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The records, and a signal for each change.
#[derive(Debug)]
pub(crate) struct Log {
    started: Instant,
    records: Mutex<Vec<RequestRecord>>,
    changes: watch::Sender<u64>,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), records: Mutex::default(), changes: watch::Sender::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RequestRecord>> {
        // A record is written in one step, so a panic elsewhere leaves none half-written.
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn records(&self) -> Vec<RequestRecord> {
        self.lock().clone()
    }

    /// Notes a request; returns its number, from 1.
    pub(crate) fn arrived(&self, incoming: Incoming, connection: usize) -> usize {
        let mut records = self.lock();
        records.push(RequestRecord {
            at: self.started.elapsed(),
            connection,
            method: incoming.method,
            path: incoming.path,
            query: incoming.query,
            headers: incoming.headers,
            body: incoming.body,
            ..RequestRecord::default()
        });
        let number = records.len();
        drop(records);
        self.changed();
        number
    }

    /// Notes how the response to request `number` ended.
    pub(crate) fn ended(&self, number: usize, client_closed: bool, complete: bool) {
        if let Some(record) = self.lock().get_mut(number - 1) {
            record.ended = true;
            record.client_closed = client_closed;
            record.complete = complete;
        }
        self.changed();
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Waits until the records satisfy `holds`, at most `within`; returns whether they do.
    pub(crate) async fn wait_until(
        &self,
        within: Duration,
        holds: impl Fn(&[RequestRecord]) -> bool,
    ) -> bool {
        let mut changes = self.changes.subscribe();
        let wait = changes.wait_for(|_| holds(&self.lock()));
        matches!(timeout(within, wait).await, Ok(Ok(_)))
    }
}
