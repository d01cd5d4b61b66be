//! Giving a ticket to people: the escalation that the rules ask for, and a note that says why and what was found.

use serde_json::json;

use super::Step;
use crate::offline::case::Case;
use crate::offline::draft::Source;
use crate::offline::rules::Signal;
use crate::offline::triage::{Neighbour, Opinion};
use crate::ticket::Action;

/// Escalates where the rules say so, and leaves a note for whoever takes over.
pub(super) fn hand_over(
    case: &Case<'_>,
    opinion: &Opinion,
    asked: Option<u8>,
    findings: &str,
    offered: &dyn Fn(&str) -> bool,
) -> Step {
    let triage = &opinion.triage;
    let mut calls = Vec::new();
    if let Some(level) = asked.or_else(|| level(opinion))
        && offered("escalate_ticket")
        && !case.called("escalate_ticket")
    {
        calls.push((
            "escalate_ticket",
            json!({ "level": level, "team": triage.team, "reason": triage.reason }),
        ));
    }
    if offered("add_note") && !case.called("add_note") {
        calls.push((
            "add_note",
            json!({ "text": format!("I do not know: this needs a person. {} {findings}", triage.reason).trim() }),
        ));
    }
    if calls.is_empty() {
        return Step::Say(format!(
            "Handed over to {}. {}",
            if triage.team.is_empty() {
                "a person"
            } else {
                &triage.team
            },
            triage.reason
        ));
    }
    Step::Call(calls)
}

fn level(opinion: &Opinion) -> Option<u8> {
    let reading = &opinion.reading;
    let grave =
        matches!(opinion.triage.category.as_str(), "safety" | "security" | "legal") || reading.has(Signal::Outage);
    match (grave, reading.has(Signal::RepeatedContact)) {
        (true, _) => Some(2),
        (false, true) => Some(1),
        (false, false) => None,
    }
}

pub(super) fn findings(opinion: &Opinion, neighbours: &[Neighbour], source: Option<&Source>) -> String {
    let mut out = Vec::new();
    match source {
        Some(source) => out.push(format!("Closest article: {} (\"{}\").", source.id, source.title)),
        None if matches!(opinion.triage.action, Action::AutoReply | Action::NeedsApproval) => {
            out.push("No article answers it convincingly.".to_owned())
        }
        None => {}
    }
    let numbers: Vec<&str> = neighbours
        .iter()
        .take(3)
        .map(|one| one.number.as_str())
        .filter(|number| !number.is_empty())
        .collect();
    if !numbers.is_empty() {
        out.push(format!("Similar tickets: {}.", numbers.join(", ")));
    }
    if opinion.tags.contains(&"prompt_injection") {
        out.push("The text contains orders to a machine; they were not followed.".to_owned());
    }
    out.join(" ")
}
