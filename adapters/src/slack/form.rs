//! Forms (Slack's modals) and the answers to them.
//!
//! A form keeps no state here: its `private_metadata` carries the button that opened it and where that button was. What
//! was typed comes back in the submission.

mod answer;
mod edit;
mod full;
mod question;
mod reject;

use deskhand_core::card::ButtonValue;
use serde::{Deserialize, Serialize};
use slack_morphism::prelude::*;

use super::inbound::Spot;
use super::render::parts;

pub use answer::{clear, errors, update};
pub(crate) use edit::typed_draft;
pub use edit::{FIRST_INPUT, edit};
pub use full::full;
pub(crate) use question::typed_answer;
pub use question::{ANSWER_INPUT, question};
pub(crate) use reject::given_reason;
pub use reject::{REASONS, reject};

/// `callback_id` of the form with the draft.
pub const EDIT: &str = "deskhand_edit";
/// `callback_id` of the form with the reasons.
pub const REJECT: &str = "deskhand_reject";
/// `callback_id` of the form with the answer to a question.
pub const ANSWER: &str = "deskhand_answer";
/// `callback_id` of the "Triage this" shortcut, as deploy/slack/manifest.yaml declares it.
pub const SHORTCUT: &str = "triage_this";

/// Slack's limit for a view's title and its buttons.
const TITLE: usize = 24;
/// Slack's limit for blocks in a view.
const BLOCKS: usize = 100;
/// Slack's limit for one text, less a margin.
const TEXT: usize = 2900;

/// What a form carries in `private_metadata` (Slack: at most 3,000 characters).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) button: ButtonValue,
    pub(crate) spot: Spot,
    /// What stood between the inputs that a long draft was cut into, one fewer than there are inputs.
    pub(crate) gaps: Vec<String>,
}

/// One-letter names, so that the gaps have room.
#[derive(Serialize, Deserialize)]
struct Packed {
    b: String,
    c: String,
    m: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    t: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    g: Vec<String>,
}

impl Origin {
    fn encode(&self) -> String {
        let packed = Packed {
            b: self.button.encode(),
            c: self.spot.channel.clone(),
            m: self.spot.ts.clone(),
            t: self.spot.thread_ts.clone(),
            g: self.gaps.clone(),
        };
        serde_json::to_string(&packed).unwrap_or_default()
    }

    /// `None` for what [`encode`](Self::encode) did not write.
    pub(crate) fn decode(text: &str) -> Option<Self> {
        let packed: Packed = serde_json::from_str(text).ok()?;
        Some(Self {
            button: ButtonValue::decode(&packed.b)?,
            spot: Spot {
                channel: packed.c,
                ts: packed.m,
                thread_ts: packed.t,
            },
            gaps: packed.g,
        })
    }
}

/// Shown at once, before anything is looked up: a trigger lives three seconds. Filled by `update_modal`.
pub fn loading() -> SlackView {
    note("Deskhand", "Loading …")
}

/// A form that only says something. `title` is cut at 24 characters.
pub fn note(title: &str, text: &str) -> SlackView {
    modal(title, vec![parts::rich(vec![parts::paragraph(text, TEXT)])])
}

fn modal(title: &str, blocks: Vec<SlackBlock>) -> SlackView {
    SlackView::Modal(
        SlackModalView::new(parts::plain(title, TITLE).into(), blocks).with_close(parts::plain("Close", TITLE).into()),
    )
}
