//! One request and its answer, as inputs for the state machine.

use crate::turn::BodyEnd;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use http_body::{Frame, SizeHint};
use reqwest::Response;
use std::convert::Infallible;
use std::error::Error as _;
use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Notify;

/// How long an idle connection is kept: radios sleep, networks change, and a dead connection of a
/// pool stalls a retry.
const POOL_IDLE: Duration = Duration::from_secs(30);
/// HTTP/2 pings on a stream in use find a dead network before `idle_timeout_ms` does.
const PING_EVERY: Duration = Duration::from_secs(20);

/// Makes connections. No layer of it sends a request again by itself.
pub(super) struct Transport {
    tls: rustls::ClientConfig,
    connect_timeout: Duration,
    pool: Mutex<reqwest::Client>,
}

impl Transport {
    pub(super) fn new(
        tls: rustls::ClientConfig,
        connect_timeout: Duration,
    ) -> Result<Self, String> {
        let pool = Mutex::new(http_client(&tls, connect_timeout)?);
        Ok(Self { tls, connect_timeout, pool })
    }

    /// The client to send with; `fresh` leaves the connections behind that are open now.
    fn client(&self, fresh: bool) -> reqwest::Client {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if fresh && let Ok(client) = http_client(&self.tls, self.connect_timeout) {
            *pool = client;
        }
        pool.clone()
    }
}

fn http_client(
    tls: &rustls::ClientConfig,
    connect_timeout: Duration,
) -> Result<reqwest::Client, String> {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls.clone())
        .connect_timeout(connect_timeout)
        .pool_idle_timeout(POOL_IDLE)
        .http2_keep_alive_interval(PING_EVERY)
        .http2_keep_alive_timeout(PING_EVERY)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .referer(false)
        .user_agent(concat!("rejoin/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| error.to_string())
}

/// What came from the wire. No `Debug`: it may hold secrets.
pub(super) enum Incoming {
    /// The attempt is in the journal, and its request may leave.
    Recorded,
    /// Values of the headers that are about to be sent.
    Secrets(Vec<String>),
    Sent,
    Head {
        status: u16,
        headers: Vec<(String, String)>,
    },
    Bytes(Bytes),
    End(BodyEnd),
    Unreachable(String),
    Unsendable(String),
}

type Answer = Pin<Box<dyn Future<Output = Result<Response, reqwest::Error>> + Send>>;

enum State {
    Sending(Answer),
    Reading(Response),
    Over,
}

/// A request in flight. Dropping it closes its connection.
pub(super) struct Exchange {
    state: State,
    sent: Arc<SentFlag>,
    told_sent: bool,
}

impl Exchange {
    pub(super) fn start(
        transport: &Transport,
        fresh: bool,
        url: &str,
        headers: HeaderMap,
        body: Arc<str>,
    ) -> Self {
        let sent = Arc::new(SentFlag::default());
        let body = WatchedBody { body: Some(body), sent: sent.clone() };
        let mut headers = headers;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        // A compressed stream cut short looks like a clean end to many decoders.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let request =
            transport.client(fresh).post(url).headers(headers).body(reqwest::Body::wrap(body));
        Self { state: State::Sending(Box::pin(request.send())), sent, told_sent: false }
    }

    /// The next thing from the wire. Safe to cancel: nothing is lost.
    pub(super) async fn next(&mut self) -> Incoming {
        match &mut self.state {
            State::Sending(answer) => {
                let result = if self.told_sent {
                    answer.await
                } else {
                    tokio::select! {
                        biased;
                        () = self.sent.wait() => {
                            self.told_sent = true;
                            return Incoming::Sent;
                        }
                        result = answer => result,
                    }
                };
                match result {
                    Ok(response) => {
                        let head = head(&response);
                        self.state = State::Reading(response);
                        head
                    }
                    Err(error) => {
                        self.state = State::Over;
                        self.not_answered(error)
                    }
                }
            }
            State::Reading(response) => match response.chunk().await {
                Ok(Some(bytes)) => Incoming::Bytes(bytes),
                Ok(None) => self.over(BodyEnd::Clean),
                Err(error) => self.over(end_of(&error)),
            },
            State::Over => std::future::pending().await,
        }
    }

    fn over(&mut self, end: BodyEnd) -> Incoming {
        self.state = State::Over;
        Incoming::End(end)
    }

    fn not_answered(&self, error: reqwest::Error) -> Incoming {
        if self.sent.is_set() {
            return Incoming::End(end_of(&error));
        }
        // The URL is known to the app; errors need not repeat it.
        let error = error.without_url();
        if error.is_builder() {
            return Incoming::Unsendable(with_sources(&error));
        }
        Incoming::Unreachable(with_sources(&error))
    }
}

fn head(response: &Response) -> Incoming {
    let headers = response.headers().iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    Incoming::Head { status: response.status().as_u16(), headers: headers.collect() }
}

/// How a body ended, from the errors below reqwest's.
fn end_of(error: &reqwest::Error) -> BodyEnd {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<hyper::Error>()
            && error.is_incomplete_message()
        {
            return BodyEnd::Cut;
        }
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            match error.kind() {
                ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput => {
                    return BodyEnd::Cut;
                }
                ErrorKind::Other => {}
                _ => return BodyEnd::Reset,
            }
        }
        source = error.source();
    }
    BodyEnd::Reset
}

fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

/// Set when the connection asks for the body: from then on the server may have the request, and
/// may bill it.
#[derive(Default)]
struct SentFlag {
    set: AtomicBool,
    changed: Notify,
}

impl SentFlag {
    fn set(&self) {
        self.set.store(true, Ordering::Release);
        self.changed.notify_one();
    }

    fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    async fn wait(&self) {
        while !self.is_set() {
            self.changed.notified().await;
        }
    }
}

/// A body that can be sent once, and says when it is.
struct WatchedBody {
    body: Option<Arc<str>>,
    sent: Arc<SentFlag>,
}

/// Lends the text of an `Arc<str>` to `Bytes` without a copy.
struct ArcText(Arc<str>);

impl AsRef<[u8]> for ArcText {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl http_body::Body for WatchedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.sent.set();
        Poll::Ready(self.body.take().map(|body| Ok(Frame::data(Bytes::from_owner(ArcText(body))))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.body.as_ref().map_or(0, |body| body.len() as u64))
    }
}
