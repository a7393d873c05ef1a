//! Puts streamed function-call arguments together.
//!
//! Vertex sends them as values with a path (`$.a[0].b`); strings come in pieces and are joined per
//! path.

use super::part::PartialArg;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The longest array that streamed arguments may build: a path is the server's word, and
/// `$.a[4000000000]` must not take the memory of the phone.
const MAX_INDEX: usize = 100_000;

/// Streamed arguments that make no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("streamed arguments do not fit together at {path:?}")]
pub struct ArgsError {
    /// The path that does not fit.
    pub path: String,
}

/// Arguments under construction.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StreamedArgs {
    root: Value,
    /// Values that were said to go on.
    open: Vec<Vec<Segment>>,
}

impl Default for StreamedArgs {
    fn default() -> Self {
        Self { root: Value::Object(Map::new()), open: Vec::new() }
    }
}

impl StreamedArgs {
    /// Adds one value, or the next piece of a string.
    ///
    /// # Errors
    /// [`ArgsError`] if the path cannot be read or contradicts an earlier one.
    pub fn push(&mut self, arg: &PartialArg) -> Result<(), ArgsError> {
        let wrong = || ArgsError { path: arg.json_path.clone() };
        let path = parse_path(&arg.json_path).ok_or_else(wrong)?;
        let place = path.iter().try_fold(&mut self.root, descend).ok_or_else(wrong)?;
        if let Some(piece) = &arg.string_value {
            match place {
                Value::Null => *place = Value::String(piece.clone()),
                Value::String(text) => text.push_str(piece),
                _ => return Err(wrong()),
            }
        } else if let Some(number) = &arg.number_value {
            *place = Value::Number(number.clone());
        } else if let Some(value) = arg.bool_value {
            *place = Value::Bool(value);
        } else {
            // `nullValue`, whatever its own value: proto3 JSON may write it in several ways.
            *place = Value::Null;
        }
        self.open.retain(|open| *open != path);
        if arg.will_continue == Some(true) {
            self.open.push(path);
        }
        Ok(())
    }

    /// True while a value was said to go on and has not: such arguments are never to be run.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The arguments as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.root.to_string()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Segment {
    Key(String),
    Index(usize),
}

fn descend<'v>(place: &'v mut Value, segment: &Segment) -> Option<&'v mut Value> {
    match segment {
        Segment::Key(key) => {
            if place.is_null() {
                *place = Value::Object(Map::new());
            }
            Some(place.as_object_mut()?.entry(key.clone()).or_insert(Value::Null))
        }
        Segment::Index(index) => {
            if place.is_null() {
                *place = Value::Array(Vec::new());
            }
            let items = place.as_array_mut()?;
            if *index >= items.len() {
                items.resize(index + 1, Value::Null);
            }
            items.get_mut(*index)
        }
    }
}

/// Reads `$.a[0].b`, `$["a"]` and `$['a']`.
fn parse_path(path: &str) -> Option<Vec<Segment>> {
    let mut rest = path.strip_prefix('$')?;
    let mut segments = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            if end == 0 {
                return None;
            }
            segments.push(Segment::Key(after[..end].to_owned()));
            rest = &after[end..];
        } else {
            let after = rest.strip_prefix('[')?;
            if let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) {
                let end = after[1..].find(quote)? + 1;
                segments.push(Segment::Key(after[1..end].to_owned()));
                rest = after[end + 1..].strip_prefix(']')?;
            } else {
                let end = after.find(']')?;
                let index = after[..end].parse().ok().filter(|index| *index <= MAX_INDEX)?;
                segments.push(Segment::Index(index));
                rest = &after[end + 1..];
            }
        }
    }
    (!segments.is_empty()).then_some(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &str, piece: &str) -> PartialArg {
        PartialArg {
            json_path: path.to_owned(),
            string_value: Some(piece.to_owned()),
            number_value: None,
            bool_value: None,
            will_continue: None,
        }
    }

    #[test]
    fn pieces_of_a_string_join_and_paths_nest() {
        let mut args = StreamedArgs::default();
        for (path, piece) in [("$.a[1].b", "x"), ("$.a[1].b", "y"), ("$['c d']", "z")] {
            args.push(&text(path, piece)).unwrap();
        }
        assert_eq!(args.to_json(), r#"{"a":[null,{"b":"xy"}],"c d":"z"}"#);
    }

    #[test]
    fn a_value_is_open_until_a_piece_says_that_nothing_follows() {
        let mut args = StreamedArgs::default();
        args.push(&PartialArg { will_continue: Some(true), ..text("$.a.b", "x") }).unwrap();
        args.push(&text("$.c", "y")).unwrap();
        assert!(args.is_open());
        args.push(&text("$['a'].b", "")).unwrap();
        assert!(!args.is_open());
    }

    #[test]
    fn paths_that_contradict_or_make_no_sense_are_errors() {
        let mut args = StreamedArgs::default();
        args.push(&text("$.a", "x")).unwrap();
        for path in ["$.a.b", "$.a[0]", "a", "$", "$.", "$[x]", "$.b[999999999]", "$[\"a"] {
            assert!(args.push(&text(path, "x")).is_err(), "{path}");
        }
    }
}
