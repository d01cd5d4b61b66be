//! The form with the draft.
//!
//! One input holds at most 3,000 characters, so a longer draft is cut into several, at paragraphs where possible. What
//! stood between them (blank lines, mostly) travels in the form's metadata and comes back when they are joined, so that a
//! draft nobody touched is the same afterwards.

use deskhand_core::card::ButtonValue;
use serde_json::Value;
use slack_morphism::prelude::*;

use super::{BLOCKS, EDIT, Origin, TITLE};
use crate::slack::escape;
use crate::slack::inbound::Spot;
use crate::slack::render::parts;

/// `block_id` of the first input: where an error about the draft is shown.
pub const FIRST_INPUT: &str = "draft_0";
/// `action_id` of every input.
const ACTION: &str = "text";
/// Slack's `max_length` for an input; what is put in leaves room to write.
const INPUT_MAX: u64 = 3000;
const FILL: usize = 2700;
/// A gap longer than this (a draft of mostly nothing) shrinks to an empty line, so that the metadata keeps its limit.
const GAP_MAX: usize = 8;

/// The form for the draft behind a button. A draft beyond what one form can hold (about 260,000 characters, four times
/// what a Zendesk comment may have) gets a note instead of a cut draft.
pub fn edit(button: &ButtonValue, spot: &Spot, draft: &str) -> SlackView {
    let (pieces, gaps) = cut(draft);
    if pieces.len() > BLOCKS - 2 {
        return super::note(
            "Too long to edit here",
            "This draft is too long for a form. Edit it in the console.",
        );
    }
    let origin = Origin {
        button: button.clone(),
        spot: spot.clone(),
        gaps,
    };
    let count = pieces.len();
    let blocks = pieces
        .into_iter()
        .enumerate()
        .map(|(i, piece)| input(i, count, piece))
        .collect();
    SlackView::Modal(
        SlackModalView::new(parts::plain(&format!("Edit {}", button.approval), TITLE).into(), blocks)
            .with_submit(parts::plain("Approve this text", TITLE).into())
            .with_close(parts::plain("Cancel", TITLE).into())
            .with_callback_id(EDIT.into())
            .with_private_metadata(origin.encode()),
    )
}

fn input(i: usize, count: usize, piece: String) -> SlackBlock {
    let label = match count {
        1 => "Draft".to_owned(),
        _ => format!("Draft, part {} of {count}", i + 1),
    };
    let mut element = SlackBlockPlainTextInputElement::new()
        .with_action_id(ACTION.into())
        .with_multiline(true)
        .with_max_length(INPUT_MAX);
    if !piece.is_empty() {
        element = element.with_initial_value(piece);
    }
    SlackInputBlock::new(parts::plain(&label, 100).into(), element.into())
        .with_block_id(format!("draft_{i}").into())
        // Only one part must stay; the others may be emptied.
        .with_optional(i > 0)
        .into()
}

/// Pieces without white space at their ends (Slack may drop it), and what stood between them.
fn cut(draft: &str) -> (Vec<String>, Vec<String>) {
    let mut pieces: Vec<String> = Vec::new();
    let mut gaps: Vec<String> = Vec::new();
    let mut gap = String::new();
    let whole = escape::size(draft) <= FILL;
    for part in if whole {
        vec![draft]
    } else {
        escape::parts(draft.trim(), FILL)
    } {
        let shown = part.trim();
        if shown.is_empty() {
            gap.push_str(part);
            continue;
        }
        let lead = &part[..part.len() - part.trim_start().len()];
        gap.push_str(lead);
        if !pieces.is_empty() {
            gaps.push(if gap.len() > GAP_MAX { "\n\n".to_owned() } else { gap });
        }
        pieces.push(if whole { part.to_owned() } else { shown.to_owned() });
        gap = part[lead.len() + shown.len()..].to_owned();
    }
    if pieces.is_empty() {
        pieces.push(String::new());
    }
    (pieces, gaps)
}

/// The draft that was typed, from the `state.values` of a submission. An emptied part takes its gap with it.
pub(crate) fn typed_draft(values: &Value, origin: &Origin) -> String {
    let mut draft = String::new();
    for i in 0..=origin.gaps.len() {
        let typed = values
            .pointer(&format!("/draft_{i}/{ACTION}/value"))
            .and_then(Value::as_str)
            .unwrap_or_default();
        if typed.trim().is_empty() {
            continue;
        }
        if !draft.is_empty()
            && let Some(gap) = i.checked_sub(1).and_then(|before| origin.gaps.get(before))
        {
            draft.push_str(gap);
        }
        draft.push_str(typed);
    }
    draft
}
