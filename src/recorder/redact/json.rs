//! Finds the strings of a body, also of one that broke off or is no JSON at all, and fills them.

use super::words::{Filler, Kind};
use std::ops::Range;

/// Names whose strings are the protocol's own.
#[rustfmt::skip]
const PROTOCOL: &[&str] = &[
    "role", "finishReason", "finish_reason", "status", "reason", "blockReason", "category",
    "probability", "severity", "modality", "trafficType", "serviceTier", "modelVersion",
    "responseId", "createTime", "mimeType", "mime_type", "responseMimeType", "response_mime_type",
    "name", "id", "type", "@type", "mode", "format", "language", "outcome", "retryDelay",
    "quotaId", "quotaMetric", "thinkingLevel", "thinking_level", "responseModalities", "jsonPath",
    "urlRetrievalStatus", "domain",
];
/// Names below which everything is the app's or the user's, whatever its name.
const PRIVATE: &[&str] = &["args", "response", "arguments", "metadata", "labels", "enum"];
/// A name that is longer is a value in disguise.
const LONGEST_NAME: usize = 64;
/// Words outside of strings that mean something: JSON's own, the fields of an event stream, and the
/// markers that proxies put into one.
#[rustfmt::skip]
const BARE: &[&str] = &[
    "true", "false", "null", "data", "event", "id", "retry", "message", "error", "ping", "DONE",
];

/// A character of a word: its place, and how it is written.
struct Letter {
    span: Range<usize>,
    c: char,
    escaped: bool,
}

/// Reads a body from its first byte to its last.
#[derive(Default)]
pub(super) struct Reader {
    /// For each open bracket, the name it stands under.
    open: Vec<String>,
    /// The name of the string or bracket that comes next.
    name: String,
    /// The word that is being read; it may go on in the next string of the same kind.
    word: Vec<Letter>,
    /// The kind of string that the word stands in.
    in_text: bool,
    /// How words are treated where nothing else is said.
    usual: Kind,
    filled: Vec<(Range<usize>, Vec<u8>)>,
}

impl Reader {
    /// For the body of a request.
    pub(super) fn of_request() -> Self {
        Self { usual: Kind::Request, ..Self::default() }
    }

    /// Fills the strings of a body. Its length stays.
    pub(super) fn redact(mut self, body: &mut [u8], filler: &Filler) {
        let mut at = 0;
        while at < body.len() {
            at = match body[at] {
                b'"' => self.string(body, at, filler),
                b'{' | b'[' => {
                    self.open.push(self.name.clone());
                    at + 1
                }
                b'}' | b']' => {
                    self.name = self.open.pop().unwrap_or_default();
                    at + 1
                }
                _ => self.bare(body, at, filler),
            };
        }
        self.flush(filler);
        for (span, bytes) in self.filled {
            if let Some(place) = body.get_mut(span).filter(|place| place.len() == bytes.len()) {
                place.copy_from_slice(&bytes);
            }
        }
    }

    /// A string from its opening quote; gives the place behind it.
    fn string(&mut self, body: &[u8], start: usize, filler: &Filler) -> usize {
        let end = closing_quote(body, start + 1);
        let inner = start + 1..end.unwrap_or(body.len());
        let after = end.map_or(body.len(), |end| end + 1);
        let is_name = body[after.min(body.len())..]
            .iter()
            .find(|byte| !byte.is_ascii_whitespace())
            .is_some_and(|byte| *byte == b':');
        let text = String::from_utf8_lossy(&body[inner.clone()]).into_owned();
        if is_name && is_plain_name(&text) {
            self.name = text;
            return after;
        }
        if !is_name && self.is_protocol(&text) {
            return after;
        }
        // Text goes on in the next event; other strings end where they end.
        let in_text = self.name == "text" && !self.is_private();
        if !(in_text && self.in_text) {
            self.flush(filler);
        }
        self.in_text = in_text;
        let kind = if self.name == "message" && self.open.iter().any(|name| name == "error") {
            Kind::ErrorMessage
        } else {
            self.usual
        };
        self.words(body, inner, kind, filler);
        if !in_text {
            self.flush_as(kind, filler);
        }
        after
    }

    fn is_private(&self) -> bool {
        let named = |name: &String| PRIVATE.contains(&name.as_str());
        self.open.iter().any(named) || named(&self.name)
    }

    fn is_protocol(&self, text: &str) -> bool {
        if self.is_private() {
            return false;
        }
        // An error may give its number as a text.
        let number = self.name == "code"
            && text.len() == 3
            && text.bytes().all(|byte| byte.is_ascii_digit());
        number || PROTOCOL.contains(&self.name.as_str())
    }

    fn words(&mut self, body: &[u8], inner: Range<usize>, kind: Kind, filler: &Filler) {
        let mut at = inner.start;
        while at < inner.end {
            let (c, len) = char_at(&body[at..inner.end]);
            match c {
                Some(c) if c.is_alphanumeric() => {
                    let escaped = body[at] == b'\\';
                    self.word.push(Letter { span: at..at + len, c, escaped });
                }
                _ => self.flush_as(kind, filler),
            }
            at += len;
        }
    }

    /// Whatever is not in a string: numbers and names stay, words of a body that is no JSON do not.
    fn bare(&mut self, body: &[u8], start: usize, filler: &Filler) -> usize {
        let len = body[start..]
            .iter()
            .take_while(|byte| !matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'))
            .count()
            .max(1);
        let end = start + len;
        let mut at = start;
        let mut word: Vec<Letter> = Vec::new();
        while at < end {
            let (c, len) = char_at(&body[at..end]);
            match c {
                Some(c) if c.is_alphanumeric() => {
                    word.push(Letter { span: at..at + len, c, escaped: false });
                }
                _ => self.fill_bare(std::mem::take(&mut word), filler),
            }
            at += len;
        }
        self.fill_bare(word, filler);
        end
    }

    fn fill_bare(&mut self, word: Vec<Letter>, filler: &Filler) {
        let text: String = word.iter().map(|letter| letter.c).collect();
        // Numbers, with an exponent too.
        let number = text.starts_with(|c: char| c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_digit() || matches!(c, 'e' | 'E'));
        if !number && !BARE.contains(&text.as_str()) {
            self.fill(word, self.usual, filler);
        }
    }

    fn flush(&mut self, filler: &Filler) {
        self.flush_as(self.usual, filler);
    }

    fn flush_as(&mut self, kind: Kind, filler: &Filler) {
        let word = std::mem::take(&mut self.word);
        self.fill(word, kind, filler);
    }

    fn fill(&mut self, word: Vec<Letter>, kind: Kind, filler: &Filler) {
        if word.is_empty() {
            return;
        }
        let chars: Vec<char> = word.iter().map(|letter| letter.c).collect();
        for (letter, c) in word.into_iter().zip(filler.word(&chars, kind)) {
            if c != letter.c {
                self.filled.push((letter.span, written(c, letter.escaped)));
            }
        }
    }
}

fn written(c: char, escaped: bool) -> Vec<u8> {
    if escaped {
        return format!("\\u{:04x}", u32::from(c)).into_bytes();
    }
    c.to_string().into_bytes()
}

fn is_plain_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '@');
    text.len() <= LONGEST_NAME && text.chars().all(plain)
}

fn closing_quote(body: &[u8], mut at: usize) -> Option<usize> {
    while at < body.len() {
        match body[at] {
            b'"' => return Some(at),
            // An event ends at its line's end, whatever was open.
            b'\n' => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// The character here and how many bytes it is written in. `None`: nothing that a word is made of.
fn char_at(bytes: &[u8]) -> (Option<char>, usize) {
    if let [b'\\', b'u', hex @ ..] = bytes {
        let unit = hex.get(..4).and_then(|hex| std::str::from_utf8(hex).ok());
        let unit = unit.and_then(|hex| u32::from_str_radix(hex, 16).ok());
        return match unit {
            // Half a surrogate pair stays: pictures, mostly.
            Some(unit) => (char::from_u32(unit), 6),
            None => (None, 2),
        };
    }
    if bytes[0] == b'\\' {
        return (None, bytes.len().min(2));
    }
    let len = bytes.len().min(4);
    let valid = match std::str::from_utf8(&bytes[..len]) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or(""),
    };
    valid.chars().next().map_or((None, 1), |c| (Some(c), c.len_utf8()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn redacted(body: &str) -> String {
        let mut bytes = body.as_bytes().to_vec();
        Reader::default().redact(&mut bytes, &Filler::new());
        assert_eq!(bytes.len(), body.len());
        String::from_utf8(bytes).expect("still UTF-8")
    }

    #[test]
    fn words_go_and_the_protocol_stays() {
        let body = r#"data: {"candidates":[{"content":{"parts":[{"text":"Caf\u00e9 K\u00f6ln, 12."}],
            "role":"model"},"finishReason":"STOP"}],"responseId":"r-7"}"#;
        let after = redacted(body);
        for kept in ["\"role\":\"model\"", "STOP", "r-7", ", 12.", "\\u00"] {
            assert!(after.contains(kept), "no {kept} in {after}");
        }
        for gone in ["Caf", "ln", "u00e9"] {
            assert!(!after.contains(gone), "{gone} in {after}");
        }
        assert!(serde_json::from_str::<serde_json::Value>(&after[6..]).is_ok(), "{after}");
    }

    #[test]
    fn below_arguments_no_name_is_the_protocols() {
        let after =
            redacted(r#"{"functionCall":{"name":"send","args":{"name":"Anna","id":"X9Y"}}}"#);
        assert!(after.contains(r#""name":"send""#), "{after}");
        assert!(!after.contains("Anna") && !after.contains("X9Y"), "{after}");
    }

    #[test]
    fn a_word_in_two_events_is_one_word() {
        let of = |text: &str| {
            let mut body = text.as_bytes().to_vec();
            let filler = Filler::new();
            Reader::default().redact(&mut body, &filler);
            let whole = filler.text("together");
            (String::from_utf8(body).unwrap(), whole)
        };
        let (body, whole) = of("data: {\"text\":\"toge\"}\n\ndata: {\"text\":\"ther now\"}\n\n");
        assert!(body.contains(&whole[..4]) && body.contains(&whole[4..]), "{body} {whole}");
    }

    #[test]
    fn what_a_turn_reads_in_an_errors_message_stays() {
        let message = "Please retry in 34.4s. API_KEY_INVALID limit: 0 for Karl";
        let after = redacted(&format!(r#"{{"error":{{"code":429,"message":"{message}"}}}}"#));
        assert!(after.contains("retry in 34.4s. API_KEY_INVALID limit: 0"), "{after}");
        assert!(!after.contains("Karl") && !after.contains("Please"), "{after}");
    }

    #[test]
    fn a_page_that_is_no_json_loses_its_words_too() {
        let after = redacted("<html><body class=x>Welcome to Hotel Adler, \"room\" 7");
        for gone in ["Welcome", "Adler", "room", "Hotel"] {
            assert!(!after.contains(gone), "{after}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_keep_their_length_and_utf_8_stays_utf_8(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            text in r#"(data: )?[{\[\]}":,\\u0-9a-zé田ß\n ]{0,200}"#,
        ) {
            for body in [bytes, text.into_bytes()] {
                let mut after = body.clone();
                Reader::default().redact(&mut after, &Filler::new());
                prop_assert_eq!(after.len(), body.len());
                prop_assert_eq!(
                    std::str::from_utf8(&after).is_ok(),
                    std::str::from_utf8(&body).is_ok()
                );
            }
        }
    }
}
