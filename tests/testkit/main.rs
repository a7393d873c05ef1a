//! The flaky server and the judge, over real sockets and against planted faults.

mod checker;
mod client;
mod ends;
mod network;
mod scripts;
mod stories;
mod stream;
