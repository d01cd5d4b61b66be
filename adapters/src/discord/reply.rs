//! Answers to interactions: what stands in the HTTP response (or goes to the callback, through the gateway).
//!
//! One interaction has one answer, within three seconds. Types: 1 pong, 4 a message, 5 "thinking", 6 nothing yet, 7 the
//! message changes, 8 choices, 9 a form (docs.discord.com, "Receiving and responding to interactions").

use deskhand_core::card::Card;
use deskhand_core::port::Content;
use serde_json::{Value, json};

use super::draw;

/// Only the person sees it.
const EPHEMERAL: u64 = 64;

pub fn pong() -> Value {
    json!({ "type": 1 })
}

/// A sentence for the person alone.
pub fn private(text: &str) -> Value {
    let mut data = draw::line(text).full;
    data["flags"] = EPHEMERAL.into();
    json!({ "type": 4, "data": data })
}

/// The same, with what they typed, so that it is not lost with the form.
pub fn private_with(text: &str, typed: &str) -> Value {
    let mut answer = private(text);
    answer["data"]["embeds"] = json!([{ "title": "What you typed", "description": draw::typed(typed) }]);
    answer
}

/// "Thinking", to the person alone: the answer follows by [`respond`](super::DiscordChat::respond).
pub fn private_later() -> Value {
    json!({ "type": 5, "data": { "flags": EPHEMERAL } })
}

/// The card that was clicked, as it stands now.
pub fn card(card: &Card) -> Value {
    json!({ "type": 7, "data": draw::draw(&Content::Card(Box::new(card.clone()))).full })
}

/// The card changes in a moment by itself.
pub fn nothing_yet() -> Value {
    json!({ "type": 6 })
}

pub fn form(form: Value) -> Value {
    json!({ "type": 9, "data": form })
}

/// Choices for what is being typed: name and value, at most 25, each at most 100 characters.
pub fn choices(choices: &[(String, String)]) -> Value {
    let cut = |text: &str| -> String { text.chars().take(100).collect() };
    let choices: Vec<Value> = choices
        .iter()
        .filter(|(name, value)| !name.trim().is_empty() && !value.is_empty())
        .take(25)
        .map(|(name, value)| json!({ "name": cut(name), "value": cut(value) }))
        .collect();
    json!({ "type": 8, "data": { "choices": choices } })
}
