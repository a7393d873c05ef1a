//! Takes keys and tokens out of a recording, wherever a server may have put them.

use super::format::{Recording, What};
use super::redact::{bodies, change_body};
use crate::turn::SHORTEST_SECRET;
use serde_json::Value;

/// The texts to hide, in every way in which JSON may write them.
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn new(secrets: &[String]) -> Self {
        let long = secrets.iter().filter(|secret| secret.len() >= SHORTEST_SECRET);
        let mut all: Vec<String> = long.flat_map(|secret| spellings(secret)).collect();
        // The longest first: a shorter one may be a part of it.
        all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        all.dedup();
        Self(all)
    }

    pub(super) fn hide(&self, recording: &mut Recording) {
        let header = &mut recording.header;
        self.mask(&mut header.turn);
        self.mask(&mut header.body);
        if let Some(step) = &mut header.step {
            self.mask(step);
        }
        for tool in &mut header.tools {
            self.mask(&mut tool.name);
            for field in &mut tool.key_fields {
                self.mask(field);
            }
        }
        for line in &mut recording.inputs {
            match &mut line.what {
                What::Unreachable { detail, .. } | What::Unsendable { detail, .. } => {
                    self.mask(detail);
                }
                What::Head { headers, .. } => {
                    for (_, value) in headers {
                        self.mask(value);
                    }
                }
                _ => {}
            }
        }
        for event in &mut recording.events {
            self.mask_value(event);
        }
        for places in bodies(recording) {
            change_body(recording, &places, |body| self.mask_bytes(body));
        }
    }

    /// As long as it was: a replay must come to the same lengths.
    fn mask(&self, text: &mut String) {
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), &"x".repeat(secret.len()));
            }
        }
    }

    fn mask_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.mask(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_value(item)),
            Value::Object(fields) => {
                fields.values_mut().for_each(|field| self.mask_value(field));
            }
            _ => {}
        }
    }

    fn mask_bytes(&self, body: &mut [u8]) {
        for secret in &self.0 {
            let found: Vec<_> = memchr::memmem::find_iter(body, secret.as_bytes()).collect();
            for at in found {
                body[at..at + secret.len()].fill(b'x');
            }
        }
    }
}

/// As it is, as JSON writes it, and as Google writes it: `=` and the like as `\\u003d`.
fn spellings(secret: &str) -> Vec<String> {
    let json = serde_json::to_string(secret).unwrap_or_default();
    let json = json.trim_matches('"').to_owned();
    let cautious = json.chars().fold(String::new(), |text, c| match c {
        '=' | '<' | '>' | '&' | '\'' => text + &format!("\\u{:04x}", u32::from(c)),
        c => text + &c.to_string(),
    });
    vec![secret.to_owned(), json, cautious]
}
