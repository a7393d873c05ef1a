//! The flaky Gemini server, for tests of this crate and of apps that use it.
//!
//! Lives here: fault scripts ([`Script`]), the server that plays them over real sockets
//! ([`FlakyServer`]), bad networks ([`Throttle`]) and the judge of what a client made of it
//! ([`check`]). Nothing here knows how the client works: it sees bytes on one side and event JSON
//! on the other, so that a wrong rule in the core cannot hide itself by being wrong here as well.
//!
//! ```no_run
//! # async fn story() -> Result<(), Box<dyn std::error::Error>> {
//! use rejoin::testkit::{FlakyServer, Script, check};
//!
//! let script = Script::from_file("tests/faults/drop.json")?;
//! let server = FlakyServer::start(&script).await?;
//! // Point a client at `server.url()`, collect its events as JSON, then:
//! # let (events, took) = (Vec::<serde_json::Value>::new(), std::time::Duration::ZERO);
//! server.settled(std::time::Duration::from_secs(1)).await;
//! let wrong = check::violations(&script, &events, &server.requests(), took);
//! assert!(wrong.is_empty(), "{wrong:#?}");
//! # Ok(())
//! # }
//! ```

mod body;
pub mod check;
mod expect;
mod http;
mod json;
mod line;
mod log;
mod play;
mod read_step;
mod response;
mod script;
mod server;
mod step;
mod stories;
mod throttle;
mod unary;
mod wire;

pub use expect::{
    AttemptFields, EffectKeys, Expect, ExpectAttempt, ExpectEnd, ExpectError, ExpectFinish,
    ExpectHistory, ExpectRequest, ExpectReset, ExpectTool, Temperature,
};
pub use json::Json;
pub use log::RequestRecord;
pub use response::{End, Framing, Newline, Response, Segment};
pub use script::{Cancel, RUNNER_POLICY, Request, Script, ScriptError};
pub use server::{Builder, FlakyServer, serve};
pub use step::{ErrorForm, ErrorStep, EventStep, Part, PartBody, Step, Usage};
pub use throttle::Throttle;
