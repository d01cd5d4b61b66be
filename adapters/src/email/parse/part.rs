//! The parts of a mail: which are its text, which are attached, which report something.

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Encoding, Message, MessagePart, MimeHeaders, PartType};

use super::{ATTACHMENTS, Attachment, BODY_LIMIT, TEXT_LIMIT};

use crate::email::{charset, html};

/// A mail with more parts is none that somebody laid out: looking for each picture in all of them would take too long.
const FEW: usize = 300;

#[derive(Default)]
pub(super) struct Parts {
    pub text: String,
    pub from_html: bool,
    pub attachments: Vec<Attachment>,
    pub types: Vec<String>,
    pub report: String,
    pub returned: String,
}

impl Parts {
    pub(super) fn read(message: &Message<'_>) -> Self {
        let mut parts = Self {
            types: message.parts.iter().map(content_type).collect(),
            ..Self::default()
        };
        parts.read_text(message);
        for part in message.attachments().take(ATTACHMENTS) {
            let attachment = attachment(message, part);
            let nameless = attachment.name.is_empty() && part.content_disposition().is_none();
            // In a broken multipart the parser takes the text itself for an attachment.
            if parts.text.trim().is_empty() && nameless && attachment.content_type == "text/plain" {
                parts.text = attachment.text.unwrap_or_default();
            } else {
                parts.attachments.push(attachment);
            }
        }
        for part in &message.parts {
            let reports = matches!(
                content_type(part).as_str(),
                "message/delivery-status"
                    | "message/disposition-notification"
                    | "message/feedback-report"
                    | "message/global-delivery-status"
            );
            if reports {
                parts.report.push_str(&charset::decode(part.contents(), None));
                parts.report.push('\n');
            }
            if content_type(part).ends_with("rfc822-headers") {
                parts.returned.push_str(&charset::decode(part.contents(), None));
            }
            if let PartType::Message(inner) = &part.body {
                let root = inner.root_part();
                let head = inner
                    .raw_message
                    .get(root.offset_header as usize..root.offset_body as usize)
                    .unwrap_or_default();
                parts.returned.push_str(&charset::decode(head, None));
            }
        }
        parts
    }

    /// The plain text, unless it is a stub beside a longer HTML body ("your program cannot show this").
    fn read_text(&mut self, message: &Message<'_>) {
        let mut plain = Vec::new();
        let mut rich = Vec::new();
        for part in message.text_bodies() {
            match &part.body {
                PartType::Html(_) => rich.push(html::to_text(&text(message, part))),
                PartType::Text(_) => plain.push(text(message, part)),
                PartType::Binary(_) | PartType::InlineBinary(_) | PartType::Message(_) | PartType::Multipart(_) => {}
            }
        }
        let stub = plain.iter().all(|text| text.trim().is_empty());
        if stub && rich.is_empty() {
            let bodies = message
                .html_bodies()
                .filter(|part| matches!(part.body, PartType::Html(_)));
            rich = bodies.map(|part| html::to_text(&text(message, part))).collect();
        }
        self.from_html = stub && !rich.is_empty();
        plain.retain(|text| !text.trim().is_empty());
        plain.extend(rich);
        self.text = plain.join("\n\n");
    }
}

fn content_type(part: &MessagePart<'_>) -> String {
    match part.content_type() {
        Some(found) => format!("{}/{}", found.ctype(), found.subtype().unwrap_or("plain")).to_lowercase(),
        None => "text/plain".to_owned(),
    }
}

/// The text of a part, its charset looked after by us: the parser takes what is undeclared for UTF-8.
fn text(message: &Message<'_>, part: &MessagePart<'_>) -> String {
    let read = match &part.body {
        PartType::Text(text) | PartType::Html(text) => text,
        PartType::Binary(_) | PartType::InlineBinary(_) | PartType::Message(_) | PartType::Multipart(_) => {
            return charset::decode(part.contents(), None);
        }
    };
    let declared = part.content_type().and_then(|found| found.attribute("charset"));
    let raw = message
        .raw_message
        .get(part.offset_body as usize..part.offset_end as usize)
        .unwrap_or_default();
    let bytes = match part.encoding {
        Encoding::None => Some(up_to_a_line(raw, BODY_LIMIT).to_vec()),
        // A byte takes three at most.
        Encoding::QuotedPrintable => quoted_printable_decode(up_to_a_line(raw, BODY_LIMIT * 3)),
        Encoding::Base64 => base64_decode(up_to_a_line(raw, BODY_LIMIT / 2 * 3)),
    };
    match bytes.filter(|bytes| !bytes.is_empty()) {
        Some(bytes) => charset::decode(&bytes[..bytes.len().min(BODY_LIMIT)], declared),
        None => read[..read.floor_char_boundary(BODY_LIMIT)].to_owned(),
    }
}

/// The first bytes, whole lines where there are any: an encoding is not cut in the middle of a line.
fn up_to_a_line(raw: &[u8], most: usize) -> &[u8] {
    if raw.len() <= most {
        return raw;
    }
    let end = raw[..most].iter().rposition(|byte| *byte == b'\n');
    &raw[..end.map_or(most, |end| end + 1)]
}

fn attachment(message: &Message<'_>, part: &MessagePart<'_>) -> Attachment {
    let kind = content_type(part);
    let content_id = part
        .content_id()
        .unwrap_or_default()
        .trim_matches(['<', '>', ' '])
        .to_owned();
    let disposition = part
        .content_disposition()
        .map(|found| found.ctype().to_ascii_lowercase())
        .unwrap_or_default();
    let name = part
        .attachment_name()
        .unwrap_or_default()
        .replace(['\0', '\r', '\n'], "");
    let text = match &part.body {
        PartType::Text(_) | PartType::Html(_) => Some(text(message, part)),
        PartType::Binary(bytes) if readable(&kind, &name) => {
            Some(charset::decode(&bytes[..bytes.len().min(TEXT_LIMIT)], None))
        }
        PartType::Message(inner) => Some(attached_mail(inner)),
        PartType::Binary(_) | PartType::InlineBinary(_) | PartType::Multipart(_) => None,
    };
    // Some programs call a picture an attachment and show it all the same.
    let shown = |body: &MessagePart<'_>| matches!(&body.body, PartType::Html(html) if html.contains(&format!("cid:{content_id}")));
    let few = message.parts.len() <= FEW;
    let named = !content_id.is_empty() && (disposition != "attachment" || (few && message.parts.iter().any(shown)));
    Attachment {
        inline: kind.starts_with("image/") && (named || disposition == "inline"),
        size: part.len(),
        text: text.map(cut),
        name,
        content_type: kind,
        content_id,
    }
}

/// An attachment whose bytes a provider gives.
pub(in crate::email) fn given(name: &str, kind: &str, content_id: &str, bytes: &[u8]) -> Attachment {
    let kind = kind.split(';').next().unwrap_or_default().trim().to_lowercase();
    let text = (kind.starts_with("text/") || readable(&kind, name))
        .then(|| charset::decode(&bytes[..bytes.len().min(TEXT_LIMIT)], None));
    let content_id = content_id.trim_matches(['<', '>', ' ']).to_owned();
    Attachment {
        inline: kind.starts_with("image/") && !content_id.is_empty(),
        size: bytes.len(),
        text: text.map(cut),
        name: name.replace(['\0', '\r', '\n'], ""),
        content_type: kind,
        content_id,
    }
}

/// An attached mail as text: its main headers and its body. What is attached to it stays there.
fn attached_mail(inner: &Message<'_>) -> String {
    let mut head = String::new();
    for name in ["From", "Date", "Subject"] {
        if let Some(value) = inner.header_raw(name) {
            head.push_str(&format!(
                "{name}: {}\n",
                value.split_whitespace().collect::<Vec<_>>().join(" ")
            ));
        }
    }
    let mut parts = Parts::default();
    parts.read_text(inner);
    format!("{head}\n{}", parts.text)
}

/// Text under a binary type: logs and exports often come as `application/octet-stream`.
fn readable(kind: &str, name: &str) -> bool {
    let name = name.to_lowercase();
    let typed = ["json", "xml", "yaml", "csv", "calendar", "x-sh", "javascript"]
        .iter()
        .any(|known| kind.contains(known));
    let named = [
        ".txt", ".log", ".csv", ".json", ".xml", ".yaml", ".yml", ".md", ".ini", ".conf",
    ]
    .iter()
    .any(|end| name.ends_with(end));
    (typed || named) && !kind.contains("openxml") && !kind.contains("svg")
}

fn cut(mut text: String) -> String {
    if text.len() > TEXT_LIMIT {
        let end = (0..=TEXT_LIMIT)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0);
        text.truncate(end);
    }
    text.replace('\0', "")
}
