//! One update of a ticket, by whom ever: what is refused, what changes, and the audit that it leaves.

use chrono::{DateTime, SubsecRound, Utc};
use serde_json::{Value, json};

use super::state::{Audit, Comment, State};

/// An update as the API's `ticket` object words it, and as people make it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Change {
    pub(crate) comment: Option<(String, bool)>,
    pub(crate) author_id: Option<u64>,
    pub(crate) status: Option<String>,
    pub(crate) priority: Option<Option<String>>,
    pub(crate) kind: Option<Option<String>>,
    /// Sets the whole list: the API's `tags` replaces.
    pub(crate) tags: Option<Vec<String>>,
    pub(crate) assignee_id: Option<Option<u64>>,
    pub(crate) group_id: Option<Option<u64>>,
    pub(crate) subject: Option<String>,
    pub(crate) external_id: Option<String>,
    pub(crate) custom: Value,
    pub(crate) via: Option<Value>,
}

/// An answer in the API's error shape.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Refusal {
    pub(crate) fn new(status: u16, error: &str, description: &str) -> Self {
        let body = json!({ "error": error, "description": description });
        Self { status, body }
    }

    pub(crate) fn field(field: &str, description: &str, error: Option<&str>) -> Self {
        let mut detail = json!({ "description": description });
        if let Some(error) = error {
            detail["error"] = error.into();
        }
        let mut refusal = Self::new(422, "RecordInvalid", "Record validation errors");
        refusal.body["details"] = json!({ field: [detail] });
        refusal
    }

    pub(crate) fn not_found() -> Self {
        Self::new(404, "RecordNotFound", "Not found")
    }
}

/// Comments longer than this are refused, in bytes (Zendesk's staff say about 64 KB).
const COMMENT_BYTES: usize = 65_535;
const COMMENTS: usize = 5_000;

impl State {
    /// Applies all of a change or nothing. Gives back the audit's id; `None` when nothing was different.
    pub(crate) fn apply(
        &mut self,
        id: u64,
        change: &Change,
        by: u64,
        at: DateTime<Utc>,
    ) -> Result<Option<u64>, Refusal> {
        self.judge(id, change, by)?;
        let (audit_id, mut events) = (self.fresh_id(), Vec::new());
        let by_bot = by == self.bot;
        let author_id = change.author_id.unwrap_or(by);
        let staff = self.person(author_id).is_some_and(|person| person.role.is_staff());
        let via = change
            .via
            .clone()
            .unwrap_or_else(|| super::state::via(if by_bot { "api" } else { "web" }));
        let comment_id = self.fresh_id();
        let ticket = self.tickets.get_mut(&id).ok_or_else(Refusal::not_found)?;
        let mut status = change.status.clone();

        if let Some((body, public)) = &change.comment {
            // A requester's words are public whatever they ask for, and reopen what was settled.
            let public = *public || !staff;
            if !staff && status.is_none() && ["pending", "hold", "solved"].contains(&ticket.status.as_str()) {
                status = Some("open".to_owned());
            }
            events.push(json!({
                "id": comment_id, "type": "Comment", "author_id": author_id, "body": body, "plain_body": body,
                "html_body": html(body), "public": public, "attachments": [], "audit_id": audit_id,
            }));
            ticket.comments.push(Comment {
                id: comment_id,
                audit_id,
                author_id,
                body: body.clone(),
                public,
                at,
                via: via.clone(),
                custom: change.custom.clone(),
                by_bot,
                looked: false,
            });
        }
        if let Some(Some(_)) = change.assignee_id
            && status.is_none()
            && ticket.status == "new"
        {
            status = Some("open".to_owned());
        }
        let mut differs = |field: &str, before: Value, after: Value| {
            if before != after {
                events.push(json!({ "type": "Change", "field_name": field, "previous_value": before, "value": after }));
            }
        };
        if let Some(subject) = &change.subject {
            differs("subject", json!(ticket.subject), json!(subject));
            ticket.subject.clone_from(subject);
        }
        if let Some(status) = status {
            differs("status", json!(ticket.status), json!(status));
            ticket.status = status;
        }
        if let Some(priority) = &change.priority {
            differs("priority", json!(ticket.priority), json!(priority));
            ticket.priority.clone_from(priority);
        }
        if let Some(kind) = &change.kind {
            differs("type", json!(ticket.kind), json!(kind));
            ticket.kind.clone_from(kind);
        }
        if let Some(tags) = &change.tags {
            let tags = tags
                .iter()
                .map(|tag| tag.trim().to_lowercase().replace(' ', "_"))
                .collect();
            differs("tags", json!(ticket.tags), json!(tags));
            ticket.tags = tags;
        }
        if let Some(assignee) = change.assignee_id {
            differs("assignee_id", json!(ticket.assignee_id), json!(assignee));
            ticket.assignee_id = assignee;
        }
        if let Some(group) = change.group_id {
            differs("group_id", json!(ticket.group_id), json!(group));
            ticket.group_id = group;
        }
        if let Some(external) = &change.external_id {
            differs("external_id", json!(ticket.external_id), json!(external));
            ticket.external_id = Some(external.clone());
        }
        if events.is_empty() {
            return Ok(None);
        }
        ticket.updated_at = at.trunc_subsecs(0);
        for (n, event) in events
            .iter_mut()
            .enumerate()
            .filter(|(_, event)| event.get("id").is_none())
        {
            event["id"] = json!(audit_id * 100 + n as u64);
        }
        ticket.audits.push(Audit {
            id: audit_id,
            author_id: by,
            at,
            events,
            custom: change.custom.clone(),
            via,
        });
        Ok(Some(audit_id))
    }

    fn judge(&self, id: u64, change: &Change, by: u64) -> Result<(), Refusal> {
        let ticket = self.tickets.get(&id).ok_or_else(Refusal::not_found)?;
        if ticket.status == "closed" {
            return Err(Refusal::field("status", "Status: closed prevents ticket update", None));
        }
        if let Some((body, _)) = &change.comment {
            if body.trim().is_empty() {
                return Err(Refusal::field(
                    "comment",
                    "Comment: cannot be blank",
                    Some("BlankValue"),
                ));
            }
            if body.len() > COMMENT_BYTES {
                return Err(Refusal::field("comment", "Comment: is too long", Some("ValueTooLong")));
            }
            if ticket.comments.len() >= COMMENTS {
                let why = "Ticket has reached the maximum number of comments";
                return Err(Refusal::field("comment", why, None));
            }
        }
        one_of(
            "status",
            change.status.as_deref(),
            &["new", "open", "pending", "hold", "solved", "closed"],
        )?;
        let priority = change.priority.as_ref().and_then(|priority| priority.as_deref());
        one_of("priority", priority, &["low", "normal", "high", "urgent"])?;
        let kind = change.kind.as_ref().and_then(|kind| kind.as_deref());
        one_of("type", kind, &["question", "incident", "problem", "task"])?;
        if change.status.as_deref() == Some("new") && ticket.status != "new" {
            return Err(Refusal::field(
                "status",
                "Status: cannot be set back to new",
                Some("InvalidValue"),
            ));
        }
        if let Some(Some(group)) = change.group_id
            && self.group(group).is_none()
        {
            return Err(Refusal::field("group_id", "Group: is invalid", Some("InvalidValue")));
        }
        let staff = |id: u64| self.person(id).is_some_and(|person| person.role.is_staff());
        if let Some(Some(assignee)) = change.assignee_id
            && !staff(assignee)
        {
            return Err(Refusal::field("assignee", "Assignee: is invalid", Some("InvalidValue")));
        }
        if change.author_id.unwrap_or(by) != by && !staff(by) {
            return Err(Refusal::new(403, "Forbidden", "You do not have access to this page."));
        }
        Ok(())
    }
}

fn one_of(field: &str, value: Option<&str>, known: &[&str]) -> Result<(), Refusal> {
    match value {
        Some(value) if !known.contains(&value) => {
            let why = format!("{field}: is not valid");
            Err(Refusal::field(field, &why, Some("InvalidValue")))
        }
        Some(_) | None => Ok(()),
    }
}

pub(crate) fn html(body: &str) -> String {
    let escaped = body
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('\n', "<br>");
    format!("<div class=\"zd-comment\" dir=\"auto\"><p dir=\"auto\">{escaped}</p></div>")
}
