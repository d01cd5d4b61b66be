//! What the shell supplies: where tickets are written back, where cards are shown, and the model.
//!
//! Errors answer the questions that a caller has: may it be tried again, when, and may it have happened already?

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::card::{Card, Header};
use crate::heard;
use crate::inbound::{DeskStatus, NewComment};
use crate::model::{ModelReply, ModelRequest};
use crate::offline::Learned;
use crate::step::Outcome;
use crate::ticket::{Priority, Requester};
use crate::tool::outside::{OutsideTool, ToolUse};
use crate::words;

/// Why a call to the outside gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    /// Nothing happened there; the same call may succeed later.
    #[error("{why}")]
    Transient { why: String, retry_after: Option<Duration> },
    /// The connection broke after the request may have arrived: it may have happened.
    #[error("{why}")]
    Ambiguous { why: String },
    /// Somebody changed the thing meanwhile: read it again and judge anew.
    #[error("{why}")]
    Conflict { why: String },
    /// The thing is not there (any more).
    #[error("{why}")]
    Gone { why: String },
    /// The ticket is closed for good.
    #[error("{why}")]
    Closed { why: String },
    /// It will never work as it is: a wrong setting, missing rights, a refused request.
    #[error("{why}")]
    Permanent { why: String },
}

impl PortError {
    pub fn transient(why: impl Into<String>) -> Self {
        Self::Transient {
            why: why.into(),
            retry_after: None,
        }
    }

    pub fn permanent(why: impl Into<String>) -> Self {
        Self::Permanent { why: why.into() }
    }
}

/// Proof of delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The id that the outside gave it: a comment's id, a message's ts.
    pub remote_id: String,
    /// What a person should know of it: "a human commented in the same second".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

/// A ticket as its desk tells it now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeskTicket {
    pub outside_id: String,
    pub subject: String,
    pub requester: Requester,
    pub status: DeskStatus,
    pub priority: Option<Priority>,
    /// The desk's id of the person it is assigned to; the bot's own account counts as nobody.
    pub assignee: Option<String>,
    /// How that person is called, for sentences; perhaps empty.
    pub assignee_name: String,
    /// Set where the desk says that it was merged into another ticket.
    pub merged_into: Option<String>,
    pub url: Option<String>,
    /// The desk's own clock, as the desk wrote it: handed back as the stamp of a safe update.
    pub stamp: String,
    pub updated_at: DateTime<Utc>,
    /// Oldest first. Those that carry a marker of ours say so.
    pub comments: Vec<NewComment>,
    /// Of a desk that is a chat, instead of comments: what people wrote in the thread, oldest first. Whose words they are
    /// is not for the chat to say.
    pub posts: Vec<heard::Post>,
}

/// One update of a ticket at its desk. Either a public reply or bookkeeping, never both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeskWrite {
    pub outside_id: String,
    /// Found again in the desk's audits after an ambiguous failure.
    pub marker: String,
    /// The desk's stamp that the judgement was made on; `None` writes without the check.
    pub stamp: Option<String>,
    pub change: DeskChange,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeskChange {
    Reply {
        text: String,
    },
    Bookkeeping(Bookkeeping),
    /// A closed ticket's follow-up: a new ticket that names the old one.
    FollowUp {
        subject: String,
        text: String,
    },
}

/// What one coalesced update says. Empty fields change nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bookkeeping {
    pub priority: Option<Priority>,
    /// The team's name; the adapter finds the group.
    pub group: Option<String>,
    /// Added, never removed.
    pub tags: Vec<String>,
    /// An internal note.
    pub note: Option<String>,
}

/// Where tickets are written back.
#[async_trait]
pub trait Desk: Send + Sync {
    async fn read(&self, outside_id: &str) -> Result<DeskTicket, PortError>;
    async fn write(&self, write: &DeskWrite) -> Result<Receipt, PortError>;
    /// Looks for a write of ours by its marker: the look before a repeat.
    async fn find(&self, outside_id: &str, marker: &str) -> Result<Option<Receipt>, PortError>;
    /// One line for `doctor`: who we are there.
    async fn check(&self) -> Result<String, PortError>;
}

/// A place in a chat: a channel, and a message in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    pub channel: String,
    /// Slack's `ts`, Discord's message id.
    pub message: String,
}

/// Something to post. What does not fit the platform's limits goes into "View full", never into silence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Post {
    pub channel: String,
    /// The parent's message id; `None` posts to the channel itself.
    pub thread: Option<String>,
    /// Also shown in the channel, where the platform knows that.
    pub broadcast: bool,
    /// Our id of the post, kept in the message's metadata where the platform has that.
    pub key: String,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    Card(Box<Card>),
    Header(Box<Header>),
    /// One line of plain text, unescaped.
    Line(String),
}

/// Where cards are shown.
#[async_trait]
pub trait Chat: Send + Sync {
    async fn post(&self, post: &Post) -> Result<Place, PortError>;
    async fn update(&self, place: &Place, content: &Content) -> Result<(), PortError>;
    /// Removes a message of ours; one that is gone already is fine.
    async fn remove(&self, place: &Place) -> Result<(), PortError>;
    /// Looks for a post of ours by its key: the look before a repeat.
    async fn find(&self, channel: &str, thread: Option<&str>, key: &str) -> Result<Option<Place>, PortError>;
    /// The members of a group or role.
    async fn members(&self, group: &str) -> Result<Vec<String>, PortError>;
    /// Whether a person is a full member of the connected workspace: no guest, no outside organisation, no bot.
    async fn is_full_member(&self, person: &str) -> Result<bool, PortError>;
    /// One line for `doctor`: who we are there.
    async fn check(&self) -> Result<String, PortError>;
}

/// Why a model gave no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Rate limits, overload, time-outs, broken streams: the same request may succeed later.
    #[error("{why}")]
    Transient { why: String, retry_after: Option<Duration> },
    /// The request is longer than the model can take.
    #[error("{why}")]
    TooLong { why: String },
    /// Wrong key, no credit, unknown model, refused request: trying again does not help.
    #[error("{why}")]
    Permanent { why: String },
    #[error("cancelled")]
    Cancelled,
}

/// Receives the text of a reply while it is written.
pub trait Sink: Send {
    fn text(&mut self, delta: &str);
}

impl Sink for () {
    fn text(&mut self, _delta: &str) {}
}

impl Sink for String {
    fn text(&mut self, delta: &str) {
        self.push_str(delta);
    }
}

/// Why a call of a tool outside has no result. Whether the server did it is then unknown, except where it says so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolsError {
    /// It never reached the server.
    #[error("{why}")]
    NotCalled { why: String },
    /// No answer came in time, or the connection broke after the call was sent.
    #[error("{why}")]
    Unknown { why: String },
}

words! {
    /// How a tool server stands.
    pub enum ServerState {
        /// It has not been greeted yet, or has not answered yet.
        Starting = "starting",
        Connected = "connected",
        /// It is tried again by itself.
        Down = "down",
    }
}

/// A tool server, for people to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolServer {
    pub name: String,
    pub state: ServerState,
    /// How many tools it offers; while it is down, as many as it listed last.
    pub tools: usize,
    /// Why it is down: a clause without a full stop.
    pub error: Option<String>,
    /// What had to be changed or left out of its list, a clause each.
    pub remarks: Vec<String>,
}

/// Tools of servers outside.
#[async_trait]
pub trait Tools: Send + Sync {
    /// What is offered, sorted by name. A server that is down keeps offering what it offered last, so that the head of
    /// every request stays the same bytes.
    fn offered(&self) -> Arc<[OutsideTool]>;
    /// Calls one; the outcome's text is the server's, not ours.
    async fn call(&self, used: &ToolUse) -> Result<Outcome, ToolsError>;

    /// Starts the servers if that was not done yet, and comes back once each has answered or failed. Cheap afterwards.
    async fn ready(&self) {}

    /// How each server stands.
    fn servers(&self) -> Vec<ToolServer> {
        Vec::new()
    }
}

#[async_trait]
pub trait Model: Send + Sync {
    /// `anthropic:<name>`, `openai:<name>`, `offline`.
    fn name(&self) -> &str;
    async fn reply(&self, request: &ModelRequest, sink: &mut dyn Sink) -> Result<ModelReply, ModelError>;
    /// The names that the provider offers, for `doctor`.
    async fn offered(&self) -> Result<Vec<String>, ModelError>;

    /// Goes on with what was learned from the house's past tickets. False where the model learns elsewhere, as all but the
    /// offline one do.
    fn takes_up(&self, _learned: &Arc<Learned>) -> bool {
        false
    }
}
