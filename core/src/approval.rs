//! A request for one decision on one exact effect, and the one place where a click becomes a decision.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{ApprovalId, CallKey, RunId, TicketId};
use crate::words;

words! {
    /// Which surface a person acted on.
    pub enum Surface { Slack = "slack", Discord = "discord", Local = "local", Api = "api" }
}

/// A person, as the surface's signed payload names them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    pub surface: Surface,
    pub id: String,
    /// For people to read; never compared.
    pub name: String,
    /// The workspace or guild that the payload names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Roles that the payload itself proves (Discord).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
}

impl Actor {
    /// `slack:U024BE7LH`: how settings and the ledger name a person.
    pub fn key(&self) -> String {
        format!("{}:{}", self.surface, self.id)
    }
}

words! {
    pub enum ApprovalState {
        Open = "open",
        Approved = "approved",
        Edited = "edited",
        Rejected = "rejected",
        Expired = "expired",
        Withdrawn = "withdrawn",
        Superseded = "superseded",
    }
}

/// What a person wants done with an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    Approve,
    /// The draft in the person's words.
    Edit {
        text: String,
    },
    Reject {
        reason: String,
    },
}

/// How an approval ended, as `next` learns of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub state: ApprovalState,
    /// `slack:U…`; empty for expiry and withdrawal.
    pub by: String,
    pub by_name: String,
    pub at: DateTime<Utc>,
    /// The reason of a rejection or withdrawal.
    pub reason: String,
    /// The draft after an edit.
    pub edited: Option<String>,
}

/// An approval as its row says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    pub id: ApprovalId,
    pub ticket: TicketId,
    pub run: RunId,
    pub call: CallKey,
    pub effect: crate::effect::Effect,
    /// Hex SHA-256 of the effect's canonical form.
    pub digest: String,
    pub state: ApprovalState,
    pub decision: Option<Decision>,
    /// Who gave the instruction that led to it, as [`Actor::key`]: they may not approve it themselves.
    pub instructed_by: Option<String>,
    pub expires_at: Option<DateTime<Utc>>,
    pub executed: bool,
    pub created_at: DateTime<Utc>,
}
