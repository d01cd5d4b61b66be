//! The desk's bookkeeping: one coalesced update at each stopping point, not one per tool call.

use crate::facts::Facts;
use crate::port::Bookkeeping;
use crate::step::StepKind;
use crate::transcript::Transcript;

/// What the desk should be told since the last time; `None` when there is nothing new.
///
/// `trouble` is why a person must look at the ticket; empty where nobody must.
pub(super) fn due(transcript: &Transcript, facts: &Facts, trouble: &str) -> Option<Bookkeeping> {
    let mut notes = Vec::new();
    let mut changed = false;
    for step in transcript.unbooked() {
        // A model that took over does so at every request of the run; once is enough to be told.
        if let StepKind::Stumbled { what } = &step.kind
            && !notes.contains(what)
        {
            notes.push(what.clone());
        }
        if let StepKind::Outcome { outcome, .. } = &step.kind
            && !outcome.failed
        {
            changed |= outcome.details["triage"].is_object() || outcome.details["team"].is_string();
            if let Some(note) = outcome.details["note"].as_str() {
                notes.push(note.to_owned());
            }
        }
    }
    // A run that is woken and stops again where it stopped has nothing new to tell.
    let trouble = Some(trouble).filter(|trouble| !trouble.is_empty() && !transcript.unbooked().is_empty());
    if !changed && notes.is_empty() && trouble.is_none() {
        return None;
    }

    let mut books = Bookkeeping::default();
    let mut lines = Vec::new();
    if let Some(triage) = &facts.ticket.triage {
        books.priority = Some(triage.priority);
        books.group = Some(triage.team.clone()).filter(|team| !team.is_empty());
        books.tags = vec![
            "deskhand".into(),
            format!("category_{}", tag(&triage.category)),
            format!("language_{}", tag(&triage.language)),
            format!("action_{}", triage.action),
        ];
        if changed {
            let team = if triage.team.is_empty() {
                "no team"
            } else {
                &triage.team
            };
            lines.push(format!(
                "Triage: {} · {} · {} · {} ({:.0} % sure). {}",
                triage.category,
                triage.priority,
                team,
                triage.action,
                triage.confidence * 100.0,
                triage.reason
            ));
        }
    }
    lines.extend(notes);
    lines.extend(trouble.map(str::to_owned));
    books.note = Some(lines.join("\n\n")).filter(|note| !note.is_empty());
    Some(books)
}

/// Desks' tags know no spaces and no capitals.
fn tag(text: &str) -> String {
    let tag: String = text
        .to_lowercase()
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect();
    if tag.is_empty() { "none".into() } else { tag }
}
