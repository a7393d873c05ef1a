//! The command line from outside: its output, its exit status, and what a server sees of it.

mod advise;
mod checkpoint;
mod demo;
mod help;
mod journal;
#[path = "../support/play.rs"]
mod play;
mod refused;
mod replay;
mod signals;
mod stream;
mod support;
