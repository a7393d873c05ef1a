//! What all turns of a client have spent, and what is left for each.

use crate::turn::{Budget, Spend};
use std::sync::{Mutex, PoisonError};

/// The spending of one client. Every turn tells what it has spent, and asks what is left.
#[derive(Debug, Default)]
pub(super) struct Purse {
    budget: Budget,
    spent: Mutex<Spend>,
}

impl Purse {
    pub(super) fn new(budget: Budget) -> Self {
        Self { budget, spent: Mutex::default() }
    }

    pub(super) fn spent(&self) -> Spend {
        // A sum is whole at every moment, so a poisoned one is, too.
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn that had spent `before` has now spent `after`.
    pub(super) fn pay(&self, before: &Spend, after: &Spend) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        *spent = spent.plus(&difference(after, before));
    }

    /// What is left for a turn that has spent `own` itself: its own share counts in the turn.
    /// `None` where nothing is limited.
    pub(super) fn left_for(&self, own: &Spend) -> Option<Budget> {
        let limited = self.budget != Budget::default();
        limited.then(|| self.budget.less(&difference(&self.spent(), own)))
    }
}

fn difference(more: &Spend, less: &Spend) -> Spend {
    Spend {
        input_tokens: more.input_tokens.saturating_sub(less.input_tokens),
        cached_tokens: more.cached_tokens.saturating_sub(less.cached_tokens),
        output_tokens: more.output_tokens.saturating_sub(less.output_tokens),
        money: more.money.map(|money| (money - less.money.unwrap_or(0.0)).max(0.0)),
        lower_bound: more.lower_bound,
    }
}
