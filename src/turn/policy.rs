//! The numbers of a turn, each with its source.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// Every number that steers a turn. All durations are in milliseconds.
///
/// The field names are the names of the command line's `--set` and of a policy file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Committed output tokens from which a drop is continued instead of begun again. 200 comes
    /// from the practice of the article on which the gate rests: below it a restart is quick, and
    /// the saving of R x (output price - input price) does not pay for a seam. Log your drops and
    /// set your own.
    pub min_continue_tokens: u64,
    /// Thinking tokens from which thinking counts as deep: a continuation would think anew, for
    /// more than it saves. 1,024 is the smallest budget that Gemini's documents call more than
    /// light.
    pub deep_thinking_tokens: u64,
    /// Requests that a turn may send; hops that the server asks for do not count. Four is what
    /// gemini-cli allows in mid-stream.
    pub max_attempts: u32,
    /// Requests that may fail to leave before the turn fails as `unreachable`.
    pub max_unsent: u32,
    /// Drops of a stream after which the rest is fetched in one piece: the connection does not
    /// hold. From the article.
    pub stream_drops_before_fallback: u32,
    /// Output tokens (answer and thoughts, all attempts) after which no further attempt is made.
    /// None by default.
    pub max_output_spend_tokens: Option<u64>,
    /// Money (all attempts, by the prices below) after which no further attempt is made. None by
    /// default.
    pub max_spend: Option<f64>,
    /// Money for a million input tokens, in the currency of `max_spend`. Prices change and differ
    /// by model: none by default.
    pub input_price: Option<f64>,
    /// Money for a million cached input tokens; `input_price` by default.
    pub cached_price: Option<f64>,
    /// Money for a million output tokens.
    pub output_price: Option<f64>,
    /// Temperature to which a continuation is lowered, where the caller set a higher one. From the
    /// article: finishing a piece needs less latitude than starting one.
    pub continue_temperature: f64,
    /// Characters of a continuation that match nothing we have, after which the seam is decided.
    /// Measured on real continuations: 60 decide nearly all, 160 the rest.
    pub seam_hold_chars: usize,
    /// How long a continuation may be held back at the seam, from its first character.
    pub seam_hold_ms: u64,
    /// The longest event, in bytes. Images come as single lines of 2 to 10 MB.
    pub max_event_bytes: usize,
    /// To connect, TLS included.
    pub connect_timeout_ms: u64,
    /// From the request sent to the first byte of the body. Thinking and load make 171 s and more
    /// in public reports; 120 s is the least that does not kill healthy streams.
    pub first_byte_timeout_ms: u64,
    /// Between bytes of a stream. Any byte counts, comments too.
    pub idle_timeout_ms: u64,
    /// After a finish reason, how long to wait for the connection to end: servers hold it open
    /// for minutes (openclaw/openclaw#80461), and a finish reason may not be the last.
    pub finish_grace_ms: u64,
    /// For the whole of a non-streaming attempt, which gives no sign of life before its end.
    pub non_streaming_timeout_ms: u64,
    /// The first pause of the backoff; it doubles from there.
    pub backoff_base_ms: u64,
    /// The longest pause of the backoff.
    pub backoff_max_ms: u64,
    /// The random share of a pause, 0 to 1: 1 is "full jitter", 0 makes pauses exact.
    pub backoff_jitter: f64,
    /// How long to wait for a network before the turn fails.
    pub offline_wait_ms: u64,
    /// How long an app may be suspended, or a device asleep, before the connection counts as dead.
    /// iOS suspends an app some five seconds after it has left the screen; until then its sockets
    /// live.
    pub suspend_gap_ms: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            min_continue_tokens: 200,
            deep_thinking_tokens: 1024,
            max_attempts: 4,
            max_unsent: 8,
            stream_drops_before_fallback: 2,
            max_output_spend_tokens: None,
            max_spend: None,
            input_price: None,
            cached_price: None,
            output_price: None,
            continue_temperature: 0.4,
            seam_hold_chars: 160,
            seam_hold_ms: 1500,
            max_event_bytes: 32 << 20,
            connect_timeout_ms: 10_000,
            first_byte_timeout_ms: 120_000,
            idle_timeout_ms: 45_000,
            finish_grace_ms: 3_000,
            non_streaming_timeout_ms: 180_000,
            backoff_base_ms: 500,
            backoff_max_ms: 30_000,
            backoff_jitter: 1.0,
            offline_wait_ms: 600_000,
            suspend_gap_ms: 5_000,
        }
    }
}

/// A policy that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// There is no such field.
    #[error("no policy field is named `{0}`; the fields are: {1}")]
    UnknownField(String, String),
    /// The value does not fit the field.
    #[error("`{field}` cannot be {value}: {expected}")]
    BadValue {
        /// The field.
        field: String,
        /// What was given.
        value: String,
        /// What fits.
        expected: String,
    },
    /// A policy file that is not a JSON object of fields.
    #[error("the policy is not a JSON object of its fields: {0}")]
    NotAPolicy(String),
}

impl Policy {
    /// Reads a policy from JSON; absent fields keep their defaults.
    ///
    /// # Errors
    /// [`PolicyError`] for unknown fields and values that do not fit.
    pub fn from_json(json: &str) -> Result<Self, PolicyError> {
        // Serde would take a list for a struct, by position.
        if !json.trim_start().starts_with('{') {
            return Err(PolicyError::NotAPolicy("it does not begin with `{`".to_owned()));
        }
        let policy: Self = serde_json::from_str(json)
            .map_err(|error| PolicyError::NotAPolicy(error.to_string()))?;
        policy.validated()
    }

    /// Sets one field by its name; `none` clears an optional one.
    ///
    /// # Errors
    /// [`PolicyError`] if there is no such field or the value does not fit; nothing changes then.
    pub fn set(&mut self, field: &str, value: &str) -> Result<(), PolicyError> {
        let bad = |expected: String| PolicyError::BadValue {
            field: field.to_owned(),
            value: value.to_owned(),
            expected,
        };
        let Ok(Value::Object(mut fields)) = serde_json::to_value(&*self) else {
            return Err(PolicyError::NotAPolicy("it cannot be written as JSON".to_owned()));
        };
        if !fields.contains_key(field) {
            let known: Vec<_> = fields.keys().map(String::as_str).collect();
            return Err(PolicyError::UnknownField(field.to_owned(), known.join(", ")));
        }
        let parsed = match value {
            "none" => Value::Null,
            number => serde_json::from_str(number).map_err(|_| bad("give a number".to_owned()))?,
        };
        fields.insert(field.to_owned(), parsed);
        let changed: Self = serde_json::from_value(Value::Object(fields))
            .map_err(|error| bad(format!("give a number that is not negative ({error})")))?;
        *self = changed.validated()?;
        Ok(())
    }

    /// The policy, if every number makes sense.
    ///
    /// # Errors
    /// [`PolicyError::BadValue`] with the first field that does not.
    pub fn validated(self) -> Result<Self, PolicyError> {
        let positive = [
            ("max_attempts", u64::from(self.max_attempts)),
            ("max_unsent", u64::from(self.max_unsent)),
            ("stream_drops_before_fallback", u64::from(self.stream_drops_before_fallback)),
            ("max_event_bytes", self.max_event_bytes as u64),
            ("connect_timeout_ms", self.connect_timeout_ms),
            ("first_byte_timeout_ms", self.first_byte_timeout_ms),
            ("idle_timeout_ms", self.idle_timeout_ms),
            ("non_streaming_timeout_ms", self.non_streaming_timeout_ms),
        ];
        let bad = |field: &str, value: String, expected: &str| PolicyError::BadValue {
            field: field.to_owned(),
            value,
            expected: expected.to_owned(),
        };
        if let Some((field, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(bad(field, "0".to_owned(), "give 1 or more"));
        }
        if !(0.0..=1.0).contains(&self.backoff_jitter) {
            return Err(bad("backoff_jitter", self.backoff_jitter.to_string(), "give 0 to 1"));
        }
        if !(0.0..=2.0).contains(&self.continue_temperature) {
            let value = self.continue_temperature.to_string();
            return Err(bad("continue_temperature", value, "give 0 to 2"));
        }
        for (field, money) in [
            ("max_spend", self.max_spend),
            ("input_price", self.input_price),
            ("cached_price", self.cached_price),
            ("output_price", self.output_price),
        ] {
            if let Some(money) = money.filter(|money| !(0.0..=1e12).contains(money)) {
                return Err(bad(field, money.to_string(), "give an amount that is not negative"));
            }
        }
        if self.max_spend.is_some() && self.input_price.is_none() && self.output_price.is_none() {
            let value = self.max_spend.unwrap_or_default().to_string();
            return Err(bad("max_spend", value, "set input_price and output_price beside it"));
        }
        Ok(self)
    }

    pub(crate) fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms)
    }

    pub(crate) fn first_byte_timeout(&self) -> Duration {
        Duration::from_millis(self.first_byte_timeout_ms)
    }

    pub(crate) fn idle_timeout(&self) -> Duration {
        Duration::from_millis(self.idle_timeout_ms)
    }

    pub(crate) fn finish_grace(&self) -> Duration {
        Duration::from_millis(self.finish_grace_ms)
    }

    pub(crate) fn non_streaming_timeout(&self) -> Duration {
        Duration::from_millis(self.non_streaming_timeout_ms)
    }

    pub(crate) fn seam_hold(&self) -> Duration {
        Duration::from_millis(self.seam_hold_ms)
    }

    pub(crate) fn suspend_gap(&self) -> Duration {
        Duration::from_millis(self.suspend_gap_ms)
    }

    pub(crate) fn offline_wait(&self) -> Duration {
        Duration::from_millis(self.offline_wait_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_can_be_set_by_name_and_bad_values_are_told_apart() {
        let mut policy = Policy::default();
        policy.set("min_continue_tokens", "5").unwrap();
        policy.set("max_output_spend_tokens", "400").unwrap();
        assert_eq!((policy.min_continue_tokens, policy.max_output_spend_tokens), (5, Some(400)));
        policy.set("max_output_spend_tokens", "none").unwrap();
        assert_eq!(policy.max_output_spend_tokens, None);
        let before = policy.clone();
        for (field, value) in [
            ("min_continue_tokens", "-1"),
            ("min_continue_tokens", "many"),
            ("max_attempts", "0"),
            ("backoff_jitter", "1.5"),
            ("idle_timeout_ms", "none"),
        ] {
            let error = policy.set(field, value).unwrap_err();
            assert!(matches!(error, PolicyError::BadValue { .. }), "{field}={value}: {error}");
        }
        assert!(matches!(policy.set("tokens", "1"), Err(PolicyError::UnknownField(..))));
        assert_eq!(policy, before);
        assert!(Policy::from_json(r#"{"max_atempts": 3}"#).is_err());
        assert!(Policy::from_json("[5, 6]").is_err());
        assert_eq!(Policy::from_json(r#"{"max_attempts": 3}"#).unwrap().max_attempts, 3);
    }
}
