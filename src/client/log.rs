//! The event log of a turn, read with a cursor.
//!
//! Nothing is consumed by reading: a reader that is cancelled in mid-read, a screen that is
//! rotated, a second reader, all pick up where their cursor stands and lose nothing.

use super::screen::Screen;
use crate::turn::{AttemptNo, ErrorKind, Event, EventKind, Failed, Spend, TurnError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Some events of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The events after the cursor, in order.
    pub events: Vec<Event>,
    /// The cursor for the next read.
    pub next_cursor: u64,
    /// True if no event will ever follow these.
    pub finished: bool,
}

#[derive(Debug, Default)]
struct Inner {
    events: Vec<Event>,
    finished: bool,
    /// Advanced when somebody asks.
    screen: Screen,
    recording: Option<Arc<str>>,
}

/// The events of one turn. Cheap to clone: all clones are one log.
#[derive(Debug, Clone, Default)]
pub(super) struct EventLog {
    inner: Arc<Mutex<Inner>>,
    changed: Arc<Notify>,
    /// Apart from `changed`, so that who waits for the end is not woken by each event.
    over: Arc<Notify>,
}

impl EventLog {
    pub(super) fn push(&self, event: Event) {
        let last = event.is_last();
        {
            let mut inner = self.lock();
            inner.events.push(event);
            inner.finished |= last;
        }
        self.changed.notify_waiters();
        if last {
            self.over.notify_waiters();
        }
    }

    /// The turn as it can be played again, once it is over and if it was recorded.
    pub(super) fn recording(&self) -> Option<Arc<str>> {
        self.lock().recording.clone()
    }

    pub(super) fn set_recording(&self, recording: String) {
        self.lock().recording = Some(recording.into());
    }

    /// No event will follow. A turn without a last event was broken by a bug of this library: it
    /// gets one, for an app that waits for it must not wait for ever.
    pub(super) fn close(&self, turn_id: &str) {
        {
            let mut inner = self.lock();
            if !inner.finished {
                let last = broken(turn_id, &inner.events);
                inner.events.push(last);
                inner.finished = true;
            }
        }
        self.changed.notify_waiters();
        self.over.notify_waiters();
    }

    /// Waits until no event will follow. Wakes once.
    pub(super) async fn until_over(&self) {
        let over = self.over.notified();
        tokio::pin!(over);
        over.as_mut().enable();
        if !self.lock().finished {
            over.await;
        }
    }

    /// What a screen that applied all events so far shows.
    pub(super) fn screen(&self) -> Screen {
        let mut inner = self.lock();
        let Inner { events, finished, screen, .. } = &mut *inner;
        screen.advance(events);
        screen.finished = *finished;
        screen.clone()
    }

    /// Waits until there is an event after `cursor`, or none will come.
    pub(super) async fn events_after(&self, cursor: u64, max: usize) -> Batch {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Registered before looking: a push in between wakes it.
            changed.as_mut().enable();
            let batch = self.read(cursor, max);
            if !batch.events.is_empty() || batch.finished {
                return batch;
            }
            changed.await;
        }
    }

    pub(super) fn read(&self, cursor: u64, max: usize) -> Batch {
        let inner = self.lock();
        let total = inner.events.len();
        let start = usize::try_from(cursor).unwrap_or(usize::MAX).min(total);
        let end = start.saturating_add(max.max(1)).min(total);
        Batch {
            events: inner.events[start..end].to_vec(),
            next_cursor: end as u64,
            finished: inner.finished && end == total,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A push cannot leave the list half-done, so a poisoned one is still whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The last event of a turn that a bug ended.
fn broken(turn_id: &str, events: &[Event]) -> Event {
    let (mut shown, mut longest) = (String::new(), String::new());
    for event in events {
        match &event.kind {
            EventKind::Text { text } => shown.push_str(text),
            EventKind::Reset(reset) => {
                if shown.len() > longest.len() {
                    longest.clone_from(&shown);
                }
                let keep = usize::try_from(reset.keep_text_bytes).unwrap_or(usize::MAX);
                shown.truncate(shown.floor_char_boundary(keep));
            }
            _ => {}
        }
    }
    if shown.len() > longest.len() {
        longest = shown;
    }
    let error = TurnError {
        kind: ErrorKind::Internal,
        reason: "panicked".to_owned(),
        http_status: None,
        details: Some("a bug of Rejoin ended the turn: please report it".to_owned()),
    };
    Event {
        kind: EventKind::Failed(Box::new(Failed {
            error,
            partial_text: longest,
            attempts: Vec::new(),
            spend: Spend::default(),
        })),
        turn: turn_id.into(),
        seq: events.len() as u64 + 1,
        attempt: events.last().map_or(AttemptNo(1), |event| event.attempt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_closed_early_gets_one_last_event() {
        let log = EventLog::default();
        let text = EventKind::Text { text: "Half an ans".to_owned() };
        log.push(Event { kind: text, turn: "t".into(), seq: 1, attempt: AttemptNo(2) });
        log.close("t");
        log.close("t");
        let batch = log.read(0, 10);
        assert!(batch.finished);
        let [_, last] = &batch.events[..] else { panic!("{batch:?}") };
        assert_eq!((last.seq, last.attempt, &*last.turn), (2, AttemptNo(2), "t"));
        let EventKind::Failed(failed) = &last.kind else { panic!("{last:?}") };
        assert_eq!(failed.error.kind, ErrorKind::Internal);
        assert_eq!(failed.partial_text, "Half an ans");
    }
}
