//! A request for one decision on one exact effect, and the one place where a click becomes a decision.

mod decide;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{ApprovalId, CallKey, RunId, TicketId};
use crate::words;

pub use decide::{Click, Standing, decide};

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
        /// A question has its answer.
        Answered = "answered",
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
    /// The answer to a question, in the person's words.
    Answer {
        text: String,
    },
    /// One of a question's options, counted from 0.
    Choose {
        option: usize,
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
    /// The draft after an edit; the answer to a question.
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

/// What a click on an approval comes to. Every click gets exactly one of these as its visible answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Decided(Decision),
    AlreadyDecided(Decision),
    Expired,
    Withdrawn {
        reason: String,
    },
    NotAllowed {
        why: String,
    },
    /// The card was made from another effect than the approval now holds.
    Stale,
    /// Kept; a worker decides it in a moment.
    Checking,
    Unknown,
}

impl Answer {
    /// One sentence for the person who clicked.
    pub fn sentence(&self, id: ApprovalId) -> String {
        match self {
            Self::Decided(decision) => format!("{id} {} by {}.", decision.state, decision.by_name),
            Self::AlreadyDecided(decision) => {
                let at = decision.at.format("%H:%M UTC");
                format!(
                    "{id} was already {} by {} at {at}. Your click changed nothing.",
                    decision.state, decision.by_name
                )
            }
            Self::Expired => format!("{id} expired before you clicked; nothing was sent."),
            Self::Withdrawn { reason } if reason.is_empty() => format!("{id} was withdrawn; nothing was sent."),
            Self::Withdrawn { reason } => format!("{id} was withdrawn: {reason}. Nothing was sent."),
            Self::NotAllowed { why } => why.clone(),
            Self::Stale => {
                format!("{id} has changed since this card was drawn. Look at the newest card and decide there.")
            }
            Self::Checking => format!("{id}: checking; the answer follows in a moment."),
            Self::Unknown => format!("There is no approval {id} here."),
        }
    }
}
