//! Signed numbers for Kotlin and Swift, and back.

use super::error::CallError;

pub(super) fn long(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(super) fn int(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// A number that must not be negative, by the name the caller knows it under.
pub(super) fn natural<I, N>(name: &str, number: I) -> Result<N, CallError>
where
    I: Copy + std::fmt::Display,
    N: TryFrom<I>,
{
    N::try_from(number)
        .map_err(|_| CallError::invalid(format!("`{name}` cannot be {number}: give 0 or more")))
}

/// Declares an enum that mirrors one of the core's, name by name.
macro_rules! mirror {
    ($(#[$meta:meta])* $name:ident = $core:ty { $($(#[$doc:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, uniffi::Enum)]
        pub enum $name { $($(#[$doc])* $variant),+ }
        impl From<$core> for $name {
            fn from(core: $core) -> Self {
                match core { $(<$core>::$variant => Self::$variant),+ }
            }
        }
    };
}
pub(super) use mirror;
