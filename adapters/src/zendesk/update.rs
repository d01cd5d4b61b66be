//! Updates of a ticket: one request each, marked, and guarded by the ticket's stamp.
//!
//! The body is always wrapped in `ticket`: without that Zendesk answers 200 and changes nothing.

use deskhand_core::port::{Bookkeeping, DeskWrite, PortError, Receipt};
use serde_json::{Map, Value, json};

use super::client::Zendesk;
use super::http::{Ask, Http};
use super::pages::Pages;
use super::ticket::time;
use super::wire::{Audit, MARKER, TicketAnswer};

/// Zendesk keeps about 64 KB of a comment.
const LONGEST_COMMENT: usize = 65_535;
/// How often an update that was not judged on a stamp is made anew when somebody else was faster.
const TRIES: usize = 3;

/// A public reply to the requester.
pub(super) async fn reply(http: &Http, write: &DeskWrite, text: &str) -> Result<Receipt, PortError> {
    let body = body(write, write.stamp.as_deref(), fields(comment(text, true)?));
    let answer: TicketAnswer = http.ask(Ask::update(&write.outside_id, &body)).await?;
    let Some(audit) = &answer.audit else {
        return traced(http, write).await;
    };
    let Some(mut receipt) = comment_receipt(audit) else {
        return traced(http, write).await;
    };
    receipt.remark = same_second(http, write, audit).await;
    Ok(receipt)
}

/// Priority, group, tags and a note as one update. A group that Zendesk does not have is left out and remarked: the note
/// and the priority are worth having without it.
pub(super) async fn bookkeeping(desk: &Zendesk, write: &DeskWrite, what: &Bookkeeping) -> Result<Receipt, PortError> {
    let http = desk.http();
    let mut change = match &what.note {
        Some(note) => fields(comment(note, false)?),
        None => Map::new(),
    };
    if let Some(priority) = what.priority {
        change.insert("priority".to_owned(), json!(priority));
    }
    let mut remark = None;
    if let Some(name) = &what.group {
        match desk.group(name).await? {
            Some(id) => {
                change.insert("group_id".to_owned(), integer(&id)?);
            }
            None => {
                remark = Some(format!(
                    "Zendesk has no group \"{name}\", so the ticket's group stays as it was."
                ))
            }
        }
    }
    for attempt in 1.. {
        let mut change = change.clone();
        let mut stamp = write.stamp.clone();
        if !what.tags.is_empty() {
            let ticket = current(http, &write.outside_id).await?;
            if let Some(tags) = with_tags(ticket.ticket.tags.unwrap_or_default(), &what.tags) {
                change.insert("tags".to_owned(), json!(tags));
                // `tags` replaces the list, so it must not meet a list that somebody has changed since.
                stamp = stamp.or(ticket.ticket.updated_at);
            }
        }
        if change.is_empty() {
            break;
        }
        let body = body(write, stamp.as_deref(), change);
        match http.ask::<TicketAnswer>(Ask::update(&write.outside_id, &body)).await {
            Ok(answer) => {
                let audit = answer.audit.as_ref();
                let comment = audit.and_then(comment_receipt).map(|receipt| receipt.remote_id);
                let remote_id = comment
                    .or_else(|| audit.map(|audit| format!("audit:{}", audit.id.0)))
                    .unwrap_or_else(|| format!("ticket:{}", write.outside_id));
                return Ok(Receipt { remote_id, remark });
            }
            Err(PortError::Conflict { .. }) if write.stamp.is_none() && attempt < TRIES => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Receipt {
        remote_id: format!("ticket:{}", write.outside_id),
        remark: remark.or_else(|| Some("There was nothing to change.".to_owned())),
    })
}

/// Looks for an update of ours among the ticket's audits.
pub(super) async fn find(http: &Http, ticket: &str, marker: &str) -> Result<Option<Receipt>, PortError> {
    let mut pages = Pages::audits(http, ticket);
    while let Some(page) = pages.next::<Audit>().await? {
        let ours = page.items.iter().find(|audit| audit.marker() == Some(marker));
        if let Some(audit) = ours {
            return Ok(Some(comment_receipt(audit).unwrap_or_else(|| Receipt {
                remote_id: format!("audit:{}", audit.id.0),
                remark: None,
            })));
        }
    }
    Ok(None)
}

pub(super) async fn current(http: &Http, ticket: &str) -> Result<TicketAnswer, PortError> {
    http.ask(Ask::get(format!("/api/v2/tickets/{ticket}"))).await
}

/// The comment's own id: by it the comment is known again when it comes back as a webhook.
pub(super) fn comment_receipt(audit: &Audit) -> Option<Receipt> {
    let id = audit.comment()?.id.as_ref()?;
    Some(Receipt {
        remote_id: id.0.clone(),
        remark: None,
    })
}

/// A success that shows no comment: nothing is done before a trace of it is found.
pub(super) async fn traced(http: &Http, write: &DeskWrite) -> Result<Receipt, PortError> {
    let unclear = || PortError::Ambiguous {
        why: "Zendesk answered the update but shows no comment of ours.".to_owned(),
    };
    match find(http, &write.outside_id, &write.marker).await {
        Ok(Some(receipt)) => Ok(receipt),
        Ok(None) | Err(_) => Err(unclear()),
    }
}

/// The comment as Zendesk takes it. Whether it is public is always said: left out, it would be as the last one was.
pub(super) fn comment(text: &str, public: bool) -> Result<Value, PortError> {
    if text.len() > LONGEST_COMMENT {
        return Err(PortError::permanent(format!(
            "The text is longer than the {LONGEST_COMMENT} bytes that Zendesk takes."
        )));
    }
    Ok(json!({ "body": text, "public": public }))
}

fn fields(comment: Value) -> Map<String, Value> {
    Map::from_iter([("comment".to_owned(), comment)])
}

/// `safe_update` is only ever sent as true: Zendesk takes false for true as well.
fn body(write: &DeskWrite, stamp: Option<&str>, mut ticket: Map<String, Value>) -> Value {
    ticket.insert("metadata".to_owned(), json!({ MARKER: write.marker }));
    if let Some(stamp) = stamp {
        ticket.insert("safe_update".to_owned(), json!(true));
        ticket.insert("updated_stamp".to_owned(), json!(stamp));
    }
    json!({ "ticket": ticket })
}

/// The API takes ids as numbers.
pub(super) fn integer(id: &str) -> Result<Value, PortError> {
    let number: u64 = id
        .parse()
        .map_err(|_| PortError::permanent(format!("\"{id}\" is not a Zendesk id.")))?;
    Ok(json!(number))
}

/// The list with ours added; `None` when all are there. `additional_tags` is documented for the bulk update only, and
/// reported not to work here. Tags have no spaces and no capitals.
fn with_tags(mut tags: Vec<String>, ours: &[String]) -> Option<Vec<String>> {
    let before = tags.len();
    for tag in ours {
        let tag = tag.split_whitespace().collect::<Vec<_>>().join("_").to_lowercase();
        if !tag.is_empty() && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    (tags.len() > before).then_some(tags)
}

/// Stamps are whole seconds, so a comment may have slipped past the safe update: in the second of our update, or in that of
/// the stamp after the ticket was read. It is reported, not undone; if the look fails, the reply is still sent, and says
/// nothing.
async fn same_second(http: &Http, write: &DeskWrite, ours: &Audit) -> Option<String> {
    let page = Pages::audits(http, &write.outside_id).next::<Audit>().await.ok()??;
    may_be_unseen(&page.items, write.stamp.as_deref(), ours)
        .then(|| "Somebody else commented in the same second; the reply may not answer that comment.".to_owned())
}

fn may_be_unseen(audits: &[Audit], stamp: Option<&str>, ours: &Audit) -> bool {
    let second = |text: Option<&str>| time(text).map(|time| time.timestamp());
    let of_second = |wanted: Option<i64>| {
        let audits = audits.iter().filter(|audit| audit.id != ours.id);
        let mut audits: Vec<&Audit> = audits
            .filter(|audit| wanted.is_some() && second(audit.created_at.as_deref()) == wanted)
            .collect();
        audits.sort_by_key(|audit| audit.id.0.parse::<u64>().unwrap_or(u64::MAX));
        audits
    };
    let by_others = |audit: &&Audit| {
        audit.author_id != ours.author_id && audit.comment().is_some_and(|event| event.public == Some(true))
    };
    let (stamp, update) = (second(stamp), second(ours.created_at.as_deref()));
    // Whoever read the stamp had seen the first change of its second, at least.
    let with_the_stamp = of_second(stamp).iter().skip(1).any(by_others);
    let with_the_update = stamp != update && of_second(update).iter().any(by_others);
    with_the_stamp || with_the_update
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_added_in_zendesks_form_and_none_is_lost() {
        let there = || vec!["fr".to_owned(), "web".to_owned()];
        let ours = |tags: &[&str]| tags.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>();
        assert_eq!(
            with_tags(there(), &ours(&["Needs Review", "fr"])),
            Some(ours(&["fr", "web", "needs_review"]))
        );
        assert_eq!(with_tags(there(), &ours(&["web", " "])), None);
    }

    #[test]
    fn only_a_comment_that_the_judge_cannot_have_seen_is_remarked() {
        let audit = |id: u64, author: u64, second: u64, public: bool| -> Audit {
            serde_json::from_value(
                json!({"id": id, "author_id": author, "created_at": format!("2026-10-09T09:00:{second:02}Z"),
                "events": [{"id": id + 1, "type": "Comment", "public": public}]}),
            )
            .expect("an audit")
        };
        let stamp = Some("2026-10-09T09:00:10Z");
        let ours = audit(90, 900, 30, true);
        for (others, expected, why) in [
            (vec![audit(10, 7, 10, true)], false, "it set the stamp"),
            (
                vec![audit(10, 7, 10, true), audit(20, 7, 10, true)],
                true,
                "the second one may have come after the read",
            ),
            (
                vec![audit(20, 7, 10, true), audit(10, 900, 10, false)],
                true,
                "newest first: ours set the stamp before it",
            ),
            (
                vec![audit(10, 7, 10, true), audit(20, 900, 10, false)],
                false,
                "ours came after it",
            ),
            (vec![audit(80, 7, 30, true)], true, "with the update"),
            (vec![audit(80, 7, 30, false)], false, "an internal note"),
            (
                vec![audit(80, 7, 29, true)],
                false,
                "the safe update would have caught it",
            ),
        ] {
            assert_eq!(may_be_unseen(&others, stamp, &ours), expected, "{why}");
        }
        let at_once = audit(90, 900, 10, true);
        assert!(!may_be_unseen(&[audit(10, 7, 10, true)], stamp, &at_once));
    }
}
