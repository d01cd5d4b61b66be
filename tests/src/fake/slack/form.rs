//! Filling in a form as Slack's own client would let a person do it.

use serde_json::{Value, json};

use super::state::View;

pub(super) fn inputs(view: &View) -> impl Iterator<Item = &Value> {
    let blocks = view.body["blocks"].as_array().into_iter().flatten();
    blocks.filter(|block| block["type"] == "input")
}

/// The state of the form as Slack's client would send it, which lets nobody leave out what is required.
pub(super) fn filled(view: &View, words: &str) -> Value {
    let offered = inputs(view).any(|block| option_called(&block["element"], words).is_some());
    let mut left = Some(words).filter(|_| !offered);
    let mut values = json!({});
    for block in inputs(view) {
        let element = &block["element"];
        let kind = element["type"].as_str().unwrap_or("");
        let value = match kind {
            "plain_text_input" => {
                let text = left.take().or(element["initial_value"].as_str());
                let most = element["max_length"].as_u64().unwrap_or(3000) as usize;
                let typed = text.map_or(0, |text| text.chars().count());
                assert!(typed <= most, "the form takes {most} characters and was given {typed}");
                json!({ "type": kind, "value": text.filter(|text| !text.is_empty()) })
            }
            "static_select" | "radio_buttons" => {
                let initial = element.get("initial_option").cloned();
                let required = block["optional"] != true;
                let chosen = option_called(element, words)
                    .or(initial)
                    .or_else(|| required.then(|| other(element)).flatten());
                json!({ "type": kind, "selected_option": chosen })
            }
            "checkboxes" => {
                json!({ "type": kind, "selected_options": element["initial_options"].as_array().cloned().unwrap_or_default() })
            }
            _ => json!({ "type": kind }),
        };
        let empty = value
            .get("value")
            .or(value.get("selected_option"))
            .is_some_and(Value::is_null);
        let label = &block["label"]["text"];
        assert!(
            !empty || block["optional"] == true,
            "the form cannot be sent: {label} is required"
        );
        let (block_id, action_id) = (
            block["block_id"].as_str().unwrap_or(""),
            element["action_id"].as_str().unwrap_or(""),
        );
        values[block_id][action_id] = value;
    }
    assert!(left.is_none(), "the form has no place for {words:?}");
    values
}

fn option_called(element: &Value, words: &str) -> Option<Value> {
    let options = element["options"].as_array()?;
    options.iter().find(|option| option["text"]["text"] == words).cloned()
}

/// Who writes a reason of their own chooses "Other", or whatever comes last.
fn other(element: &Value) -> Option<Value> {
    let options = element["options"].as_array()?;
    let named = |option: &&Value| {
        option["text"]["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("Other"))
    };
    options.iter().find(named).or(options.last()).cloned()
}
