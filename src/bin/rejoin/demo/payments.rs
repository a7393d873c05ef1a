//! A payment service in memory, as careful as real ones are: it pays once per key, and every time
//! where no key is given.

use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub struct Payments {
    keys: BTreeSet<String>,
    refunds: u32,
}

impl Payments {
    /// Pays back, unless a refund with this key was paid before.
    pub fn refund(&mut self, key: Option<&str>) {
        let is_new = key.is_none_or(|key| self.keys.insert(key.to_owned()));
        self.refunds += u32::from(is_new);
    }

    /// How many refunds were paid.
    pub fn refunds(&self) -> u32 {
        self.refunds
    }

    /// The keys under which they were, as far as they had one.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_paid_once_and_no_key_every_time() {
        let mut payments = Payments::default();
        for key in [None, None, Some("a"), Some("a"), Some("b")] {
            payments.refund(key);
        }
        assert_eq!(payments.refunds(), 4);
        assert_eq!(payments.keys().collect::<Vec<_>>(), ["a", "b"]);
    }
}
