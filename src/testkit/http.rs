//! Reading one HTTP/1.1 request off a connection, by hand.
//!
//! A server that has to break its responses byte by byte cannot use an HTTP library, and requests
//! are the easy half: a length or chunks, and `Expect: 100-continue`.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The longest head that is read, in bytes.
const MAX_HEAD: usize = 64 * 1024;
/// The longest body that is read, in bytes: images inline are megabytes.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// A request, read whole.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    /// Names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Incoming {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether the client wants the connection closed after the response.
    pub(crate) fn wants_close(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// Why there is no request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoRequest {
    /// The client closed, or the connection broke.
    Closed,
    /// What came is not HTTP.
    Bad(&'static str),
}

/// Reads the next request; `pending` holds bytes read too far.
pub(crate) async fn read_request<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    pending: &mut Vec<u8>,
) -> Result<Incoming, NoRequest> {
    let head_len = loop {
        if let Some(at) = find(pending, b"\r\n\r\n") {
            break at + 4;
        }
        if pending.len() > MAX_HEAD {
            return Err(NoRequest::Bad("the head is too long"));
        }
        more(stream, pending).await?;
    };
    let mut incoming = parse_head(&pending[..head_len - 4])?;
    pending.drain(..head_len);
    let chunked = incoming
        .header("transfer-encoding")
        .is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked"));
    let length = match incoming.header("content-length").map(str::parse::<usize>) {
        Some(Ok(length)) => length,
        Some(Err(_)) => return Err(NoRequest::Bad("content-length is no number")),
        None => 0,
    };
    if length > MAX_BODY {
        return Err(NoRequest::Bad("the body is too long"));
    }
    let waits =
        incoming.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue"));
    if waits && pending.is_empty() {
        let go_on = stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await;
        go_on.map_err(|_| NoRequest::Closed)?;
    }
    if chunked {
        incoming.body = loop {
            if let Some((body, used)) = unchunk(pending)? {
                pending.drain(..used);
                break body;
            }
            if pending.len() > MAX_BODY {
                return Err(NoRequest::Bad("the body is too long"));
            }
            more(stream, pending).await?;
        };
    } else {
        while pending.len() < length {
            more(stream, pending).await?;
        }
        incoming.body = pending.drain(..length).collect();
    }
    Ok(incoming)
}

async fn more<S: AsyncRead + Unpin>(
    stream: &mut S,
    pending: &mut Vec<u8>,
) -> Result<(), NoRequest> {
    match stream.read_buf(pending).await {
        Ok(0) | Err(_) => Err(NoRequest::Closed),
        Ok(_) => Ok(()),
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn parse_head(head: &[u8]) -> Result<Incoming, NoRequest> {
    let bad = NoRequest::Bad;
    let head = std::str::from_utf8(head).map_err(|_| bad("the head is not text"))?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(bad("no request line"));
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut headers = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(bad("a header without a colon"))?;
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok(Incoming {
        method: method.into(),
        path: path.into(),
        query: query.into(),
        headers,
        body: Vec::new(),
    })
}

/// The body of a whole chunked message and the bytes it took; `None` while it is not whole.
fn unchunk(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, NoRequest> {
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let Some(line) = find(&bytes[at..], b"\r\n") else { return Ok(None) };
        let size = std::str::from_utf8(&bytes[at..at + line])
            .ok()
            .and_then(|text| usize::from_str_radix(text.split(';').next()?.trim(), 16).ok())
            .filter(|size| *size <= MAX_BODY)
            .ok_or(NoRequest::Bad("no chunk size"))?;
        at += line + 2;
        if size == 0 {
            // Trailers are read over, up to the blank line.
            loop {
                let Some(line) = find(&bytes[at..], b"\r\n") else { return Ok(None) };
                at += line + 2;
                if line == 0 {
                    return Ok(Some((body, at)));
                }
            }
        }
        let Some(data) = bytes.get(at..at + size + 2) else { return Ok(None) };
        body.extend_from_slice(&data[..size]);
        at += size + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(bytes: &[u8]) -> Result<(Incoming, Vec<u8>), NoRequest> {
        let (mut client, mut server) = tokio::io::duplex(64);
        let bytes = bytes.to_vec();
        tokio::spawn(async move { client.write_all(&bytes).await });
        let mut pending = Vec::new();
        let incoming = read_request(&mut server, &mut pending).await?;
        Ok((incoming, pending))
    }

    #[tokio::test]
    async fn a_request_is_read_to_its_length_and_no_further() {
        let (incoming, _) = read(
            b"POST /v1beta/models/m:streamGenerateContent?alt=sse HTTP/1.1\r\nX-Key: k \r\ncontent-length: 3\r\n\r\nabcGET",
        )
        .await
        .unwrap();
        assert_eq!(incoming.path, "/v1beta/models/m:streamGenerateContent");
        assert_eq!(incoming.query, "alt=sse");
        assert_eq!(incoming.header("x-key"), Some("k"));
        assert_eq!(incoming.body, b"abc");
    }

    #[tokio::test]
    async fn chunks_and_trailers_are_a_body_too() {
        let (incoming, _) = read(
            b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3;x=1\r\nabc\r\n2\r\nde\r\n0\r\nt: 1\r\n\r\n",
        )
        .await
        .unwrap();
        assert_eq!(incoming.body, b"abcde");
    }

    #[tokio::test]
    async fn what_is_not_http_is_refused() {
        for (bytes, why) in [
            (&b"hello there\r\n\r\n"[..], NoRequest::Bad("no request line")),
            (b"GET / HTTP/1.1\r\nx\r\n\r\n", NoRequest::Bad("a header without a colon")),
            (b"GET / HTTP/1.1\r\nx: 1\r\n", NoRequest::Closed),
        ] {
            assert_eq!(read(bytes).await.unwrap_err(), why);
        }
    }
}
