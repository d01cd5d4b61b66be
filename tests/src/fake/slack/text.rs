//! What a person reads: blocks and mrkdwn turned into plain text, and the buttons that they see.

use serde_json::Value;

use super::state::{Message, State};

/// The message as it reads. Slack shows `text` only where there are no blocks.
pub(super) fn of(state: &State, text: &str, blocks: &[Value]) -> String {
    if blocks.is_empty() {
        return plain(state, text);
    }
    let mut lines = Vec::new();
    for block in blocks {
        gather(state, block, &mut lines);
    }
    lines.join("\n")
}

pub(super) fn of_message(state: &State, message: &Message) -> String {
    of(state, &message.text, &message.blocks)
}

/// Labels of buttons are no text of the message; labels of inputs and what stands in them are. Only mrkdwn is read for
/// markup: everything else is shown as it stands.
fn gather(state: &State, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| gather(state, value, lines)),
        Value::Object(object) => {
            if object.get("type").is_some_and(|kind| kind == "button") {
                return;
            }
            for name in ["text", "initial_value", "alt_text", "url"] {
                if let Some(Value::String(text)) = object.get(name) {
                    let marked = object.get("type").is_some_and(|kind| kind == "mrkdwn");
                    lines.push(if marked { plain(state, text) } else { text.clone() });
                }
            }
            for name in [
                "title",
                "text",
                "fields",
                "label",
                "hint",
                "elements",
                "element",
                "accessory",
            ] {
                match object.get(name) {
                    Some(Value::String(_)) | None => {}
                    Some(inner) => gather(state, inner, lines),
                }
            }
        }
        _ => {}
    }
}

/// `<@U…>` to the name, links to their label, entities to characters.
fn plain(state: &State, text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once('<') {
        out.push_str(head);
        let Some((inside, after)) = tail.split_once('>') else {
            out.push('<');
            rest = tail;
            continue;
        };
        let (target, label) = inside.split_once('|').unwrap_or((inside, ""));
        let person = target.strip_prefix('@').and_then(|id| state.person(id));
        match person {
            Some(person) => out.push_str(&person.name),
            None if label.is_empty() => out.push_str(target),
            None => out.push_str(label),
        }
        rest = after;
    }
    out.push_str(rest);
    out.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// A button with the id of its block.
#[derive(Clone, Debug)]
pub(super) struct Button {
    pub(super) block_id: String,
    pub(super) element: Value,
}

impl Button {
    pub(super) fn label(&self) -> &str {
        self.element["text"]["text"].as_str().unwrap_or("")
    }
}

pub(super) fn buttons(blocks: &[Value]) -> Vec<Button> {
    let mut found = Vec::new();
    for block in blocks {
        let elements = block["elements"]
            .as_array()
            .into_iter()
            .flatten()
            .chain(block.get("accessory"));
        for element in elements.filter(|element| element["type"] == "button") {
            found.push(Button {
                block_id: block["block_id"].as_str().unwrap_or("").to_owned(),
                element: element.clone(),
            });
        }
    }
    found
}
