//! The request as the offline model reads it: the ticket, the newest words, and what was done about them so far.

use serde_json::Value;

use crate::model::{Answer, Call, ModelRequest, Part, TicketBrief, Turn};
use crate::ticket::Author;

/// A call with its outcome, if it has one yet.
#[derive(Clone, Debug)]
pub(super) struct Done<'a> {
    pub call: &'a Call,
    pub answer: Option<&'a Answer>,
}

#[derive(Debug, Default)]
pub(super) struct Case<'a> {
    pub ticket: Option<&'a TicketBrief>,
    /// Bodies of the requester's public comments, oldest first.
    pub requester: Vec<&'a str>,
    /// Calls since the requester's newest comment: what was found and drafted before it is stale.
    pub done: Vec<Done<'a>>,
    /// Our own words to the model since its first reply: guidance by the team, what became of an approval.
    pub told: Vec<&'a str>,
    /// All calls of the run, for fresh ids.
    pub calls: usize,
}

impl<'a> Case<'a> {
    pub(super) fn read(request: &'a ModelRequest) -> Self {
        let mut case = Self::default();
        let mut said = false;
        for turn in &request.turns {
            match turn {
                Turn::Told(parts) => case.hear(parts, said),
                Turn::Said(reply) => {
                    said = true;
                    case.calls += reply.calls.len();
                    case.done
                        .extend(reply.calls.iter().map(|call| Done { call, answer: None }));
                }
                Turn::Outcomes(answers) => {
                    for answer in answers {
                        let open = case
                            .done
                            .iter_mut()
                            .rev()
                            .find(|done| done.answer.is_none() && done.call.id == answer.call_id);
                        if let Some(done) = open {
                            done.answer = Some(answer);
                        }
                    }
                }
            }
        }
        case
    }

    fn hear(&mut self, parts: &'a [Part], said: bool) {
        for part in parts {
            match part {
                Part::Text(text) if said || is_guidance(text) => self.told.push(text),
                Part::Text(_) => {}
                Part::Ticket(brief) => self.ticket = Some(brief),
                Part::Comment {
                    author: Author::Requester,
                    public: true,
                    body,
                    ..
                } => {
                    self.requester.push(body);
                    self.done.clear();
                }
                Part::Comment { .. } => {}
            }
        }
    }

    /// Calls of a tool since the newest comment, oldest first.
    pub(super) fn of(&self, tool: &str) -> impl DoubleEndedIterator<Item = &Done<'a>> {
        self.done.iter().filter(move |done| done.call.name == tool)
    }

    pub(super) fn called(&self, tool: &str) -> bool {
        self.of(tool).next().is_some()
    }

    /// The JSON of a tool's newest outcome; `None` when it failed or was no JSON.
    pub(super) fn outcome(&self, tool: &str) -> Option<Value> {
        let answer = self.of(tool).next_back()?.answer?;
        if answer.failed {
            None
        } else {
            serde_json::from_str(&answer.text).ok()
        }
    }

    /// Everything the requester wrote, newest last.
    pub(super) fn words(&self) -> String {
        self.requester.join("\n\n")
    }
}

fn is_guidance(text: &str) -> bool {
    let lower = text.trim_start().to_lowercase();
    ["guidance", "instruction", "note from", "from the team"]
        .iter()
        .any(|mark| lower.starts_with(mark))
}
