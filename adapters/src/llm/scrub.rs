//! NUL characters out of what a model wrote: Postgres takes them neither in `text` nor in `jsonb`, and a reply that
//! cannot be stored would be asked for again for ever.

use serde_json::Value;

pub(super) fn text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

pub(super) fn value(value: Value) -> Value {
    match value {
        Value::String(s) => Value::String(text(&s)),
        Value::Array(items) => items.into_iter().map(self::value).collect(),
        Value::Object(map) => map.into_iter().map(|(k, v)| (text(&k), self::value(v))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// The arguments of a call from what the model wrote: nothing means none, and what is no JSON stays a string.
pub(super) fn args(written: &str) -> Value {
    match written.trim() {
        "" => Value::Object(serde_json::Map::new()),
        json => serde_json::from_str(json).map_or_else(|_| Value::String(text(written)), value),
    }
}

/// Arguments as a provider takes them back: an object, whatever the model made of them.
pub(super) fn object(args: &Value) -> Value {
    match args {
        Value::Object(_) => args.clone(),
        Value::Null => Value::Object(serde_json::Map::new()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            serde_json::json!({ "unparsed": args })
        }
    }
}
