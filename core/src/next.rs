//! The loop's brain: from what a run has seen and what is true now to what must be done now.
//!
//! [`next`] is pure: the same transcript and the same facts always give the same [`Next`], so a run can be taken up by
//! any runner, after any crash, at any step. It decides; the runner does it, appends what came of it, and asks again.

use crate::card::Mark;
use crate::context::{self, Compacting};
use crate::effect::Effect;
use crate::facts::{Facts, Role};
use crate::id::{ApprovalId, CallKey};
use crate::model::ModelRequest;
use crate::port::Bookkeeping;
use crate::run::Ending;
use crate::step::{About, StepKind};
use crate::ticket::Triage;
use crate::tool::outside::ToolUse;
use crate::tool::plan::Plan;
use crate::tool::{self, lookup::Look};
use crate::transcript::Transcript;

mod books;
mod calls;
mod ending;
mod execute;
mod helpers;
mod news;
mod resolve;
mod start;
mod words;

pub use execute::{Execution, execute, final_effect};
pub use helpers::{Await, Spawn, report};

#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    AskModel(ModelRequest),
    /// Read-only calls, side by side.
    Look(Vec<Looking>),
    Record(Record),
    /// Nothing can be done before somebody outside does something.
    Wait(Wait),
    Send(Sending),
    /// Summarises older turns, so that the next request fits.
    Compact(Box<Compacting>),
    /// A call with outside effects that no outbox can hold.
    Start(Starting),
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
    /// What the run means to do, for its header.
    pub plan: Option<Plan>,
    /// Internal notes on the ticket.
    pub notes: Vec<String>,
    /// Approvals that are over without having been executed, each with the reason that its card shows.
    pub superseded: Vec<(ApprovalId, String)>,
    pub spawned: Vec<Spawn>,
    /// Numbers of helpers to close.
    pub closed: Vec<i32>,
}

impl Record {
    /// Nothing but steps.
    pub fn only_tells(&self) -> bool {
        let Self {
            steps: _,
            triage,
            plan,
            notes,
            superseded,
            spawned,
            closed,
        } = self;
        triage.is_none()
            && plan.is_none()
            && notes.is_empty()
            && superseded.is_empty()
            && spawned.is_empty()
            && closed.is_empty()
    }

    /// Nothing but what is told to the model next: it may be written down with the model's reply.
    pub fn only_hears(&self) -> bool {
        self.only_tells() && self.steps.iter().all(|step| matches!(step, StepKind::Heard { .. }))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// Approvals to open, in the order of their calls. Empty when those that wait are open already.
    pub asks: Vec<Ask>,
    /// Helpers that it waits for, beside what it asks.
    pub awaits: Vec<Await>,
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

/// A call of a tool outside: a started step first, then the call, then its outcome. A crash in between leaves the
/// started step, by which the next runner knows that the call may have been made.
#[derive(Clone, Debug, PartialEq)]
pub struct Starting {
    pub call: CallKey,
    /// The approval that it executes; `None` where nobody need be asked.
    pub approval: Option<ApprovalId>,
    pub used: ToolUse,
    /// It was started before a crash, and its tool may be called again.
    pub again: bool,
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
    /// Why a person must look at the ticket, in a sentence; empty when nobody must.
    pub trouble: String,
    pub bookkeeping: Option<Bookkeeping>,
    pub heard: i64,
}

/// What must be done now.
pub fn next(transcript: &Transcript, facts: &Facts) -> Next {
    let heard = transcript.last_heard();
    if transcript.asked_to_compact()
        && let Some(compacting) = context::due(transcript, facts)
    {
        return Next::Compact(Box::new(compacting));
    }
    if let Some(settled) = calls::settle(transcript, facts) {
        return settled;
    }
    if transcript.version().is_none() || said_something_new(facts) {
        return hear(facts);
    }
    if let Some(note) = news::of_old_calls(transcript, facts) {
        return note;
    }
    let helps = facts.role == Role::Helper;
    let finish = |ending: Ending, trouble: String| {
        Next::Finish(Finish {
            ending,
            bookkeeping: books::due(transcript, facts, &trouble).filter(|_| !helps),
            trouble,
            heard,
        })
    };
    let stopped = |ending: Ending| finish(ending, ending.sentence().to_owned());
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
        return match empty {
            true => stopped(Ending::EmptyReply),
            false if helps => finish(Ending::Reported, String::new()),
            false => finish(ending::of(transcript, facts), String::new()),
        };
    }
    let most = match facts.role {
        Role::Main => facts.limits.max_steps,
        Role::Helper => facts.limits.max_steps.min(tool::helper::STEPS),
    };
    if transcript.replies() >= most {
        return stopped(Ending::MaxSteps);
    }
    if let Some(trouble) = facts.budget.used_up(transcript) {
        return finish(Ending::Budget, trouble);
    }
    if !facts.unheard.is_empty() {
        // Internal notes are no reason to ask the model; where it is asked anyway, it hears them first.
        return hear(facts);
    }
    if let Some(compacting) = context::due(transcript, facts) {
        return Next::Compact(Box::new(compacting));
    }
    Next::AskModel(ModelRequest {
        system: facts.prompt.system.clone(),
        tools: match facts.role {
            Role::Main => tool::specs(&facts.outside),
            Role::Helper => tool::looking_specs(&facts.outside),
        },
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

/// Only what is public makes a draft stale: people's notes among themselves start nothing. What a helper is to find out
/// stays the same; the run that it helps sees to what is new.
fn said_something_new(facts: &Facts) -> bool {
    facts.role == Role::Main && facts.unheard.iter().any(|comment| comment.public)
}

#[cfg(test)]
pub(crate) mod tests;
