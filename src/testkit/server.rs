//! The flaky server: accepts, hands each request the response that is next in line, and stops
//! listening where a script says so.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep};

use super::body::Plan;
use super::http::{NoRequest, read_request};
use super::line::{Gate, Line, Shared};
use super::log::RequestRecord;
use super::play::{Ending, play};
use super::response::Response;
use super::script::Script;
use super::stories::Stories;
use super::throttle::Throttle;

/// How many connections may wait to be accepted.
const BACKLOG: u32 = 128;
/// How often a port that is not free yet is tried again.
const REBIND_EVERY: Duration = Duration::from_millis(5);

/// A server that plays responses over real sockets. Dropping it stops it and closes them all.
#[derive(Debug)]
pub struct FlakyServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: AbortHandle,
}

/// What a server is made of; from [`FlakyServer::builder`].
#[derive(Clone, Debug)]
pub struct Builder {
    responses: Vec<Response>,
    stories: Vec<Script>,
    throttle: Throttle,
    listen: SocketAddr,
}

impl From<&Script> for Vec<Response> {
    fn from(script: &Script) -> Self {
        script.server.clone()
    }
}

impl FlakyServer {
    /// Starts a server for these responses, or a script's, on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be had, or the responses cannot be played (`InvalidInput`).
    pub async fn start(responses: impl Into<Vec<Response>>) -> io::Result<Self> {
        Self::builder().responses(responses).start().await
    }

    /// As [`start`](Self::start), on this address.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub async fn start_on(
        address: SocketAddr,
        responses: impl Into<Vec<Response>>,
    ) -> io::Result<Self> {
        Self::builder().responses(responses).listen(address).start().await
    }

    /// A server with more to choose: 127.0.0.1, a free port and an unlimited network unless said.
    #[must_use]
    pub fn builder() -> Builder {
        Builder {
            responses: Vec::new(),
            stories: Vec::new(),
            throttle: Throttle::full(),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL for a client, `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<RequestRecord> {
        self.shared.log.records()
    }

    /// Waits until every response that has begun is over, so that `client_closed` is known;
    /// returns whether they were within that time.
    pub async fn settled(&self, within: Duration) -> bool {
        let over = |records: &[RequestRecord]| records.iter().all(|record| record.ended);
        self.shared.log.wait_until(within, over).await
    }

    /// Waits until so many requests have come; returns whether they had within that time.
    pub async fn arrived(&self, count: usize, within: Duration) -> bool {
        self.shared.log.wait_until(within, |records| records.len() >= count).await
    }
}

impl Drop for FlakyServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Builder {
    /// The responses, in order of requests; the last one is played again.
    #[must_use]
    pub fn responses(mut self, responses: impl Into<Vec<Response>>) -> Self {
        self.responses = responses.into();
        self
    }

    /// Many scripts instead of responses: a request to `/STORY/NETWORK/TURN/...` plays the script
    /// of that name on the network of that name, anew for each TURN. Such requests are not in
    /// [`requests`](FlakyServer::requests).
    #[must_use]
    pub fn stories(mut self, scripts: impl Into<Vec<Script>>) -> Self {
        self.stories = scripts.into();
        self
    }

    /// The network between server and client.
    #[must_use]
    pub fn throttle(mut self, throttle: Throttle) -> Self {
        self.throttle = throttle;
        self
    }

    /// The address to listen on; port 0 takes a free one.
    #[must_use]
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = address;
        self
    }

    /// Starts the server on the current tokio runtime.
    ///
    /// # Errors
    /// When the address cannot be had, or the responses cannot be played (`InvalidInput`).
    // Async though it awaits nothing: it must be called on a runtime, and this says so.
    #[allow(clippy::unused_async)]
    pub async fn start(self) -> io::Result<FlakyServer> {
        let invalid = |what| io::Error::new(io::ErrorKind::InvalidInput, what);
        if self.responses.is_empty() && self.stories.is_empty() {
            return Err(invalid("no responses to play".to_owned()));
        }
        let stories = match self.stories.as_slice() {
            [] => None,
            scripts => Some(Stories::new(scripts).map_err(invalid)?),
        };
        for response in &self.responses {
            response.validate().map_err(invalid)?;
        }
        let socket = bound(self.listen)?;
        let address = socket.local_addr()?;
        let mut line = Line { responses: self.responses, next: 0 };
        let (gate, door) = match line.pass_refusals() {
            None => (Gate::Open, Door::Open(socket.listen(BACKLOG)?)),
            Some(refusal) => (refusal.until(Instant::now()), Door::Shut(socket)),
        };
        let shared = Shared::new(line, gate, self.throttle);
        let shared = Arc::new(Shared { stories, ..shared });
        let task = tokio::spawn(accept(Arc::clone(&shared), address, door)).abort_handle();
        Ok(FlakyServer { address, shared, task })
    }
}

/// Starts a server, prints `listening on http://ADDR` to `out` and serves until dropped.
///
/// # Errors
/// When the server cannot start, or `out` cannot be written.
pub async fn serve(builder: Builder, out: &mut impl io::Write) -> io::Result<Infallible> {
    let server = builder.start().await?;
    writeln!(out, "listening on {}", server.url())?;
    out.flush()?;
    std::future::pending().await
}

/// The listening socket, or one that only holds the port, so that connections are refused and
/// nobody else can take it.
enum Door {
    Open(TcpListener),
    Shut(TcpSocket),
}

fn bound(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Connections of the old listener may linger on this port.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

async fn hold(address: SocketAddr) -> TcpSocket {
    loop {
        match bound(address) {
            Ok(socket) => return socket,
            Err(_) => sleep(REBIND_EVERY).await,
        }
    }
}

async fn accept(shared: Arc<Shared>, address: SocketAddr, mut door: Door) {
    let mut connections = JoinSet::new();
    let mut accepted = 0;
    loop {
        door = match door {
            Door::Open(listener) => tokio::select! {
                biased;
                () = shared.until_shut() => {
                    drop(listener);
                    shared.listening.send_replace(false);
                    Door::Shut(hold(address).await)
                }
                Some(_) = connections.join_next() => Door::Open(listener),
                incoming = listener.accept() => {
                    if let Ok((stream, _)) = incoming {
                        accepted += 1;
                        connections.spawn(converse(Arc::clone(&shared), stream, accepted));
                    }
                    Door::Open(listener)
                }
            },
            Door::Shut(socket) => {
                shared.until_due().await;
                let Ok(listener) = socket.listen(BACKLOG) else {
                    // Somebody else listens here meanwhile: try again from the start.
                    sleep(REBIND_EVERY).await;
                    door = Door::Shut(hold(address).await);
                    continue;
                };
                shared.gate.send_replace(Gate::Open);
                shared.listening.send_replace(true);
                Door::Open(listener)
            }
        };
    }
}

/// One connection: request, response, and again while both sides keep it open.
async fn converse(shared: Arc<Shared>, mut stream: TcpStream, connection: usize) {
    // Without it, small segments would be joined to bigger ones.
    let _ = stream.set_nodelay(true);
    let mut pending = Vec::new();
    loop {
        let incoming = tokio::select! {
            biased;
            // A kept connection must not be a way around a refusal.
            () = shared.until_shut() => return,
            incoming = read_request(&mut stream, &mut pending) => incoming,
        };
        let incoming = match incoming {
            Ok(incoming) => incoming,
            Err(NoRequest::Closed) => return,
            Err(NoRequest::Bad(why)) => return say_bad(stream, why).await,
        };
        let told =
            shared.stories.as_ref().map(|stories| stories.turn(&incoming.path).ok_or(stories));
        let shared = match told {
            None => Arc::clone(&shared),
            Some(Ok(turn)) => turn,
            Some(Err(stories)) => return say_unknown(stream, stories).await,
        };
        let Some((response, refusal)) = shared.take() else { return };
        if refusal.is_some() {
            // The client must not get through while it still has this response before it.
            let _ = shared.listening.subscribe().wait_for(|listening| !listening).await;
        }
        let wants_close = incoming.wants_close();
        let unary = incoming.path.ends_with(":generateContent");
        let number = shared.log.arrived(incoming, connection);
        let plan = Plan::new(&response, number, unary);
        let ending =
            play(&mut stream, &mut pending, &plan, number, &shared.log, &shared.link).await;
        if let Some(refusal) = refusal {
            shared.gate.send_replace(refusal.until(Instant::now()));
        }
        let whole = matches!(ending, Ending::KeepOpen | Ending::Fin { whole: true });
        shared.log.ended(number, ending == Ending::ClientClosed, whole);
        match ending {
            Ending::KeepOpen if !wants_close => {}
            Ending::Reset => {
                // Closing a socket that lingers for no time sends an RST in place of a FIN.
                let _ = stream.set_zero_linger();
                return;
            }
            Ending::KeepOpen | Ending::Fin { .. } => {
                let _ = stream.shutdown().await;
                return;
            }
            Ending::ClientClosed => return,
        }
    }
}

async fn say_unknown(stream: TcpStream, stories: &Stories) {
    let known = stories.names();
    say(stream, "404 Not Found", &format!("ask for /STORY/NETWORK/TURN; stories: {known}")).await;
}

async fn say_bad(stream: TcpStream, why: &str) {
    say(stream, "400 Bad Request", why).await;
}

async fn say(mut stream: TcpStream, status: &str, why: &str) {
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: text/plain\r\n");
    let answer = format!("{head}content-length: {}\r\n\r\n{why}", why.len());
    // A client that talks no HTTP may be gone as well; there is nobody to tell.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}
