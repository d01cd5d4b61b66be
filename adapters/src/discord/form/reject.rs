//! The form with the reasons.

use deskhand_core::card::{ButtonKind, ButtonValue};
use serde_json::{Value, json};

use super::{label, modal};

/// The set reasons: the value that comes back, and what people and the model read.
pub const REASONS: &[(&str, &str)] = &[
    ("facts", "The facts are wrong"),
    ("question", "It does not answer the question"),
    ("tone", "Wrong tone or language"),
    ("promise", "It promises too much"),
    ("person", "A person should answer this"),
    ("nothing", "No action is needed"),
    (OTHER, "Something else"),
];

/// Says nothing by itself: the words do.
const OTHER: &str = "other";

pub fn reject(value: &ButtonValue) -> Value {
    let options: Vec<Value> = REASONS
        .iter()
        .map(|(value, label)| json!({ "value": value, "label": label }))
        .collect();
    let choice = json!({
        "type": 3,
        "custom_id": "reason",
        "placeholder": "Choose a reason",
        "options": options,
        "required": true,
    });
    let words = json!({ "type": 4, "custom_id": "words", "style": 2, "max_length": 3000, "required": false });
    let hint = "Read by the model, which may write a new draft. The customer never sees it.";
    let labels = vec![label("Reason", None, choice), label("In your words", Some(hint), words)];
    modal(ButtonKind::Reject, value, labels)
}

/// The choice and the words as one sentence.
pub(crate) fn given_reason(fields: &[(String, String)]) -> String {
    let field = |name: &str| {
        fields
            .iter()
            .find(|(id, _)| id == name)
            .map_or("", |(_, value)| value.trim())
    };
    let (chosen, words) = (field("reason"), field("words"));
    let label = REASONS
        .iter()
        .find(|(value, _)| *value == chosen)
        .map(|(_, label)| *label);
    match (label, words) {
        (Some(label), "") => label.to_owned(),
        (None, "") => "No reason was given".to_owned(),
        (Some(_), words) if chosen == OTHER => words.to_owned(),
        (Some(label), words) => format!("{label}: {words}"),
        (None, words) => words.to_owned(),
    }
}
