//! The form with the reasons.

use deskhand_core::card::ButtonValue;
use serde_json::Value;
use slack_morphism::prelude::*;

use super::{Origin, REJECT, TITLE};
use crate::slack::inbound::Spot;
use crate::slack::render::parts;

/// The set reasons: the value that comes back, and what people and the model read. An error about the choice is shown at
/// the block `reason`, one about the words at the block `words`.
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

pub fn reject(button: &ButtonValue, spot: &Spot) -> SlackView {
    let origin = Origin {
        button: button.clone(),
        spot: spot.clone(),
        gaps: Vec::new(),
    };
    let options = REASONS
        .iter()
        .map(|(value, label)| SlackBlockChoiceItem::new(parts::plain(label, 75).into(), (*value).to_owned()))
        .collect();
    let choice = SlackBlockStaticSelectElement::new()
        .with_action_id("reason".into())
        .with_placeholder(parts::plain("Choose a reason", 150).into())
        .with_options(options);
    let words = SlackBlockPlainTextInputElement::new()
        .with_action_id("words".into())
        .with_multiline(true)
        .with_max_length(3000);
    let blocks = vec![
        SlackInputBlock::new(parts::plain("Reason", 100).into(), choice.into())
            .with_block_id("reason".into())
            .into(),
        SlackInputBlock::new(parts::plain("In your words", 100).into(), words.into())
            .with_block_id("words".into())
            .with_hint(
                parts::plain(
                    "Read by the model, which may write a new draft. The customer never sees it.",
                    200,
                )
                .into(),
            )
            .with_optional(true)
            .into(),
    ];
    SlackView::Modal(
        SlackModalView::new(
            parts::plain(&format!("Reject {}", button.approval), TITLE).into(),
            blocks,
        )
        .with_submit(parts::plain("Reject", TITLE).into())
        .with_close(parts::plain("Cancel", TITLE).into())
        .with_callback_id(REJECT.into())
        .with_private_metadata(origin.encode()),
    )
}

/// The choice and the words as one sentence, from the `state.values` of a submission.
pub(crate) fn given_reason(values: &Value) -> String {
    let chosen = values
        .pointer("/reason/reason/selected_option/value")
        .and_then(Value::as_str);
    let words = values
        .pointer("/words/words/value")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .trim();
    let label = chosen
        .and_then(|chosen| REASONS.iter().find(|(value, _)| *value == chosen))
        .map(|(_, label)| *label);
    match (label, words) {
        (Some(label), "") => label.to_owned(),
        (None, "") => "No reason was given".to_owned(),
        (Some(_), words) if chosen == Some(OTHER) => words.to_owned(),
        (Some(label), words) => format!("{label}: {words}"),
        (None, words) => words.to_owned(),
    }
}
