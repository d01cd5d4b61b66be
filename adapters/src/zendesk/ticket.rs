//! A ticket as Zendesk tells it, in our words.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use deskhand_core::inbound::{DeskStatus, NewComment};
use deskhand_core::port::{DeskTicket, PortError};
use deskhand_core::ticket::Priority;

use super::OurAuthor;
use super::http::{Ask, Http};
use super::pages::Pages;
use super::people::Known;
use super::wire::{Audit, Comment, Id, Ticket, TicketAnswer, marker};

/// The ticket with its people and all its comments.
pub(super) async fn read(http: &Http, ours: OurAuthor, ticket: &str) -> Result<DeskTicket, PortError> {
    let ask = Ask::get(format!("/api/v2/tickets/{ticket}")).query("include", "users");
    let answer: TicketAnswer = http.ask(ask).await?;
    let mut known = Known::new(ours);
    known.add(answer.users);
    let ticket = answer.ticket;

    let mut comments: Vec<Comment> = Vec::new();
    let mut pages = Pages::comments(http, &ticket.id.0);
    while let Some(page) = pages.next::<Comment>().await? {
        comments.extend(page.items);
        known.add(page.users);
    }
    let authors = comments.iter().filter_map(|comment| comment.author_id.as_ref());
    let named = [&ticket.requester_id, &ticket.assignee_id].into_iter().flatten();
    known.complete(http, authors.chain(named)).await?;

    let markers = markers(http, &ticket, &comments, &known).await?;
    told(http.base(), &ticket, comments, &known, &markers)
}

/// The effects that our own comments came from. A comment repeats its update's metadata; where it does not, the audits
/// are read, but only if there is a comment of ours to be explained.
async fn markers(
    http: &Http,
    ticket: &Ticket,
    comments: &[Comment],
    known: &Known,
) -> Result<HashMap<Id, String>, PortError> {
    let mut found = HashMap::new();
    let mut unexplained = 0_usize;
    for comment in comments {
        if let Some(marker) = marker(&comment.metadata) {
            found.insert(comment.id.clone(), marker.to_owned());
        } else if comment.author_id.as_ref().is_some_and(|id| known.is_us(id)) {
            unexplained += 1;
        }
    }
    let mut pages = Pages::audits(http, &ticket.id.0);
    while unexplained > 0
        && let Some(page) = pages.next::<Audit>().await?
    {
        for audit in &page.items {
            if let (Some(marker), Some(id)) = (audit.marker(), audit.comment().and_then(|event| event.id.as_ref())) {
                let is_new = found.insert(id.clone(), marker.to_owned()).is_none();
                unexplained = unexplained.saturating_sub(usize::from(is_new));
            }
        }
    }
    Ok(found)
}

fn told(
    base: &str,
    ticket: &Ticket,
    comments: Vec<Comment>,
    known: &Known,
    markers: &HashMap<Id, String>,
) -> Result<DeskTicket, PortError> {
    let status = status(ticket.status.as_deref());
    let stamp = ticket.updated_at.clone().unwrap_or_default();
    let updated_at = time(Some(&stamp)).ok_or_else(|| {
        PortError::permanent("Zendesk's ticket has no updated_at: ZENDESK_URL may be something else.")
    })?;
    let assignee = ticket.assignee_id.as_ref().filter(|id| !known.is_us(id));
    let assignee_name = assignee.map_or_else(String::new, |id| match known.name(id) {
        name if name.is_empty() => format!("Zendesk agent {}", id.0),
        name => name,
    });
    let merged_into = match status {
        DeskStatus::Closed => merged_into(ticket, &comments, known),
        DeskStatus::Open | DeskStatus::Pending | DeskStatus::Solved => None,
    };
    let requester = ticket.requester_id.as_ref();
    let comments = comments.into_iter().map(|comment| {
        let author = comment.author_id.clone().unwrap_or_default();
        NewComment {
            author: known.author(&author, requester),
            author_name: known.name(&author),
            // A comment that does not say so is taken as internal: it can then not count as an answer to the customer.
            public: comment.public.unwrap_or(false),
            body: body(&comment),
            created_at: time(comment.created_at.as_deref()),
            marker: markers.get(&comment.id).cloned(),
            outside_id: Some(comment.id.0),
        }
    });
    Ok(DeskTicket {
        outside_id: ticket.id.0.clone(),
        subject: ticket.subject.clone().unwrap_or_default().replace('\0', ""),
        requester: known.requester(requester),
        status,
        priority: ticket
            .priority
            .as_deref()
            .and_then(|word| word.parse::<Priority>().ok()),
        assignee: assignee.map(|id| id.0.clone()),
        assignee_name,
        merged_into,
        url: Some(format!("{base}/agent/tickets/{}", ticket.id.0)),
        stamp,
        updated_at,
        comments: comments.collect(),
        posts: Vec::new(),
    })
}

/// The text, and the names of what is attached to it.
fn body(comment: &Comment) -> String {
    let text = match comment.body.as_deref() {
        Some("") | None => comment.plain_body.as_deref().unwrap_or_default(),
        Some(text) => text,
    };
    let attached = comment.attachments.as_deref().unwrap_or_default();
    let names: Vec<&str> = attached.iter().filter_map(|file| file.file_name.as_deref()).collect();
    let mut body = text.replace('\0', "");
    if !names.is_empty() {
        let names = names.join(", ").replace('\0', "");
        body.push_str(&format!("\n\n[attached: {names}]"));
    }
    body
}

/// The ticket that this one was merged into. The API does not tell; what Zendesk leaves is the tag `closed_by_merge` and
/// a comment by whoever merged, "This request was closed and merged into request #123 …", translated in other
/// languages, and editable. So: the newest comment by staff that names another ticket, and of it the first number, since a
/// subject that follows may hold others. Without such a comment the ticket is merely closed.
fn merged_into(ticket: &Ticket, comments: &[Comment], known: &Known) -> Option<String> {
    let tags = ticket.tags.as_deref().unwrap_or_default();
    if !tags.iter().any(|tag| tag == "closed_by_merge") {
        return None;
    }
    let by_staff = |comment: &&Comment| {
        let author = comment.author_id.as_ref();
        author != ticket.requester_id.as_ref() && author.is_some_and(|id| known.is_staff(id))
    };
    let named = |comment: &Comment| first_number(comment.body.as_deref()?).filter(|id| *id != ticket.id.0);
    comments.iter().rev().filter(by_staff).find_map(named)
}

fn first_number(text: &str) -> Option<String> {
    text.split('#').skip(1).find_map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        (!digits.is_empty() && digits.len() <= 19).then_some(digits)
    })
}

/// A held ticket waits for a third party, not for the customer: for us it is open.
fn status(word: Option<&str>) -> DeskStatus {
    match word.unwrap_or_default().to_ascii_lowercase().as_str() {
        "pending" => DeskStatus::Pending,
        "solved" => DeskStatus::Solved,
        "closed" | "deleted" => DeskStatus::Closed,
        _ => DeskStatus::Open,
    }
}

pub(super) fn time(text: Option<&str>) -> Option<DateTime<Utc>> {
    Some(DateTime::parse_from_rfc3339(text?).ok()?.with_timezone(&Utc))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ticket_number_of_a_merge_comment_is_the_target() {
        for (text, id) in [
            (
                "This request was closed and merged into request #123456 \"Order #5\".",
                Some("123456"),
            ),
            (
                "Diese Anfrage wurde geschlossen und mit Anfrage #77 zusammengeführt.",
                Some("77"),
            ),
            ("See # 5 and #", None),
            ("merged into 123", None),
        ] {
            assert_eq!(first_number(text).as_deref(), id, "{text}");
        }
    }
}
