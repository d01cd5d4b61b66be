//! Tools of servers outside the house: what they offer and what the team's settings make of it.
//!
//! A server says of itself what its tools do; that is a hint, never a permission. What a call may do is the team's rule,
//! and where the team said nothing, a person is asked.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::TicketId;
use crate::model::ToolSpec;
use crate::words;

words! {
    /// What the team says about a tool of a server.
    pub enum Rule {
        Allow = "allow",
        Ask = "ask",
        Deny = "deny",
    }
}

/// One tool as its server offers it and the settings judge it.
#[derive(Clone, Debug, PartialEq)]
pub struct OutsideTool {
    /// `server__tool`: letters, digits, `_` and `-`, at most 64 characters, as the strictest provider wants it.
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments, as the server gave it.
    pub schema: Value,
    pub rule: Rule,
    /// It only reads, and the team takes the server's word for it.
    pub reads: bool,
    /// A second call with the same arguments does nothing more: it may be called again after a crash.
    pub repeatable: bool,
}

/// One intended call of such a tool, fully resolved. Approvals are about exactly this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    pub ticket: TicketId,
    #[serde(rename = "name")]
    pub tool: String,
    pub args: Value,
}

impl OutsideTool {
    pub fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.clone(),
            description: self.description.clone(),
            schema: self.schema.clone(),
        }
    }

    /// Reads, and nobody need be asked: performed beside other look-ups, and again after a crash.
    pub fn looks(&self) -> bool {
        self.reads && self.rule == Rule::Allow
    }
}
