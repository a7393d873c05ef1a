//! The key of an effect, and the ordinals that keep intended repetitions apart.

use super::canonical::{CanonicalError, canonical_json};
use super::digest::sha256_hex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;

/// How many hex digits of the hash a key keeps: 128 bits, enough that two effects never meet.
const KEY_DIGITS: usize = 32;

/// The idempotency key of one tool call: 32 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EffectKey(String);

impl EffectKey {
    /// The key of a call: `sha256` over the canonical JSON of `[turn_id, name, args, ordinal,
    /// step]`, where an absent `step` is `null`.
    ///
    /// # Errors
    /// [`CanonicalError`] if `args` has no canonical form.
    pub fn new(
        turn_id: &str,
        name: &str,
        args: &Value,
        ordinal: u32,
        step: Option<&str>,
    ) -> Result<Self, CanonicalError> {
        let material = canonical_json(&json!([turn_id, name, args, ordinal, step]))?;
        let mut hex = sha256_hex(&material);
        hex.truncate(KEY_DIGITS);
        Ok(Self(hex))
    }

    /// The hex digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for EffectKey {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for EffectKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the app says of one of its tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolRule {
    /// The function's name.
    pub name: String,
    /// The arguments that make an effect the same one. Empty: all of them. Name them where other
    /// arguments are free text, which differs between attempts.
    pub key_fields: Vec<String>,
}

impl ToolRule {
    /// The arguments that count for the key.
    #[must_use]
    pub fn keyed(&self, args: &Value) -> Value {
        match args {
            Value::Object(map) if !self.key_fields.is_empty() => Value::Object(
                map.iter()
                    .filter(|(key, _)| self.key_fields.contains(key))
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect(),
            ),
            _ => args.clone(),
        }
    }
}

/// Hands out keys to the calls of one attempt, in order.
#[derive(Debug)]
pub struct EffectKeys<'a> {
    turn_id: &'a str,
    step: Option<&'a str>,
    rules: &'a [ToolRule],
    seen: HashMap<(String, String), u32>,
}

impl<'a> EffectKeys<'a> {
    /// Keys for one attempt of `turn_id`.
    #[must_use]
    pub fn new(turn_id: &'a str, step: Option<&'a str>, rules: &'a [ToolRule]) -> Self {
        Self { turn_id, step, rules, seen: HashMap::new() }
    }

    /// The ordinal and key of the next call. Calls with equal keyed arguments count up from 0.
    ///
    /// # Errors
    /// [`CanonicalError`] if `args` has no canonical form.
    pub fn next(&mut self, name: &str, args: &Value) -> Result<(u32, EffectKey), CanonicalError> {
        let keyed = self.keyed(name, args);
        let counter = self.seen.entry((name.to_owned(), canonical_json(&keyed)?)).or_insert(0);
        let ordinal = *counter;
        *counter += 1;
        Ok((ordinal, EffectKey::new(self.turn_id, name, &keyed, ordinal, self.step)?))
    }

    fn keyed(&self, name: &str, args: &Value) -> Value {
        let rule = self.rules.iter().find(|rule| rule.name == name);
        rule.map_or_else(|| args.clone(), |rule| rule.keyed(args))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(args: &Value) -> EffectKey {
        EffectKey::new("t", "refund", args, 0, None).unwrap()
    }

    #[test]
    fn order_and_spelling_of_arguments_do_not_matter() {
        let parse = |text: &str| serde_json::from_str(text).unwrap();
        assert_eq!(key(&parse(r#"{"a":1,"b":2.0}"#)), key(&parse(r#"{"b":2,"a":1.0}"#)));
        assert_ne!(key(&parse(r#"{"a":1}"#)), key(&parse(r#"{"a":"1"}"#)));
    }

    #[test]
    fn a_key_is_the_hash_of_the_documented_material() {
        // echo -n '["t","refund",{"a":1},0,null]' | sha256sum | cut -c1-32
        assert_eq!(key(&json!({"a": 1})).as_str(), "157c7ebe5b0a2534da86b72a597fb2d9");
    }

    #[test]
    fn equal_calls_count_up_and_free_text_can_be_left_out() {
        let rules = [ToolRule { name: "mail".to_owned(), key_fields: vec!["to".to_owned()] }];
        let mut keys = EffectKeys::new("t", None, &rules);
        let first = keys.next("mail", &json!({"to": "a", "body": "Hello"})).unwrap();
        let second = keys.next("mail", &json!({"to": "a", "body": "Hi"})).unwrap();
        assert_eq!((first.0, second.0), (0, 1));
        let mut retry = EffectKeys::new("t", None, &rules);
        assert_eq!(retry.next("mail", &json!({"to": "a", "body": "Good day"})).unwrap(), first);
    }
}
