//! What a finish reason means.

/// What the end of a whole answer was, as the app sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FinishClass {
    /// The model said all that it wanted to say.
    Complete,
    /// A token limit cut the answer.
    Truncated,
    /// A policy ended the answer: keep its text, run none of its tools.
    Policy,
    /// A reason that this version has never heard of.
    Unknown,
}

impl FinishClass {
    /// The name in events: `complete`, `truncated`, `policy`, `unknown`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Truncated => "truncated",
            Self::Policy => "policy",
            Self::Unknown => "unknown",
        }
    }

    /// The class of this name, if there is one.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Complete, Self::Truncated, Self::Policy, Self::Unknown]
            .into_iter()
            .find(|class| class.as_str() == name)
    }
}

/// What a client has to make of a finish reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The answer is over.
    Over(FinishClass),
    /// The per-request limit was reached: the next hop follows with a continuation token.
    Continuation,
    /// The model failed: another try may do.
    ModelFault,
    /// The caller's request was wrong in a way that only shows at the end: no retry cures it.
    CallerFault,
}

/// A finish reason as the server named it. The set is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishReason(String);

impl FinishReason {
    /// Takes the server's name; `None` for the values that mean "not finished".
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        match name {
            "" | "FINISH_REASON_UNSPECIFIED" => None,
            name => Some(Self(name.to_owned())),
        }
    }

    /// The server's name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What to make of it.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self.0.as_str() {
            "STOP" => Verdict::Over(FinishClass::Complete),
            "MAX_TOKENS" => Verdict::Over(FinishClass::Truncated),
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "NO_IMAGE" | "MODEL_ARMOR" => Verdict::Over(FinishClass::Policy),
            name if name.starts_with("IMAGE_") => Verdict::Over(FinishClass::Policy),
            "CONTINUATION" => Verdict::Continuation,
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "MALFORMED_RESPONSE"
            | "OTHER" => Verdict::ModelFault,
            "MISSING_THOUGHT_SIGNATURE" => Verdict::CallerFault,
            _ => Verdict::Over(FinishClass::Unknown),
        }
    }
}
