//! What a client made of a story: the same facts for all three, so that they can be compared.

use super::payments::Payments;
use rejoin::turn::Billing;

/// The one of the three that this is about.
pub const REJOIN: &str = "Rejoin";

/// What one attempt cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    pub billing: Billing,
    pub input: Option<u64>,
    /// Thoughts are billed as output.
    pub output: Option<u64>,
}

#[derive(Debug)]
pub struct Outcome {
    pub name: &'static str,
    /// What is left on the screen.
    pub text: String,
    /// Where in it the last attempt's text begins, in bytes.
    pub seam: usize,
    /// What stands before the seam belongs to an answer that was given up.
    pub stray: bool,
    /// Characters that were shown and then taken back.
    pub taken_back: usize,
    /// Why the answer is not whole, if it is not.
    pub gave_up: Option<String>,
    pub payments: Payments,
    pub costs: Vec<Cost>,
}

impl Outcome {
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            text: String::new(),
            seam: 0,
            stray: false,
            taken_back: 0,
            gave_up: None,
            payments: Payments::default(),
            costs: Vec::new(),
        }
    }
}
