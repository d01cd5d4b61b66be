//! A customer's case, what was said on it, and what triage concluded.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::TicketId;

/// Declares an enum whose values are stored and shown as one lower-case word.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $vis enum $name { $($(#[$vmeta])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::ticket::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::ticket::UnknownWord {
                        text: text.chars().take(40).collect(),
                        known: &[$($word),+],
                    }),
                }
            }
        }
    };
}

/// A word that is none of the known ones.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not one of {}", known.join(", "))]
pub struct UnknownWord {
    pub text: String,
    pub known: &'static [&'static str],
}

words! {
    /// Where a ticket came from and is written back to.
    pub enum Source { Zendesk = "zendesk", Email = "email", Slack = "slack", Discord = "discord", Api = "api" }
}

words! {
    pub enum TicketState {
        New = "new",
        Triaged = "triaged",
        WaitingOnCustomer = "waiting_on_customer",
        Escalated = "escalated",
        WithHuman = "with_human",
        Solved = "solved",
    }
}

words! {
    pub enum Priority { Low = "low", Normal = "normal", High = "high", Urgent = "urgent" }
}

words! {
    /// What may happen with a ticket without a person, from loosest to tightest: the order of the variants is the order
    /// of tightness, and a run may only move down it.
    pub enum Action {
        /// An answer may be drafted, and sent unasked in mode auto.
        AutoReply = "auto_reply",
        /// An answer may be drafted; a person must press the button (money, orders, contracts).
        NeedsApproval = "needs_approval",
        /// Hand over; no answer is drafted.
        Human = "human",
        /// Nothing to do; no answer is drafted.
        Ignore = "ignore",
    }
}

words! {
    /// Who wrote a comment.
    pub enum Author {
        Requester = "requester",
        /// A person at the help desk.
        Agent = "agent",
        /// Deskhand itself.
        Bot = "bot",
        /// Somebody else on the ticket: a CC, a machine.
        Other = "other",
    }
}

words! {
    /// How far the bot may go by itself. Ordered from strictest to loosest.
    pub enum Mode { Shadow = "shadow", Ask = "ask", Auto = "auto" }
}

/// The customer. `address` is where replies go; the model never chooses it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requester {
    pub name: String,
    /// An e-mail address, or the source's own id where it has none.
    pub address: String,
}

impl fmt::Display for Requester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name.as_str(), self.address.as_str()) {
            ("", "") => f.write_str("unknown requester"),
            ("", address) => f.write_str(address),
            (name, _) => f.write_str(name),
        }
    }
}

/// The ticket's number in its source, as `/triage zendesk:35436` names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OutsideId {
    pub source: Source,
    pub id: String,
}

impl fmt::Display for OutsideId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.source, self.id)
    }
}

impl FromStr for OutsideId {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let (source, id) = text.split_once(':').unwrap_or((text, ""));
        Ok(Self {
            source: source.to_ascii_lowercase().parse()?,
            id: id.trim().to_owned(),
        })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ticket {
    pub id: TicketId,
    pub outside: OutsideId,
    pub subject: String,
    pub requester: Requester,
    pub state: TicketState,
    /// Goes up with every public comment that is not ours, at the delivery of ours, and when a human takes over.
    pub version: i64,
    pub triage: Option<Triage>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// Deskhand's own number, ascending in the order of arrival.
    pub id: i64,
    pub author: Author,
    pub author_name: String,
    pub public: bool,
    pub body: String,
    pub created_at: DateTime<Utc>,
}

/// What a run concluded about a ticket. Kept on the ticket, so that no transcript can lose it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Triage {
    pub category: String,
    pub priority: Priority,
    /// The team that should have it; empty while not routed.
    #[serde(default)]
    pub team: String,
    /// BCP 47 primary tag: `en`, `de`, `zh` …
    pub language: String,
    pub action: Action,
    /// 0 to 1: how likely the conclusion is right.
    pub confidence: f64,
    /// One sentence that a supervisor can check.
    pub reason: String,
}
