//! What a turn has cost so far, and what it may cost.
//!
//! A cap is looked at before each attempt, never in the middle of one: cutting an answer off
//! spares little of its bill, since the server has generated most of what is on its way, and loses
//! the answer.

use super::event::{Billing, UsageReport};
use super::policy::Policy;
use serde::{Deserialize, Serialize};

const MILLION: f64 = 1_000_000.0;

/// What attempts have cost, as far as anybody can know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spend {
    /// Tokens of the requests, cached ones and tool results that the server fed back among them.
    pub input_tokens: u64,
    /// Those of them that came from a cache.
    pub cached_tokens: u64,
    /// Tokens of answers and thoughts.
    pub output_tokens: u64,
    /// The same in money, by the policy's prices; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<f64>,
    /// True if an attempt may have cost more than it told before it broke.
    pub lower_bound: bool,
}

impl Spend {
    /// Adds an attempt. `received`: tokens of its text, where the server's count is behind it.
    pub(crate) fn add(&mut self, usage: &UsageReport, received: u64, policy: &Policy) {
        if matches!(usage.billing, Billing::NotSent | Billing::NotBilled) {
            return;
        }
        let (prompt, tools) = (usage.prompt_tokens, usage.tool_prompt_tokens);
        let input = prompt.unwrap_or(0).saturating_add(tools.unwrap_or(0));
        let cached = usage.cached_tokens.unwrap_or(0).min(input);
        let answer = match usage.billing {
            Billing::Known => usage.candidates_tokens.unwrap_or(received),
            _ => usage.candidates_tokens.unwrap_or(0).max(received),
        };
        let output = answer.saturating_add(usage.thoughts_tokens.unwrap_or(0));
        let more = Self {
            input_tokens: input,
            cached_tokens: cached,
            output_tokens: output,
            money: policy.price_of(input, cached, output),
            lower_bound: usage.billing != Billing::Known,
        };
        *self = self.plus(&more);
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let money = match (self.money, other.money) {
            (None, None) => None,
            (one, two) => Some(one.unwrap_or(0.0) + two.unwrap_or(0.0)),
        };
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            money,
            lower_bound: self.lower_bound || other.lower_bound,
        }
    }
}

impl Policy {
    #[allow(clippy::cast_precision_loss)] // No bill has 2^53 tokens.
    fn price_of(&self, input: u64, cached: u64, output: u64) -> Option<f64> {
        if self.input_price.is_none() && self.output_price.is_none() {
            return None;
        }
        let input_price = self.input_price.unwrap_or(0.0);
        let cached_price = self.cached_price.unwrap_or(input_price);
        let output_price = self.output_price.unwrap_or(0.0);
        let fresh = input.saturating_sub(cached) as f64 * input_price;
        Some((fresh + cached as f64 * cached_price + output as f64 * output_price) / MILLION)
    }
}

/// What several turns together may cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// Output tokens (answers and thoughts).
    pub output_tokens: Option<u64>,
    /// Money, by the policy's prices.
    pub money: Option<f64>,
}

impl Budget {
    /// True if that much is all of it.
    #[must_use]
    pub fn is_used_up_by(&self, spend: &Spend) -> bool {
        self.output_tokens.is_some_and(|most| spend.output_tokens >= most)
            || self.money.is_some_and(|most| spend.money.unwrap_or(0.0) >= most)
    }

    /// What is left of it after that much.
    #[must_use]
    pub fn less(&self, spend: &Spend) -> Self {
        Self {
            output_tokens: self.output_tokens.map(|most| most.saturating_sub(spend.output_tokens)),
            money: self.money.map(|most| (most - spend.money.unwrap_or(0.0)).max(0.0)),
        }
    }
}
