//! The pieces that messages are made of. Each cuts its text to the limit that it is given, and never is empty, because
//! Discord refuses empty texts.

use chrono::{DateTime, Utc};
use deskhand_core::card::{Button, ButtonKind};
use serde_json::{Value, json};

use crate::discord::{escape, inbound};

/// Text of any kind as escaped markdown.
pub(super) fn text(text: &str, max: usize, tail: &str) -> String {
    let text = escape::clip(escape::drawable(escape::start(text)).trim(), max, tail);
    match text.trim().is_empty() {
        true => "–".to_owned(),
        false => escape::escape(&text),
    }
}

/// The same on one line.
pub(super) fn word(words: &str, max: usize) -> String {
    text(&escape::one_line(words), max, "…")
}

pub(super) fn field(name: &str, value: String) -> Value {
    json!({ "name": name, "value": value })
}

/// Where markdown means nothing: footers.
pub(super) fn plain(words: &str, max: usize) -> String {
    escape::clip(&escape::one_line(words), max, "…")
}

/// Each line of an escaped text as a quotation.
pub(super) fn quote(escaped: &str) -> String {
    escaped
        .lines()
        .map(|line| format!("> {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// A time that Discord shows in each reader's own zone: `R` as "two hours ago", `f` as date and time.
pub(super) fn time(at: DateTime<Utc>, style: char) -> String {
    format!("<t:{}:{style}>", at.timestamp())
}

/// An address that a browser opens, of a length that Discord takes.
pub(super) fn url(address: Option<&str>) -> Option<String> {
    let url = url::Url::parse(address?).ok()?;
    let fits = matches!(url.scheme(), "http" | "https") && url.as_str().len() <= 2000;
    fits.then(|| url.to_string())
}

/// Discord's limit for what stands on a button.
const LABEL: usize = 80;

/// Rows of at most five buttons, at most five rows.
pub(super) fn rows(buttons: &[Button]) -> Vec<Value> {
    let all: Vec<Value> = buttons.iter().map(button).collect();
    all.chunks(5)
        .take(5)
        .map(|row| json!({ "type": 1, "components": row }))
        .collect()
}

fn button(button: &Button) -> Value {
    // Discord's styles: 2 is grey, 3 green, 4 red.
    let style = match button.kind {
        ButtonKind::Approve => 3,
        ButtonKind::Reject => 4,
        ButtonKind::Edit | ButtonKind::View | ButtonKind::Choose | ButtonKind::Answer => 2,
    };
    json!({
        "type": 2,
        "style": style,
        "label": plain(button.label(), LABEL),
        "custom_id": inbound::custom_id(&button.id(), &button.value),
    })
}
