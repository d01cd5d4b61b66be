//! A verified, parsed thing that happened outside. Adapters make it from bytes; the store writes it down.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ticket::{Author, OutsideId, Priority, Requester};

/// One delivery: the id that makes a repeat recognisable, and what it says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inbound {
    pub ticket: OutsideId,
    pub what: Happening,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happening {
    /// A ticket as the source tells it; perhaps with comments. Fields that are `None` change nothing.
    Told(Box<Told>),
    /// The payload names a ticket but not enough of it: the runner reads the rest from the desk.
    NeedsRead { why: String },
    /// The ticket was merged into another one of the same source.
    Merged { into: String },
    /// Closed for good in the source; `solved` may be reopened by a comment, this may not.
    Closed,
    /// Verified and understood, and of no interest (a tag changed, our own update came back).
    Nothing { why: String },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Told {
    pub subject: Option<String>,
    pub requester: Option<Requester>,
    pub priority: Option<Priority>,
    pub status: Option<DeskStatus>,
    /// The source's id of the person it is assigned to: `Some(None)` says that nobody is.
    pub assignee: Option<Option<String>>,
    pub url: Option<String>,
    pub comments: Vec<NewComment>,
    /// Set when the source marks the mail as automatic: stored and triaged, never drafted for.
    pub automatic: bool,
    pub updated_at: Option<DateTime<Utc>>,
}

/// The state of a ticket in its source, in our words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeskStatus {
    Open,
    Pending,
    Solved,
    Closed,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewComment {
    /// Unique within the source: the same comment under another delivery id changes nothing. `None` when the payload
    /// does not say; the store then derives one from ticket, author, and text.
    pub outside_id: Option<String>,
    pub author: Author,
    pub author_name: String,
    pub public: bool,
    pub body: String,
    pub created_at: Option<DateTime<Utc>>,
    /// Carried by comments that an effect of ours wrote: the effect's id as text.
    pub marker: Option<String>,
}
