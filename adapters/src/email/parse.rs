//! Raw MIME to a mail. Whatever the bytes are, there is a mail in the end: a broken one has what could be read.

mod part;
#[cfg(test)]
mod tests;
mod word;

use chrono::{DateTime, Utc};
use mail_parser::{Address, HeaderValue, Message, MessageParser};

use super::{charset, html};
use part::Parts;
pub(super) use part::given;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mailbox {
    /// Empty if there is none.
    pub name: String,
    /// In lower case; empty in a broken header.
    pub address: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// Empty if it has none.
    pub name: String,
    /// `type/subtype`, in lower case.
    pub content_type: String,
    /// Bytes after decoding.
    pub size: usize,
    /// Shown within the text, as pictures are: has a content id that HTML can name, or says "inline".
    pub inline: bool,
    pub content_id: String,
    /// The content of a text attachment, cut at [`TEXT_LIMIT`] bytes.
    pub text: Option<String>,
}

/// Of a text attachment, no more is kept.
pub const TEXT_LIMIT: usize = 256 * 1024;

/// Of a body, no more is kept: what is longer was not written to be read.
pub const BODY_LIMIT: usize = 2 * 1024 * 1024;

/// Of a mail, no more is looked into; the rest can only be attached.
const LARGEST: usize = 64 * 1024 * 1024;

/// Parts, and what is listed of them: nobody sends more, and each costs the parser far more than its bytes.
const PARTS: usize = 5000;
pub(super) const ATTACHMENTS: usize = 500;

/// Headers, bytes of one, and people in one, that are kept.
const HEADERS: usize = 2000;
const HEADER: usize = 32 * 1024;
const PEOPLE: usize = 1000;

/// Mails within mails: the parser builds them into each other, and taking thousands apart again would end the stack.
const NESTED: usize = 500;

/// A mail as far as it could be read. Ids are without their brackets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedMail {
    /// All of them, decoded and unfolded, in order.
    pub headers: Vec<(String, String)>,
    pub message_id: String,
    pub in_reply_to: Vec<String>,
    pub references: Vec<String>,
    pub from: Vec<Mailbox>,
    pub to: Vec<Mailbox>,
    pub cc: Vec<Mailbox>,
    pub reply_to: Vec<Mailbox>,
    pub date: Option<DateTime<Utc>>,
    pub subject: String,
    /// The body for reading: the plain one, or the HTML one made into text. With LF.
    pub text: String,
    /// The text was made from HTML.
    pub from_html: bool,
    pub attachments: Vec<Attachment>,
    /// `type/subtype` of all parts, in lower case.
    pub parts: Vec<String>,
    /// The text of delivery, disposition, and feedback reports.
    pub report: String,
    /// The headers of a mail that was returned or attached.
    pub returned: String,
}

impl ParsedMail {
    /// The first value of a header, by its name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(header, _)| header.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// Reads a mail. Bytes that are no mail at all become one without headers, whose text they are.
pub fn parse(raw: &[u8]) -> ParsedMail {
    let raw = bounded(without_envelope_line(raw));
    let Some(message) = MessageParser::default().parse(raw) else {
        return ParsedMail {
            text: lf(&charset::decode(&raw[..raw.len().min(BODY_LIMIT)], None)),
            ..ParsedMail::default()
        };
    };
    let mut parts = Parts::read(&message);
    if parts.text.trim().is_empty() && parts.attachments.is_empty() {
        // Boundaries that contradict each other swallow what stands between them.
        let text = lf(&charset::decode(&raw[..raw.len().min(BODY_LIMIT)], None));
        parts.text = salvaged(text.split_once("\n\n").map_or("", |(_, body)| body));
    }
    let ids = |value: &HeaderValue<'_>| {
        value
            .as_text_list()
            .unwrap_or_default()
            .iter()
            .map(|id| id_of(id))
            .collect()
    };
    ParsedMail {
        headers: headers(&message),
        message_id: id_of(message.message_id().unwrap_or_default()),
        in_reply_to: ids(message.in_reply_to()),
        references: ids(message.references()),
        from: mailboxes(message.from()),
        to: mailboxes(message.to()),
        cc: mailboxes(message.cc()),
        reply_to: mailboxes(message.reply_to()),
        date: message
            .date()
            .and_then(|date| DateTime::parse_from_rfc3339(&date.to_rfc3339()).ok())
            .map(|date| date.to_utc()),
        subject: subject(&message),
        text: lf(&parts.text),
        from_html: parts.from_html,
        attachments: parts.attachments,
        parts: parts.types,
        report: parts.report,
        returned: parts.returned,
    }
}

/// What a broken multipart holds, without the lines that only give it its structure.
fn salvaged(body: &str) -> String {
    let structure = |line: &&str| {
        let line = line.to_ascii_lowercase();
        line.starts_with("--") || line.starts_with("content-") || line.starts_with("mime-version:")
    };
    let kept: Vec<&str> = body.lines().filter(|line| !structure(line)).collect();
    kept.join("\n").trim().to_owned()
}

/// A mail that a provider took apart: its headers as names and values, its bodies, and what was attached.
pub fn from_parts(headers: &[(String, String)], plain: &str, rich: &str, attachments: Vec<Attachment>) -> ParsedMail {
    // The type of the whole would make the parser look for parts that are not there.
    let skipped = ["content-type", "content-transfer-encoding"];
    let kept = headers
        .iter()
        .filter(|(name, _)| !skipped.contains(&name.to_ascii_lowercase().as_str()));
    let head: String = kept
        .map(|(name, value)| format!("{}: {}\r\n", one_line(name), one_line(value)))
        .collect();
    let mut mail = parse(format!("{head}\r\n").as_bytes());
    mail.headers = headers
        .iter()
        .map(|(name, value)| (name.clone(), word::decode(value.as_bytes())))
        .collect();
    mail.from_html = plain.trim().is_empty() && !rich.trim().is_empty();
    let up_to = |text: &'_ str| text[..text.floor_char_boundary(BODY_LIMIT)].to_owned();
    mail.text = lf(&if mail.from_html {
        html::to_text(&up_to(rich))
    } else {
        up_to(plain)
    });
    mail.parts = attachments
        .iter()
        .map(|attachment| attachment.content_type.clone())
        .collect();
    mail.attachments = attachments;
    mail
}

/// The part that is looked into.
fn bounded(raw: &[u8]) -> &[u8] {
    let raw = &raw[..raw.len().min(LARGEST)];
    let mut lines = raw.windows(3).enumerate().filter(|(_, three)| *three == b"\n--");
    let raw = lines.nth(PARTS * 2).map_or(raw, |(at, _)| &raw[..at]);
    let mut nested = 0;
    for (at, _) in raw.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
        let named = ["rfc822", "global", "digest"].iter().any(|name| {
            let bytes = raw.get(at + 1..at + 1 + name.len());
            bytes.is_some_and(|bytes| bytes.eq_ignore_ascii_case(name.as_bytes()))
        });
        if named {
            nested += 1;
            if nested > NESTED {
                return &raw[..at];
            }
        }
    }
    raw
}

/// Mailboxes and old servers put "From x@y date" above the headers.
fn without_envelope_line(raw: &[u8]) -> &[u8] {
    let start = raw.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    let raw = &raw[start..];
    if !(raw.starts_with(b"From ") || raw.starts_with(b">From ")) {
        return raw;
    }
    raw.iter()
        .position(|byte| *byte == b'\n')
        .map_or(raw, |end| &raw[end + 1..])
}

/// The last one, as the parser has it for other headers, too.
fn subject(message: &Message<'_>) -> String {
    let header = message
        .headers()
        .iter()
        .rev()
        .find(|header| header.name.as_str().eq_ignore_ascii_case("subject"));
    let raw = header.and_then(|header| {
        message
            .raw_message
            .get(header.offset_start as usize..header.offset_end as usize)
    });
    raw.map(|raw| word::decode(&raw[..raw.len().min(HEADER)]))
        .unwrap_or_default()
}

fn headers(message: &Message<'_>) -> Vec<(String, String)> {
    let value = |header: &mail_parser::Header<'_>| {
        let raw = message
            .raw_message
            .get(header.offset_start as usize..header.offset_end as usize);
        raw.map(|raw| word::decode(&raw[..raw.len().min(HEADER)]))
            .unwrap_or_default()
    };
    message
        .headers()
        .iter()
        .take(HEADERS)
        .map(|header| (header.name.as_str().to_owned(), value(header)))
        .collect()
}

fn mailboxes(address: Option<&Address<'_>>) -> Vec<Mailbox> {
    let found = address.into_iter().flat_map(Address::iter).take(PEOPLE);
    let read = found.map(|mailbox| Mailbox {
        name: one_line(mailbox.name().unwrap_or_default()),
        address: clean(mailbox.address().unwrap_or_default()).to_lowercase(),
    });
    read.filter(|mailbox| !mailbox.name.is_empty() || !mailbox.address.is_empty())
        .collect()
}

fn clean(text: &str) -> String {
    text.trim()
        .trim_start_matches('<')
        .trim_end_matches('>')
        .replace('\0', "")
}

/// No program writes a longer id, and no index holds an endless one.
fn id_of(text: &str) -> String {
    clean(text).chars().take(400).collect()
}

fn one_line(text: &str) -> String {
    text.replace('\0', "")
        .split(['\r', '\n', '\t'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn lf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "")
}
