//! The form in which a question is answered in words.

use deskhand_core::card::ButtonValue;
use serde_json::Value;
use slack_morphism::prelude::*;

use super::{ANSWER, Origin, TEXT, TITLE};
use crate::slack::inbound::Spot;
use crate::slack::render::parts;

/// `block_id` of the input: where an error about the answer is shown.
pub const ANSWER_INPUT: &str = "answer";
/// Slack's `max_length` for an input.
const INPUT_MAX: u64 = 3000;

/// `asked` is the question, shown above the input.
pub fn question(button: &ButtonValue, spot: &Spot, asked: &str) -> SlackView {
    let origin = Origin {
        button: button.clone(),
        spot: spot.clone(),
        gaps: Vec::new(),
    };
    let words = SlackBlockPlainTextInputElement::new()
        .with_action_id(ANSWER_INPUT.into())
        .with_multiline(true)
        .with_max_length(INPUT_MAX);
    let blocks = vec![
        parts::rich(vec![parts::paragraph(asked, TEXT)]),
        SlackInputBlock::new(parts::plain("Answer", 100).into(), words.into())
            .with_block_id(ANSWER_INPUT.into())
            .with_hint(
                parts::plain(
                    "Read by the model, which goes on with it. The customer never sees it.",
                    200,
                )
                .into(),
            )
            .into(),
    ];
    SlackView::Modal(
        SlackModalView::new(
            parts::plain(&format!("Answer {}", button.approval), TITLE).into(),
            blocks,
        )
        .with_submit(parts::plain("Answer", TITLE).into())
        .with_close(parts::plain("Cancel", TITLE).into())
        .with_callback_id(ANSWER.into())
        .with_private_metadata(origin.encode()),
    )
}

/// What was typed, from the `state.values` of a submission.
pub(crate) fn typed_answer(values: &Value) -> String {
    let typed = values.pointer(&format!("/{ANSWER_INPUT}/{ANSWER_INPUT}/value"));
    typed.and_then(Value::as_str).unwrap_or_default().to_owned()
}
