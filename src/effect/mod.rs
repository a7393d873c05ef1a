//! Effect keys: what makes a tool call the same call again, whatever the provider calls it.
//!
//! Knows names and arguments, and nothing of attempts, the wire or text.

mod canonical;
mod key;

pub use canonical::{CanonicalError, canonical_json};
pub use key::{EffectKey, EffectKeys, ToolRule};
