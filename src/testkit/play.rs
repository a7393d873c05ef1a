//! Plays one response on a connection, keeps its clock and watches whether the client leaves.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::{Instant, sleep_until};

use super::body::{Move, Plan};
use super::log::Log;
use super::response::End;
use super::throttle::Link;

/// How long after the last byte a reset comes, so that the client has read that byte: what lies
/// unread in a socket may be lost to an RST.
const RESET_AFTER: Duration = Duration::from_millis(30);
/// So many bytes of a client that talks before its turn are kept.
const MAX_EARLY: usize = 1024 * 1024;

/// How a response ended, and what is to become of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Whole; another request may follow.
    KeepOpen,
    /// FIN; `whole` where that is how the body was meant to end.
    Fin {
        /// Whether all of the response was sent and its framing completed.
        whole: bool,
    },
    /// RST.
    Reset,
    /// The client closed first.
    ClientClosed,
}

/// Plays `plan` as the response to request `number`. Bytes that the client sends meanwhile go
/// to `pending`.
pub(crate) async fn play(
    stream: &mut TcpStream,
    pending: &mut Vec<u8>,
    plan: &Plan,
    number: usize,
    log: &Log,
    link: &Link,
) -> Ending {
    let (mut reader, writer) = stream.split();
    let mut player = Player { writer, at: Instant::now(), number, log, link };
    // The player goes first: a client that closes in the moment a response is whole was not first.
    tokio::select! {
        biased;
        ending = player.run(plan) => ending.unwrap_or(Ending::ClientClosed),
        () = until_closed(&mut reader, pending) => Ending::ClientClosed,
    }
}

struct Player<'a> {
    writer: WriteHalf<'a>,
    /// The script's own time. Waits add to it and are slept to it, so that the time that writing
    /// takes does not add up.
    at: Instant,
    number: usize,
    log: &'a Log,
    link: &'a Link,
}

impl Player<'_> {
    async fn run(&mut self, plan: &Plan) -> io::Result<Ending> {
        for item in &plan.moves {
            match item {
                Move::Write(bytes) => self.write(bytes).await?,
                Move::Wait(ms) => {
                    self.at += Duration::from_millis(*ms);
                    sleep_until(self.at).await;
                }
                Move::WaitNext(ms) => {
                    let within = Duration::from_millis(*ms);
                    self.log.wait_until(within, |records| records.len() > self.number).await;
                    self.at = Instant::now();
                }
            }
        }
        Ok(match plan.end {
            End::Eof if plan.keep_open => Ending::KeepOpen,
            End::Eof => Ending::Fin { whole: true },
            End::Cut => Ending::Fin { whole: false },
            End::Reset => {
                sleep_until(Instant::now() + RESET_AFTER).await;
                Ending::Reset
            }
            End::Hang => {
                sleep_until(Instant::now() + Duration::from_millis(plan.hang_ms)).await;
                Ending::Fin { whole: false }
            }
        })
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let not_before = self.at + self.link.delay();
        for piece in bytes.chunks(self.link.piece_len()) {
            let due = self.link.through(piece.len()).max(not_before);
            if due > Instant::now() {
                sleep_until(due).await;
            }
            self.writer.write_all(piece).await?;
            self.writer.flush().await?;
            // Lets the reader run, so that segments are read as they were written.
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}

/// Returns when the client has closed.
async fn until_closed(reader: &mut ReadHalf<'_>, pending: &mut Vec<u8>) {
    let mut buffer = [0; 4096];
    loop {
        match reader.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(n) if pending.len() + n <= MAX_EARLY => pending.extend_from_slice(&buffer[..n]),
            Ok(_) => {}
        }
    }
}
