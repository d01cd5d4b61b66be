//! SendGrid's Inbound Parse: a parsed form, whose fields are in the charsets that the field `charsets` names, or the raw
//! mail in `email`. It sends no id of a delivery; a digest over the mail's own id and sender stands for it.
//! Source: twilio.com/docs/sendgrid, "Setting up the Inbound Parse Webhook".

use serde_json::Value;

use crate::email::charset;
use crate::email::form::Form;
use crate::email::parse::{from_parts, given, parse};

use super::{MapError, Received, digest, received};

/// SpamAssassin's own threshold.
const SPAM: f64 = 5.0;

/// A verified delivery.
pub fn sendgrid(content_type: &str, body: &[u8]) -> Result<Received, MapError> {
    let form = Form::read(content_type, body);
    let charsets: Value = serde_json::from_str(&form.text("charsets")).unwrap_or_default();
    let text = |name: &str| {
        form.bytes(name)
            .map(|bytes| charset::decode(bytes, charsets[name].as_str()))
            .unwrap_or_default()
    };
    let mail = if let Some(raw) = form.bytes("email") {
        parse(raw)
    } else if form.bytes("headers").is_some() {
        let headers = parse(format!("{}\r\n\r\n", text("headers").trim_end()).as_bytes()).headers;
        let listed: Value = serde_json::from_str(&form.text("attachment-info")).unwrap_or_default();
        let attachments = form.files().map(|file| {
            let known = &listed[file.name.as_str()];
            let name = file.file.as_deref().or(known["filename"].as_str()).unwrap_or_default();
            given(
                name,
                &file.content_type,
                known["content-id"].as_str().unwrap_or_default(),
                &file.bytes,
            )
        });
        from_parts(&headers, &text("text"), &text("html"), attachments.collect())
    } else {
        return Err(MapError::new("The form has neither a mail nor its headers."));
    };
    let envelope: Value = serde_json::from_str(&form.text("envelope")).unwrap_or_default();
    let to = envelope["to"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_lowercase)
        .collect();
    let id = if mail.message_id.is_empty() {
        digest(body)
    } else {
        // With the sender: whoever repeats somebody's id must not have the other mail taken for a repeat.
        let from = envelope["from"].as_str().unwrap_or_default();
        digest(format!("{}\n{from}", mail.message_id).as_bytes())
    };
    let mut received = received(
        format!("sendgrid:{id}"),
        mail,
        envelope["from"].as_str().unwrap_or_default().to_owned(),
        to,
    );
    if form
        .text("spam_score")
        .trim()
        .parse::<f64>()
        .is_ok_and(|score| score >= SPAM)
    {
        received.doubts.push("SendGrid takes this mail for spam.".to_owned());
    }
    Ok(received)
}
