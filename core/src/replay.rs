//! Time travel: a recorded run, worked once more in memory with another model or other playbooks, and what would have
//! come out differently.
//!
//! What came from outside stands as it was recorded: comments, instructions, notes, and the outcome of every call that
//! is made again just as it was made then. All else is decided anew, in shadow: nothing here can be sent or written.
//! With the same settings and a model that is a function of its request, the same run comes out.

mod conclusion;
mod recording;

pub use conclusion::{Change, Conclusion, changes};

use chrono::{DateTime, Utc};

use crate::budget::{Budget, Ceiling, Spent};
use crate::facts::Facts;
use crate::model::{ModelReply, ModelRequest};
use crate::next::{Looking, Next, Wait, next};
use crate::step::{Outcome, Step, StepKind};
use crate::ticket::{Mode, Triage};
use crate::tool::lookup::Look;
use crate::tool::{self, Reach};
use crate::transcript::Transcript;
use recording::Recording;

/// More turns than any run takes; whoever gets there goes in circles.
const CIRCLES: usize = 2000;

/// A recorded run at work again.
#[derive(Debug)]
pub struct Replay {
    recording: Recording,
    transcript: Transcript,
    triage: Option<Triage>,
    now: DateTime<Utc>,
    turns: usize,
}

/// What whoever replays must do now.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    Ask(ModelRequest),
    /// Read-only calls that were not made then: they read what is there now.
    Look(Vec<Looking>),
    Again,
    Over,
}

impl Replay {
    pub fn of(recorded: &Transcript) -> Self {
        let recording = Recording::of(recorded);
        let mut transcript = Transcript::default();
        if let Some(earlier) = recorded.earlier() {
            transcript = transcript.continuing(earlier.clone());
        }
        let mut replay = Self {
            triage: None,
            now: recorded.steps().first().map_or(DateTime::UNIX_EPOCH, |step| step.at),
            recording,
            transcript,
            turns: 0,
        };
        replay.hear(0);
        replay
    }

    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// What was true then and is in the recording stands in place of what is true now; nobody is asked, nothing is sent.
    pub fn dress(&self, now: Facts) -> Facts {
        let mut facts = now;
        facts.now = self.now;
        facts.mode = Mode::Shadow;
        facts.unheard.clear();
        facts.approvals.clear();
        facts.effects.clear();
        facts.ticket.triage.clone_from(&self.triage);
        if let Some(version) = self.transcript.version() {
            facts.ticket.version = version;
        }
        if let Some(brief) = self.recording.brief() {
            facts.automatic = brief.automatic;
        }
        facts.budget = Budget {
            day: Ceiling::default(),
            today: Spent::default(),
            ..facts.budget
        };
        facts
    }

    /// Takes the next turn. The facts are [dressed](Self::dress) ones.
    pub fn turn(&mut self, facts: &Facts) -> Turn {
        self.turns += 1;
        if self.turns > CIRCLES {
            return Turn::Over;
        }
        let now = next(&self.transcript, facts);
        let goes_out = matches!(now, Next::AskModel(_) | Next::Send(_) | Next::Wait(_) | Next::Start(_));
        if goes_out && self.recording.is_at_its_end() {
            // The recorded run still waits here, or was stopped: what comes after, nobody knows.
            return Turn::Over;
        }
        match now {
            Next::AskModel(request) => {
                let due = self.recording.is_followed() && self.hear(self.transcript.replies());
                if due { Turn::Again } else { Turn::Ask(request) }
            }
            Next::Finish(_) => match self.recording.next_due() {
                Some(replies) => {
                    self.hear(replies);
                    Turn::Again
                }
                None => Turn::Over,
            },
            Next::Look(looks) => {
                let (outside, looks): (Vec<_>, Vec<_>) = looks
                    .into_iter()
                    .partition(|looking| matches!(looking.look, Look::Outside(_)));
                for looking in outside {
                    self.answer(looking, "a replay calls nothing outside");
                }
                if looks.is_empty() {
                    Turn::Again
                } else {
                    Turn::Look(looks)
                }
            }
            Next::Record(record) => {
                if record.triage.is_some() {
                    self.triage = record.triage;
                }
                for step in record.steps {
                    self.write(step);
                }
                Turn::Again
            }
            Next::Send(sending) => {
                self.write(sending.told);
                Turn::Again
            }
            Next::Start(starting) => {
                let outcome = Outcome::failed(format!(
                    "{} was not called: a replay calls nothing outside.",
                    starting.used.tool
                ));
                self.write(StepKind::Outcome {
                    call: starting.call,
                    outcome,
                });
                Turn::Again
            }
            Next::Wait(wait) => self.nobody_decides(wait),
            Next::Compact(compacting) => {
                let summary = self.recording.summary(compacting.cut);
                self.write(summary.unwrap_or_else(|| StepKind::Compacted {
                    cut: compacting.cut,
                    brief: Box::new(compacting.brief),
                    summary: compacting.digest,
                    model: String::new(),
                    usage: Default::default(),
                }));
                Turn::Again
            }
        }
    }

    /// The model's reply. Calls that were made then get the outcome that they had then.
    pub fn replied(&mut self, model: &str, reply: ModelReply) {
        let calls = reply.calls.clone();
        self.recording.compare(&reply);
        let step = self.transcript.next_seq();
        self.write(StepKind::Replied {
            model: model.to_owned(),
            reply: Box::new(reply),
        });
        for (key, call) in (0..).map(|index| crate::id::CallKey { step, index }).zip(&calls) {
            if decided_anew(&call.name) {
                continue;
            }
            if let Some(outcome) = self.recording.outcome(&call.name, &call.args) {
                self.write(StepKind::Outcome { call: key, outcome });
            }
        }
    }

    /// The outcomes of looks.
    pub fn looked(&mut self, steps: Vec<StepKind>) {
        steps.into_iter().for_each(|step| self.write(step));
    }

    /// In shadow nobody is asked; a run that would wait all the same goes on without an answer.
    fn nobody_decides(&mut self, wait: Wait) -> Turn {
        if wait.asks.is_empty() {
            return Turn::Over;
        }
        for ask in wait.asks {
            let outcome = Outcome::ok("Recorded, not sent: the bot is in shadow mode.");
            self.write(StepKind::Outcome {
                call: ask.call,
                outcome,
            });
        }
        Turn::Again
    }

    /// Writes down what came from outside before the reply of this number. True when there was something.
    fn hear(&mut self, replies: u32) -> bool {
        let inputs = self.recording.inputs(replies);
        let any = !inputs.is_empty();
        for Step { at, kind, .. } in inputs {
            self.now = at;
            let of_then = matches!(kind, StepKind::Noted { .. } | StepKind::Partial { .. });
            if of_then && !self.recording.is_followed() {
                // It is about a draft or a reply that was not made this time.
                continue;
            }
            let kind = match kind {
                StepKind::Heard {
                    mut brief,
                    comments,
                    version,
                } => {
                    if self.triage.is_none() {
                        self.triage.clone_from(&brief.triage);
                    } else if !self.recording.is_followed() {
                        // What was recorded of the ticket by then was recorded by another run than this one.
                        brief.triage.clone_from(&self.triage);
                    }
                    StepKind::Heard {
                        brief,
                        comments,
                        version,
                    }
                }
                other => other,
            };
            self.write(kind);
        }
        any
    }

    fn answer(&mut self, looking: Looking, why: &str) {
        self.write(StepKind::Outcome {
            call: looking.call,
            outcome: Outcome::failed(format!("It was not called: {why}.")),
        });
    }

    /// Appends a step; an outcome of a call that was made then as it was then.
    fn write(&mut self, kind: StepKind) {
        let kind = match kind {
            StepKind::Outcome { call, outcome } => {
                let called = self.transcript.call(call).filter(|called| books(&called.name));
                let called = called.filter(|_| self.recording.is_followed());
                let then = called.and_then(|called| self.recording.outcome(&called.name, &called.args));
                StepKind::Outcome {
                    call,
                    outcome: then.unwrap_or(outcome),
                }
            }
            other => other,
        };
        let seq = self.transcript.next_seq();
        let at = self.now;
        self.transcript.push(Step { seq, at, kind });
    }
}

/// Bookkeeping has an effect on what comes after, and a playbook may be another one by now: neither is only its outcome.
fn decided_anew(name: &str) -> bool {
    books(name) || name == tool::skill::LOAD_SKILL.name
}

fn books(name: &str) -> bool {
    tool::find(name).is_some_and(|tool| tool.reach == Reach::Records)
}

#[cfg(test)]
mod tests;
