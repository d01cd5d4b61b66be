//! Block Kit as Slack enforces it: shapes, lengths, ids. What is inside an element is in `elements`.

use serde_json::{Value, json};

use super::elements;
use super::http::Refused;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    Message,
    Modal,
}

/// Characters in all blocks of a message: over about this the API answers `msg_blocks_too_long`. Not documented.
const ALL_TEXT: usize = 13_200;
/// Ids given by Slack begin with this here, so that tests can leave them out.
const GIVEN: &str = "=given";

/// Refuses what Slack would refuse.
pub(crate) fn check(blocks: &[Value], surface: Surface) -> Result<(), Refused> {
    let mut wrong = Vec::new();
    let most = match surface {
        Surface::Message => 50,
        Surface::Modal => 100,
    };
    if blocks.len() > most {
        wrong.push(format!("no more than {most} items allowed [json-pointer:/blocks]"));
    }
    let mut ids: Vec<&str> = Vec::new();
    for (n, block) in blocks.iter().enumerate() {
        let at = format!("/blocks/{n}");
        one(&mut wrong, block, &at, surface);
        id(&mut wrong, block, "block_id", &at);
        if let Some(id) = block["block_id"].as_str() {
            if ids.contains(&id) {
                wrong.push(format!("block_id {id} is not unique [json-pointer:{at}/block_id]"));
            }
            ids.push(id);
        }
    }
    if !wrong.is_empty() {
        return Err(Refused::with_details("invalid_blocks", wrong));
    }
    let all: usize = blocks.iter().map(characters).sum();
    match surface {
        Surface::Message if all > ALL_TEXT => Err("msg_blocks_too_long".into()),
        Surface::Message | Surface::Modal => Ok(()),
    }
}

fn one(wrong: &mut Vec<String>, block: &Value, at: &str, surface: Surface) {
    let kind = block["type"].as_str().unwrap_or("");
    match kind {
        "section" => {
            keys(wrong, block, at, &["text", "fields", "accessory", "expand"]);
            if block.get("text").is_none() && block.get("fields").is_none() {
                wrong.push(format!("missing required field: text or fields [json-pointer:{at}]"));
            }
            if let Some(text) = block.get("text") {
                any_text(wrong, text, &format!("{at}/text"), 3000);
            }
            let fields = list(wrong, block, at, "fields", 10, false);
            for (n, field) in fields.iter().enumerate() {
                any_text(wrong, field, &format!("{at}/fields/{n}"), 2000);
            }
            if let Some(accessory) = block.get("accessory") {
                elements::check(wrong, accessory, &format!("{at}/accessory"), surface);
            }
        }
        "header" => {
            keys(wrong, block, at, &["text", "level"]);
            plain_text(wrong, &block["text"], &format!("{at}/text"), 150);
        }
        "divider" => keys(wrong, block, at, &[]),
        "context" => {
            keys(wrong, block, at, &["elements"]);
            for (n, element) in list(wrong, block, at, "elements", 10, true).iter().enumerate() {
                let at = format!("{at}/elements/{n}");
                match element["type"].as_str() {
                    Some("image") => elements::check(wrong, element, &at, surface),
                    _ => any_text(wrong, element, &at, 3000),
                }
            }
        }
        "actions" => {
            keys(wrong, block, at, &["elements"]);
            let mut ids: Vec<&str> = Vec::new();
            for (n, element) in list(wrong, block, at, "elements", 25, true).iter().enumerate() {
                let at = format!("{at}/elements/{n}");
                elements::check(wrong, element, &at, surface);
                if let Some(id) = element["action_id"].as_str() {
                    if ids.contains(&id) {
                        wrong.push(format!("action_id {id} is not unique in its block [json-pointer:{at}]"));
                    }
                    ids.push(id);
                }
            }
        }
        "input" => {
            keys(
                wrong,
                block,
                at,
                &["label", "element", "hint", "optional", "dispatch_action"],
            );
            plain_text(wrong, &block["label"], &format!("{at}/label"), 2000);
            if let Some(hint) = block.get("hint") {
                plain_text(wrong, hint, &format!("{at}/hint"), 2000);
            }
            elements::check_input(wrong, &block["element"], &format!("{at}/element"), surface);
        }
        "markdown" if surface == Surface::Message => {
            keys(wrong, block, at, &["text"]);
            length(wrong, &block["text"], &format!("{at}/text"), 12_000);
        }
        "rich_text" => {
            keys(wrong, block, at, &["elements"]);
            list(wrong, block, at, "elements", usize::MAX, true);
        }
        "image" => elements::check(wrong, block, at, surface),
        _ => wrong.push(format!("unsupported type: {kind} [json-pointer:{at}/type]")),
    }
}

/// A `mrkdwn` or `plain_text` object of 1 to `most` characters, counted as sent: escapes count.
pub(super) fn any_text(wrong: &mut Vec<String>, text: &Value, at: &str, most: usize) {
    match text["type"].as_str() {
        Some("mrkdwn") => {
            exactly(wrong, text, at, &["type", "text", "verbatim"]);
            length(wrong, &text["text"], &format!("{at}/text"), most);
        }
        _ => plain_text(wrong, text, at, most),
    }
}

pub(super) fn plain_text(wrong: &mut Vec<String>, text: &Value, at: &str, most: usize) {
    if text["type"] != "plain_text" {
        wrong.push(format!("must be a plain_text object [json-pointer:{at}]"));
        return;
    }
    exactly(wrong, text, at, &["type", "text", "emoji"]);
    length(wrong, &text["text"], &format!("{at}/text"), most);
}

pub(super) fn length(wrong: &mut Vec<String>, text: &Value, at: &str, most: usize) {
    let Some(text) = text.as_str() else {
        wrong.push(format!("must be a string [json-pointer:{at}]"));
        return;
    };
    match text.chars().count() {
        0 => wrong.push(format!("must be more than 0 characters [json-pointer:{at}]")),
        n if n > most => wrong.push(format!("must be less than {} characters [json-pointer:{at}]", most + 1)),
        _ => {}
    }
}

/// At most 255 characters, and not empty.
pub(super) fn id(wrong: &mut Vec<String>, holder: &Value, name: &str, at: &str) {
    if let Some(id) = holder.get(name) {
        length(wrong, id, &format!("{at}/{name}"), 255);
    }
}

pub(super) fn list<'a>(
    wrong: &mut Vec<String>,
    holder: &'a Value,
    at: &str,
    name: &str,
    most: usize,
    required: bool,
) -> &'a [Value] {
    match holder.get(name).map(|value| (value.as_array(), value)) {
        Some((Some(list), _)) if list.is_empty() => {
            wrong.push(format!("no fewer than 1 items allowed [json-pointer:{at}/{name}]"));
            &[]
        }
        Some((Some(list), _)) => {
            if list.len() > most {
                wrong.push(format!("no more than {most} items allowed [json-pointer:{at}/{name}]"));
            }
            list
        }
        Some((None, _)) => {
            wrong.push(format!("must be an array [json-pointer:{at}/{name}]"));
            &[]
        }
        None => {
            if required {
                wrong.push(format!("missing required field: {name} [json-pointer:{at}]"));
            }
            &[]
        }
    }
}

fn keys(wrong: &mut Vec<String>, block: &Value, at: &str, known: &[&str]) {
    exactly(wrong, block, at, &[&["type", "block_id"], known].concat());
}

/// Slack refuses properties that it does not know.
pub(super) fn exactly(wrong: &mut Vec<String>, holder: &Value, at: &str, known: &[&str]) {
    for name in holder.as_object().into_iter().flat_map(|object| object.keys()) {
        if !known.contains(&name.as_str()) {
            wrong.push(format!("additional property {name} is not allowed [json-pointer:{at}]"));
        }
    }
}

/// Characters of every `text` inside.
fn characters(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(characters).sum(),
        Value::Object(object) => object
            .iter()
            .map(|(name, value)| match (name.as_str(), value) {
                ("text", Value::String(text)) => text.chars().count(),
                (_, value) => characters(value),
            })
            .sum(),
        _ => 0,
    }
}

/// Gives ids to blocks and to the elements that can be acted on, where they have none.
pub(crate) fn with_ids(blocks: &[Value], mut fresh: impl FnMut() -> u64) -> Vec<Value> {
    let mut blocks = blocks.to_vec();
    for block in &mut blocks {
        give(block, "block_id", &mut fresh);
        for element in block
            .get_mut("elements")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            if element["type"] == "button" {
                give(element, "action_id", &mut fresh);
            }
        }
        for name in ["element", "accessory"] {
            if let Some(element) = block.get_mut(name) {
                give(element, "action_id", &mut fresh);
            }
        }
    }
    blocks
}

fn give(holder: &mut Value, name: &str, fresh: &mut impl FnMut() -> u64) {
    if let Some(object) = holder.as_object_mut() {
        object
            .entry(name)
            .or_insert_with(|| json!(format!("{GIVEN}{}", fresh())));
    }
}

/// The blocks as they were sent.
pub(crate) fn without_given_ids(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(without_given_ids).collect(),
        Value::Object(object) => {
            let given = |value: &Value| value.as_str().is_some_and(|text| text.starts_with(GIVEN));
            let kept = object.iter().filter(|(_, value)| !given(value));
            kept.map(|(name, value)| (name.clone(), without_given_ids(value)))
                .collect()
        }
        other => other.clone(),
    }
}
