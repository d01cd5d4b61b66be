//! What the runner read for [`next`](crate::next): everything that is true now and not in the transcript.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::approval::{ApprovalState, Decision};
use crate::article::Article;
use crate::budget::Budget;
use crate::effect::Effect;
use crate::grant::Grant;
use crate::id::{ApprovalId, ArticleId, CallKey, EffectId, RunId};
use crate::model::TicketBrief;
use crate::run::{EffectState, RunState};
use crate::ticket::{Comment, Mode, Ticket};
use crate::tool::outside::OutsideTool;

#[derive(Clone, Debug)]
pub struct Facts {
    pub now: DateTime<Utc>,
    pub run: RunId,
    pub role: Role,
    pub ticket: Ticket,
    /// The source marks the mail as automatic: triaged, never drafted for.
    pub automatic: bool,
    /// Sentences of doubt about who wrote: a provider's spam verdict, a domain that disowns the mail.
    pub doubts: Vec<String>,
    /// Comments that the transcript has not heard, oldest first; our own are left out.
    pub unheard: Vec<Comment>,
    pub approvals: Vec<ApprovalFact>,
    pub effects: Vec<EffectFact>,
    /// In the order in which they were started.
    pub helpers: Vec<HelperFact>,
    pub grants: Vec<Grant>,
    /// The stricter of the run's pinned mode and the present one.
    pub mode: Mode,
    pub limits: Limits,
    pub budget: Budget,
    /// The articles that pending edits are about, as they stand now.
    pub articles: BTreeMap<ArticleId, Article>,
    /// Links and addresses of pending drafts that stand in the knowledge base or in the house's settings.
    pub known_links: BTreeSet<String>,
    pub prompt: Prompt,
    /// What servers outside offer, sorted by name.
    pub outside: Arc<[OutsideTool]>,
}

/// What a run is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It works its ticket.
    Main,
    /// It looks something up for such a run, and only looks.
    Helper,
}

/// A helper of this run, as its row says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperFact {
    /// From 1, within this run.
    pub number: i32,
    /// The call that started it.
    pub call: CallKey,
    pub task: String,
    pub state: RunState,
    /// What it found; why it failed, where it did.
    pub report: String,
}

impl HelperFact {
    pub fn is_at_work(&self) -> bool {
        !self.state.is_final()
    }
}

/// The stable head of every request of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prompt {
    pub system: String,
    pub max_tokens: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Replies of the model in one run.
    pub max_steps: u32,
    /// A request that is estimated to be longer is shortened by a summary of its older turns.
    pub compact_above_tokens: u64,
    /// Steps that a summary leaves alone, as far as they fit.
    pub keep_recent: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: 40,
            compact_above_tokens: 60_000,
            keep_recent: 12,
        }
    }
}

/// An approval of this run, as its row says.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalFact {
    pub id: ApprovalId,
    pub call: CallKey,
    pub effect: Effect,
    pub digest: String,
    pub state: ApprovalState,
    pub decision: Option<Decision>,
    pub executed: bool,
    /// Whether the person who decided may still decide.
    pub standing: Standing,
}

/// Whether a person may decide, judged anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    Holds,
    Lost,
    /// The membership could not be checked: treated as lost for now, asked again later.
    Unknown,
}

/// An effect that a call of this run put into the outbox.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectFact {
    pub id: EffectId,
    pub call: Option<CallKey>,
    pub state: EffectState,
    /// The tool it came from, or `bookkeeping`.
    pub what: String,
    pub why: String,
}

impl Facts {
    pub fn brief(&self) -> TicketBrief {
        TicketBrief {
            number: self.ticket.id.to_string(),
            source: self.ticket.outside.source.to_string(),
            subject: self.ticket.subject.clone(),
            requester: self.ticket.requester.to_string(),
            state: self.ticket.state.to_string(),
            triage: self.ticket.triage.clone(),
            automatic: self.automatic,
        }
    }

    /// An approval was executed by the run that these facts are for.
    pub fn executed(&mut self, approval: ApprovalId) {
        for fact in self.approvals.iter_mut().filter(|fact| fact.id == approval) {
            fact.executed = true;
        }
    }
}

impl ApprovalFact {
    /// Decided for, and not yet executed.
    pub fn is_due(&self) -> bool {
        matches!(self.state, ApprovalState::Approved | ApprovalState::Edited) && !self.executed
    }
}
