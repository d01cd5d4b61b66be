//! How the API draws what the desk holds: numbers for ids, whole seconds for times, `null` for what is unset.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use super::change::html;
use super::state::{Audit, Comment, Group, Person, Ticket};

pub(crate) fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

pub(crate) fn ticket(base: &str, ticket: &Ticket) -> Value {
    json!({
        "url": format!("{base}/api/v2/tickets/{}.json", ticket.id),
        "id": ticket.id,
        "external_id": ticket.external_id,
        "via": ticket.via,
        "created_at": time(ticket.created_at),
        "updated_at": time(ticket.updated_at),
        "generated_timestamp": ticket.updated_at.timestamp(),
        "type": ticket.kind,
        "subject": ticket.subject,
        "raw_subject": ticket.subject,
        "description": ticket.description,
        "priority": ticket.priority,
        "status": ticket.status,
        "recipient": null,
        "requester_id": ticket.requester_id,
        "submitter_id": ticket.submitter_id,
        "assignee_id": ticket.assignee_id,
        "organization_id": null,
        "group_id": ticket.group_id,
        "collaborator_ids": [],
        "follower_ids": [],
        "email_cc_ids": [],
        "forum_topic_id": null,
        "problem_id": null,
        "has_incidents": false,
        "is_public": ticket.comments.iter().any(|comment| comment.public),
        "due_at": null,
        "tags": ticket.tags,
        "custom_fields": [],
        "satisfaction_rating": null,
        "sharing_agreement_ids": [],
        "custom_status_id": 910_000_000_022_u64,
        "fields": [],
        "followup_ids": [],
        "ticket_form_id": 910_000_000_023_u64,
        "brand_id": 910_000_000_021_u64,
        "allow_channelback": false,
        "allow_attachments": true,
        "from_messaging_channel": false,
    })
}

pub(crate) fn comment(comment: &Comment) -> Value {
    json!({
        "id": comment.id,
        "type": "Comment",
        "author_id": comment.author_id,
        "body": comment.body,
        "html_body": html(&comment.body),
        "plain_body": comment.body,
        "public": comment.public,
        "attachments": [],
        "audit_id": comment.audit_id,
        "via": comment.via,
        "created_at": time(comment.at),
        "metadata": { "system": system(), "custom": custom(&comment.custom) },
    })
}

pub(crate) fn audit(ticket: &Ticket, audit: &Audit) -> Value {
    json!({
        "id": audit.id,
        "ticket_id": ticket.id,
        "created_at": time(audit.at),
        "author_id": audit.author_id,
        "metadata": { "system": system(), "custom": custom(&audit.custom) },
        "events": audit.events,
        "via": audit.via,
    })
}

fn system() -> Value {
    json!({ "client": "deskhand", "ip_address": "192.0.2.7", "location": "Somewhere", "latitude": 0.0, "longitude": 0.0 })
}

fn custom(value: &Value) -> Value {
    match value {
        Value::Null => json!({}),
        other => other.clone(),
    }
}

pub(crate) fn person(base: &str, person: &Person) -> Value {
    json!({
        "id": person.id,
        "url": format!("{base}/api/v2/users/{}.json", person.id),
        "name": person.name,
        "email": person.email,
        "created_at": "2025-01-01T00:00:00Z",
        "updated_at": "2025-01-01T00:00:00Z",
        "time_zone": "UTC",
        "iana_time_zone": "Etc/UTC",
        "phone": null,
        "photo": null,
        "locale_id": 1,
        "locale": "en-US",
        "organization_id": null,
        "role": person.role.as_str(),
        "verified": true,
        "active": true,
        "shared": false,
        "suspended": false,
        "external_id": null,
        "tags": [],
        "default_group_id": null,
        "user_fields": {},
    })
}

/// Who asks without saying who they are: `users/me` answers this with 200.
pub(crate) fn nobody() -> Value {
    json!({ "user": {
        "id": null, "url": null, "name": "Anonymous user", "email": "invalid@example.com", "role": "end-user",
        "verified": false, "active": true, "locale": "en-US",
    } })
}

pub(crate) fn group(base: &str, group: &Group) -> Value {
    json!({
        "url": format!("{base}/api/v2/groups/{}.json", group.id),
        "id": group.id,
        "is_public": true,
        "name": group.name,
        "description": "",
        "default": group.name == "Support",
        "deleted": false,
        "created_at": "2025-01-01T00:00:00Z",
        "updated_at": "2025-01-01T00:00:00Z",
    })
}
