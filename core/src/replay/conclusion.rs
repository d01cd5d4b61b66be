//! What a run came to, as people compare it: triage, draft, escalation, edits of articles.

use serde::Serialize;
use serde_json::Value;

use crate::diff;
use crate::model::Stop;
use crate::step::StepKind;
use crate::ticket::Triage;
use crate::tool::classify::CLASSIFY_TICKET;
use crate::tool::escalate::ESCALATE_TICKET;
use crate::tool::knowledge::PROPOSE_KNOWLEDGE_EDIT;
use crate::tool::reply::REPLY_CUSTOMER;
use crate::tool::route::ROUTE_TICKET;
use crate::transcript::Transcript;

/// Of what a run did several times, the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Conclusion {
    pub triage: Option<Triage>,
    /// The reply to the customer as the model drafted it, before anybody edited it.
    pub draft: Option<String>,
    /// `level 2, billing`
    pub escalation: Option<String>,
    /// The articles that would be changed.
    pub edits: Vec<String>,
}

impl Conclusion {
    pub fn of(transcript: &Transcript) -> Self {
        let mut conclusion = Self::default();
        for step in transcript.steps() {
            match &step.kind {
                StepKind::Heard { brief, .. } if conclusion.triage.is_none() => {
                    conclusion.triage.clone_from(&brief.triage);
                }
                StepKind::Outcome { call, outcome } => {
                    let Some(called) = transcript.call(*call) else { continue };
                    if !outcome.failed {
                        conclusion.booked(&called.name, &outcome.details);
                    }
                }
                // What is still undecided, or was rejected or denied, is what the model wanted all the same.
                StepKind::Replied { reply, .. } if reply.stop != Stop::Length => {
                    for call in &reply.calls {
                        conclusion.wanted(&call.name, &call.args);
                    }
                }
                _ => {}
            }
        }
        conclusion
    }

    fn booked(&mut self, name: &str, details: &Value) {
        if name == CLASSIFY_TICKET.name
            && let Ok(triage) = serde_json::from_value(details["triage"].clone())
        {
            self.triage = Some(triage);
        }
        if name == ROUTE_TICKET.name
            && let (Some(triage), Some(team)) = (&mut self.triage, details["team"].as_str())
        {
            team.clone_into(&mut triage.team);
        }
    }

    fn wanted(&mut self, name: &str, args: &Value) {
        let text = |name: &str| args[name].as_str().unwrap_or_default().to_owned();
        if name == REPLY_CUSTOMER.name {
            self.draft = Some(text("text"));
        } else if name == ESCALATE_TICKET.name {
            self.escalation = Some(format!("level {}, {}", args["level"], text("team")));
        } else if name == PROPOSE_KNOWLEDGE_EDIT.name {
            self.edits.push(text("article_id"));
        }
    }

    /// With what a later run of the ticket came to.
    pub fn and(self, later: Self) -> Self {
        let mut edits = self.edits;
        edits.extend(later.edits);
        Self {
            triage: later.triage.or(self.triage),
            draft: later.draft.or(self.draft),
            escalation: later.escalation.or(self.escalation),
            edits,
        }
    }
}

/// One thing that would be different.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// `category`, `priority`, `team`, `action`, `language`, `draft`, `escalation`, `edits`.
    pub what: &'static str,
    /// As it was recorded; empty where there was nothing.
    pub then: String,
    pub now: String,
    /// For texts, a unified diff.
    pub diff: Option<String>,
}

/// What is different, in the order in which people ask. Confidence and reasons may differ without a change.
pub fn changes(then: &Conclusion, now: &Conclusion) -> Vec<Change> {
    let mut changes = Vec::new();
    let triage = |read: fn(&Triage) -> String| {
        let of = |conclusion: &Conclusion| conclusion.triage.as_ref().map(read).unwrap_or_default();
        (of(then), of(now))
    };
    let mut compare = |what, (then, now): (String, String)| {
        if then != now {
            let diff = (what == "draft").then(|| diff::of_drafts(&then, &now));
            changes.push(Change { what, then, now, diff });
        }
    };
    compare("category", triage(|triage| triage.category.clone()));
    compare("priority", triage(|triage| triage.priority.to_string()));
    compare("team", triage(|triage| triage.team.clone()));
    compare("action", triage(|triage| triage.action.to_string()));
    compare("language", triage(|triage| triage.language.clone()));
    let texts = |read: fn(&Conclusion) -> String| (read(then), read(now));
    compare("draft", texts(|c| c.draft.clone().unwrap_or_default()));
    compare("escalation", texts(|c| c.escalation.clone().unwrap_or_default()));
    compare("edits", texts(|c| c.edits.join(", ")));
    changes
}
