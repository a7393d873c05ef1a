//! The policy as overrides: what is absent keeps the default of the core, which is written there
//! and nowhere else.

use super::convert::{long, natural};
use super::error::CallError;
use crate::turn::{self as core, PolicyError};

/// Every number that steers a turn. What is absent keeps its default; `default_policy()` gives
/// them all. Durations are in milliseconds.
#[derive(Debug, Clone, Default, PartialEq, uniffi::Record)]
pub struct Policy {
    /// Committed output tokens from which a drop is continued instead of begun again. Default 200.
    /// Log your drops and set your own.
    #[uniffi(default = None)]
    pub min_continue_tokens: Option<i64>,
    /// Thinking tokens from which thinking counts as deep: a continuation would think anew.
    /// Default 1,024.
    #[uniffi(default = None)]
    pub deep_thinking_tokens: Option<i64>,
    /// Requests that a turn may send; hops that the server asks for do not count. Default 4.
    #[uniffi(default = None)]
    pub max_attempts: Option<i32>,
    /// Requests that may fail to leave before the turn fails as `Unreachable`. Default 8.
    #[uniffi(default = None)]
    pub max_unsent: Option<i32>,
    /// Drops of a stream after which the rest is fetched in one piece. Default 2.
    #[uniffi(default = None)]
    pub stream_drops_before_fallback: Option<i32>,
    /// Output tokens (answer and thoughts, all attempts) after which no further attempt is made.
    /// No limit by default.
    #[uniffi(default = None)]
    pub max_output_spend_tokens: Option<i64>,
    /// Money (all attempts, by the prices below) after which no further attempt is made. No limit
    /// by default.
    #[uniffi(default = None)]
    pub max_spend: Option<f64>,
    /// Money for a million input tokens, in the currency of `max_spend`. None by default.
    #[uniffi(default = None)]
    pub input_price: Option<f64>,
    /// Money for a million cached input tokens. Default: `input_price`.
    #[uniffi(default = None)]
    pub cached_price: Option<f64>,
    /// Money for a million output tokens. None by default.
    #[uniffi(default = None)]
    pub output_price: Option<f64>,
    /// Temperature to which a continuation is lowered, where the caller set a higher one.
    /// Default 0.4.
    #[uniffi(default = None)]
    pub continue_temperature: Option<f64>,
    /// Characters of a continuation that match nothing we have, after which the seam is decided.
    /// Default 160.
    #[uniffi(default = None)]
    pub seam_hold_chars: Option<i64>,
    /// How long a continuation may be held back at the seam. Default 1,500 ms.
    #[uniffi(default = None)]
    pub seam_hold_ms: Option<i64>,
    /// The longest event, in bytes; images come as single events of 2 to 10 MB. Default 32 MiB.
    #[uniffi(default = None)]
    pub max_event_bytes: Option<i64>,
    /// To connect, TLS included. Counts for a client's policy, not for a single request's.
    /// Default 10,000 ms.
    #[uniffi(default = None)]
    pub connect_timeout_ms: Option<i64>,
    /// From the request sent to the first byte of the body; thinking takes its time.
    /// Default 120,000 ms.
    #[uniffi(default = None)]
    pub first_byte_timeout_ms: Option<i64>,
    /// Between bytes of a stream. Default 45,000 ms.
    #[uniffi(default = None)]
    pub idle_timeout_ms: Option<i64>,
    /// After a finish reason, how long to wait for the connection to end. Default 3,000 ms.
    #[uniffi(default = None)]
    pub finish_grace_ms: Option<i64>,
    /// For the whole of a non-streaming attempt. Default 180,000 ms.
    #[uniffi(default = None)]
    pub non_streaming_timeout_ms: Option<i64>,
    /// The first pause of the backoff; it doubles from there. Default 500 ms.
    #[uniffi(default = None)]
    pub backoff_base_ms: Option<i64>,
    /// The longest pause of the backoff. Default 30,000 ms.
    #[uniffi(default = None)]
    pub backoff_max_ms: Option<i64>,
    /// The random share of a pause, 0 to 1; 0 makes pauses exact. Default 1.
    #[uniffi(default = None)]
    pub backoff_jitter: Option<f64>,
    /// How long to wait for a network before the turn fails. Default 600,000 ms.
    #[uniffi(default = None)]
    pub offline_wait_ms: Option<i64>,
    /// How long an app may be suspended, or a device asleep, before the connection counts as dead.
    /// Default 5,000 ms.
    #[uniffi(default = None)]
    pub suspend_gap_ms: Option<i64>,
}

/// Calls a macro with all whole-number fields but the optional one.
macro_rules! whole_numbers {
    ($with:ident) => {
        $with!(
            min_continue_tokens,
            deep_thinking_tokens,
            max_attempts,
            max_unsent,
            stream_drops_before_fallback,
            seam_hold_chars,
            seam_hold_ms,
            max_event_bytes,
            connect_timeout_ms,
            first_byte_timeout_ms,
            idle_timeout_ms,
            finish_grace_ms,
            non_streaming_timeout_ms,
            backoff_base_ms,
            backoff_max_ms,
            offline_wait_ms,
            suspend_gap_ms
        )
    };
}

impl Policy {
    /// The base with what is set here.
    pub(super) fn over(&self, base: &core::Policy) -> Result<core::Policy, CallError> {
        let mut policy = base.clone();
        macro_rules! set {
            ($($field:ident),+) => {
                $(if let Some(value) = self.$field {
                    policy.$field = natural(stringify!($field), value)?;
                })+
            };
        }
        whole_numbers!(set);
        if let Some(value) = self.max_output_spend_tokens {
            policy.max_output_spend_tokens = Some(natural("max_output_spend_tokens", value)?);
        }
        policy.max_spend = self.max_spend.or(policy.max_spend);
        policy.input_price = self.input_price.or(policy.input_price);
        policy.cached_price = self.cached_price.or(policy.cached_price);
        policy.output_price = self.output_price.or(policy.output_price);
        policy.continue_temperature =
            self.continue_temperature.unwrap_or(policy.continue_temperature);
        policy.backoff_jitter = self.backoff_jitter.unwrap_or(policy.backoff_jitter);
        policy.validated().map_err(|error: PolicyError| CallError::invalid(error.to_string()))
    }
}

impl From<&core::Policy> for Policy {
    fn from(policy: &core::Policy) -> Self {
        let mut all = Self {
            max_output_spend_tokens: policy.max_output_spend_tokens.map(long),
            max_spend: policy.max_spend,
            input_price: policy.input_price,
            cached_price: policy.cached_price,
            output_price: policy.output_price,
            continue_temperature: Some(policy.continue_temperature),
            backoff_jitter: Some(policy.backoff_jitter),
            ..Self::default()
        };
        macro_rules! get {
            ($($field:ident),+) => { $(all.$field = policy.$field.try_into().ok();)+ };
        }
        whole_numbers!(get);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_defaults_survive_the_way_out_and_back() {
        let core = core::Policy::default();
        let all = Policy::from(&core);
        assert_eq!(all.over(&core::Policy { max_attempts: 9, ..core.clone() }).unwrap(), core);
        assert_eq!(Policy::default().over(&core).unwrap(), core);
    }

    #[test]
    fn negative_numbers_and_nonsense_are_named() {
        let base = core::Policy::default();
        let negative = Policy { idle_timeout_ms: Some(-1), ..Policy::default() };
        let error = negative.over(&base).unwrap_err().to_string();
        assert!(error.contains("idle_timeout_ms") && error.contains("-1"), "{error}");
        let nonsense = Policy { backoff_jitter: Some(2.0), ..Policy::default() };
        assert!(nonsense.over(&base).is_err());
    }
}
