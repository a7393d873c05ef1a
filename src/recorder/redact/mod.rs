//! Hides the words of a recording and leaves everything that a turn decides by.
//!
//! Deny by default: a string is kept only where its name says that it is one of the protocol's own
//! (a finish reason, a role, a status). Everything keeps its length in bytes, so that the pieces in
//! which the body came still fit.

mod json;
mod words;

use super::format::{Recording, What};
use super::replay::bytes_of;
use crate::effect::sha256_hex;
use crate::gemini::Encoding;
use json::Reader;
use std::collections::BTreeMap;
use words::Filler;

/// The recording with filler in place of words.
pub(super) fn redacted(mut recording: Recording) -> Recording {
    let filler = Filler::new();
    let header = &mut recording.header;
    header.redacted = true;
    header.turn = format!("turn-{:.32}", sha256_hex(&header.turn));
    header.step = header.step.take().map(|step| filler.text(&step));
    let mut body = std::mem::take(&mut header.body).into_bytes();
    Reader::of_request().redact(&mut body, &filler);
    header.body = String::from_utf8_lossy(&body).into_owned();
    for line in &mut recording.inputs {
        match &mut line.what {
            // Names of hosts and addresses.
            What::Unreachable { detail, .. } | What::Unsendable { detail, .. } => {
                "redacted".clone_into(detail);
            }
            _ => {}
        }
    }
    for places in bodies(&recording) {
        change_body(&mut recording, &places, |body| Reader::default().redact(body, &filler));
    }
    recording
}

/// The places of the pieces of each attempt's body.
pub(super) fn bodies(recording: &Recording) -> Vec<Vec<usize>> {
    let mut bodies: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, line) in recording.inputs.iter().enumerate() {
        if let What::Text { attempt, .. } | What::Bytes { attempt, .. } = &line.what {
            bodies.entry(*attempt).or_default().push(at);
        }
    }
    bodies.into_values().collect()
}

/// All pieces as one text, since a word may lie across two of them.
pub(super) fn change_body(
    recording: &mut Recording,
    places: &[usize],
    change: impl FnOnce(&mut [u8]),
) {
    let mut body = Vec::new();
    let mut ends = Vec::new();
    for at in places {
        body.extend(piece(&recording.inputs[*at].what));
        ends.push(body.len());
    }
    change(&mut body);
    let mut from = 0;
    for (at, end) in places.iter().zip(ends) {
        let what = &mut recording.inputs[*at].what;
        if let What::Text { attempt, .. } | What::Bytes { attempt, .. } = what {
            *what = What::of_bytes(*attempt, &body[from..end]);
        }
        from = end;
    }
}

fn piece(what: &What) -> Vec<u8> {
    match what {
        What::Text { text, .. } => text.as_bytes().to_vec(),
        What::Bytes { bytes, .. } => bytes_of(bytes),
        _ => Vec::new(),
    }
}

/// A compressed body is recorded as it was before: words cannot be told in it otherwise.
pub(super) fn undo_encodings(recording: &mut Recording) {
    let mut encodings: BTreeMap<u32, Encoding> = BTreeMap::new();
    for line in &mut recording.inputs {
        match &mut line.what {
            What::Head { attempt, headers, .. } => {
                let named =
                    |(name, _): &&(String, String)| name.eq_ignore_ascii_case("content-encoding");
                let encoding = headers.iter().find(named).map(|(_, value)| value.as_str());
                if let Ok(encoding @ Encoding::Gzip(_)) = Encoding::of(encoding) {
                    encodings.insert(*attempt, encoding);
                    headers.retain(|header| !named(&header));
                }
            }
            What::Text { attempt, .. } | What::Bytes { attempt, .. } => {
                let no = *attempt;
                if let Some(encoding) = encodings.get_mut(&no) {
                    let mut plain = Vec::new();
                    // What is broken is recorded as nothing: its bytes could be anything.
                    let _ = encoding.decode(&piece(&line.what), &mut |part| plain.extend(part));
                    line.what = What::of_bytes(no, &plain);
                }
            }
            _ => {}
        }
    }
}
