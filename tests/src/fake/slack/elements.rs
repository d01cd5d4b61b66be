//! Elements inside blocks: buttons, menus, inputs, images.

use serde_json::Value;

use super::blocks::{Surface, any_text, exactly, id, length, list, plain_text};

pub(super) fn check(wrong: &mut Vec<String>, element: &Value, at: &str, surface: Surface) {
    let kind = element["type"].as_str().unwrap_or("");
    id(wrong, element, "action_id", at);
    match kind {
        "button" => button(wrong, element, at),
        "overflow" => {
            exactly(wrong, element, at, &["type", "action_id", "options", "confirm"]);
            options(wrong, element, at, 5);
        }
        "static_select" | "radio_buttons" | "checkboxes" => choice(wrong, element, at),
        "image" => {
            let known = ["type", "block_id", "image_url", "slack_file", "alt_text", "title"];
            exactly(wrong, element, at, &known);
            length(wrong, &element["alt_text"], &format!("{at}/alt_text"), 2000);
        }
        "users_select" | "conversations_select" | "channels_select" | "datepicker" | "timepicker"
            if surface == Surface::Modal => {}
        _ => wrong.push(format!("unsupported type: {kind} [json-pointer:{at}/type]")),
    }
    if let Some(confirm) = element.get("confirm") {
        let at = format!("{at}/confirm");
        plain_text(wrong, &confirm["title"], &format!("{at}/title"), 100);
        any_text(wrong, &confirm["text"], &format!("{at}/text"), 300);
        plain_text(wrong, &confirm["confirm"], &format!("{at}/confirm"), 30);
        plain_text(wrong, &confirm["deny"], &format!("{at}/deny"), 30);
    }
}

/// What an input block may hold: menus, and above all text.
pub(super) fn check_input(wrong: &mut Vec<String>, element: &Value, at: &str, surface: Surface) {
    if element["type"] != "plain_text_input" {
        if element["type"] == "button" || element["type"] == "overflow" || element["type"] == "image" {
            wrong.push(format!("unsupported type in an input block [json-pointer:{at}/type]"));
        }
        return check(wrong, element, at, surface);
    }
    let known = [
        "type",
        "action_id",
        "initial_value",
        "multiline",
        "min_length",
        "max_length",
        "placeholder",
        "dispatch_action_config",
        "focus_on_load",
    ];
    exactly(wrong, element, at, &known);
    id(wrong, element, "action_id", at);
    let most = element["max_length"].as_u64().unwrap_or(3000);
    let least = element["min_length"].as_u64().unwrap_or(0);
    if !(1..=3000).contains(&most) || least > most {
        wrong.push(format!("max_length is out of range [json-pointer:{at}/max_length]"));
    }
    if let Some(value) = element.get("initial_value") {
        let characters = value.as_str().map_or(u64::MAX, |text| text.chars().count() as u64);
        if characters > most {
            wrong.push(format!(
                "must be less than {} characters [json-pointer:{at}/initial_value]",
                most + 1
            ));
        }
    }
    if let Some(placeholder) = element.get("placeholder") {
        plain_text(wrong, placeholder, &format!("{at}/placeholder"), 150);
    }
}

fn button(wrong: &mut Vec<String>, element: &Value, at: &str) {
    let known = [
        "type",
        "text",
        "action_id",
        "url",
        "value",
        "style",
        "confirm",
        "accessibility_label",
    ];
    exactly(wrong, element, at, &known);
    plain_text(wrong, &element["text"], &format!("{at}/text"), 75);
    for (name, most) in [("value", 2000), ("url", 3000), ("accessibility_label", 75)] {
        if let Some(text) = element.get(name) {
            length(wrong, text, &format!("{at}/{name}"), most);
        }
    }
    if let Some(style) = element.get("style")
        && style != "primary"
        && style != "danger"
    {
        wrong.push(format!("must be primary or danger [json-pointer:{at}/style]"));
    }
}

fn choice(wrong: &mut Vec<String>, element: &Value, at: &str) {
    let known = [
        "type",
        "action_id",
        "options",
        "option_groups",
        "initial_option",
        "initial_options",
        "placeholder",
        "confirm",
        "focus_on_load",
    ];
    exactly(wrong, element, at, &known);
    let menu = element["type"] == "static_select";
    if element.get("option_groups").is_none() {
        options(wrong, element, at, if menu { 100 } else { 10 });
    }
    if let Some(placeholder) = element.get("placeholder") {
        plain_text(wrong, placeholder, &format!("{at}/placeholder"), 150);
    }
    if let Some(initial) = element.get("initial_option") {
        let known = element["options"]
            .as_array()
            .is_some_and(|options| options.contains(initial));
        if !known {
            wrong.push(format!("is not one of the options [json-pointer:{at}/initial_option]"));
        }
    }
}

fn options(wrong: &mut Vec<String>, element: &Value, at: &str, most: usize) {
    for (n, option) in list(wrong, element, at, "options", most, true).iter().enumerate() {
        let at = format!("{at}/options/{n}");
        exactly(wrong, option, &at, &["text", "value", "description", "url"]);
        any_text(wrong, &option["text"], &format!("{at}/text"), 75);
        length(wrong, &option["value"], &format!("{at}/value"), 150);
        if let Some(description) = option.get("description") {
            any_text(wrong, description, &format!("{at}/description"), 75);
        }
    }
}
