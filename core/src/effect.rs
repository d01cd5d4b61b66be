//! One intended write to the outside, fully resolved: who gets what. Approvals are about exactly one of these.

use serde::{Deserialize, Serialize};

use crate::id::{ArticleId, TicketId};
use crate::ticket::{OutsideId, Requester};
use crate::tool::outside::ToolUse;
use crate::tool::question::Question;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tool", rename_all = "snake_case")]
pub enum Effect {
    ReplyCustomer(Reply),
    EscalateTicket(Escalation),
    ProposeKnowledgeEdit(Edit),
    /// A call of a tool outside, which no outbox can hold: started by its run, never sent.
    UseTool(ToolUse),
    /// A question to the team: answered, never sent.
    AskQuestion(Question),
}

/// A public reply to the ticket's requester.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub ticket: TicketId,
    pub outside: OutsideId,
    /// From the ticket, never from an argument.
    pub to: Requester,
    pub text: String,
    /// The version of the ticket that the model had seen.
    pub version: i64,
}

/// Hands the ticket to a team lead (level 1) or to the second line (level 2 and above).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Escalation {
    pub ticket: TicketId,
    pub outside: OutsideId,
    pub level: u8,
    pub team: String,
    pub reason: String,
    pub version: i64,
}

/// A change of the knowledge base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    pub ticket: TicketId,
    pub article: ArticleId,
    pub rationale: String,
    pub change: EditChange,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditChange {
    /// Replaces `old_text`, which stands exactly once in the article at `base_revision`.
    Replace {
        base_revision: i64,
        old_text: String,
        new_text: String,
    },
    Create {
        title: String,
        body: String,
        language: String,
    },
    Retire {
        base_revision: i64,
    },
}

impl Effect {
    pub fn ticket(&self) -> TicketId {
        match self {
            Self::ReplyCustomer(reply) => reply.ticket,
            Self::EscalateTicket(escalation) => escalation.ticket,
            Self::ProposeKnowledgeEdit(edit) => edit.ticket,
            Self::UseTool(used) => used.ticket,
            Self::AskQuestion(question) => question.ticket,
        }
    }

    /// The tool that it came from.
    pub fn tool(&self) -> &str {
        match self {
            Self::ReplyCustomer(_) => "reply_customer",
            Self::EscalateTicket(_) => "escalate_ticket",
            Self::ProposeKnowledgeEdit(_) => "propose_knowledge_edit",
            Self::UseTool(used) => &used.tool,
            Self::AskQuestion(_) => "ask_question",
        }
    }

    /// Whether a new comment by the customer makes it stale.
    pub fn answers_the_customer(&self) -> bool {
        matches!(self, Self::ReplyCustomer(_))
    }

    /// Whether it leaves by the outbox or our own tables, so that anybody can execute its approval; a call outside is
    /// made by its own run alone.
    pub fn is_sent(&self) -> bool {
        match self {
            Self::ReplyCustomer(_) | Self::EscalateTicket(_) | Self::ProposeKnowledgeEdit(_) => true,
            Self::UseTool(_) | Self::AskQuestion(_) => false,
        }
    }

    /// Whether it is dropped when something new is said while nobody has decided: a reply, since the model will draft
    /// anew, and a call outside, since only its own run at that very call can make it.
    pub fn lapses(&self) -> bool {
        match self {
            Self::ReplyCustomer(_) | Self::UseTool(_) => true,
            Self::EscalateTicket(_) | Self::ProposeKnowledgeEdit(_) | Self::AskQuestion(_) => false,
        }
    }
}
