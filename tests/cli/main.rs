//! The command line from outside: its output, its exit status, and what a server sees of it.

mod checkpoint;
mod demo;
mod help;
mod journal;
#[path = "../support/play.rs"]
mod play;
mod refused;
mod signals;
mod stream;
mod support;
