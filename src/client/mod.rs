//! Drives turns with tokio and reqwest: sockets, timers and the event log live here, decisions do
//! not.
//!
//! A [`Client`] starts turns; a [`TurnHandle`] reads their events with a cursor and cancels them.
//! One task per turn owns its state machine and its one connection, so bytes of a dead attempt
//! have no way to surface.

mod body;
mod builder;
mod clocks;
mod driver;
mod exchange;
mod handle;
mod headers;
#[cfg(feature = "journal")]
mod journal;
#[cfg(not(feature = "journal"))]
#[path = "no_journal.rs"]
mod journal;
mod log;
mod purse;
mod request;
#[cfg(feature = "journal")]
mod restore;
mod runtime;
mod screen;
mod tls;
mod url;

pub use body::{BodyError, RequestBody, ToolDeclaration};
pub use builder::{BuildError, Client, ClientBuilder};
pub use handle::TurnHandle;
pub use headers::{HeaderProvider, ProviderError};
#[cfg(feature = "journal")]
pub use journal::{Journal, JournalConfig, JournaledTurn};
pub use log::Batch;
pub use request::TurnRequest;
pub use screen::Screen;
#[cfg(feature = "journal")]
pub use {crate::store::StoreError, restore::RestoreError};
