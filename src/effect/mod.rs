//! Effect keys: what makes a tool call the same call again, whatever the provider calls it.
//!
//! Knows names and arguments, and nothing of attempts, the wire or text. The ledger (feature
//! `journal`) is the one part that touches a disk.

mod canonical;
mod digest;
mod key;
#[cfg(feature = "journal")]
mod ledger;

#[cfg(feature = "journal")]
pub use crate::store::StoreError;
pub use canonical::{CanonicalError, canonical_json};
pub(crate) use digest::sha256_hex;
pub use key::{EffectKey, EffectKeys, ToolRule};
#[cfg(feature = "journal")]
pub use ledger::{EffectLedger, EffectState, LedgerError};
