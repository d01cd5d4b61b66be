//! What a tool said, as text: words as they are, everything else by its kind and size.

use deskhand_core::step::Outcome;
use serde_json::Value;

/// The outcome of a call from its result as it came over the wire; `None` if it is no tool's result.
pub(super) fn outcome(result: &Value) -> Option<Outcome> {
    let content = result.get("content").and_then(Value::as_array);
    let structured = result.get("structuredContent");
    if content.is_none() && structured.is_none() {
        return None;
    }
    let parts: Vec<String> = content.into_iter().flatten().map(part).collect();
    let text = match (parts.is_empty(), structured) {
        (true, Some(structured)) => structured.to_string(),
        (true, None) => "[nothing]".into(),
        (false, _) => parts.join("\n"),
    };
    let text = clean(&text);
    Some(match result["isError"].as_bool() {
        Some(true) => Outcome::failed(text),
        Some(false) | None => Outcome::ok(text),
    })
}

/// The store keeps no NUL.
pub(super) fn clean(text: &str) -> String {
    text.replace('\0', "")
}

fn part(block: &Value) -> String {
    let text = |key: &str| block[key].as_str().unwrap_or_default();
    match text("type") {
        "text" => text("text").to_owned(),
        kind @ ("image" | "audio") => format!("[{kind}, {}]", size(text("data"))),
        "resource" => {
            let inner = &block["resource"];
            match (inner["text"].as_str(), inner["blob"].as_str()) {
                (Some(words), _) => words.to_owned(),
                (None, blob) => format!("[file, {}]", size(blob.unwrap_or_default())),
            }
        }
        "resource_link" => format!("[link to {}: {}]", text("name"), text("uri")),
        other => {
            let kind: String = other.chars().filter(|c| c.is_alphanumeric()).take(20).collect();
            format!("[{}, not shown]", if kind.is_empty() { "something" } else { &kind })
        }
    }
}

/// Of what stands in base64: `12 kB`.
fn size(base64: &str) -> String {
    let bytes = base64.trim_end_matches('=').len() * 3 / 4;
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        _ => format!("{} kB", (bytes + 500) / 1000),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn says(result: Value, text: &str) {
        assert_eq!(outcome(&result), Some(Outcome::ok(text)), "{result}");
    }

    #[test]
    fn words_are_joined_and_all_else_is_named() {
        let image = json!({ "type": "image", "mimeType": "image/png", "data": "A".repeat(16_000) });
        let file = json!({ "type": "resource", "resource": { "uri": "file:///a", "blob": "AAAA" } });
        let page = json!({ "type": "resource", "resource": { "uri": "file:///b", "text": "Page" } });
        let link = json!({ "type": "resource_link", "uri": "https://a.example/1", "name": "one" });
        let words = |text: &str| json!({ "type": "text", "text": text });
        says(
            json!({ "content": [words("Booked.\0"), image, words("Bye.")] }),
            "Booked.\n[image, 12 kB]\nBye.",
        );
        says(
            json!({ "content": [file, page, link, { "type": "hologram" }, 7] }),
            "[file, 3 bytes]\nPage\n[link to one: https://a.example/1]\n[hologram, not shown]\n[something, not shown]",
        );
    }

    #[test]
    fn structured_content_speaks_only_where_there_are_no_words() {
        says(json!({ "structuredContent": { "id": 7 } }), r#"{"id":7}"#);
        says(
            json!({ "content": [{ "type": "text", "text": "Seven" }], "structuredContent": 7 }),
            "Seven",
        );
        says(json!({ "content": [] }), "[nothing]");
    }

    #[test]
    fn errors_of_the_tool_are_failed_outcomes_and_garbage_is_none() {
        let failed = json!({ "content": [{ "type": "text", "text": "No order 9" }], "isError": true });
        assert_eq!(outcome(&failed), Some(Outcome::failed("No order 9")));
        assert_eq!(outcome(&json!({ "tools": [] })), None);
        assert_eq!(outcome(&json!(7)), None);
    }
}
