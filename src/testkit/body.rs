//! From a response's steps to the bytes of its connection: head, segments, framing, pauses.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::response::{End, Framing, Response, Segment};
use super::step::Step;
use super::unary;
use super::wire::{error_bytes, event_json, object_json, sse};

/// What happens on the connection, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// Written and flushed by itself.
    Write(Vec<u8>),
    /// A pause, in milliseconds.
    Wait(u64),
    /// A pause until the next request has come, in milliseconds at most.
    WaitNext(u64),
}

/// A response, ready to be played.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The moves, framing included.
    pub(crate) moves: Vec<Move>,
    /// What comes after them.
    pub(crate) end: End,
    /// How long `hang` stays silent at most, in milliseconds.
    pub(crate) hang_ms: u64,
    /// Whether another request may follow on this connection.
    pub(crate) keep_open: bool,
}

impl Plan {
    /// The plan for the `k`-th request; `unary` where it asks for `:generateContent`.
    pub(crate) fn new(response: &Response, k: usize, unary: bool) -> Self {
        let response_id = format!("r{k}");
        let mut body = if unary {
            unary::items(response, &response_id)
        } else {
            stream_items(response, &response_id)
        };
        if response.gzip {
            compress(&mut body);
        }
        let whole = body_len(&body);
        lose(&mut body, response.lose);
        let sent = body_len(&body);
        let plain = unary || response.status >= 400;
        let default = if plain { Framing::Length } else { Framing::Chunked };
        let framing = response.framing.unwrap_or(default);

        let mut moves: Vec<Move> = segments(body, &response.segment)
            .into_iter()
            .map(|item| match item {
                Move::Write(bytes) if framing == Framing::Chunked => Move::Write(chunk(&bytes)),
                other => other,
            })
            .collect();
        if framing == Framing::Chunked && response.end == End::Eof {
            moves.push(Move::Write(b"0\r\n\r\n".to_vec()));
        }
        if response.head {
            // What a cut leaves open must be open: with a length that fits, it would be whole.
            let length = match response.end {
                End::Eof => sent,
                _ if whole > sent => whole,
                _ => sent + 1,
            };
            let head = head(response, plain, framing, length);
            // One JSON object is sent when it is known whole; a stream's head goes first.
            let first = moves.iter().position(|item| matches!(item, Move::Write(_)));
            let place = if unary { first.unwrap_or(moves.len()) } else { 0 };
            moves.insert(place, Move::Write(head));
        } else {
            moves.retain(|item| !matches!(item, Move::Write(_)));
        }
        moves.insert(0, Move::Wait(response.head_after_ms));
        Self {
            moves,
            end: response.end,
            hang_ms: response.hang_ms,
            keep_open: response.head && framing != Framing::Close && response.end == End::Eof,
        }
    }
}

/// The steps of a stream as bytes and pauses, one item a step.
fn stream_items(response: &Response, response_id: &str) -> Vec<Move> {
    let usage = response.usage.as_ref();
    let item = |step: &Step| match step {
        Step::Event(step) => {
            Move::Write(sse(&event_json(step, usage, response_id), response.newline))
        }
        Step::Json { object, over } => {
            Move::Write(sse(&object_json(object, over), response.newline))
        }
        Step::Error(step) => Move::Write(error_bytes(step, response.newline)),
        Step::Raw(bytes) => Move::Write(bytes.clone()),
        Step::WaitMs(ms) => Move::Wait(*ms),
        Step::WaitNext(ms) => Move::WaitNext(*ms),
    };
    response.send.iter().map(item).collect()
}

fn body_len(items: &[Move]) -> usize {
    let len = |item: &Move| if let Move::Write(bytes) = item { bytes.len() } else { 0 };
    items.iter().map(len).sum()
}

/// Compresses each item and flushes after it, so that a pause stays where it was.
fn compress(items: &mut Vec<Move>) {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    for item in items.iter_mut() {
        let Move::Write(bytes) = item else { continue };
        // Writing into a `Vec` cannot fail.
        let _ = encoder.write_all(bytes).and_then(|()| encoder.flush());
        *bytes = std::mem::take(encoder.get_mut());
    }
    let trailer = encoder.finish().unwrap_or_default();
    match items.last_mut() {
        Some(Move::Write(bytes)) => bytes.extend(trailer),
        _ => items.push(Move::Write(trailer)),
    }
}

/// Takes `count` bytes off the end of the body.
fn lose(items: &mut [Move], mut count: usize) {
    for item in items.iter_mut().rev() {
        let Move::Write(bytes) = item else { continue };
        let taken = count.min(bytes.len());
        bytes.truncate(bytes.len() - taken);
        count -= taken;
    }
}

/// Groups the body into segments. Empty ones vanish: an empty chunk would end a chunked body.
fn segments(items: Vec<Move>, segment: &Segment) -> Vec<Move> {
    let mut out = Vec::new();
    let mut run = Vec::new();
    let mut offset = 0;
    for item in items {
        match item {
            Move::Write(bytes) => {
                run.extend(bytes);
                if *segment == Segment::Event {
                    flush(&mut run, &mut offset, segment, &mut out);
                }
            }
            pause => {
                flush(&mut run, &mut offset, segment, &mut out);
                out.push(pause);
            }
        }
    }
    flush(&mut run, &mut offset, segment, &mut out);
    out
}

/// Splits what lies between two pauses; `offset` is where it begins in the body.
fn flush(run: &mut Vec<u8>, offset: &mut usize, segment: &Segment, out: &mut Vec<Move>) {
    let mut rest = std::mem::take(run);
    let begin = *offset;
    *offset += rest.len();
    let cuts: Vec<usize> = match segment {
        Segment::Event | Segment::All => Vec::new(),
        Segment::Bytes(size) => (*size.max(&1)..rest.len()).step_by(*size.max(&1)).collect(),
        Segment::Offsets(offsets) => {
            let mut cuts: Vec<usize> = offsets
                .iter()
                .filter_map(|o| o.checked_sub(begin))
                .filter(|o| *o < rest.len())
                .collect();
            cuts.sort_unstable();
            cuts
        }
    };
    let mut parts = Vec::new();
    for cut in cuts.into_iter().rev() {
        parts.push(rest.split_off(cut));
    }
    parts.push(rest);
    out.extend(parts.into_iter().rev().filter(|part| !part.is_empty()).map(Move::Write));
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut out = format!("{:x}\r\n", bytes.len()).into_bytes();
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
    out
}

fn head(response: &Response, plain: bool, framing: Framing, length: usize) -> Vec<u8> {
    use std::fmt::Write as _;
    let media = if plain { "application/json" } else { "text/event-stream" };
    let mut headers = vec![("content-type".to_owned(), media.to_owned())];
    match framing {
        Framing::Chunked => headers.push(("transfer-encoding".into(), "chunked".into())),
        Framing::Length => headers.push(("content-length".into(), length.to_string())),
        Framing::Close => headers.push(("connection".into(), "close".into())),
    }
    if response.gzip {
        headers.push(("content-encoding".into(), "gzip".into()));
    }
    for (name, value) in &response.headers {
        headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        headers.push((name.clone(), value.clone()));
    }
    let mut out = format!("HTTP/1.1 {} {}\r\n", response.status, phrase(response.status));
    for (name, value) in headers {
        // Writing into a `String` cannot fail.
        let _ = write!(out, "{name}: {value}\r\n");
    }
    out.push_str("\r\n");
    out.into_bytes()
}

/// The reason phrase. Clients must not read it, so most statuses get a plain one.
fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(parts: &[&str]) -> Vec<Move> {
        parts.iter().map(|part| Move::Write(part.as_bytes().to_vec())).collect()
    }

    fn split(items: Vec<Move>, segment: &Segment) -> Vec<String> {
        let show = |item: Move| match item {
            Move::Write(bytes) => String::from_utf8(bytes).unwrap(),
            pause => format!("{pause:?}"),
        };
        segments(items, segment).into_iter().map(show).collect()
    }

    #[test]
    fn segments_follow_steps_or_bytes_or_offsets_and_pauses_always_split() {
        let mut items = raw(&["ab", "", "cde"]);
        items.push(Move::Wait(5));
        items.extend(raw(&["fghi"]));
        assert_eq!(split(items.clone(), &Segment::Event), ["ab", "cde", "Wait(5)", "fghi"]);
        assert_eq!(split(items.clone(), &Segment::All), ["abcde", "Wait(5)", "fghi"]);
        assert_eq!(
            split(items.clone(), &Segment::Bytes(2)),
            ["ab", "cd", "e", "Wait(5)", "fg", "hi"]
        );
        // Offset 5 is where the pause lies, 99 is beyond the end, 0 is its beginning.
        let offsets = Segment::Offsets(vec![7, 0, 1, 5, 99]);
        assert_eq!(split(items, &offsets), ["a", "bcde", "Wait(5)", "fg", "hi"]);
    }

    #[test]
    fn lost_bytes_come_off_the_end_across_steps() {
        let mut items = raw(&["abc", "de"]);
        lose(&mut items, 3);
        assert_eq!(split(items, &Segment::All), ["ab"]);
    }

    #[test]
    fn a_length_fits_only_where_the_body_is_meant_to_be_whole() {
        let length = |end, lost| {
            let response = Response {
                framing: Some(Framing::Length),
                send: vec![Step::raw("12345")],
                lose: lost,
                end,
                ..Response::default()
            };
            let plan = Plan::new(&response, 1, false);
            let Move::Write(head) = &plan.moves[1] else { panic!("no head") };
            let head = String::from_utf8(head.clone()).unwrap();
            let (_, rest) = head.split_once("content-length: ").unwrap();
            rest.split_once('\r').unwrap().0.parse::<usize>().unwrap()
        };
        assert_eq!(length(End::Eof, 0), 5);
        assert_eq!(length(End::Eof, 2), 3);
        assert_eq!(length(End::Cut, 2), 5);
        assert_eq!(length(End::Cut, 0), 6);
        assert_eq!(length(End::Reset, 0), 6);
    }
}
