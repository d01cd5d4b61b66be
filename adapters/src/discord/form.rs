//! Forms (Discord's modals), and everything that a card had to cut.
//!
//! A form keeps no state here: its `custom_id` carries the button that opened it, and each of its inputs what stood
//! before it. A modal holds five inputs of 4,000 characters, its title and labels 45.

mod edit;
mod full;
mod question;
mod reject;

use deskhand_core::card::{ButtonKind, ButtonValue};
use serde_json::{Value, json};

use super::escape;
use super::inbound::custom_id;

pub use edit::edit;
pub(crate) use edit::typed_draft;
pub use full::full;
pub use question::question;
pub(crate) use question::typed_answer;
pub(crate) use reject::given_reason;
pub use reject::{REASONS, reject};

/// Discord's limit for a modal's title and for labels.
const TITLE: usize = 45;
/// Discord's limit for what an input may hold.
const INPUT: usize = 4000;

fn modal(kind: ButtonKind, value: &ButtonValue, components: Vec<Value>) -> Value {
    let title = format!("{} {}", kind.label(), value.approval);
    json!({
        "custom_id": custom_id(kind.as_str(), value),
        "title": escape::clip(&title, TITLE, "…"),
        "components": components,
    })
}

fn label(label: &str, description: Option<&str>, component: Value) -> Value {
    let mut drawn = json!({ "type": 18, "label": label, "component": component });
    if let Some(description) = description {
        drawn["description"] = description.into();
    }
    drawn
}
