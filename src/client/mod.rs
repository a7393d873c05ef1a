//! Drives turns with tokio and reqwest: sockets, timers and the event log live here, decisions do
//! not.
//!
//! A [`Client`] starts turns; a [`TurnHandle`] reads their events with a cursor and cancels them.
//! One task per turn owns its state machine and its one connection, so bytes of a dead attempt
//! have no way to surface.

mod body;
mod builder;
mod driver;
mod exchange;
mod handle;
mod headers;
mod log;
mod purse;
mod request;
mod runtime;
mod screen;
mod tls;
mod url;

pub use body::{BodyError, RequestBody, ToolDeclaration};
pub use builder::{BuildError, Client, ClientBuilder};
pub use handle::TurnHandle;
pub use headers::{HeaderProvider, ProviderError};
pub use log::Batch;
pub use request::TurnRequest;
pub use screen::Screen;
