//! The conversation of a run as its model is shown it.

use std::collections::BTreeMap;

use super::Transcript;
use crate::context::{Cut, Prompted};
use crate::history;
use crate::id::CallKey;
use crate::model::{Answer, Part, Turn};
use crate::step::{Outcome, StepKind};

/// What the model is told when it has said nothing.
const NUDGE: &str = "Your last reply was empty. Go on: call a tool, or say in one sentence what you concluded.";

/// What a helper's task stands behind.
const TASKED: &str = "What you are to find out and report on:";

/// What stands between an earlier run and the one that continues it.
const CONTINUED: &str = "The run above is over. This one continues it: what follows is new.";

impl Transcript {
    /// The conversation as the model is shown it. Outcomes stand behind their reply whatever came in between.
    pub fn turns(&self) -> Vec<Turn> {
        self.told(false)
    }

    /// The same; once the run is over, a call that has no outcome will never have one.
    fn told(&self, over: bool) -> Vec<Turn> {
        let outcomes: BTreeMap<CallKey, &Outcome> = self.outcomes().collect();
        let mut turns: Vec<Turn> = Vec::new();
        let mut introduced = false;
        let mut cut = Cut::default();
        if let Some((at, brief, summary)) = self.latest_summary() {
            tell(&mut turns, Prompted::parts(brief, summary));
            introduced = true;
            cut = at;
        } else if let Some(earlier) = &self.earlier {
            turns = earlier.told(true);
            tell(&mut turns, vec![Part::Text(CONTINUED.into())]);
        }
        for step in self.steps.iter().filter(|step| step.seq >= cut.step) {
            match &step.kind {
                StepKind::Heard { brief, comments, .. } => {
                    let skipped = if step.seq == cut.step { cut.comments } else { 0 };
                    let comments = comments.get(skipped..).unwrap_or_default();
                    let mut parts = Vec::new();
                    if !introduced {
                        parts.push(Part::Ticket((**brief).clone()));
                        introduced = true;
                    }
                    parts.extend(comments.iter().map(|comment| Part::Comment {
                        author: comment.author,
                        author_name: comment.author_name.clone(),
                        public: comment.public,
                        body: comment.body.clone(),
                    }));
                    tell(&mut turns, parts);
                }
                StepKind::Instructed { text, by_name, .. } => {
                    tell(
                        &mut turns,
                        vec![Part::Text(format!("Instruction by {by_name} of the team: {text}"))],
                    );
                }
                StepKind::Tasked { text } => tell(&mut turns, vec![Part::Text(format!("{TASKED}\n{text}"))]),
                StepKind::Noted { text, .. } => tell(&mut turns, vec![Part::Text(text.clone())]),
                StepKind::Nudged => tell(&mut turns, vec![Part::Text(NUDGE.into())]),
                StepKind::Partial { text, why } => tell(&mut turns, vec![Part::Text(partial(text, why))]),
                StepKind::Replied { reply, .. } => {
                    turns.push(Turn::Said((**reply).clone()));
                    let answers: Vec<Answer> = (0..)
                        .zip(&reply.calls)
                        .filter_map(|(index, call)| {
                            let outcome = match outcomes.get(&CallKey { step: step.seq, index }) {
                                Some(outcome) => outcome,
                                None if over => return Some(history::gap(call)),
                                None => return None,
                            };
                            Some(Answer {
                                call_id: call.id.clone(),
                                name: call.name.clone(),
                                text: outcome.text.clone(),
                                failed: outcome.failed,
                            })
                        })
                        .collect();
                    if !answers.is_empty() {
                        turns.push(Turn::Outcomes(answers));
                    }
                }
                StepKind::Started { .. }
                | StepKind::Outcome { .. }
                | StepKind::Asked { .. }
                | StepKind::Awaited { .. }
                | StepKind::Booked { .. }
                | StepKind::CompactAsked { .. }
                | StepKind::Compacted { .. }
                | StepKind::Stumbled { .. } => {}
            }
        }
        turns
    }
}

/// What the model is told of a reply that was stopped while it was written.
fn partial(text: &str, why: &str) -> String {
    match text.trim() {
        "" => format!("Your last reply was {why} before you had written anything."),
        text => format!(
            "Your last reply was {why} while you wrote it; none of its calls was run. Decide anew. So far you had written:\n{text}"
        ),
    }
}

fn tell(turns: &mut Vec<Turn>, parts: Vec<Part>) {
    match turns.last_mut() {
        Some(Turn::Told(told)) => told.extend(parts),
        _ if parts.is_empty() => {}
        _ => turns.push(Turn::Told(parts)),
    }
}
