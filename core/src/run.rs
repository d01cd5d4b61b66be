//! A run: one pursuit of one ticket.

use serde::{Deserialize, Serialize};

use crate::id::{ApprovalId, EffectId};
use crate::words;

words! {
    pub enum RunState {
        Queued = "queued",
        Running = "running",
        Waiting = "waiting",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl RunState {
    pub fn is_final(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled => true,
            Self::Queued | Self::Running | Self::Waiting => false,
        }
    }
}

words! {
    /// How a completed run ended.
    pub enum Ending {
        /// The customer has an answer; the receipts are there.
        Answered = "answered",
        /// Triaged; nothing had to be said.
        Triaged = "triaged",
        HandedOver = "handed_over",
        EmptyReply = "empty_reply",
        MaxSteps = "max_steps",
        Budget = "budget",
        /// Shadow mode: nothing left the house.
        Recorded = "recorded",
        /// A helper has reported.
        Reported = "reported",
    }
}

impl Ending {
    /// One sentence for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Answered => "The customer was answered.",
            Self::Triaged => "Triaged; nothing had to be sent.",
            Self::HandedOver => "Handed over to a person.",
            Self::EmptyReply => "The model gave an empty reply twice; a person must look at it.",
            Self::MaxSteps => "The run reached its limit of steps; a person must look at it.",
            Self::Budget => "The run used up its budget; a person must look at it.",
            Self::Recorded => "Shadow mode: what would have been sent was recorded.",
            Self::Reported => "The helper has reported.",
        }
    }

    /// Whether the ticket must become visible to a person because of it.
    pub fn needs_a_person(self) -> bool {
        match self {
            Self::HandedOver | Self::EmptyReply | Self::MaxSteps | Self::Budget => true,
            Self::Answered | Self::Triaged | Self::Recorded | Self::Reported => false,
        }
    }
}

/// Why a run waits. Whatever ends the last of them queues the run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interrupt {
    Approval(ApprovalId),
    Delivery(EffectId),
}

words! {
    pub enum EffectState {
        Pending = "pending",
        Sending = "sending",
        Delivered = "delivered",
        Withdrawn = "withdrawn",
        /// Shadow mode: kept, never sent.
        Recorded = "recorded",
        /// It may have happened and no look-up could settle it.
        Unknown = "unknown",
        Dead = "dead",
    }
}

impl EffectState {
    pub fn is_final(self) -> bool {
        match self {
            Self::Pending | Self::Sending => false,
            Self::Delivered | Self::Withdrawn | Self::Recorded | Self::Unknown | Self::Dead => true,
        }
    }
}

words! {
    /// What an effect in the outbox is.
    pub enum EffectKind {
        Reply = "reply",
        Escalation = "escalation",
        Bookkeeping = "bookkeeping",
        FollowUp = "follow_up",
        Header = "header",
        Card = "card",
        Settle = "settle",
        Line = "line",
        /// To one person, or in the thread where they asked.
        Answer = "answer",
    }
}

impl EffectKind {
    /// Whether it is written to the ticket's desk; the others go to a chat.
    pub fn is_desk(self) -> bool {
        match self {
            Self::Reply | Self::Escalation | Self::Bookkeeping | Self::FollowUp => true,
            Self::Header | Self::Card | Self::Settle | Self::Line | Self::Answer => false,
        }
    }
}
