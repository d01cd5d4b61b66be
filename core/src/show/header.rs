//! The header of a ticket: how it stands, and what waits.

use crate::card::Header;
use crate::effect::Effect;
use crate::id::ApprovalId;
use crate::ticket::{Mode, Ticket};
use crate::tool::plan::Plan;

/// What waits on a ticket, for its header.
#[derive(Clone, Debug)]
pub enum Waiting<'a> {
    Approval {
        id: ApprovalId,
        effect: &'a Effect,
    },
    /// A helper at work, by its number.
    Helper {
        number: i32,
        task: &'a str,
    },
}

pub fn header(
    ticket: &Ticket,
    url: Option<&str>,
    trouble: &str,
    waiting: &[Waiting<'_>],
    paused: bool,
    plan: Option<&Plan>,
    mode: Mode,
) -> Header {
    let triage = ticket.triage.as_ref();
    let waits = waiting
        .iter()
        .map(|waiting| {
            let (id, effect) = match waiting {
                Waiting::Approval { id, effect } => (id, *effect),
                Waiting::Helper { number, task } => return helper(*number, task),
            };
            let what = match effect {
                Effect::ReplyCustomer(_) => "reply to the customer".to_owned(),
                Effect::EscalateTicket(escalation) => format!("escalation to level {}", escalation.level),
                Effect::ProposeKnowledgeEdit(edit) => format!("edit of the article {}", edit.article),
                Effect::UseTool(used) => format!("call of {}", used.tool),
                Effect::AskQuestion(question) => format!("question: {}", question.question),
            };
            format!("{id}: {what}")
        })
        .chain(paused.then(|| format!("paused by hand: resume {} lets it go on", ticket.id)))
        .chain((mode == Mode::Shadow).then(|| "shadow mode: nothing is sent".to_owned()))
        .collect();
    Header {
        ticket: ticket.id,
        outside: ticket.outside.to_string(),
        subject: ticket.subject.clone(),
        requester: ticket.requester.to_string(),
        state: ticket.state,
        category: triage.map(|triage| triage.category.clone()),
        priority: triage.map(|triage| triage.priority),
        team: triage.map(|triage| triage.team.clone()).filter(|team| !team.is_empty()),
        waits,
        plan: plan.map(Plan::lines).unwrap_or_default(),
        trouble: Some(trouble.to_owned()).filter(|trouble| !trouble.is_empty()),
        url: url.map(str::to_owned),
    }
}

/// `helper 1: What do the articles say?`
pub fn helper(number: i32, task: &str) -> String {
    let task: String = task.split_whitespace().collect::<Vec<_>>().join(" ");
    match task.char_indices().nth(120) {
        Some((at, _)) => format!("helper {number}: {}…", &task[..at]),
        None => format!("helper {number}: {task}"),
    }
}
