//! Event subscriptions: `zen:event-type:ticket.*`.
//!
//! Their order is not guaranteed, and `detail` is the ticket as it was at the event. So each event is taken only for what
//! it is about; of `detail` only the subject is used besides.
//! Source: developer.zendesk.com, webhooks, event types, ticket events.

use deskhand_core::inbound::{DeskStatus, Happening, Inbound, NewComment, Told};
use deskhand_core::ticket::{Author, OutsideId, Priority, Source};
use serde_json::Value;

use super::trigger::status;
use super::{Entries, MapError, OurAuthor, clean, number, time};

pub(super) fn map(entries: &Entries, ours: &OurAuthor) -> Result<Inbound, MapError> {
    let kind = entries.get("type").and_then(Value::as_str).unwrap_or_default();
    let kind = kind.strip_prefix("zen:event-type:").unwrap_or(kind);
    let Some(kind) = kind
        .strip_prefix("ticket.")
        .or_else(|| kind.strip_prefix("messaging_ticket."))
    else {
        return Err(MapError::new(
            "The event is not about a ticket: subscribe to ticket events only.",
        ));
    };
    let event = Event {
        entries,
        detail: entries.get("detail").unwrap_or(&Value::Null),
        event: entries.get("event").unwrap_or(&Value::Null),
        ours,
    };
    let ticket = event
        .ticket()
        .ok_or_else(|| MapError::new("The event names no ticket: detail.id is missing."))?;
    let what = event.what(kind, &ticket);
    Ok(Inbound {
        ticket: OutsideId {
            source: Source::Zendesk,
            id: ticket,
        },
        what,
    })
}

struct Event<'a> {
    entries: &'a Entries,
    detail: &'a Value,
    event: &'a Value,
    ours: &'a OurAuthor,
}

impl Event<'_> {
    fn ticket(&self) -> Option<String> {
        number(&self.detail["id"]).or_else(|| {
            let subject = self.entries.get("subject")?.as_str()?;
            super::digits(subject.strip_prefix("zen:ticket:")?)
        })
    }

    /// The words of `kind` are Zendesk's and grow: an unknown one is of no interest, not an error.
    fn what(&self, kind: &str, ticket: &str) -> Happening {
        match kind {
            "comment_added" => self.comment_added(),
            // The text of a new ticket comes without its comment's id, and without the requester's address.
            "created" => needs_read("A new ticket."),
            "message_added" => needs_read("A chat line; the event carries the ticket's number only."),
            // Whoever the reply would go to has changed: nothing may be sent before the ticket was read.
            "requester_changed" => needs_read("The requester was changed."),
            "undeleted" => needs_read("The ticket was restored."),
            "merged" => self.merged(ticket),
            "soft_deleted" | "permanently_deleted" | "marked_as_spam" => Happening::Closed,
            "status_changed" => self.status_changed(),
            "priority_changed" => self.priority_changed(),
            "agent_assignment_changed" => self.assignment_changed(),
            "subject_changed" => self.unless_ours(Told {
                subject: self.subject(),
                ..self.told()
            }),
            _ => Happening::Nothing {
                why: format!("Of no interest: {}.", clean(kind).chars().take(60).collect::<String>()),
            },
        }
    }

    fn comment_added(&self) -> Happening {
        let comment = &self.event["comment"];
        let (Some(id), Some(body)) = (number(&comment["id"]), comment["body"].as_str()) else {
            return needs_read("A comment whose id or text the event lacks.");
        };
        let Some(public) = comment["is_public"].as_bool() else {
            return needs_read("A comment of which the event does not say whether it is public.");
        };
        let author = &comment["author"];
        let author_id = plain_id(&author["id"]);
        let ours = author_id.as_deref().is_some_and(|id| self.ours.has_id(id));
        let role = if ours {
            Author::Bot
        } else if author_id.is_some() && author_id == plain_id(&self.detail["requester_id"]) {
            Author::Requester
        } else if author["is_staff"].as_bool() == Some(true) {
            Author::Agent
        } else {
            Author::Other
        };
        Happening::Told(Box::new(Told {
            subject: self.subject(),
            comments: vec![NewComment {
                outside_id: Some(id),
                author: role,
                author_name: clean(author["name"].as_str().unwrap_or_default()),
                public,
                body: clean(body),
                created_at: time(self.entries.get("time")),
                marker: None,
            }],
            ..self.told()
        }))
    }

    /// The target's field is not in any example that could be read, so the likely names are tried and anything else is
    /// read from the desk.
    fn merged(&self, ticket: &str) -> Happening {
        let into = ["target_ticket_id", "target_id", "merged_into", "into", "current"]
            .iter()
            .find_map(|key| number(&self.event[*key]))
            .or_else(|| number(&self.event["target"]["id"]));
        match into {
            Some(into) if into != ticket => Happening::Merged { into },
            Some(_) | None => needs_read("The ticket was merged; the event does not say into which."),
        }
    }

    fn status_changed(&self) -> Happening {
        match self.event["current"].as_str().and_then(status) {
            Some(DeskStatus::Closed) => Happening::Closed,
            Some(status @ (DeskStatus::Open | DeskStatus::Pending | DeskStatus::Solved)) => self.unless_ours(Told {
                subject: self.subject(),
                status: Some(status),
                ..self.told()
            }),
            None => Happening::Nothing {
                why: "A status that is none of Zendesk's own.".to_owned(),
            },
        }
    }

    fn priority_changed(&self) -> Happening {
        let word = self.event["current"].as_str().unwrap_or_default().to_ascii_lowercase();
        match word.parse::<Priority>() {
            Ok(priority) => self.unless_ours(Told {
                subject: self.subject(),
                priority: Some(priority),
                ..self.told()
            }),
            Err(_) => Happening::Nothing {
                why: "The priority was taken away.".to_owned(),
            },
        }
    }

    fn assignment_changed(&self) -> Happening {
        let person = plain_id(&self.event["current"]).filter(|id| !self.ours.has_id(id));
        self.unless_ours(Told {
            subject: self.subject(),
            assignee: Some(person),
            ..self.told()
        })
    }

    fn told(&self) -> Told {
        Told {
            updated_at: time(self.detail.get("updated_at")),
            ..Told::default()
        }
    }

    fn subject(&self) -> Option<String> {
        self.detail["subject"].as_str().map(clean)
    }

    /// A change of a field that our own account made is our own write-back coming home.
    fn unless_ours(&self, told: Told) -> Happening {
        match plain_id(&self.detail["actor_id"]) {
            Some(actor) if self.ours.has_id(&actor) => Happening::Nothing {
                why: "Our own update came back.".to_owned(),
            },
            Some(_) | None => Happening::Told(Box::new(told)),
        }
    }
}

fn needs_read(why: &str) -> Happening {
    Happening::NeedsRead { why: why.to_owned() }
}

/// A person's id: digits, or `-1` for Zendesk itself.
fn plain_id(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() && text.len() <= 40 => Some(clean(text)),
        Value::Number(number) => Some(number.to_string()),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
