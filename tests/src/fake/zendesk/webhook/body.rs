//! What webhooks say: ticket events by difference, and triggers by template.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use super::super::change::html;
use super::super::show::time;
use super::super::state::{Comment, State, Ticket};

/// One body for each thing that changed. A new ticket is one event: its first comment comes as its description only.
pub(super) fn events(
    state: &State,
    id: u64,
    before: Option<&Ticket>,
    by: u64,
    now: DateTime<Utc>,
    sequence: u64,
) -> Vec<Vec<u8>> {
    let ticket = state.ticket(id);
    let Some(before) = before else {
        return vec![event(ticket, by, now, sequence, "created", json!({}))];
    };
    let mut found: Vec<(&str, Value)> = Vec::new();
    let mut differs = |name: &'static str, previous: Value, current: Value| {
        if previous != current {
            found.push((name, json!({ "current": current, "previous": previous })));
        }
    };
    differs(
        "status_changed",
        upper(Some(&before.status)),
        upper(Some(&ticket.status)),
    );
    differs(
        "priority_changed",
        upper(before.priority.as_deref()),
        upper(ticket.priority.as_deref()),
    );
    differs(
        "type_changed",
        upper(before.kind.as_deref()),
        upper(ticket.kind.as_deref()),
    );
    differs("group_assignment_changed", word(before.group_id), word(ticket.group_id));
    differs(
        "agent_assignment_changed",
        word(before.assignee_id),
        word(ticket.assignee_id),
    );
    differs("subject_changed", json!(before.subject), json!(ticket.subject));
    if before.tags != ticket.tags {
        let added: Vec<_> = ticket.tags.difference(&before.tags).collect();
        let removed: Vec<_> = before.tags.difference(&ticket.tags).collect();
        found.push(("tags_changed", json!({ "tags_added": added, "tags_removed": removed })));
    }
    if ticket.merged_into != before.merged_into {
        found.push(("merged", json!({ "target_ticket_id": word(ticket.merged_into) })));
    }
    for comment in ticket.comments.iter().skip(before.comments.len()) {
        found.push(("comment_added", json!({ "comment": said(state, comment) })));
    }
    // Within one action the order is not promised; here the comment comes last.
    let numbered = found.into_iter().enumerate().map(|(n, (name, mut what))| {
        what["meta"] = json!({ "sequence": { "id": format!("{sequence:032X}"), "position": n + 1 } });
        event(ticket, by, now, sequence + n as u64, name, what)
    });
    numbered.collect()
}

/// A comment under its own event, for a delivery beyond the usual ones.
pub(in super::super) fn comment_added(
    state: &State,
    id: u64,
    comment: &Comment,
    now: DateTime<Utc>,
    sequence: u64,
) -> Vec<u8> {
    let mut what = json!({ "comment": said(state, comment) });
    what["meta"] = json!({ "sequence": { "id": format!("{sequence:032X}"), "position": 1 } });
    event(
        state.ticket(id),
        comment.author_id,
        now,
        sequence,
        "comment_added",
        what,
    )
}

fn event(ticket: &Ticket, by: u64, now: DateTime<Utc>, number: u64, name: &str, what: Value) -> Vec<u8> {
    let tags = match ticket.tags.is_empty() {
        true => Value::Null,
        false => json!(ticket.tags),
    };
    let body = json!({
        "account_id": 7_004_711,
        "detail": {
            "actor_id": by.to_string(),
            "assignee_id": word(ticket.assignee_id),
            "brand_id": "910000000021",
            "created_at": time(ticket.created_at),
            "custom_status": "910000000022",
            "description": ticket.description,
            "external_id": ticket.external_id,
            "form_id": "910000000023",
            "group_id": word(ticket.group_id),
            "id": ticket.id.to_string(),
            "is_public": ticket.comments.iter().any(|comment| comment.public),
            "organization_id": null,
            "priority": upper(ticket.priority.as_deref()),
            "requester_id": ticket.requester_id.to_string(),
            "status": upper(Some(&ticket.status)),
            "subject": ticket.subject,
            "submitter_id": ticket.submitter_id.to_string(),
            "tags": tags,
            "type": upper(ticket.kind.as_deref()),
            "updated_at": time(ticket.updated_at),
            "via": { "channel": ticket.via["channel"] },
        },
        "event": what,
        "id": format!("0d15c0de-0000-4000-8000-{:012x}", number % (1 << 48)),
        "subject": format!("zen:ticket:{}", ticket.id),
        "time": now.to_rfc3339_opts(SecondsFormat::Nanos, true),
        "type": format!("zen:event-type:ticket.{name}"),
        "zendesk_event_version": "2022-11-06",
    });
    body.to_string().into_bytes()
}

fn said(state: &State, comment: &Comment) -> Value {
    let author = state.person(comment.author_id);
    json!({
        "author": {
            "id": comment.author_id.to_string(),
            "is_staff": author.is_some_and(|person| person.role.is_staff()),
            "name": author.map_or("", |person| person.name.as_str()),
        },
        "body": comment.body,
        "html_body": html(&comment.body),
        "id": comment.id.to_string(),
        "is_public": comment.public,
    })
}

/// Ids are texts in events.
fn word(id: Option<u64>) -> Value {
    id.map_or(Value::Null, |id| id.to_string().into())
}

/// Set words are upper case in events.
fn upper(word: Option<&str>) -> Value {
    word.map_or(Value::Null, |word| word.to_uppercase().into())
}

/// The trigger's body: it fires at creation and at comments, and Liquid escapes nothing.
pub(in super::super) fn trigger(
    state: &State,
    base: &str,
    id: u64,
    before: Option<&Ticket>,
    by: u64,
    template: &str,
) -> Option<Vec<u8>> {
    let ticket = state.ticket(id);
    let fires = before.is_none_or(|before| ticket.comments.len() > before.comments.len());
    fires.then(|| rendered(state, base, ticket, by, template).into_bytes())
}

/// Placeholders that are not known become nothing, as in Liquid.
fn rendered(state: &State, base: &str, ticket: &Ticket, by: u64, template: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((head, tail)) = rest.split_once("{{") {
        let (name, after) = tail.split_once("}}").unwrap_or((tail, ""));
        out.push_str(head);
        out.push_str(&placeholder(state, base, ticket, by, name.trim()));
        rest = after;
    }
    out + rest
}

fn placeholder(state: &State, base: &str, ticket: &Ticket, by: u64, name: &str) -> String {
    let person = |id: u64| state.person(id);
    let name_of = |id: u64| person(id).map_or(String::new(), |person| person.name.clone());
    let email_of = |id: u64| person(id).map_or(String::new(), |person| person.email.clone());
    let newest = |public_only: bool| {
        ticket
            .comments
            .iter()
            .rev()
            .find(|comment| comment.public || !public_only)
    };
    let dashed = |comment: Option<&Comment>| {
        comment.map_or(String::new(), |comment| dashed(comment, &name_of(comment.author_id)))
    };
    match name {
        "ticket.id" => ticket.id.to_string(),
        "ticket.title" => ticket.subject.clone(),
        "ticket.description" => dashed(ticket.comments.first()),
        "ticket.latest_comment" => dashed(newest(false)),
        "ticket.latest_public_comment" => dashed(newest(true)),
        "ticket.latest_comment_html" => newest(false).map_or(String::new(), |comment| html(&comment.body)),
        "ticket.latest_public_comment_html" => newest(true).map_or(String::new(), |comment| html(&comment.body)),
        "ticket.status" => title(&ticket.status),
        "ticket.priority" => ticket.priority.as_deref().map_or(String::new(), title),
        "ticket.ticket_type" => ticket.kind.as_deref().map_or(String::new(), title),
        "ticket.tags" => ticket.tags.iter().cloned().collect::<Vec<_>>().join(" "),
        "ticket.group.name" => ticket
            .group_id
            .and_then(|id| state.group(id))
            .map_or(String::new(), |g| g.name.clone()),
        "ticket.assignee.email" => ticket.assignee_id.map_or(String::new(), email_of),
        "ticket.assignee.name" => ticket.assignee_id.map_or(String::new(), name_of),
        "ticket.requester.name" => name_of(ticket.requester_id),
        "ticket.requester.email" => email_of(ticket.requester_id),
        "ticket.requester.id" => ticket.requester_id.to_string(),
        "ticket.via" => ticket.via["channel"].as_str().map_or(String::new(), title),
        "ticket.url" => format!("{}/agent/tickets/{}", base.trim_start_matches("http://"), ticket.id),
        "ticket.link" => format!("{base}/agent/tickets/{}", ticket.id),
        "ticket.external_id" => ticket.external_id.clone().unwrap_or_default(),
        "ticket.created_at_with_timestamp" => time(ticket.created_at),
        "ticket.updated_at_with_timestamp" => time(ticket.updated_at),
        "current_user.name" => name_of(by),
        "current_user.email" => email_of(by),
        "current_user.id" => by.to_string(),
        _ => String::new(),
    }
}

/// Comments come with a line of dashes and a line that says who and when.
fn dashed(comment: &Comment, author: &str) -> String {
    let when = comment.at.format("%b %-d, %Y, %H:%M");
    format!(
        "----------------------------------------------\n\n{author}, {when}\n\n{}",
        comment.body
    )
}

fn title(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}
