//! What an attempt cost, as far as anybody can know.

use super::event::{Billing, UsageReport};
use crate::gemini::Usage;
use serde::{Deserialize, Serialize};

/// The counts of one attempt as they come.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Meter {
    last: Usage,
    max: Usage,
}

impl Meter {
    pub(crate) fn take(&mut self, usage: Usage) {
        if !usage.is_empty() {
            self.last = usage;
            self.max = self.max.max(usage);
        }
    }

    pub(crate) fn max(&self) -> Usage {
        self.max
    }

    fn seen(&self) -> bool {
        !self.max.is_empty()
    }

    /// The bill of a whole attempt: the last counts.
    pub(crate) fn whole(&self) -> UsageReport {
        report(if self.seen() { Billing::Known } else { Billing::Unknown }, self.last)
    }

    /// What is known of an attempt that was not whole.
    pub(crate) fn abandoned(&self, sent: bool, refused_by_status: bool) -> UsageReport {
        let billing = match (sent, refused_by_status) {
            (false, _) => Billing::NotSent,
            (true, true) => Billing::NotBilled,
            (true, false) if self.seen() => Billing::LowerBound,
            (true, false) => Billing::Unknown,
        };
        report(billing, self.max)
    }
}

fn report(billing: Billing, usage: Usage) -> UsageReport {
    UsageReport {
        billing,
        prompt_tokens: usage.prompt,
        cached_tokens: usage.cached,
        candidates_tokens: usage.candidates,
        thoughts_tokens: usage.thoughts,
        tool_prompt_tokens: usage.tool_prompt,
        total_tokens: usage.total,
    }
}
