//! What Discord refuses in a message, and what no bot of ours should ever send.

use serde_json::{Value, json};

/// An error as Discord draws it.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) body: Value,
}

impl Refused {
    pub(super) fn of(status: u16, code: u64, message: &str) -> Self {
        Self {
            status,
            body: json!({ "message": message, "code": code }),
        }
    }

    pub(super) fn form(field: &str, why: &str) -> Self {
        let body = json!({
            "message": "Invalid Form Body", "code": 50035,
            "errors": { field: { "_errors": [{ "code": "INVALID", "message": why }] } },
        });
        Self { status: 400, body }
    }
}

fn length(text: &Value) -> usize {
    text.as_str().map_or(0, |text| text.encode_utf16().count())
}

/// The limits that the OpenAPI does not state, or states too high.
pub(super) fn message(body: &Value) -> Result<(), Refused> {
    if length(&body["content"]) > 2000 {
        return Err(Refused::form("content", "Must be 2000 or fewer in length."));
    }
    let embeds = body["embeds"].as_array().map_or(&[][..], Vec::as_slice);
    let mut all = 0;
    for embed in embeds {
        let fields = embed["fields"].as_array().map_or(&[][..], Vec::as_slice);
        for field in fields {
            if length(&field["name"]) == 0 || length(&field["value"]) == 0 {
                return Err(Refused::form("embeds", "This field is required"));
            }
            if length(&field["name"]) > 256 || length(&field["value"]) > 1024 {
                return Err(Refused::form("embeds", "A field is too long."));
            }
            all += length(&field["name"]) + length(&field["value"]);
        }
        if length(&embed["title"]) > 256
            || length(&embed["description"]) > 4096
            || length(&embed["footer"]["text"]) > 2048
        {
            return Err(Refused::form("embeds", "An embed is too long."));
        }
        all += length(&embed["title"]) + length(&embed["description"]) + length(&embed["footer"]["text"]);
    }
    if all > 6000 {
        return Err(Refused::form("embeds", "Embed size exceeds maximum size of 6000"));
    }
    let rows = body["components"].as_array().map_or(&[][..], Vec::as_slice);
    let crowded = |row: &Value| {
        row["components"]
            .as_array()
            .is_none_or(|buttons| buttons.is_empty() || buttons.len() > 5)
    };
    if rows.len() > 5 || rows.iter().any(crowded) {
        return Err(Refused::form("components", "Too many rows or buttons."));
    }
    Ok(())
}

pub(super) fn is_empty(body: &Value) -> bool {
    let none = |name: &str| body[name].as_array().is_none_or(Vec::is_empty);
    length(&body["content"]) == 0 && none("embeds") && none("components") && none("attachments")
}

/// Whoever shows customers' words must let nobody be mentioned.
pub(super) fn mentions(body: &Value) -> Option<String> {
    (body["allowed_mentions"] != json!({ "parse": [] })).then(|| format!("a message may mention people: {body}"))
}
