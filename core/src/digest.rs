//! The fingerprint of an effect: equal for equal effects, also after a round trip through `jsonb`.
//!
//! Canonical form: object keys in the order of their bytes, no white space, strings in Unicode NFC, numbers that are
//! whole written without a fraction. `jsonb` reorders keys and drops insignificant zeros, so none of that may count.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

/// How many hex characters a card and a button carry.
pub const PREFIX: usize = 12;

/// Lower-case hex SHA-256 of the canonical form, 64 characters.
pub fn of<T: Serialize>(thing: &T) -> String {
    let value = serde_json::to_value(thing).unwrap_or(Value::Null);
    let mut text = String::new();
    write(&value, &mut text);
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// What cards, buttons and forms carry.
pub fn prefix(digest: &str) -> String {
    digest.chars().take(PREFIX).collect()
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(n) => match n.as_f64() {
            Some(f) if n.is_f64() && f.fract() == 0.0 && f.abs() < 9.0e15 => out.push_str(&(f as i64).to_string()),
            _ => out.push_str(&n.to_string()),
        },
        Value::String(s) => string(s, out),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<(String, &Value)> = map.iter().map(|(k, v)| (k.nfc().collect(), v)).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            out.push('{');
            for (i, (key, item)) in entries.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                string(key, out);
                out.push(':');
                write(item, out);
            }
            out.push('}');
        }
    }
}

fn string(s: &str, out: &mut String) {
    let s: String = s.nfc().collect();
    // serde_json's escaping is fixed, so it can serve as the canonical one.
    out.push_str(&Value::String(s).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_jsonb_may_change_does_not_count() {
        assert_eq!(of(&json!({"b": 1.0, "a": "é"})), of(&json!({"a": "e\u{301}", "b": 1})));
        assert_eq!(of(&json!({"n": 1.50})), of(&json!({"n": 1.5})));
    }

    #[test]
    fn what_a_supervisor_approves_does_count() {
        let one = json!({"text": "Your refund left us on Monday.", "to": "ada@example.com"});
        for other in [
            json!({"text": "Your refund left us on Monday", "to": "ada@example.com"}),
            json!({"text": "Your refund left us on Monday.", "to": "eve@example.com"}),
            json!({"text": "Your refund left us on Monday.", "to": ["ada@example.com"]}),
        ] {
            assert_ne!(of(&one), of(&other));
        }
        assert_eq!(of(&one).len(), 64);
        assert_eq!(prefix(&of(&one)).len(), PREFIX);
    }
}
