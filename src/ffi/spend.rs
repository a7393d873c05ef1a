//! What turns have cost and may cost, as Kotlin and Swift see it.

use super::convert::{long, natural};
use super::error::CallError;
use crate::turn as core;

/// What attempts have cost, as far as anybody can know.
#[derive(Debug, Clone, Copy, PartialEq, uniffi::Record)]
pub struct Spend {
    /// Tokens of the requests, cached ones and tool results that the server fed back among them.
    pub input_tokens: i64,
    /// Those of them that came from a cache.
    pub cached_tokens: i64,
    /// Tokens of answers and thoughts.
    pub output_tokens: i64,
    /// The same in money, by the policy's prices; absent where it has none.
    pub money: Option<f64>,
    /// True if an attempt may have cost more than it told before it broke.
    pub lower_bound: bool,
}

impl From<&core::Spend> for Spend {
    fn from(spend: &core::Spend) -> Self {
        Self {
            input_tokens: long(spend.input_tokens),
            cached_tokens: long(spend.cached_tokens),
            output_tokens: long(spend.output_tokens),
            money: spend.money,
            lower_bound: spend.lower_bound,
        }
    }
}

/// What all turns of a client together may cost. Looked at before each attempt, never in the
/// middle of one. What is absent has no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, uniffi::Record)]
pub struct Budget {
    /// Output tokens (answers and thoughts).
    #[uniffi(default = None)]
    pub output_tokens: Option<i64>,
    /// Money, by the policy's prices.
    #[uniffi(default = None)]
    pub money: Option<f64>,
}

impl Budget {
    pub(super) fn to_core(self) -> Result<core::Budget, CallError> {
        if let Some(money) = self.money.filter(|money| !(0.0..=1e12).contains(money)) {
            return Err(CallError::invalid(format!(
                "`money` of a budget cannot be {money}: give an amount that is not negative"
            )));
        }
        let output_tokens =
            self.output_tokens.map(|tokens| natural("output_tokens", tokens)).transpose()?;
        Ok(core::Budget { output_tokens, money: self.money })
    }
}
