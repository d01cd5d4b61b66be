//! How cards, headers and lines look in Slack, within all of its limits, for posting and for updating alike.
//!
//! Words that somebody else wrote (customers, the model, people at the desk) stand only in `rich_text` and `plain_text`,
//! where Slack parses nothing: no mention, no link, no formatting can come of them. `mrkdwn` holds our own words, dates
//! and checked links.

mod card;
mod header;
pub(crate) mod parts;

use deskhand_core::port::Content;
use slack_morphism::prelude::*;

use super::escape;

/// Slack recommends at most 4,000 characters for `text`, which notifications show.
const TEXT: usize = 3500;
/// One text inside a block may have 3,000.
const BLOCK: usize = 2900;
/// All texts of a message together: past about 13,200 Slack answers `msg_blocks_too_long`, which it does not document.
const ALL: usize = 12_000;

/// A message, ready to be sent or to replace an earlier one.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// For notifications, escaped.
    pub text: String,
    pub blocks: Vec<SlackBlock>,
    /// For when Slack refuses the blocks: the same in one plain text, with the same buttons.
    pub simple: Vec<SlackBlock>,
}

pub fn draw(content: &Content) -> Drawn {
    match content {
        Content::Card(card) => card::draw(card),
        Content::Header(header) => header::draw(header),
        Content::Line(text) => line(text),
    }
}

/// Our own plain words, of any number of lines.
pub fn line(text: &str) -> Drawn {
    let text = escape::drawable(text);
    let text = if text.trim().is_empty() { "…" } else { text.trim_end() };
    let text = escape::clip(text, ALL, "… (shortened)");
    let blocks = escape::parts(&text, BLOCK)
        .into_iter()
        .map(|part| parts::rich(vec![parts::paragraph(part, BLOCK)]))
        .collect();
    drawn(&text, blocks, None)
}

fn drawn(text: &str, blocks: Vec<SlackBlock>, buttons: Option<SlackBlock>) -> Drawn {
    let simple = SlackSectionBlock::new()
        .with_text(parts::plain(text, BLOCK).into())
        .into();
    Drawn {
        text: escape::escape(&escape::clip(text, TEXT, "…")),
        blocks,
        simple: std::iter::once(simple).chain(buttons).collect(),
    }
}
