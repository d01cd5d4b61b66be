//! The loop's brain: from what a run has seen and what is true now to what must be done now.
//!
//! [`next`] is pure: the same transcript and the same facts always give the same [`Next`], so a run can be taken up by
//! any runner, after any crash, at any step. It decides; the runner does it, appends what came of it, and asks again.

use crate::card::Mark;
use crate::effect::Effect;
use crate::facts::Facts;
use crate::id::{ApprovalId, CallKey};
use crate::model::ModelRequest;
use crate::port::Bookkeeping;
use crate::run::Ending;
use crate::step::{About, StepKind};
use crate::ticket::Triage;
use crate::tool::{self, lookup::Look};
use crate::transcript::Transcript;

mod books;
mod calls;
mod ending;
mod execute;
mod news;
mod resolve;

pub use execute::{Execution, execute, final_effect};

#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    AskModel(ModelRequest),
    /// Read-only calls, side by side.
    Look(Vec<Looking>),
    Record(Record),
    /// Nothing can be done before somebody outside does something.
    Wait(Wait),
    Send(Sending),
    Finish(Finish),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Looking {
    pub call: CallKey,
    pub look: Look,
}

/// A local change: steps to append, and what goes with them in the same transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    pub steps: Vec<StepKind>,
    pub triage: Option<Triage>,
    /// Internal notes on the ticket.
    pub notes: Vec<String>,
    /// Approvals that are over without having been executed, each with the reason that its card shows.
    pub superseded: Vec<(ApprovalId, String)>,
}

impl Record {
    /// Nothing but what is told to the model next: it may be written down with the model's reply.
    pub fn only_hears(&self) -> bool {
        let Self {
            steps,
            triage,
            notes,
            superseded,
        } = self;
        let nothing_else = triage.is_none() && notes.is_empty() && superseded.is_empty();
        nothing_else && steps.iter().all(|step| matches!(step, StepKind::Heard { .. }))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// Approvals to open, in the order of their calls. Empty when those that wait are open already.
    pub asks: Vec<Ask>,
    /// The desk's bookkeeping up to here.
    pub bookkeeping: Option<Bookkeeping>,
    /// The newest comment that the transcript has heard: there must be no newer public one.
    pub heard: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub call: CallKey,
    pub effect: Effect,
    /// Hex SHA-256 of the effect.
    pub digest: String,
    /// Why it is asked, for the card.
    pub why: String,
    pub marks: Vec<Mark>,
    /// The approval that this one replaces.
    pub replaces: Option<ApprovalId>,
}

/// An effect on its way out: outbox row, outcome and state in one transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Sending {
    pub call: CallKey,
    /// The approval that it executes; `None` where policy allowed it unasked.
    pub approval: Option<ApprovalId>,
    pub effect: Effect,
    /// Shadow mode: kept and shown, never sent.
    pub recorded: bool,
    /// How the transcript keeps it: as the call's outcome, or as a note where the call has one already.
    pub told: StepKind,
    /// The article's whole text after an edit; the store checks that its revision is still the one it was made from.
    pub article: Option<NewText>,
    pub heard: i64,
}

impl Sending {
    /// A call never gets a second outcome: what was decided late is told as a note.
    fn into_note(mut self, approval: ApprovalId) -> Self {
        if let StepKind::Outcome { outcome, .. } = self.told {
            self.told = StepKind::Noted {
                text: outcome.text,
                about: About::Approval(approval),
            };
        }
        self
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewText {
    /// `None` for a new article.
    pub base_revision: Option<i64>,
    pub title: String,
    pub body: String,
    pub language: String,
    pub retired: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    pub ending: Ending,
    pub bookkeeping: Option<Bookkeeping>,
    pub heard: i64,
}

/// What must be done now.
pub fn next(transcript: &Transcript, facts: &Facts) -> Next {
    let heard = transcript.last_heard();
    if let Some(settled) = calls::settle(transcript, facts) {
        return settled;
    }
    if transcript.version().is_none() || said_something_new(facts) {
        return hear(facts);
    }
    if let Some(note) = news::of_old_calls(transcript, facts) {
        return note;
    }
    let finish = |ending| {
        Next::Finish(Finish {
            ending,
            bookkeeping: books::due(transcript, facts, Some(ending)),
            heard,
        })
    };
    if let Some((_, reply)) = transcript.last_reply()
        && !transcript.has_news()
    {
        let empty = reply.calls.is_empty() && reply.text.trim().is_empty();
        if empty && !transcript.nudged() {
            return Next::Record(Record {
                steps: vec![StepKind::Nudged],
                ..Record::default()
            });
        }
        return finish(if empty {
            Ending::EmptyReply
        } else {
            ending::of(transcript, facts)
        });
    }
    if transcript.replies() >= facts.limits.max_steps {
        return finish(Ending::MaxSteps);
    }
    if transcript.usage().total() >= facts.limits.max_tokens {
        return finish(Ending::Budget);
    }
    if !facts.unheard.is_empty() {
        // Internal notes are no reason to ask the model; where it is asked anyway, it hears them first.
        return hear(facts);
    }
    Next::AskModel(ModelRequest {
        system: facts.prompt.system.clone(),
        tools: tool::specs(),
        turns: transcript.turns(),
        max_tokens: facts.prompt.max_tokens,
    })
}

fn hear(facts: &Facts) -> Next {
    let heard = StepKind::Heard {
        brief: Box::new(facts.brief()),
        comments: facts.unheard.clone(),
        version: facts.ticket.version,
    };
    Next::Record(Record {
        steps: vec![heard],
        ..Record::default()
    })
}

/// Only what is public makes a draft stale: people's notes among themselves start nothing.
fn said_something_new(facts: &Facts) -> bool {
    facts.unheard.iter().any(|comment| comment.public)
}

#[cfg(test)]
pub(crate) mod tests;
