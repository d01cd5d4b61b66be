//! Postmark's inbound webhook: JSON, with the raw mail in `RawEmail` where the server is set to include it.
//! Source: postmarkapp.com/developer/webhooks/inbound-webhook.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::email::parse::{Attachment, from_parts, given, parse};

use super::{MapError, Received, digest, received};

/// A delivery whose password was right.
pub fn postmark(body: &[u8]) -> Result<Received, MapError> {
    let json: Value = serde_json::from_slice(body).map_err(|_| MapError::new("The body is no JSON."))?;
    let text = |key: &str| json[key].as_str().unwrap_or_default();
    if !json["Headers"].is_array() && text("RawEmail").is_empty() {
        return Err(MapError::new("The body has neither a mail nor its headers."));
    }
    let mail = match text("RawEmail") {
        "" => from_parts(&headers(&json), text("TextBody"), text("HtmlBody"), attachments(&json)),
        raw => parse(raw.as_bytes()),
    };
    let from = mail
        .header("Return-Path")
        .map_or_else(|| text("From").to_owned(), str::to_owned);
    let to = [text("OriginalRecipient")]
        .iter()
        .filter(|to| !to.is_empty())
        .map(|to| to.to_lowercase())
        .collect();
    let id = match text("MessageID") {
        "" => digest(body),
        id => id.chars().take(100).collect(),
    };
    Ok(received(format!("postmark:{id}"), mail, from, to))
}

/// The list leaves out what has a field of its own.
fn headers(json: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let listed = json["Headers"].as_array().into_iter().flatten();
    let mut headers: Vec<(String, String)> = listed
        .map(|header| (text(&header["Name"]), text(&header["Value"])))
        .collect();
    let person = |person: &Value| match (text(&person["Name"]).replace('"', "'"), text(&person["Email"])) {
        (name, email) if name.is_empty() => email,
        (name, email) => format!("\"{name}\" <{email}>"),
    };
    let people = |key: &str| {
        json[key]
            .as_array()
            .into_iter()
            .flatten()
            .map(person)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let fields = [
        ("From", person(&json["FromFull"])),
        ("To", people("ToFull")),
        ("Cc", people("CcFull")),
        ("Reply-To", text(&json["ReplyTo"])),
        ("Subject", text(&json["Subject"])),
        ("Date", text(&json["Date"])),
    ];
    for (name, value) in fields {
        if !value.trim().is_empty() && !headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            headers.push((name.to_owned(), value));
        }
    }
    headers
}

fn attachments(json: &Value) -> Vec<Attachment> {
    let listed = json["Attachments"].as_array().into_iter().flatten();
    let read = listed.map(|found| {
        let text = |key: &str| found[key].as_str().unwrap_or_default();
        let bytes = STANDARD.decode(text("Content")).unwrap_or_default();
        given(text("Name"), text("ContentType"), text("ContentID"), &bytes)
    });
    read.collect()
}
