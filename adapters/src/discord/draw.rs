//! How cards, headers and lines look in Discord, within all of its limits, for posting and for updating alike.
//!
//! Pure. Whatever somebody else wrote (customers, the model, people at the desk) is escaped, and every message says that
//! nobody may be mentioned. Limits: content 2,000 characters, all texts of a message's embeds 6,000, an embed's title 256,
//! description 4,096, a field's value 1,024, footer 2,048, five buttons in a row (docs.discord.com, "Message resource").

mod card;
mod header;
mod parts;

use deskhand_core::port::Content;
use serde_json::{Value, json};

use super::escape;

/// `content` may have 2,000.
const CONTENT: usize = 1900;
/// An embed's description may have 4,096, and all embeds together 6,000.
const DESCRIPTION: usize = 4000;

/// A message, ready to be sent or to replace an earlier one: `content`, `embeds`, `components`, `allowed_mentions`.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    pub full: Value,
    /// For when Discord refuses the embeds: the same in one plain text, with the same buttons.
    pub simple: Value,
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
    let text = if text.trim().is_empty() { "…" } else { text.trim() };
    let short = escape::escape(&escape::clip(text, CONTENT, "… (shortened)"));
    let simple = message(&short, Vec::new(), Vec::new());
    let full = match escape::size(text) <= CONTENT {
        true => simple.clone(),
        false => {
            let whole = escape::escape(&escape::clip(text, DESCRIPTION, "… (shortened)"));
            message("", vec![json!({ "description": whole })], Vec::new())
        }
    };
    Drawn { full, simple }
}

/// What a person typed, to be copied from where it is shown: in a description, unmarked.
pub(super) fn typed(text: &str) -> String {
    let text = escape::drawable(text);
    let text = if text.trim().is_empty() { "–" } else { text.trim() };
    escape::escape(&escape::clip(text, DESCRIPTION, "… (shortened)"))
}

/// The name of a ticket's thread: at most 100 characters.
pub fn thread_name(content: &Content) -> String {
    let name = match content {
        Content::Card(card) => format!("{} · {}", card.ticket, card.subject),
        Content::Header(header) => format!("{} · {}", header.ticket, header.subject),
        Content::Line(_) => "Ticket".to_owned(),
    };
    let name: String = escape::one_line(&name).chars().take(90).collect();
    name.trim().to_owned()
}

/// A message whose every part is replaced, so that an update leaves nothing of what stood there.
fn message(content: &str, embeds: Vec<Value>, rows: Vec<Value>) -> Value {
    json!({
        "content": content,
        "embeds": embeds,
        "components": rows,
        "allowed_mentions": { "parse": [] },
    })
}
