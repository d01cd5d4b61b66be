//! Asking the team: what neither the ticket nor the house's texts can tell. The customer sees nothing of it; whatever the
//! customer is to be asked goes out as a reply, with its approval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Reach, Tool, Use, parse_as, schema_of, shown};
use crate::id::TicketId;

/// Longest answer in characters; as long as one input of the narrowest form (Slack's).
pub const LONGEST_ANSWER: usize = 3000;

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct AskQuestion {
    /// One question that can be understood by itself, in the team's language.
    #[schemars(length(min = 1, max = 500))]
    pub question: String,
    /// Short answers to choose from, at least two; leave out where the answer is free text. Another answer is always
    /// possible.
    #[serde(default)]
    #[schemars(length(max = 8), inner(length(min = 1, max = 75)))]
    pub options: Vec<String>,
}

/// A question as it is put to the team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub ticket: TicketId,
    pub question: String,
    /// None, or at least two, each another.
    pub options: Vec<String>,
}

pub static ASK_QUESTION: Tool = Tool {
    name: "ask_question",
    description: "Asks the team, and waits for the answer: for what only a person of the house can know or decide. The \
                  customer neither sees nor answers it; to ask the customer, use reply_customer.",
    reach: Reach::Acts,
    label: "Ask the team",
    activity: |args| format!("Asking the team: {}", shown(args, "question")),
    schema: schema_of::<AskQuestion>,
    parse: |args| parse_as(args, Use::Question),
};
