//! A reply as a mail: text and simple HTML, threaded, with the mail that it answers quoted below.

use chrono::{DateTime, Utc};
use deskhand_core::port::PortError;
use lettre::Message;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, SinglePart};

use crate::email::inbound::OUR_HEADER;

/// The mail that is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quoted {
    pub author: String,
    pub at: DateTime<Utc>,
    pub text: String,
}

/// A mail of ours. Ids are without their brackets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Letter {
    /// `Care <care@shop.example>`.
    pub from: String,
    pub to_name: String,
    pub to: String,
    /// Where answers go; `None`: to the sender.
    pub reply_to: Option<String>,
    pub subject: String,
    pub message_id: String,
    pub in_reply_to: Option<String>,
    /// Oldest first.
    pub references: Vec<String>,
    pub text: String,
    pub quoted: Option<Quoted>,
    /// Nobody approved it by hand (RFC 3834).
    pub automatic: bool,
    /// What it belongs to, for our own header.
    pub ticket: String,
}

/// Lines of the answered mail that are quoted.
const QUOTED: usize = 200;

impl Letter {
    /// The plain text, with the answered mail below.
    pub fn plain(&self) -> String {
        let mut out = self.text.trim_end().to_owned();
        out.push('\n');
        if let Some(quoted) = &self.quoted {
            out.push_str(&format!("\n{}\n\n", quoted.introduction()));
            for line in quoted.text.trim().lines().take(QUOTED) {
                // Marks of an older quote stand together, as mail programs have them.
                let gap = if line.starts_with('>') || line.is_empty() {
                    ""
                } else {
                    " "
                };
                out.push_str(&format!(">{gap}{line}\n"));
            }
        }
        out
    }

    /// What our own header says: the ticket, and the id again, for services that put an id of their own in its place.
    pub(super) fn mark(&self) -> String {
        format!("{} {}", self.ticket, bracketed(&self.message_id))
    }

    /// As the wire has it.
    pub fn mime(&self) -> Result<Message, PortError> {
        let wrong = |what: &str| PortError::permanent(format!("{what} is no address that mail can be sent to"));
        let from: Mailbox = self.from.parse().map_err(|_| wrong("MAIL_FROM"))?;
        let address = self.to.parse().map_err(|_| wrong("the requester's address"))?;
        let name = Some(one_line(&self.to_name)).filter(|name| !name.is_empty() && *name != self.to);
        let mut builder = Message::builder()
            .from(from)
            .to(Mailbox::new(name, address))
            .subject(one_line(&self.subject))
            .message_id(Some(bracketed(&self.message_id)));
        if let Some(reply_to) = &self.reply_to {
            builder = builder.reply_to(reply_to.parse().map_err(|_| wrong("the address for answers"))?);
        }
        if let Some(id) = &self.in_reply_to {
            builder = builder.in_reply_to(bracketed(id));
        }
        if !self.references.is_empty() {
            let ids: Vec<String> = self.references.iter().map(|id| bracketed(id)).collect();
            builder = builder.references(ids.join(" "));
        }
        let part = |kind: ContentType, body: String| SinglePart::builder().header(kind).body(body);
        let parts = MultiPart::alternative()
            .singlepart(part(ContentType::TEXT_PLAIN, self.plain()))
            .singlepart(part(ContentType::TEXT_HTML, html(self)));
        let mut message = builder
            .multipart(parts)
            .map_err(|error| PortError::permanent(format!("the mail could not be made: {error}")))?;
        let mut set = |name: &'static str, value: &str| {
            let name = HeaderName::new_from_ascii_str(name);
            message
                .headers_mut()
                .insert_raw(HeaderValue::new(name, value.to_owned()));
        };
        set(OUR_HEADER, &self.mark());
        // Out-of-office notes are not wanted for any of our mail: Exchange hears only this.
        set("X-Auto-Response-Suppress", "OOF, AutoReply");
        if self.automatic {
            set("Auto-Submitted", "auto-replied");
        }
        Ok(message)
    }
}

impl Quoted {
    fn introduction(&self) -> String {
        format!(
            "On {}, {} wrote:",
            self.at.format("%-d %b %Y at %H:%M UTC"),
            one_line(&self.author)
        )
    }
}

/// Paragraphs and line breaks; everything that somebody wrote is escaped.
pub fn html(letter: &Letter) -> String {
    let mut out = String::from("<!DOCTYPE html><html><body>\n");
    paragraphs(&mut out, letter.text.trim());
    if let Some(quoted) = &letter.quoted {
        out.push_str(&format!("<p>{}</p>\n<blockquote>\n", escaped(&quoted.introduction())));
        let text: Vec<&str> = quoted.text.trim().lines().take(QUOTED).collect();
        paragraphs(&mut out, &text.join("\n"));
        out.push_str("</blockquote>\n");
    }
    out.push_str("</body></html>\n");
    out
}

fn paragraphs(out: &mut String, text: &str) {
    for paragraph in text
        .replace("\r\n", "\n")
        .split("\n\n")
        .filter(|text| !text.trim().is_empty())
    {
        let lines: Vec<String> = paragraph.trim_matches('\n').lines().map(escaped).collect();
        out.push_str(&format!("<p>{}</p>\n", lines.join("<br>\n")));
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A line break in a header would begin another header.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control())
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn bracketed(id: &str) -> String {
    let plain = |c: &char| !c.is_control() && !c.is_whitespace() && !matches!(c, '<' | '>');
    format!("<{}>", id.chars().filter(plain).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::email::{ParsedMail, parse};

    fn letter() -> Letter {
        Letter {
            from: "Lampshop Care <care@lamps.example>".into(),
            to_name: "Ola Berg, 王".into(),
            to: "ola@berg.example".into(),
            reply_to: Some("care+1001.00ff@lamps.example".into()),
            subject: "Re: Lämpe\r\nBcc: all@berg.example".into(),
            message_id: "deskhand.7-1@lamps.example".into(),
            in_reply_to: Some("2@berg.example".into()),
            references: vec!["1@berg.example".into(), "2@berg.example".into()],
            text: "We replaced <it>.\n\nKim".into(),
            quoted: Some(Quoted {
                author: "Ola".into(),
                at: DateTime::UNIX_EPOCH,
                text: "It hums.\n> old".into(),
            }),
            automatic: true,
            ticket: "T-1001".into(),
        }
    }

    fn sent(letter: &Letter) -> ParsedMail {
        parse(&letter.mime().expect("a mail").formatted())
    }

    #[test]
    fn it_says_what_it_answers_and_quotes_it() {
        let mail = sent(&letter());
        assert_eq!(mail.message_id, "deskhand.7-1@lamps.example");
        assert_eq!(mail.in_reply_to, ["2@berg.example"]);
        assert_eq!(mail.references, ["1@berg.example", "2@berg.example"]);
        assert_eq!(
            (mail.to[0].name.as_str(), mail.to[0].address.as_str()),
            ("Ola Berg, 王", "ola@berg.example")
        );
        assert_eq!(mail.reply_to[0].address, "care+1001.00ff@lamps.example");
        assert_eq!(mail.header("Auto-Submitted"), Some("auto-replied"));
        assert_eq!(mail.header(OUR_HEADER), Some("T-1001 <deskhand.7-1@lamps.example>"));
        assert_eq!(
            mail.text.trim(),
            "We replaced <it>.\n\nKim\n\nOn 1 Jan 1970 at 00:00 UTC, Ola wrote:\n\n> It hums.\n>> old"
        );
        let split = deskhand_core::mail::quote::split(&mail.text);
        assert_eq!(split.words(), "We replaced <it>.\n\nKim");
    }

    #[test]
    fn no_word_of_anybody_becomes_a_header_or_markup() {
        let mail = sent(&letter());
        assert_eq!(mail.subject, "Re: Lämpe Bcc: all@berg.example");
        assert!(mail.header("Bcc").is_none());
        assert!(html(&letter()).contains("We replaced &lt;it&gt;.") && html(&letter()).contains("&gt; old"));
    }

    #[test]
    fn what_a_person_approved_is_not_called_automatic() {
        let by_hand = Letter {
            automatic: false,
            ..letter()
        };
        assert_eq!(sent(&by_hand).header("Auto-Submitted"), None);
    }

    #[test]
    fn an_address_that_is_none_is_refused() {
        let nowhere = Letter {
            to: "Ola".into(),
            ..letter()
        };
        assert!(matches!(nowhere.mime(), Err(PortError::Permanent { .. })));
    }
}
