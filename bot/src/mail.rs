//! Mail that came in: given to the ticket that it belongs to, and judged, before the door writes it down.
//!
//! Which ticket that is, the surest proof decides: the signed reply address, our own Message-IDs, Message-IDs of the
//! conversation, and a number in the subject only for the ticket's own requester. What a program wrote is stored with its
//! ticket, never starts a run there, and is never answered. Nothing is sent from here.

mod belongs;
mod bounced;
mod certificates;
pub mod mailbox;

use anyhow::Context as _;
use chrono::Duration;
use deskhand_adapters::email::way::{self, MapError, Received, SesNotice};
use deskhand_adapters::email::{Attachment, EmailInbound, Ours, inbound, is_ours};
use deskhand_adapters::postgres::mails::{self, Found, Kept};
use deskhand_core::inbound::{Happening, Inbound, NewComment, Told};
use deskhand_core::mail::quote;
use deskhand_core::mail::robot::Kind;
use deskhand_core::ticket::{Author, OutsideId, Requester, Source};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::app::App;

pub use certificates::Certificates;
pub(crate) use certificates::confirm;

/// The way by which a mail came in; written as the last part of its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    Mailgun,
    SendGrid,
    Postmark,
    Ses,
    /// MIME as it is: over HTTP with a token, or from a mailbox.
    Raw,
}

/// So many mails of one sender in an hour are answered, and so many on one ticket: more is a loop, or a flood.
const FROM_SENDER: i64 = 20;
const ON_TICKET: i64 = 30;

/// A delivery, read.
pub enum Read {
    Mail(Box<Received>),
    /// The address by which a topic wants to be confirmed.
    Confirm {
        url: String,
    },
    Nothing {
        why: String,
    },
}

/// From a provider's bytes to a mail. Parsing is work: call it where it may block.
pub fn read(way: Way, content_type: &str, body: &[u8]) -> Result<Read, MapError> {
    let mail = |received: Received| Read::Mail(Box::new(received));
    match way {
        Way::Mailgun => way::mailgun(content_type, body).map(mail),
        Way::SendGrid => way::sendgrid(content_type, body).map(mail),
        Way::Postmark => way::postmark(body).map(mail),
        Way::Ses => way::ses(body).map(|notice| match notice {
            SesNotice::Mail(received) => Read::Mail(received),
            SesNotice::Confirm { url } => Read::Confirm { url },
            SesNotice::Nothing { why } => Read::Nothing { why },
        }),
        Way::Raw => Ok(mail(way::raw(body))),
    }
}

/// What the inbox keeps of a delivery's headers, to map it again.
pub fn kept_headers(way: Way, content_type: &str) -> Value {
    json!({ "way": way, "content-type": content_type })
}

/// A delivery that could not be mapped, once more.
pub async fn map_again(app: &App, headers: &Value, body: &[u8]) -> anyhow::Result<Inbound> {
    let way: Way = serde_json::from_value(headers["way"].clone()).context("the way it came is not known here")?;
    let content_type = headers["content-type"].as_str().unwrap_or_default();
    match read(way, content_type, body)? {
        Read::Mail(received) => map(app, &received).await,
        Read::Confirm { .. } | Read::Nothing { .. } => anyhow::bail!("it holds no mail"),
    }
}

/// Of no interest to any ticket.
pub fn nothing(why: impl Into<String>) -> Inbound {
    Inbound {
        ticket: OutsideId {
            source: Source::Email,
            id: String::new(),
        },
        what: Happening::Nothing { why: why.into() },
    }
}

/// The same for the inbox: what the store refuses for what it holds is kept with the reason; what fails otherwise, fails.
pub async fn mapped(app: &App, received: &Received) -> anyhow::Result<Result<Inbound, String>> {
    match map(app, received).await {
        Ok(inbound) => Ok(Ok(inbound)),
        Err(error) => match error
            .downcast_ref::<sqlx::Error>()
            .and_then(sqlx::Error::as_database_error)
        {
            Some(refused) => Ok(Err(format!("It could not be stored as a ticket: {refused}"))),
            None => Err(error),
        },
    }
}

/// What a mail means here. Keeps the mail itself beside what becomes a comment.
pub async fn map(app: &App, received: &Received) -> anyhow::Result<Inbound> {
    let config = &app.config.mail;
    let ours = Ours {
        addresses: &config.addresses,
        reply_key: config.reply_key.as_ref().map_or("", |key| key.expose_secret()),
    };
    let mail = inbound(received, ours);
    if matches!(mail.automatic.kind, Kind::Own | Kind::Loop) {
        return Ok(nothing(format!("our own mail came back ({})", mail.automatic.why)));
    }
    let Happening::Told(told) = &mail.inbound.what else {
        return Ok(mail.inbound);
    };
    let sender = told
        .requester
        .as_ref()
        // No address is longer (RFC 5321); an index holds no endless keys.
        .map(|requester| requester.address.to_lowercase().chars().take(320).collect::<String>())
        .unwrap_or_default();
    if let Kind::Bounce(bounce) = &mail.automatic.kind {
        bounced::tell(app, bounce, &mail.thread).await?;
    }
    let found = belongs::find(app, &mail, &received.mail.subject, &sender).await?;
    let ticket = found.as_ref().map(|found| found.id);
    let since = app.clock.now() - Duration::hours(1);
    let lately = mails::lately(&app.pool, &sender, ticket, since).await?;
    let flooded = lately.from_sender >= FROM_SENDER || lately.on_ticket >= ON_TICKET;
    let id = keep(app, &mail, &received.mail.references, &sender, found.as_ref()).await?;
    let mut told = (**told).clone();
    for comment in &mut told.comments {
        comment.outside_id = Some(id.clone());
        // The sender's clock may be anything; ours is the bound.
        comment.created_at = comment.created_at.map(|at| at.min(app.clock.now()));
    }
    let quiet = told.automatic || flooded;
    let Some(found) = found else {
        return Ok(opened(app, &mail, told, id, &sender, flooded));
    };
    if !quiet && found.automatic {
        mails::is_a_persons(&app.pool, found.id).await?;
    }
    joins(app, &mut told, &found, &sender, quiet);
    Ok(Inbound {
        ticket: OutsideId {
            source: Source::Email,
            id: found.outside_id,
        },
        what: Happening::Told(Box::new(told)),
    })
}

/// A mail on a ticket that is there: it adds what was said, and changes neither subject nor requester.
fn joins(app: &App, told: &mut Told, found: &Found, sender: &str, quiet: bool) {
    told.subject = None;
    told.requester = None;
    told.automatic = false;
    for comment in &mut told.comments {
        comment.author = if sender == found.requester {
            Author::Requester
        } else if belongs::is_team(app, sender) {
            Author::Agent
        } else {
            Author::Other
        };
        if quiet {
            // Seen by people and the model, and news to nobody: no run, no stale draft, no answer.
            comment.author = Author::Other;
            comment.public = false;
        }
    }
}

/// A mail that opens a ticket: its sender's, or, where somebody of the house passed it on, the one's who wrote it.
fn opened(app: &App, mail: &EmailInbound, mut told: Told, id: String, sender: &str, flooded: bool) -> Inbound {
    told.automatic |= flooded;
    let mut ticket = mail.inbound.ticket.clone();
    let believed = mail.doubts.is_empty() && !told.automatic && belongs::is_team(app, sender);
    let original = mail.forwarded.as_ref().filter(|original| {
        let foreign = !original.address.is_empty()
            && !belongs::is_team(app, &original.address)
            && !is_ours(
                &original.address,
                Ours {
                    addresses: &app.config.mail.addresses,
                    reply_key: "",
                },
            );
        believed && foreign
    });
    if let Some(original) = original {
        ticket.id.clone_from(&id);
        let subject = Some(original.subject.clone()).filter(|subject| !subject.trim().is_empty());
        told.subject = subject.or(told.subject);
        let name = match original.name.as_str() {
            "" => original.address.clone(),
            name => name.to_owned(),
        };
        let note = told.comments.first().map(|comment| NewComment {
            outside_id: Some(format!("{id}#note")),
            author: Author::Agent,
            public: false,
            body: mail.words.clone(),
            ..comment.clone()
        });
        for comment in &mut told.comments {
            comment.author_name.clone_from(&name);
            comment.body = quote::split(&original.body).words();
            let listed = deskhand_adapters::email::listed(&mail.attachments);
            if !listed.is_empty() {
                comment.body.push_str(&format!("\n\n{listed}"));
            }
        }
        // Without a word of their own there is no note; then the words are the whole.
        told.comments.extend(note.filter(|note| note.body != mail.whole.trim()));
        told.requester = Some(Requester {
            name,
            address: original.address.clone(),
        });
    }
    Inbound {
        ticket,
        what: Happening::Told(Box::new(told)),
    }
}

/// Keeps the mail, and gives the id under which its comment is known.
async fn keep(
    app: &App,
    mail: &EmailInbound,
    references: &[String],
    sender: &str,
    found: Option<&Found>,
) -> anyhow::Result<String> {
    let Happening::Told(told) = &mail.inbound.what else {
        anyhow::bail!("a mail tells something");
    };
    let own = told
        .comments
        .first()
        .and_then(|comment| comment.outside_id.clone())
        .context("a mail has an id")?;
    let mut refs: Vec<String> = references.iter().rev().take(20).rev().cloned().collect();
    refs.push(own.clone());
    let attachment = |attachment: &Attachment| {
        json!({
            "name": attachment.name, "content_type": attachment.content_type, "size": attachment.size,
            "inline": attachment.inline, "text": attachment.text,
        })
    };
    let mut kept = Kept {
        id: own,
        digest: mail.digest.clone(),
        sender: sender.to_owned(),
        ticket: found.map(|found| found.id),
        label: mail.automatic.kind.label(),
        why: mail.automatic.why.clone(),
        refs,
        whole: mail.whole.clone(),
        attachments: mail.attachments.iter().take(200).map(attachment).collect(),
        doubts: mail.doubts.clone(),
        received_at: app.clock.now(),
    };
    if !mails::keep(&app.pool, &kept).await? {
        // Another mail has this Message-ID: both are kept, each under an id of its own.
        kept.id = format!("{}#{}", kept.id, kept.digest);
        mails::keep(&app.pool, &kept).await?;
    }
    Ok(kept.id)
}
