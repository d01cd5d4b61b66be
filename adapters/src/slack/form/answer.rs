//! What the HTTP answer to a submitted form may say (docs.slack.dev, "Modals": response actions). An empty 200 closes it.

use serde_json::{Value, json};
use slack_morphism::prelude::SlackView;

use crate::slack::escape::clip;

/// Keeps the form open, with what was typed, and a sentence at each named input (see `FIRST_INPUT`, `REASONS`).
pub fn errors(at: &[(&str, &str)]) -> Value {
    let errors: serde_json::Map<String, Value> = at
        .iter()
        .map(|(block_id, sentence)| ((*block_id).to_owned(), Value::String(clip(sentence, 150, "…"))))
        .collect();
    json!({ "response_action": "errors", "errors": errors })
}

/// Replaces the form by another one.
pub fn update(view: &SlackView) -> Value {
    json!({ "response_action": "update", "view": view })
}

/// Closes the form and those below it.
pub fn clear() -> Value {
    json!({ "response_action": "clear" })
}
