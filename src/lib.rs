//! Rejoin streams a Gemini answer to a phone and keeps it one clean answer when the connection
//! breaks: nothing shown twice, no tool run twice, no second generation that was not needed.
//!
//! ```no_run
//! use rejoin::client::{Client, TurnRequest};
//! use rejoin::turn::EventKind;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::builder().api_key(std::env::var("GEMINI_API_KEY")?).build()?;
//! let turn = client.start(TurnRequest::prompt("gemini-2.5-flash", "Write about bees."))?;
//!
//! let (mut screen, mut cursor) = (String::new(), 0);
//! loop {
//!     let batch = turn.events_after(cursor, 64).await;
//!     for event in batch.events {
//!         match event.kind {
//!             EventKind::Text { text } => screen.push_str(&text),
//!             EventKind::Reset(reset) => screen.truncate(reset.keep_text_bytes as usize),
//!             EventKind::Completed(done) => assert_eq!(done.text, screen),
//!             EventKind::Failed(failed) => eprintln!("{}: {screen}", failed.error),
//!             _ => {}
//!         }
//!     }
//!     if batch.finished {
//!         return Ok(());
//!     }
//!     cursor = batch.next_cursor;
//! }
//! # }
//! ```
//!
//! # The four rules
//!
//! 1. **Attempts have identity.** A *turn* is one answer; an *attempt* is one request for it, and
//!    is numbered. What a dead attempt brought is closed with it, and its late bytes are discarded
//!    here, never in the app.
//! 2. **A drop is never silent.** `Dropped`, then `Reset`, then `AttemptStarted`, then the first
//!    new piece.
//! 3. **Tools wait.** A tool call leaves only inside `Completed`, and only from the attempt that
//!    completed.
//! 4. **Effects are keyed by meaning**, never by the provider's call id.
//!
//! # The house
//!
//! ```text
//! ffi -> client -> turn -> text     where text may be cut, and what a reply begins with
//!                       -> gemini   bytes to responses, bodies to bytes
//!                       -> effect   keys of tool calls, and the ledger of what they did
//! client, effect -> store           two durable files (feature `journal`)
//! ```
//!
//! [`turn`] is a pure state machine: inputs in, actions out, no clock, no sockets.
//! Its one invariant: every call of [`turn::Turn::handle`] is followed by a full drain of
//! [`turn::Turn::poll_action`]. [`client`] is the thin layer that drives it with tokio and reqwest.
//! [`turn::decide`] is the gate: the rule that picks `restart`, `continue`, `resume` or
//! `non_streaming`. Every number it uses is a field of [`turn::Policy`].
//!
//! # What it does not do
//!
//! It cannot stop the server from billing an abandoned attempt; it tells what is known of each
//! bill. It asks for one candidate only.
//!
//! # Features
//!
//! - `journal`: turns and effects that survive the process, in two files: `client::Journal`,
//!   `Client::restore` and `effect::EffectLedger`.
//! - `testkit`: a Gemini server that breaks as told, for tests of apps.
//! - `cli` (default): the `rejoin` command line. An app turns it off with
//!   `default-features = false`.
//! - `ffi`: the surface that Kotlin and Swift see, over `UniFFI`.
//! - `bundled-unwinder`: an unwinder of our own, for Android builds without the NDK.

// UniFFI's generated border is the only unsafe code; none of it is ours.
#![cfg_attr(not(feature = "ffi"), forbid(unsafe_code))]
#![cfg_attr(feature = "ffi", deny(unsafe_code))]
#![warn(missing_docs, unreachable_pub)]

// Linked for its symbols, which the standard library calls.
#[cfg(all(target_os = "android", feature = "bundled-unwinder"))]
extern crate unwinding as _;

#[cfg(feature = "cli")]
pub mod advice;
pub mod client;
pub mod effect;
#[cfg(feature = "ffi")]
pub mod ffi;
pub mod gemini;
pub mod recorder;
#[cfg(feature = "journal")]
mod store;
pub mod text;
pub mod turn;

#[cfg(feature = "testkit")]
pub mod testkit;

#[cfg(feature = "ffi")]
uniffi::setup_scaffolding!();

/// The pages for people who write Rust: their code is compiled, and run where it needs no network.
#[cfg(all(doctest, feature = "testkit"))]
mod pages {
    #[doc = include_str!("../docs/rust.md")]
    struct Rust;
    #[doc = include_str!("../docs/testing.md")]
    struct Testing;
}
