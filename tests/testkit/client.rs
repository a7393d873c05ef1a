//! A client that sees bytes: what came, how the connection ended and when.

use std::io;
use std::time::Duration;

use rejoin::testkit::{FlakyServer, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

/// Longer than anything here should take.
pub const LONG: Duration = Duration::from_secs(10);
pub const STREAM: &str = "/v1beta/models/m:streamGenerateContent?alt=sse";
pub const UNARY: &str = "/v1beta/models/m:generateContent";

pub struct Client(pub TcpStream);

/// How a connection ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    Fin,
    Reset,
}

/// A response, taken apart.
pub struct Answer {
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

pub async fn serve(responses: &str) -> FlakyServer {
    let responses: Vec<Response> = serde_json::from_str(responses).unwrap();
    FlakyServer::start(responses).await.unwrap()
}

impl Client {
    pub async fn connect(server: &FlakyServer) -> io::Result<Self> {
        TcpStream::connect(server.address()).await.map(Self)
    }

    pub async fn send(&mut self, target: &str) {
        let body = r#"{"contents":[]}"#;
        let request = format!(
            "POST {target} HTTP/1.1\r\nHost: x\r\nX-Goog-Api-Key: k\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.0.write_all(request.as_bytes()).await.unwrap();
    }

    /// Connects and asks.
    pub async fn ask(server: &FlakyServer, target: &str) -> Self {
        let mut client = Self::connect(server).await.unwrap();
        client.send(target).await;
        client
    }

    /// The next bytes, as one read gives them.
    pub async fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; 65536];
        let n = timeout(LONG, self.0.read(&mut bytes)).await.expect("nothing came")?;
        bytes.truncate(n);
        Ok(bytes)
    }

    /// Everything to the end of the connection, and how that came.
    pub async fn read_to_end(&mut self) -> (Vec<u8>, End) {
        let mut all = Vec::new();
        loop {
            match self.read().await {
                Ok(bytes) if bytes.is_empty() => return (all, End::Fin),
                Ok(bytes) => all.extend(bytes),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    return (all, End::Reset);
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// One response whose framing completes, the connection left open.
    pub async fn answer(&mut self) -> Answer {
        let mut all = Vec::new();
        loop {
            let bytes = self.read().await.unwrap();
            assert!(!bytes.is_empty(), "closed after {:?}", String::from_utf8_lossy(&all));
            all.extend(bytes);
            if let Some(answer) = whole(&all) {
                return answer;
            }
        }
    }
}

/// The response in these bytes, if its framing is complete.
pub fn whole(bytes: &[u8]) -> Option<Answer> {
    let at = bytes.windows(4).position(|w| w == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..at]).into_owned();
    let rest = &bytes[at + 4..];
    if head.contains("chunked") {
        let body = chunks(rest)?.concat();
        return Some(Answer { head, body });
    }
    let length: usize = head.split("content-length: ").nth(1)?.split('\r').next()?.parse().ok()?;
    (rest.len() == length).then(|| Answer { head, body: rest.to_vec() })
}

/// The chunks of a whole chunked body.
pub fn chunks(mut bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut chunks = Vec::new();
    loop {
        let at = bytes.windows(2).position(|w| w == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..at]).ok()?, 16).ok()?;
        bytes = &bytes[at + 2..];
        if size == 0 {
            return (bytes == b"\r\n").then_some(chunks);
        }
        chunks.push(bytes.get(..size)?.to_vec());
        bytes = bytes.get(size + 2..)?;
    }
}

/// How long a future takes, with what it gives.
pub async fn timed<T>(future: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    let value = future.await;
    (value, start.elapsed())
}
