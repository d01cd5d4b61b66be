//! Zendesk's JSON, as far as we use it. Read leniently: a field may be missing, null, or an id written as text.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Under this name an effect's id travels in an update's `metadata` and comes back in `audit.metadata.custom`.
/// Source: "Setting metadata" in Zendesk's guide to updating tickets.
pub(super) const MARKER: &str = "deskhand_effect";

/// An id: a number in the API, text in events. Kept as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id(pub(super) String);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(text)),
            Value::Number(number) => Ok(Self(number.to_string())),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                Err(serde::de::Error::custom("an id that is neither number nor text"))
            }
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct TicketAnswer {
    pub(super) ticket: Ticket,
    #[serde(default)]
    pub(super) users: Vec<Person>,
    /// Only after an update.
    pub(super) audit: Option<Audit>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Ticket {
    pub(super) id: Id,
    pub(super) subject: Option<String>,
    pub(super) status: Option<String>,
    pub(super) priority: Option<String>,
    pub(super) requester_id: Option<Id>,
    pub(super) assignee_id: Option<Id>,
    pub(super) tags: Option<Vec<String>>,
    pub(super) followup_ids: Option<Vec<Id>>,
    pub(super) updated_at: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Person {
    pub(super) id: Option<Id>,
    pub(super) name: Option<String>,
    pub(super) email: Option<String>,
    /// `end-user`, `agent` or `admin`.
    pub(super) role: Option<String>,
    pub(super) only_private_comments: Option<bool>,
}

#[derive(Debug, Deserialize)]
pub(super) struct PersonAnswer {
    pub(super) user: Person,
}

#[derive(Debug, Deserialize)]
pub(super) struct People {
    #[serde(default)]
    pub(super) users: Vec<Person>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Comment {
    pub(super) id: Id,
    pub(super) author_id: Option<Id>,
    pub(super) body: Option<String>,
    pub(super) plain_body: Option<String>,
    pub(super) public: Option<bool>,
    pub(super) created_at: Option<String>,
    #[serde(default)]
    pub(super) metadata: Value,
    pub(super) attachments: Option<Vec<Attachment>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Attachment {
    pub(super) file_name: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Audit {
    pub(super) id: Id,
    pub(super) author_id: Option<Id>,
    pub(super) created_at: Option<String>,
    #[serde(default)]
    pub(super) metadata: Value,
    pub(super) events: Option<Vec<AuditEvent>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct AuditEvent {
    pub(super) id: Option<Id>,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) public: Option<bool>,
}

impl Audit {
    pub(super) fn marker(&self) -> Option<&str> {
        marker(&self.metadata)
    }

    /// The comment that the update added.
    pub(super) fn comment(&self) -> Option<&AuditEvent> {
        let events = self.events.as_deref().unwrap_or_default();
        events
            .iter()
            .find(|event| matches!(event.kind.as_deref(), Some("Comment" | "VoiceComment")) && event.id.is_some())
    }
}

/// The effect's id in an audit's or a comment's metadata.
pub(super) fn marker(metadata: &Value) -> Option<&str> {
    metadata["custom"][MARKER].as_str()
}

#[derive(Debug, Deserialize)]
pub(super) struct Group {
    pub(super) id: Id,
    pub(super) name: Option<String>,
    pub(super) deleted: Option<bool>,
}

/// One page of a list, whichever way it is paged: `meta` by cursor, `next_page` by number.
#[derive(Debug, Deserialize)]
pub(super) struct Page<T> {
    #[serde(alias = "comments", alias = "audits", alias = "groups")]
    pub(super) items: Vec<T>,
    #[serde(default)]
    pub(super) users: Vec<Person>,
    meta: Option<Meta>,
    next_page: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Meta {
    #[serde(default)]
    has_more: bool,
    after_cursor: Option<String>,
}

/// How to ask for the page after this one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum More {
    No,
    After(String),
    Numbered,
}

impl<T> Page<T> {
    pub(super) fn more(&self) -> More {
        match (&self.meta, &self.next_page) {
            (
                Some(Meta {
                    has_more: true,
                    after_cursor: Some(cursor),
                }),
                _,
            ) => More::After(cursor.clone()),
            (Some(_), _) | (None, None) => More::No,
            (None, Some(_)) => More::Numbered,
        }
    }
}
