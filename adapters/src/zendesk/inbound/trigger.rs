//! Webhooks that a trigger or an automation sends with a template (`deploy/zendesk/trigger.json`, or an older one).
//!
//! A trigger's payload carries no comment id, so it never becomes a comment: it says that the ticket must be read. From
//! its text only two things are taken, and both only where no customer can have put them: the ticket's number, and the
//! account that made the update.

use deskhand_core::inbound::{DeskStatus, Happening, Inbound, NewComment, Told};
use deskhand_core::ticket::{Author, OutsideId, Priority, Requester, Source};
use serde_json::Value;
use url::form_urlencoded;

use super::{Entries, MapError, OurAuthor, clean, digits, number};

type Mapped = (Inbound, Option<Box<Told>>);

const NO_TICKET_ID: &str =
    "The webhook names no ticket: its template must be a JSON object whose first key is ticket_id.";

/// A form-encoded body. Zendesk encodes the values, so no text can break out of its own field.
pub(super) fn from_form(text: &str, ours: &OurAuthor) -> Result<Mapped, MapError> {
    let entries = form_urlencoded::parse(text.as_bytes())
        .map(|(key, value)| (key.into_owned(), Value::String(value.into_owned())))
        .collect();
    from_entries(&Entries(entries), ours)
}

/// A well-formed object. A key that stands twice shows that a customer's text has left its quotes; then only the very
/// first key may name the ticket, since nothing of a customer's precedes it.
pub(super) fn from_entries(entries: &Entries, ours: &OurAuthor) -> Result<Mapped, MapError> {
    let tampered = entries.has_repeats();
    let named = match entries.0.first() {
        Some((key, value)) if key == "ticket_id" => Some(value),
        Some(_) if !tampered => entries.get("ticket_id"),
        Some(_) | None => None,
    };
    let ticket = named.and_then(number).ok_or_else(|| MapError::new(NO_TICKET_ID))?;
    if tampered {
        let why = "The trigger's JSON has a key twice: a text in it left its quotes.";
        return Ok((needs_read(ticket, why), None));
    }
    if made_by_us(entries, ours) {
        let inbound = Inbound {
            ticket: zendesk(ticket),
            what: Happening::Nothing {
                why: "Our own update came back.".to_owned(),
            },
        };
        return Ok((inbound, None));
    }
    let why = "A trigger names the ticket but carries no comment id.";
    Ok((needs_read(ticket, why), preview(entries)))
}

/// JSON that does not parse, as `{"ticket_id":"35436","subject":"He said "hello""}`. The number is taken only from the
/// first key, and only if it is `ticket_id`: anything further in may have been written by a customer.
pub(super) fn from_broken(text: &str) -> Result<Inbound, MapError> {
    let ticket = first_ticket_id(text).ok_or_else(|| {
        MapError::new("The webhook's JSON is broken, and its first key is not a ticket_id, so no ticket can be told.")
    })?;
    Ok(needs_read(
        ticket,
        "The trigger's JSON is broken by a quote or a line break in a text.",
    ))
}

fn first_ticket_id(text: &str) -> Option<String> {
    let rest = text.strip_prefix('{')?.trim_start();
    let rest = rest.strip_prefix("\"ticket_id\"")?.trim_start();
    let rest = rest.strip_prefix(':')?.trim_start();
    let quoted = rest.strip_prefix('"');
    let value = quoted.unwrap_or(rest);
    let end = value.find(|character: char| !character.is_ascii_digit())?;
    let (id, mut rest) = value.split_at(end);
    if quoted.is_some() {
        rest = rest.strip_prefix('"')?;
    }
    rest.trim_start().starts_with([',', '}']).then(|| digits(id)).flatten()
}

/// Whether the update was made with our own account. Names are not looked at: anybody can be called as the bot is.
fn made_by_us(entries: &Entries, ours: &OurAuthor) -> bool {
    let by_id = entries.get("current_user_id").and_then(number);
    let by_email = entries.get("current_user_email").and_then(Value::as_str);
    by_id.is_some_and(|id| ours.has_id(&id)) || by_email.is_some_and(|email| ours.has_email(email))
}

fn needs_read(ticket: String, why: &str) -> Inbound {
    Inbound {
        ticket: zendesk(ticket),
        what: Happening::NeedsRead { why: why.to_owned() },
    }
}

fn zendesk(id: String) -> OutsideId {
    OutsideId {
        source: Source::Zendesk,
        id,
    }
}

/// What the payload says of a ticket, for where it cannot be read.
fn preview(entries: &Entries) -> Option<Box<Told>> {
    let field = |key: &str| {
        let text = clean(entries.get(key)?.as_str()?.trim());
        (!text.is_empty()).then_some(text)
    };
    let requester = Requester {
        name: field("requester_name").unwrap_or_default(),
        address: field("requester_email").unwrap_or_default(),
    };
    let description = field("description").map(|text| without_header(&text).to_owned());
    let told = Told {
        subject: field("subject"),
        priority: field("priority").and_then(|word| word.to_ascii_lowercase().parse::<Priority>().ok()),
        status: field("status").and_then(|word| status(&word)),
        url: field("url").map(|url| {
            if url.contains("://") {
                url
            } else {
                format!("https://{url}")
            }
        }),
        comments: description
            .filter(|text| !text.is_empty())
            .map(|body| NewComment {
                outside_id: None,
                author: Author::Requester,
                author_name: requester.name.clone(),
                public: true,
                body,
                created_at: None,
                marker: None,
            })
            .into_iter()
            .collect(),
        requester: (requester != Requester::default()).then_some(requester),
        assignee: None,
        automatic: false,
        updated_at: None,
    };
    (told != Told::default()).then(|| Box::new(told))
}

/// Statuses as both kinds of payload write them; a word of a customised or translated status is none of them.
pub(super) fn status(word: &str) -> Option<DeskStatus> {
    match word.to_ascii_lowercase().as_str() {
        "new" | "open" | "hold" | "on-hold" => Some(DeskStatus::Open),
        "pending" => Some(DeskStatus::Pending),
        "solved" => Some(DeskStatus::Solved),
        "closed" => Some(DeskStatus::Closed),
        _ => None,
    }
}

/// Liquid renders a comment with a line of dashes, the author with the date, and then the text.
fn without_header(text: &str) -> &str {
    let after_line = |text: &'_ str| text.find('\n').map(|end| end + 1);
    let first = text.lines().next().unwrap_or_default().trim_end();
    if first.len() < 10 || !first.bytes().all(|byte| byte == b'-') {
        return text;
    }
    let Some(start) = after_line(text) else { return text };
    let named = text[start..].trim_start();
    match after_line(named) {
        Some(start) => named[start..].trim(),
        None => text,
    }
}
