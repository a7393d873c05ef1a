//! Finds whole JSON objects in text that is not framed as events.
//!
//! Errors arrive in mid-stream as bare pretty-printed JSON, alone or in a list, and a proxy that
//! strips `alt=sse` turns the whole answer into one JSON array.
//! One scanner serves all three: it hands out a top-level value, or the elements of a top-level
//! array one by one.

/// Where the scanner stands after a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Inside a value or between two of them.
    More,
    /// The byte just taken ended an object: it is in the buffer, whole.
    Object,
    /// The byte just taken ended the top-level array: back to lines.
    Done,
    /// Text that cannot be JSON of a Gemini server.
    Broken,
}

#[derive(Debug, Default)]
pub(super) struct BareScanner {
    in_array: bool,
    opened: bool,
    depth: usize,
    in_string: bool,
    escaped: bool,
    after_comma: bool,
    pub(super) value: Vec<u8>,
}

impl BareScanner {
    /// True while a value has begun and is not over, or a comma promises one.
    pub(super) fn is_mid_value(&self) -> bool {
        self.depth > 0 || self.after_comma || (self.in_array && !self.opened)
    }

    pub(super) fn in_array(&self) -> bool {
        self.in_array
    }

    pub(super) fn take(&mut self, byte: u8) -> Step {
        if self.depth > 0 {
            return self.inside(byte);
        }
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => Step::More,
            b'[' if !self.in_array => {
                self.in_array = true;
                Step::More
            }
            b'{' => {
                self.opened = true;
                self.after_comma = false;
                self.depth = 1;
                self.value.clear();
                self.value.push(byte);
                Step::More
            }
            b',' if self.in_array && self.opened => {
                self.after_comma = true;
                Step::More
            }
            b']' if self.in_array => {
                self.after_comma = false;
                self.opened = true;
                Step::Done
            }
            _ => Step::Broken,
        }
    }

    fn inside(&mut self, byte: u8) -> Step {
        self.value.push(byte);
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return Step::More;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth -= 1;
                if self.depth == 0 {
                    return Step::Object;
                }
            }
            _ => {}
        }
        Step::More
    }
}
