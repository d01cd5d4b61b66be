//! The appended, immutable lines of a run's log. Folded in order they are the [`Transcript`](crate::transcript).
//!
//! A step is never rewritten. Nothing in a step counts as an approval: decisions are only ever read from their tables.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::Cut;
use crate::id::{ApprovalId, CallKey, EffectId};
use crate::model::{ModelReply, TicketBrief, Usage};
use crate::ticket::Comment;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Ascending from 1 without gaps, within one run.
    pub seq: i32,
    pub at: DateTime<Utc>,
    pub kind: StepKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StepKind {
    /// What the model was told of the ticket: its facts, and the comments that it had not seen.
    Heard {
        brief: Box<TicketBrief>,
        comments: Vec<Comment>,
        version: i64,
    },
    /// An instruction by a team member.
    Instructed {
        text: String,
        by: String,
        by_name: String,
    },
    /// What a helper is to find out, in the words of the run's model that started it.
    Tasked {
        text: String,
    },
    /// Ours, to the model: what became of an approval or a delivery after its call had its outcome.
    Noted {
        text: String,
        about: About,
    },
    /// The model had said nothing; it was asked once to go on.
    Nudged,
    Replied {
        model: String,
        reply: Box<ModelReply>,
    },
    /// A call with outside effects was begun; without an outcome after a crash, it is not repeated.
    Started {
        call: CallKey,
    },
    Outcome {
        call: CallKey,
        outcome: Outcome,
    },
    Asked {
        call: CallKey,
        approval: ApprovalId,
    },
    /// The run waits for helpers of it, by their numbers.
    Awaited {
        call: CallKey,
        helpers: Vec<i32>,
    },
    /// The desk's bookkeeping up to here was put into the outbox.
    Booked {
        effect: EffectId,
    },
    /// Somebody of the team wants older turns summarised, or the model said that the request is too long.
    CompactAsked {
        by_name: String,
    },
    /// Older turns are told as this summary from here on. Its usage counts like a reply's.
    Compacted {
        cut: Cut,
        brief: Box<TicketBrief>,
        summary: String,
        /// Who wrote it; empty where no model could be asked.
        model: String,
        usage: Usage,
    },
    /// A reply that was stopped while it was written: its text so far. None of its calls was run.
    Partial {
        text: String,
        /// "paused by kim".
        why: String,
    },
    /// For people: a failure that the run survived, such as a provider that was down. Not told to the model.
    Stumbled {
        what: String,
    },
}

/// What a note is about, so that it is made once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    Approval(ApprovalId),
    Effect(EffectId),
}

/// What a call gave back, failure included: text for the model, details for people and for later decisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub text: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
}

impl Outcome {
    pub fn ok(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            failed: false,
            details: Value::Null,
        }
    }

    /// One sentence that the model can act on; never a stack trace.
    pub fn failed(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            failed: true,
            details: Value::Null,
        }
    }

    pub fn with(mut self, details: Value) -> Self {
        self.details = details;
        self
    }
}
