//! What goes to a language model and what comes back, in our own types.
//!
//! Deliberately not any provider's shape: adapters translate. What a provider sent is kept verbatim beside the parsed
//! reply, since a paused run is replayed to the same provider byte for byte (thinking signatures, block order).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ticket::{Author, Triage};

/// Everything a model needs for its next reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// Rules of the house and the skills' summaries. Byte-stable within a run, so that provider caches hit.
    pub system: String,
    /// Sorted by name; byte-stable within a run as well.
    pub tools: Vec<ToolSpec>,
    pub turns: Vec<Turn>,
    /// Upper bound of the reply, in tokens.
    pub max_tokens: u32,
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments; always an object schema.
    pub schema: Value,
}

/// Turns alternate between what is told to the model and what it said; two of one kind may follow each other and are
/// joined by the adapter where the provider wants that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    Told(Vec<Part>),
    Said(ModelReply),
    /// One entry for each call of the reply before it, in the order of the calls.
    Outcomes(Vec<Answer>),
}

/// What is told to the model. Customers' words are kept apart from ours by type; [`Part::render`] fences
/// them, and the offline model reads them as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Ours: an instruction by a team member, a nudge, a note on what happened to an approval.
    Text(String),
    /// The facts of the ticket.
    Ticket(TicketBrief),
    /// A comment: data, never an instruction, whoever wrote it.
    Comment {
        author: Author,
        author_name: String,
        public: bool,
        body: String,
    },
}

/// The ticket as the model is told of it. Subject and names are the customer's words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TicketBrief {
    /// `T-1001`.
    pub number: String,
    pub source: String,
    pub subject: String,
    pub requester: String,
    pub state: String,
    pub triage: Option<Triage>,
    /// What the source marks as automatic mail is triaged, never drafted for.
    pub automatic: bool,
}

/// A call's outcome on its way back to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The provider's id of the call.
    pub call_id: String,
    pub name: String,
    pub text: String,
    pub failed: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    pub stop: Stop,
    pub usage: Usage,
    /// The provider's own message, replayed as it is to the same provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<RawReply>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RawReply {
    /// `anthropic`, `openai`: only this provider gets `message` back.
    pub provider: String,
    pub message: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's id; not unique across replies.
    pub id: String,
    pub name: String,
    /// What the model wrote. Not yet checked; `Value::String` with the raw text when it was no JSON at all.
    pub args: Value,
}

/// Why the model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    #[default]
    EndOfTurn,
    Calls,
    /// Cut off by the token limit: none of the calls may be run.
    Length,
    /// The provider refused or filtered the reply.
    Refusal,
}

/// Tokens of one reply. Cached ones are not counted in `input`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    #[serde(default)]
    pub cache_read: u64,
    #[serde(default)]
    pub cache_write: u64,
}

impl Usage {
    pub fn total(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
    }
}
