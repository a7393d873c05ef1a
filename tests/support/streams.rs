//! The streams that the proofs run on: the project's own, and the shared recordings where present.

use super::folders::shared;
use super::slow::slow_events;
use super::{Told, slow_read};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A whole body.
#[derive(Debug, Clone)]
pub struct Stream {
    pub name: String,
    pub body: String,
    pub events: Vec<Value>,
    pub told: Told,
    /// Facts of the recordings' index, by a reader of its authors.
    pub facts: Option<Value>,
}

impl Stream {
    pub fn new(name: &str, body: String) -> Self {
        let events = slow_events(&body).unwrap_or_else(|| panic!("{name} is not whole"));
        let told = slow_read(&events);
        assert!(!told.finish.is_empty(), "{name} has no finish reason");
        Self { name: name.to_owned(), body, events, told, facts: None }
    }

    /// True if its answer is text and nothing else.
    pub fn is_plain_text(&self) -> bool {
        let is_text = |part: &Value| {
            let other = |key: &String| !matches!(key.as_str(), "text" | "thoughtSignature");
            part.as_object().is_some_and(|part| !part.keys().any(other))
        };
        let grounded = |event: &Value| !event["candidates"][0]["groundingMetadata"].is_null();
        !self.told.text.is_empty()
            && self.told.parts.iter().all(is_text)
            && !self.events.iter().any(grounded)
    }
}

/// The streams in `tests/streams`, written for this project.
pub fn own_streams() -> Vec<Stream> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams");
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .expect("tests/streams is part of the project")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "sse"))
        .collect();
    names.sort();
    names
        .iter()
        .map(|path| Stream::new(&stem(path), std::fs::read_to_string(path).unwrap()))
        .collect()
}

/// The shared recordings that are whole; none, and a line that says so, where the folder is absent.
pub fn recordings() -> Vec<Stream> {
    let Some(folder) = recordings_folder() else { return Vec::new() };
    let index = std::fs::read_to_string(folder.join("index.json")).expect("an index of recordings");
    let index: Vec<Value> = serde_json::from_str(&index).unwrap();
    let whole = index.into_iter().filter(|facts| facts["whole"] == Value::Bool(true));
    whole
        .map(|facts| {
            let name = facts["name"].as_str().unwrap().to_owned();
            let body = std::fs::read_to_string(folder.join(format!("{name}.sse"))).unwrap();
            Stream { facts: Some(facts), ..Stream::new(&name, body) }
        })
        .collect()
}

fn recordings_folder() -> Option<PathBuf> {
    std::env::var_os("REJOIN_RECORDINGS").map(PathBuf::from).or_else(|| shared("recordings"))
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}
