//! Messages as people read them: without the marks of the markdown.

use serde_json::Value;

/// Everything that a message says, in the order in which it stands there.
pub(super) fn of(body: &Value) -> String {
    let mut said: Vec<String> = vec![plain(&body["content"])];
    for embed in body["embeds"].as_array().into_iter().flatten() {
        said.push(plain(&embed["title"]));
        said.push(plain(&embed["description"]));
        for field in embed["fields"].as_array().into_iter().flatten() {
            said.push(format!("{}: {}", plain(&field["name"]), plain(&field["value"])));
        }
        said.push(embed["footer"]["text"].as_str().unwrap_or_default().to_owned());
    }
    said.retain(|line| !line.is_empty());
    said.join("\n")
}

/// Escaped signs as themselves; bold marks gone.
fn plain(text: &Value) -> String {
    let mut out = String::new();
    let mut chars = text.as_str().unwrap_or_default().chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            '*' if chars.peek() == Some(&'*') => {
                chars.next();
            }
            c => out.push(c),
        }
    }
    out
}

/// Label and `custom_id` of each button.
pub(super) fn buttons(body: &Value) -> Vec<(String, String)> {
    let rows = body["components"].as_array().into_iter().flatten();
    let buttons = rows.flat_map(|row| row["components"].as_array().into_iter().flatten());
    let text = |button: &Value, name: &str| button[name].as_str().unwrap_or_default().to_owned();
    buttons
        .map(|button| (text(button, "label"), text(button, "custom_id")))
        .collect()
}
