//! `rejoin checkpoint`: what a drop after a text would commit.

use crate::exit::Exit;
use rejoin::text::{Checkpoint, estimate_tokens};
use rejoin::turn::Utf16Len;
use serde::Serialize;
use std::io::{Read as _, Write as _};

#[derive(Serialize)]
struct Report<'a> {
    committed: Option<&'a str>,
    committed_utf16: Utf16Len,
    estimated_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_number: Option<u64>,
}

pub fn run() -> Result<Exit, String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| format!("standard input cannot be read as UTF-8: {error}"))?;
    let mut checkpoint = Checkpoint::new();
    checkpoint.push(&text);
    let cut = checkpoint.cut();
    let committed = cut.as_ref().map(|cut| &text[..cut.len]);
    let report = Report {
        committed,
        committed_utf16: Utf16Len::of(committed.unwrap_or("")),
        estimated_tokens: estimate_tokens(committed.unwrap_or("")),
        next_number: cut.as_ref().and_then(|cut| cut.next_number),
    };
    let json = serde_json::to_string(&report).map_err(|error| error.to_string())?;
    writeln!(std::io::stdout(), "{json}").map_err(|error| format!("cannot print: {error}"))?;
    Ok(Exit::Completed)
}
