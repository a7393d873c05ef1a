//! The server's errors, and what a "no" means: wait, or give up.

use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Duration;

/// An error as the server gave it, by status or in the body of a 200.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiError {
    /// `error.code` if it is a number, else the HTTP status.
    pub code: Option<u16>,
    /// `error.status`, such as `RESOURCE_EXHAUSTED`.
    pub status: Option<String>,
    /// `error.message`.
    pub message: Option<String>,
    /// The `error` object, or what else the server said, shortened.
    pub raw: String,
    details: Vec<Value>,
}

/// What a "no" of the server is about, and so whether another try can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// Load, a gateway, a per-minute quota: another try may do.
    Transient,
    /// The request is wrong (400 and kin).
    BadRequest,
    /// The key or token is missing, wrong or expired.
    Unauthorized,
    /// Not allowed with this key.
    Forbidden,
    /// No such model or resource.
    NotFound,
    /// A daily quota or the money is used up: waiting does not help.
    QuotaExhausted,
}

/// A "no" of the server, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// Whether another try can help.
    pub kind: RefusalKind,
    /// How long the server asks to wait.
    pub delay: Option<Duration>,
}

/// Longest pause that is worth waiting for; gemini-cli treats longer ones as exhausted, too.
const LONGEST_DELAY: Duration = Duration::from_mins(5);
/// Pause for a per-minute quota that names none (gemini-cli).
const PER_MINUTE_DELAY: Duration = Duration::from_mins(1);
/// How much of a body that is no JSON is kept for the app to see.
const RAW_CHARS: usize = 2000;

impl ApiError {
    /// Reads the value of an `error` field.
    #[must_use]
    pub fn of_error_field(raw: &RawValue) -> Self {
        let value: Value = serde_json::from_str(raw.get()).unwrap_or(Value::Null);
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let code = match value.get("code") {
            Some(Value::String(code)) => code.parse().ok(),
            Some(code) => code.as_u64().and_then(|code| u16::try_from(code).ok()),
            None => None,
        };
        let details = value.get("details").and_then(Value::as_array).cloned().unwrap_or_default();
        let status = text("status").or_else(|| match value.get("code") {
            Some(Value::String(code)) if code.parse::<u16>().is_err() => Some(code.clone()),
            _ => None,
        });
        let message = text("message").or_else(|| value.as_str().map(str::to_owned));
        Self {
            code: code.or_else(|| code_of_status(status.as_deref())),
            status,
            message,
            raw: raw.get().to_owned(),
            details,
        }
    }

    /// Reads the body of an answer with an error status: Gemini's JSON (also in a list), or
    /// whatever a proxy says.
    #[must_use]
    pub fn of_body(http_status: u16, body: &[u8]) -> Self {
        let value: Option<Value> = serde_json::from_slice(body).ok();
        let object = match &value {
            Some(Value::Array(items)) => items.first(),
            other => other.as_ref(),
        };
        if let Some(error) = object.and_then(|object| object.get("error"))
            && let Ok(raw) = serde_json::value::to_raw_value(error)
        {
            let mut read = Self::of_error_field(&raw);
            read.code = read.code.or(Some(http_status));
            return read;
        }
        let text: String = String::from_utf8_lossy(body).chars().take(RAW_CHARS).collect();
        Self {
            code: Some(http_status),
            status: None,
            message: None,
            raw: text,
            details: Vec::new(),
        }
    }

    /// One line for people.
    #[must_use]
    pub fn summary(&self) -> String {
        let message = self.message.as_deref().unwrap_or("").trim();
        match (self.code, self.status.as_deref()) {
            (Some(code), Some(status)) => format!("{code} {status}: {message}"),
            (Some(code), None) if message.is_empty() => format!("status {code}"),
            (Some(code), None) => format!("{code}: {message}"),
            (None, Some(status)) => format!("{status}: {message}"),
            (None, None) => message.to_owned(),
        }
    }

    /// What the error means. `http_status` is the answer's own, `retry_after` its header in
    /// seconds.
    #[must_use]
    pub fn refusal(&self, http_status: u16, retry_after: Option<&str>) -> Refusal {
        let code = if http_status >= 400 { http_status } else { self.code.unwrap_or(500) };
        let delay = self.delay(retry_after);
        let kind = match code {
            400 | 401 if self.has_reason("API_KEY_INVALID") => RefusalKind::Unauthorized,
            401 => RefusalKind::Unauthorized,
            402 => RefusalKind::QuotaExhausted,
            403 => RefusalKind::Forbidden,
            404 => RefusalKind::NotFound,
            429 if self.is_exhausted() => RefusalKind::QuotaExhausted,
            408 | 425 | 429 | 499 => RefusalKind::Transient,
            400..=498 => RefusalKind::BadRequest,
            _ => RefusalKind::Transient,
        };
        if kind != RefusalKind::Transient {
            return Refusal { kind, delay: None };
        }
        match delay {
            Some(delay) if delay > LONGEST_DELAY && code == 429 => {
                Refusal { kind: RefusalKind::QuotaExhausted, delay: None }
            }
            None if code == 429 && self.quota_ids().any(|id| id.contains("PerMinute")) => {
                Refusal { kind, delay: Some(PER_MINUTE_DELAY) }
            }
            delay => Refusal { kind, delay: delay.map(|delay| delay.min(LONGEST_DELAY)) },
        }
    }

    fn quota_ids(&self) -> impl Iterator<Item = &str> {
        self.details
            .iter()
            .filter_map(|detail| detail.get("violations")?.as_array())
            .flatten()
            .filter_map(|violation| violation.get("quotaId")?.as_str())
    }

    fn has_reason(&self, reason: &str) -> bool {
        self.details
            .iter()
            .any(|detail| detail.get("reason").and_then(Value::as_str) == Some(reason))
            || self.message.as_deref().is_some_and(|message| message.contains(reason))
    }

    /// A daily quota, or one that is zero: no pause cures it today.
    fn is_exhausted(&self) -> bool {
        let message = self.message.as_deref().unwrap_or("");
        // `limit: 0` says that this key has no such quota at all, `limit: 05` would not.
        let zero_limit = message.match_indices("limit: 0").any(|(at, found)| {
            !message[at + found.len()..].starts_with(|c: char| c.is_ascii_digit() || c == '.')
        });
        zero_limit || self.quota_ids().any(|id| id.contains("PerDay") || id.contains("Daily"))
    }

    fn delay(&self, retry_after: Option<&str>) -> Option<Duration> {
        let info =
            self.details.iter().filter_map(|detail| detail.get("retryDelay")).find_map(|delay| {
                match delay {
                    Value::String(text) => parse_seconds(text.strip_suffix('s')?),
                    Value::Object(parts) => {
                        let seconds = parts
                            .get("seconds")
                            .and_then(|s| s.as_u64().or_else(|| s.as_str()?.parse().ok()));
                        let nanos = parts.get("nanos").and_then(Value::as_u64).unwrap_or(0);
                        seconds.map(|s| {
                            Duration::from_secs(s).saturating_add(Duration::from_nanos(nanos))
                        })
                    }
                    _ => None,
                }
            });
        info.or_else(|| retry_after.and_then(|text| parse_seconds(text.trim())))
            .or_else(|| self.message.as_deref().and_then(delay_in_text))
    }
}

fn code_of_status(status: Option<&str>) -> Option<u16> {
    Some(match status? {
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "invalid_request" => 400,
        "UNAUTHENTICATED" => 401,
        "PERMISSION_DENIED" => 403,
        "NOT_FOUND" => 404,
        "RESOURCE_EXHAUSTED" => 429,
        "CANCELLED" => 499,
        "INTERNAL" => 500,
        "UNAVAILABLE" => 503,
        "DEADLINE_EXCEEDED" => 504,
        _ => return None,
    })
}

fn parse_seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// "Please retry in 34.4s." or "812ms".
fn delay_in_text(message: &str) -> Option<Duration> {
    const MARK: &str = "retry in ";
    let rest = &message[message.find(MARK)? + MARK.len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let value = parse_seconds(&rest[..end])?;
    match &rest[end..] {
        unit if unit.starts_with("ms") => Some(value / 1000),
        unit if unit.starts_with('s') => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(json: &str) -> ApiError {
        ApiError::of_body(429, json.as_bytes())
    }

    #[test]
    fn delays_are_read_wherever_they_stand() {
        let in_info =
            r#"{"error":{"code":429,"details":[{"@type":"x","retryDelay":"45.837906927s"}]}}"#;
        let in_text = r#"[{"error":{"code":429,"message":"Please retry in 812ms."}}]"#;
        assert_eq!(
            error(in_info).refusal(429, None).delay,
            Some(Duration::from_nanos(45_837_906_927))
        );
        assert_eq!(error(in_text).refusal(429, None).delay, Some(Duration::from_millis(812)));
        assert_eq!(error("{}").refusal(503, Some("2")).delay, Some(Duration::from_secs(2)));
        let per_minute = r#"{"error":{"code":429,"details":[{"violations":[{"quotaId":"RequestsPerMinute"}]}]}}"#;
        assert_eq!(error(per_minute).refusal(429, None).delay, Some(PER_MINUTE_DELAY));
    }

    #[test]
    fn what_no_pause_cures_is_exhausted() {
        for json in [
            r#"{"error":{"code":429,"message":"Quota exceeded, limit: 0, model: x"}}"#,
            r#"{"error":{"code":429,"details":[{"retryDelay":"86400s"}]}}"#,
            r#"{"error":{"code":429,"details":[{"violations":[{"quotaId":"RequestsPerDay"}]}]}}"#,
        ] {
            assert_eq!(error(json).refusal(429, None).kind, RefusalKind::QuotaExhausted, "{json}");
        }
        let ordinary = r#"{"error":{"code":429,"message":"limit: 05"}}"#;
        assert_eq!(error(ordinary).refusal(429, None).kind, RefusalKind::Transient);
    }

    #[test]
    fn inside_a_200_the_body_decides() {
        let refused = |json: &str| ApiError::of_body(200, json.as_bytes()).refusal(200, None).kind;
        assert_eq!(refused(r#"{"error":{"code":"404","message":"x"}}"#), RefusalKind::NotFound);
        assert_eq!(refused(r#"{"error":{"code":"invalid_request"}}"#), RefusalKind::BadRequest);
        assert_eq!(refused(r#"{"error":{"code":529}}"#), RefusalKind::Transient);
        assert_eq!(refused(r#"{"error":{"message":"who knows"}}"#), RefusalKind::Transient);
    }
}
