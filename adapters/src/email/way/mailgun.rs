//! Mailgun's routes: a parsed form, or the same with `body-mime` where the address ends in "mime".
//! Source: documentation.mailgun.com, "Receive, Forward and Store Messages".

use crate::email::form::Form;
use crate::email::parse::{from_parts, given, parse};

use super::{MapError, Received, received};

/// What Mailgun signs: not the body, only these two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailgunProof {
    pub timestamp: String,
    /// Fifty characters, new for each delivery: its id.
    pub token: String,
    pub signature: String,
}

/// The fields that `signature::mailgun` verifies.
pub fn mailgun_proof(content_type: &str, body: &[u8]) -> MailgunProof {
    let form = Form::read(content_type, body);
    MailgunProof {
        timestamp: form.text("timestamp"),
        token: form.text("token"),
        signature: form.text("signature"),
    }
}

/// A verified delivery of a route.
pub fn mailgun(content_type: &str, body: &[u8]) -> Result<Received, MapError> {
    let form = Form::read(content_type, body);
    let mail = if let Some(raw) = form.bytes("body-mime") {
        parse(raw)
    } else if form.bytes("message-headers").is_some() {
        let headers: Vec<(String, String)> = serde_json::from_str(&form.text("message-headers"))
            .map_err(|_| MapError::new("The form's message-headers are no list of pairs."))?;
        let ids: serde_json::Value = serde_json::from_str(&form.text("content-id-map")).unwrap_or_default();
        let content_id = |field: &str| {
            let named = ids
                .as_object()?
                .iter()
                .find(|(_, value)| value.as_str() == Some(field))?;
            Some(named.0.as_str())
        };
        let attachments = form.files().map(|file| {
            given(
                file.file.as_deref().unwrap_or_default(),
                &file.content_type,
                content_id(&file.name).unwrap_or_default(),
                &file.bytes,
            )
        });
        from_parts(
            &headers,
            &form.text("body-plain"),
            &form.text("body-html"),
            attachments.collect(),
        )
    } else {
        return Err(MapError::new("The form has neither a mail nor its headers."));
    };
    let to = form
        .text("recipient")
        .split(',')
        .map(|to| to.trim().to_lowercase())
        .filter(|to| !to.is_empty())
        .collect();
    Ok(received(
        format!("mailgun:{}", form.text("token")),
        mail,
        form.text("sender"),
        to,
    ))
}
