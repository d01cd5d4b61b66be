//! A received mail to an `Inbound`: its new words as the comment, and beside it what an operator or a thread needs.

use deskhand_core::inbound::{Happening, Inbound, NewComment, Told};
use deskhand_core::mail::quote::{self, Original};
use deskhand_core::mail::robot::{self, Found};
use deskhand_core::ticket::{Author, OutsideId, Requester, Source};
use sha2::{Digest, Sha256};

use super::parse::{Attachment, Mailbox, ParsedMail};
use super::thread;
use super::way::Received;

/// By what our own mail and our own threads are known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ours<'a> {
    /// Addresses that mail comes in at and replies go out from, in lower case.
    pub addresses: &'a [String],
    /// Signs reply addresses; empty: none is believed.
    pub reply_key: &'a str,
}

/// The header that every mail of ours carries.
pub const OUR_HEADER: &str = "X-Deskhand";

/// Where the mail may belong, the surest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// The ticket that a signed reply address names.
    pub ticket: Option<String>,
    /// Effects of ours whose mail this answers, by our own Message-IDs.
    pub effects: Vec<String>,
    /// All Message-IDs that it refers to, the nearest first, without brackets.
    pub ids: Vec<String>,
}

/// One mail, understood.
#[derive(Clone, Debug, PartialEq)]
pub struct EmailInbound {
    pub delivery: String,
    /// Its ticket is named by the first Message-ID of the conversation; see [`Thread`] for a surer one.
    pub inbound: Inbound,
    pub thread: Thread,
    /// The whole body as text.
    pub whole: String,
    /// What the sender wrote for this mail.
    pub words: String,
    pub quoted: String,
    pub signature: String,
    /// The text of a mail that was passed on, with its separator.
    pub passed_on: String,
    /// What was passed on, where it was; proves nothing about who wrote it.
    pub forwarded: Option<Original>,
    pub automatic: Found,
    /// Tells apart two mails that a careless program gave one Message-ID.
    pub digest: String,
    pub attachments: Vec<Attachment>,
    /// Addressees besides us.
    pub copied: Vec<Mailbox>,
    pub doubts: Vec<String>,
}

pub fn inbound(received: &Received, ours: Ours<'_>) -> EmailInbound {
    let mail = &received.mail;
    let automatic = judged(mail, ours);
    let split = if quote::says_forwarded(&mail.subject) {
        quote::split_forward(&mail.text)
    } else {
        quote::split(&mail.text)
    };
    let from = author(mail, ours);
    let own_id = if mail.message_id.is_empty() {
        content_id(mail)
    } else {
        mail.message_id.clone()
    };
    let mut ids: Vec<String> = Vec::new();
    for id in mail.in_reply_to.iter().chain(mail.references.iter().rev()) {
        if !id.is_empty() && !ids.contains(id) && ids.len() < 100 {
            ids.push(id.clone());
        }
    }
    let root = mail
        .references
        .iter()
        .chain(&mail.in_reply_to)
        .find(|id| !id.is_empty())
        .unwrap_or(&own_id);
    let reached = received
        .envelope_to
        .iter()
        .chain(mail.to.iter().chain(&mail.cc).map(|to| &to.address));
    let thread = Thread {
        ticket: reached
            .clone()
            .find_map(|address| thread::ticket_of(address, ours.reply_key)),
        effects: ids
            .iter()
            .filter_map(|id| thread::effect_of(id))
            .chain(thread::effects_within(&mail.returned, OUR_HEADER))
            .map(str::to_owned)
            .collect(),
        ids: ids.clone(),
    };
    let told = Told {
        subject: Some(mail.subject.clone()),
        requester: Some(Requester {
            name: from.name.clone(),
            address: from.address.clone(),
        }),
        comments: vec![NewComment {
            outside_id: Some(own_id.clone()),
            // Anybody can write our address there: it makes a mail automatic, and never one of ours.
            author: Author::Requester,
            author_name: if from.name.is_empty() {
                from.address.clone()
            } else {
                from.name.clone()
            },
            public: true,
            body: told_body(&split, &mail.attachments),
            created_at: mail.date,
            marker: None,
        }],
        automatic: automatic.kind.is_automatic(),
        updated_at: mail.date,
        ..Told::default()
    };
    let copied = mail
        .to
        .iter()
        .chain(&mail.cc)
        .filter(|to| !is_ours(&to.address, ours))
        .cloned()
        .collect();
    EmailInbound {
        delivery: received.delivery.clone(),
        inbound: Inbound {
            ticket: OutsideId {
                source: Source::Email,
                id: root.clone(),
            },
            what: Happening::Told(Box::new(told)),
        },
        thread,
        quoted: split.quoted(),
        signature: split.signature(),
        forwarded: quote::original(&split.forwarded()),
        passed_on: split.forwarded(),
        words: split.words(),
        whole: mail.text.trim_end().to_owned(),
        automatic,
        digest: digest(mail),
        attachments: mail.attachments.clone(),
        copied,
        doubts: received.doubts.clone(),
    }
}

/// So much of a text attachment is read out in the comment; whole text is kept beside it.
const READ_OUT: usize = 4000;

/// The new words; a mail that was passed on, since that is what they are about; and what is attached, text read out.
fn told_body(split: &quote::Split<'_>, attachments: &[Attachment]) -> String {
    let mut body = split.words();
    let passed_on = split.forwarded();
    if !passed_on.is_empty() && !body.contains(&passed_on) {
        body.push_str("\n\n");
        body.push_str(&passed_on);
    }
    let listed = listed(attachments);
    if !listed.is_empty() {
        body.push_str("\n\n");
        body.push_str(&listed);
    }
    body.trim_start_matches('\n').to_owned()
}

/// What is attached, by name and size; what is text stands below its name. Pictures within the text are no attachments.
pub fn listed(attachments: &[Attachment]) -> String {
    let mut out = String::new();
    for attachment in attachments.iter().filter(|attachment| !attachment.inline).take(50) {
        let name = match attachment.name.as_str() {
            "" => "without a name",
            name => name,
        };
        out.push_str(&format!(
            "[attached: {name}, {}, {} bytes]\n",
            attachment.content_type, attachment.size
        ));
        let text = attachment.text.as_deref().map(str::trim).unwrap_or_default();
        if !text.is_empty() {
            let end = text.floor_char_boundary(READ_OUT);
            out.push_str(&text[..end]);
            out.push_str(if end < text.len() { "\n[…]\n" } else { "\n" });
        }
    }
    out.trim_end().to_owned()
}

/// Who wrote it: the sender, or, where a form on a site sent it from our own address, whom it names to be answered.
fn author(mail: &ParsedMail, ours: Ours<'_>) -> Mailbox {
    let from = mail.from.first();
    let foreign = from.filter(|from| !is_ours(&from.address, ours));
    let answer = mail.reply_to.iter().find(|to| !is_ours(&to.address, ours));
    foreign.or(answer).or(from).cloned().unwrap_or_default()
}

fn judged(mail: &ParsedMail, ours: Ours<'_>) -> Found {
    robot::judge(&robot::Mail {
        headers: &mail.headers,
        subject: &mail.subject,
        text: &mail.text,
        parts: &mail.parts,
        report: &mail.report,
        returned: &mail.returned,
        ours: robot::Ours {
            addresses: ours.addresses,
            headers: &[OUR_HEADER],
        },
    })
}

/// One of our addresses, with or without something behind a plus.
pub fn is_ours(address: &str, ours: Ours<'_>) -> bool {
    let plain = address
        .rsplit_once('@')
        .map(|(local, domain)| format!("{}@{domain}", local.split('+').next().unwrap_or(local)));
    ours.addresses
        .iter()
        .any(|own| own == address || Some(own) == plain.as_ref())
}

/// By sender, date and subject: a mail that came in twice has the same, also where a list put its footer under one.
fn digest(mail: &ParsedMail) -> String {
    let from = mail.from.first().map(|from| from.address.as_str()).unwrap_or_default();
    let date = mail.date.map(|date| date.to_rfc3339()).unwrap_or_default();
    let mut digest = Sha256::new();
    for part in [from, &date, mail.subject.trim()] {
        digest.update(part.as_bytes());
        digest.update(b"\n");
    }
    hex::encode(&digest.finalize()[..12])
}

/// Stands for a Message-ID where a program gave none: the same mail has the same one.
fn content_id(mail: &ParsedMail) -> String {
    let mut digest = Sha256::new();
    let from = mail.from.first().map(|from| from.address.as_str()).unwrap_or_default();
    let date = mail.date.map(|date| date.to_rfc3339()).unwrap_or_default();
    for part in [from, &date, &mail.subject, mail.text.trim()] {
        digest.update(part.as_bytes());
        digest.update(b"\n");
    }
    format!("sha256.{}", hex::encode(&digest.finalize()[..20]))
}

#[cfg(test)]
mod tests;
