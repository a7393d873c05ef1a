//! The one digest: what a key is made of, and what stands for an id or a body that must not be shown.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// The 64 hex digits of a text's SHA-256.
pub(crate) fn sha256_hex(text: &str) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
