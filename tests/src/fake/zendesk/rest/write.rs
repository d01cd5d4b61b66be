//! Creating and updating tickets through the API.

use chrono::{DateTime, Duration, SubsecRound, Utc};
use serde_json::{Value, json};

use super::super::change::{Change, Refusal};
use super::super::http::{Answer, too_many};
use super::super::state::{Opening, Ticket};
use super::super::{Desk, Inner, show};
use super::{Answered, Changed, ticket_part};
use crate::fake::spec;
use crate::fake::wire::Asked;

/// `PUT /tickets/{id}`.
pub(super) fn update(inner: &Inner, desk: &mut Desk, asked: &Asked, id: u64) -> Answered {
    let (now, body) = (inner.clock.now(), parse(asked)?);
    let before = desk.state.tickets.get(&id).cloned().ok_or_else(Refusal::not_found)?;
    let Some(wanted) = ticket_part(&body) else {
        // As a third party reports it: the API answers 200 and has done nothing.
        desk.violations
            .push(format!("an update of ticket {id} lacks its \"ticket\" wrapper"));
        return Ok((Answer::ok(json!({ "ticket": show::ticket(&inner.url, &before) })), None));
    };
    desk.violations.extend(spec::zendesk_faults(wanted));
    within_limits(desk, &before, now)?;
    safe(desk, wanted, &before)?;
    let change = change(desk, wanted);
    let by = desk.state.bot;
    let audit_id = desk.state.apply(id, &change, by, now)?;
    let ticket = desk.state.ticket_mut(id);
    ticket.bot_updates.push(now);
    let mut answer = json!({ "ticket": show::ticket(&inner.url, ticket) });
    if let Some(audit) = ticket.audits.last().filter(|audit| Some(audit.id) == audit_id) {
        answer["audit"] = show::audit(ticket, audit);
    }
    let changed = audit_id.map(|_| Changed {
        ticket: id,
        before: Some(Box::new(before)),
        by,
    });
    Ok((Answer::ok(answer), changed))
}

/// `POST /tickets`, made idempotent by `Idempotency-Key` for two hours.
pub(super) fn create(inner: &Inner, desk: &mut Desk, asked: &Asked) -> Answered {
    let (now, body) = (inner.clock.now(), parse(asked)?);
    let key = asked.header("idempotency-key").map(str::to_owned);
    if let Some(key) = &key {
        if key.is_empty() || key.len() > 255 {
            return Err(Refusal::new(400, "IdempotentRequestError", "Idempotency key is too long").into());
        }
        let fresh = |at: DateTime<Utc>| now - at < Duration::hours(2);
        if let Some((first, status, answer, _)) = desk.created.get(key).filter(|(_, _, _, at)| fresh(*at)) {
            if first.as_slice() != &asked.body[..] {
                let why = "Request parameters don't match the given idempotency key";
                return Err(Refusal::new(400, "IdempotentRequestError", why).into());
            }
            let headers = vec![("x-idempotency-lookup", "hit".to_owned())];
            let (status, body) = (*status, answer.clone());
            return Ok((Answer { status, headers, body }, None));
        }
    }
    let Some(wanted) = ticket_part(&body) else {
        return Err(Refusal::new(400, "Unprocessable Entity", "Server could not parse JSON").into());
    };
    desk.violations.extend(spec::zendesk_faults(wanted));
    let mut change = change(desk, wanted);
    // The description is documented as read-only and taken at creation all the same.
    let described = wanted["description"].as_str().map(|text| (text.to_owned(), true));
    change.comment = change.comment.or(described);
    if change.comment.is_none() {
        return Err(Refusal::field("base", "Description: cannot be blank", Some("BlankValue")).into());
    }
    let by = desk.state.bot;
    let followed = follow_up(desk, wanted)?;
    let requester_id = match (&wanted["requester_id"], &wanted["requester"]["email"]) {
        (Value::Number(id), _) => id.as_u64().unwrap_or(by),
        (_, Value::String(email)) => {
            let named = wanted["requester"]["name"].as_str();
            let id = desk.state.customer(email);
            desk.state.renames(id, named);
            id
        }
        _ => followed.as_ref().map_or(by, |source| source.requester_id),
    };
    let id = desk.state.fresh_ticket_id();
    let group = desk.state.group_named("Support");
    let opening = Opening {
        subject: change.subject.take().unwrap_or_default(),
        requester_id,
        submitter_id: by,
        channel: "api",
    };
    let mut ticket = Ticket::open(id, opening, Some(group), now);
    if let Some(source) = followed {
        ticket.via["source"] = json!({
            "from": { "ticket_id": source.id, "subject": source.subject, "channel": "closed_ticket" },
            "to": {}, "rel": "follow_up",
        });
    }
    if let Some((text, _)) = &change.comment {
        ticket.description.clone_from(text);
    }
    desk.state.tickets.insert(id, ticket);
    if let Err(refusal) = desk.state.apply(id, &change, by, now) {
        desk.state.tickets.remove(&id);
        return Err(refusal.into());
    }
    let ticket = desk.state.ticket(id);
    let audit = ticket.audits.last().map(|audit| show::audit(ticket, audit));
    let answer = json!({ "ticket": show::ticket(&inner.url, ticket), "audit": audit });
    let mut headers = vec![("location", format!("{}/api/v2/tickets/{id}.json", inner.url))];
    if let Some(key) = key {
        headers.push(("x-idempotency-lookup", "miss".to_owned()));
        desk.created
            .insert(key, (asked.body.to_vec(), 201, answer.clone(), now));
    }
    let (ticket, before) = (id, None);
    let created = Answer {
        status: 201,
        headers,
        body: answer,
    };
    Ok((created, Some(Changed { ticket, before, by })))
}

/// A follow-up names a closed ticket, and only a closed one.
fn follow_up(desk: &Desk, wanted: &Value) -> Result<Option<Ticket>, Answer> {
    let named = &wanted["via_followup_source_id"];
    let id = named
        .as_u64()
        .or_else(|| named.as_str().and_then(|text| text.parse().ok()));
    let Some(id) = id else {
        return Ok(None);
    };
    let source = desk.state.tickets.get(&id).filter(|ticket| ticket.status == "closed");
    let why = "Via followup source: must be a closed ticket";
    let source = source.ok_or_else(|| Refusal::field("via_followup_source_id", why, Some("InvalidValue")))?;
    Ok(Some(source.clone()))
}

pub(super) enum Tags {
    Add,
    Set,
    Remove,
}

/// `PUT` adds, `POST` sets, `DELETE` removes.
pub(super) fn tags(inner: &Inner, desk: &mut Desk, asked: &Asked, id: u64, how: Tags) -> Answered {
    let (now, body) = (inner.clock.now(), parse(asked)?);
    let before = desk.state.tickets.get(&id).cloned().ok_or_else(Refusal::not_found)?;
    safe(desk, &body, &before)?;
    let named = strings(&body["tags"]);
    let mut tags: Vec<String> = before.tags.iter().cloned().collect();
    match how {
        Tags::Add => tags.extend(named),
        Tags::Set => tags = named,
        Tags::Remove => tags.retain(|tag| !named.contains(tag)),
    }
    let change = Change {
        tags: Some(tags),
        ..Change::default()
    };
    let by = desk.state.bot;
    let audit_id = desk.state.apply(id, &change, by, now)?;
    let answer = Answer::ok(json!({ "tags": desk.state.ticket(id).tags }));
    let before = Some(Box::new(before));
    Ok((answer, audit_id.map(|_| Changed { ticket: id, before, by })))
}

fn parse(asked: &Asked) -> Result<Value, Answer> {
    let typed = asked
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("application/json"));
    match serde_json::from_slice(&asked.body) {
        Ok(body) if typed => Ok(body),
        Ok(_) => Err(Refusal::new(415, "UnsupportedContentType", "Content-Type must be application/json").into()),
        Err(_) => Err(Refusal::new(422, "Unprocessable Entity", "Server could not parse JSON").into()),
    }
}

/// Thirty updates of one ticket by one account in ten minutes.
fn within_limits(desk: &mut Desk, ticket: &Ticket, now: DateTime<Utc>) -> Result<(), Answer> {
    let window = Duration::minutes(10);
    let recent: Vec<_> = ticket.bot_updates.iter().filter(|at| now - **at < window).collect();
    match recent.as_slice() {
        [oldest, ..] if recent.len() >= 30 => {
            desk.violations.push(format!(
                "ticket {} was updated more than 30 times in 10 minutes",
                ticket.id
            ));
            Err(too_many((**oldest + window - now).num_seconds().max(1)))
        }
        _ => Ok(()),
    }
}

/// The check that `safe_update` asks for: the stamp must be the ticket's own `updated_at`, to the second.
fn safe(desk: &mut Desk, wanted: &Value, ticket: &Ticket) -> Result<(), Answer> {
    let asks = wanted["safe_update"] == true || wanted["safe_update"] == "true";
    if !asks {
        return Ok(());
    }
    let why = "Safe Update prevented the update due to outdated ticket data. \
               Please fetch the latest ticket data and try again.";
    let conflict = || Answer::from(Refusal::new(409, "UpdateConflict", why));
    if desk.conflicts > 0 {
        desk.conflicts -= 1;
        return Err(conflict());
    }
    let stamp = wanted["updated_stamp"]
        .as_str()
        .and_then(|text| DateTime::parse_from_rfc3339(text).ok());
    let Some(stamp) = stamp else {
        desk.violations.push(format!(
            "safe_update came without a readable updated_stamp: {}",
            wanted["updated_stamp"]
        ));
        return Err(conflict());
    };
    match stamp.to_utc().trunc_subsecs(0) == ticket.updated_at {
        true => Ok(()),
        false => Err(conflict()),
    }
}

fn change(desk: &mut Desk, wanted: &Value) -> Change {
    let text = |name: &str| wanted[name].as_str().map(str::to_owned);
    let unset_or = |name: &str| wanted.get(name).map(|value| value.as_str().map(str::to_owned));
    let id = |name: &str| wanted.get(name).map(Value::as_u64);
    let comment = &wanted["comment"];
    let body = comment["body"].as_str().or(comment["html_body"].as_str());
    // A comment is public unless it says otherwise: forgetting `public` sends a note to the customer.
    let public = comment["public"].as_bool().unwrap_or(true);
    for name in ["additional_tags", "remove_tags"] {
        if wanted.get(name).is_some() {
            desk.violations.push(format!("{name} is known to update_many only"));
        }
    }
    let by_email = wanted["assignee_email"].as_str().map(|email| {
        let known = desk
            .state
            .people
            .iter()
            .find(|person| person.email.eq_ignore_ascii_case(email));
        known.map(|person| person.id)
    });
    Change {
        comment: body.map(|body| (body.to_owned(), public)),
        author_id: comment["author_id"].as_u64(),
        status: text("status"),
        priority: unset_or("priority"),
        kind: unset_or("type"),
        tags: wanted.get("tags").map(strings),
        assignee_id: id("assignee_id").or(by_email),
        group_id: id("group_id"),
        subject: text("subject"),
        external_id: text("external_id"),
        custom: wanted.get("metadata").cloned().unwrap_or(Value::Null),
        via: None,
    }
}

/// A list, or words parted by spaces or commas as the API also takes them.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => text
            .split([' ', ','])
            .filter(|tag| !tag.is_empty())
            .map(str::to_owned)
            .collect(),
        other => other
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
    }
}
