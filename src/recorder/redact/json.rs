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
    "urlRetrievalStatus",
];
/// Names below which everything is the app's or the user's, whatever its name.
const PRIVATE: &[&str] =
    &["args", "response", "arguments", "metadata", "labels", "enum", "numberValue"];
/// A name that is longer is a value in disguise.
const LONGEST_NAME: usize = 64;
/// A name below what is private: an argument's. A longer one, or one with signs, is somebody's.
const LONGEST_ARGUMENT: usize = 40;
/// A word of the protocol that is longer is a sentence.
const LONGEST_WORD: usize = 128;
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
        self.flush(body, filler);
    }

    /// A string from its opening quote; gives the place behind it.
    fn string(&mut self, body: &mut [u8], start: usize, filler: &Filler) -> usize {
        let (end, closed) = string_end(body, start + 1);
        let inner = start + 1..end;
        let after = if closed { end + 1 } else { end };
        let behind = body[after..].iter().find(|byte| !byte.is_ascii_whitespace());
        let is_name = closed && behind == Some(&b':');
        let text = String::from_utf8_lossy(&body[inner.clone()]).into_owned();
        if is_name {
            let plain = self.is_plain_name(&text);
            self.name = if plain { text } else { String::new() };
            if plain {
                return after;
            }
        } else if closed && self.is_protocol(&text) {
            return after;
        }
        // Text goes on in the next event; other strings end where they end.
        let in_text = self.name == "text" && !self.is_private();
        if !(in_text && self.in_text) {
            self.flush(body, filler);
        }
        self.in_text = in_text;
        let of_error = self.name == "message" && self.open.iter().any(|name| name == "error");
        let kind = if of_error && !self.is_private() && self.usual != Kind::Request {
            Kind::ErrorMessage
        } else {
            self.usual
        };
        self.words(body, inner, kind, filler);
        if !in_text {
            self.flush_as(body, kind, filler);
        }
        after
    }

    fn is_private(&self) -> bool {
        let named = |name: &String| PRIVATE.contains(&name.as_str());
        self.open.iter().any(named) || named(&self.name)
    }

    fn is_plain_name(&self, text: &str) -> bool {
        if self.open.iter().any(|name| PRIVATE.contains(&name.as_str())) {
            let identifier = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            return text.len() <= LONGEST_ARGUMENT && begins && text.chars().all(identifier);
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '@');
        text.len() <= LONGEST_NAME && text.chars().all(plain)
    }

    fn is_protocol(&self, text: &str) -> bool {
        if self.is_private() {
            return false;
        }
        // An error may give its number as a text.
        let number = self.name == "code"
            && text.len() == 3
            && text.bytes().all(|byte| byte.is_ascii_digit());
        let sign = |c: char| "_./:@+;=-$[]".contains(c);
        let one_word = text.len() <= LONGEST_WORD
            && text.chars().all(|c| c.is_ascii_alphanumeric() || sign(c));
        number || one_word && PROTOCOL.contains(&self.name.as_str())
    }

    fn words(&mut self, body: &mut [u8], inner: Range<usize>, kind: Kind, filler: &Filler) {
        let mut at = inner.start;
        while at < inner.end {
            let (c, len) = char_at(&body[at..inner.end]);
            match c {
                Some(c) if c.is_alphanumeric() => {
                    let escaped = body[at] == b'\\';
                    self.word.push(Letter { span: at..at + len, c, escaped });
                }
                _ => self.flush_as(body, kind, filler),
            }
            at += len;
        }
    }

    /// Whatever is not in a string: numbers and names stay, words of a body that is no JSON do not.
    fn bare(&mut self, body: &mut [u8], start: usize, filler: &Filler) -> usize {
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
                _ => self.fill_bare(body, std::mem::take(&mut word), filler),
            }
            at += len;
        }
        self.fill_bare(body, word, filler);
        // An event that broke off leaves its brackets open.
        let blank = [&b"\n\n"[..], b"\n\r\n", b"\r\r"];
        if blank.iter().any(|line| memchr::memmem::find(&body[start..end], line).is_some()) {
            self.open.clear();
            self.name.clear();
        }
        end
    }

    fn fill_bare(&self, body: &mut [u8], word: Vec<Letter>, filler: &Filler) {
        let text: String = word.iter().map(|letter| letter.c).collect();
        // With an exponent too.
        let number = text.starts_with(|c: char| c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_digit() || matches!(c, 'e' | 'E'));
        if number {
            // Counts and codes of the protocol stay; a card's number, or one on a page, does not.
            let on_a_page = self.open.is_empty() && text.len() > 2;
            if self.is_private() || on_a_page {
                let digits = word.into_iter().filter(|letter| letter.c.is_ascii_digit()).collect();
                fill(body, digits, Kind::Request, filler);
            }
        } else if !BARE.contains(&text.as_str()) {
            fill(body, word, self.usual, filler);
        }
    }

    fn flush(&mut self, body: &mut [u8], filler: &Filler) {
        self.flush_as(body, self.usual, filler);
    }

    fn flush_as(&mut self, body: &mut [u8], kind: Kind, filler: &Filler) {
        let word = std::mem::take(&mut self.word);
        fill(body, word, kind, filler);
    }
}

fn fill(body: &mut [u8], word: Vec<Letter>, kind: Kind, filler: &Filler) {
    if word.is_empty() {
        return;
    }
    let chars: Vec<char> = word.iter().map(|letter| letter.c).collect();
    let pairs = word.into_iter().zip(filler.word(&chars, kind));
    for (letter, c) in pairs.filter(|(letter, c)| letter.c != *c) {
        let place = &mut body[letter.span];
        let mut utf8 = [0; 4];
        let escape;
        let written = if letter.escaped {
            escape = format!("\\u{:04x}", u32::from(c));
            escape.as_bytes()
        } else {
            c.encode_utf8(&mut utf8).as_bytes()
        };
        if place.len() == written.len() {
            place.copy_from_slice(written);
        }
    }
}

/// Where the string ends, and whether by its quote: an event ends at its line's end, whatever was
/// open.
fn string_end(body: &[u8], mut at: usize) -> (usize, bool) {
    while at < body.len() {
        match body[at] {
            b'"' => return (at, true),
            b'\n' => return (at, false),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    (body.len(), false)
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
        // Whole words: a letter may become itself.
        for gone in ["Caf\\u00e9", "K\\u00f6ln"] {
            assert!(!after.contains(gone), "{gone} in {after}");
        }
        assert!(serde_json::from_str::<serde_json::Value>(&after[6..]).is_ok(), "{after}");
    }

    #[test]
    fn a_value_is_kept_neither_by_a_stale_name_nor_by_a_broken_string() {
        for (body, gone) in [
            (r#"{"role":"user","Mein Name":"Karl"}"#, &["Karl", "Mein"][..]),
            (r#"{"type":"X","na\u006de2":["Karl"]}"#, &["Karl"]),
            ("{\"role\":\"mod\n\ndata: {\"text\":\"Karl\"}", &["Karl"]),
            (r#"{"status":"Konto von Karl gesperrt"}"#, &["Konto", "Karl"]),
            (
                r#"{"args":{"card":4111111111111111,"anna@x.de":1,"lat":52.5163729104}}"#,
                &["4111111111111111", "anna@", "5163729104"],
            ),
            (r#"{"response":{"error":{"message":"KARL DOE 123456"}}}"#, &["KARL", "123456"]),
            ("<html>Call 0301234567", &["1234567"]),
        ] {
            let after = redacted(body);
            for word in gone {
                assert!(!after.contains(word), "{word} in {after}");
            }
        }
    }

    #[test]
    fn below_arguments_no_name_is_the_protocols() {
        let after =
            redacted(r#"{"functionCall":{"name":"send","args":{"name":"Anna","id":"X9Yabcd"}}}"#);
        assert!(after.contains(r#""name":"send""#), "{after}");
        assert!(!after.contains("Anna") && !after.contains("X9Yabcd"), "{after}");
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
