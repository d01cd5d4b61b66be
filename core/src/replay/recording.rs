//! What a replay takes from the recorded run: what came from outside and when, and what each call came to.

use std::collections::VecDeque;

use serde_json::Value;

use crate::context::Cut;
use crate::model::{Call, ModelReply, TicketBrief};
use crate::step::{Outcome, Step, StepKind};
use crate::transcript::Transcript;

#[derive(Debug)]
pub(super) struct Recording {
    /// What came from outside, with the number of replies before it.
    inputs: VecDeque<(u32, Step)>,
    /// Each call with its outcome, in their order; `None` for one that was handed out.
    outcomes: Vec<(Call, Option<Outcome>)>,
    summaries: Vec<(Cut, StepKind)>,
    replies: VecDeque<Vec<Call>>,
    brief: Option<TicketBrief>,
    /// So far, each reply made the calls that it made then.
    followed: bool,
}

impl Recording {
    pub(super) fn of(recorded: &Transcript) -> Self {
        let mut recording = Self {
            inputs: VecDeque::new(),
            outcomes: Vec::new(),
            summaries: Vec::new(),
            replies: VecDeque::new(),
            brief: None,
            followed: true,
        };
        let mut replies = 0;
        for step in recorded.steps() {
            match &step.kind {
                StepKind::Heard { brief, .. } => {
                    recording.brief.get_or_insert_with(|| (**brief).clone());
                    recording.inputs.push_back((replies, step.clone()));
                }
                StepKind::Instructed { .. }
                | StepKind::Noted { .. }
                | StepKind::Partial { .. }
                | StepKind::CompactAsked { .. } => recording.inputs.push_back((replies, step.clone())),
                StepKind::Replied { reply, .. } => {
                    replies += 1;
                    recording.replies.push_back(reply.calls.clone());
                }
                StepKind::Outcome { call, outcome } => {
                    if let Some(called) = recorded.call(*call) {
                        recording.outcomes.push((called.clone(), Some(outcome.clone())));
                    }
                }
                StepKind::Compacted { cut, .. } => recording.summaries.push((*cut, step.kind.clone())),
                // Made by the run itself, or told to nobody but people.
                StepKind::Tasked { .. }
                | StepKind::Awaited { .. }
                | StepKind::Nudged
                | StepKind::Started { .. }
                | StepKind::Asked { .. }
                | StepKind::Booked { .. }
                | StepKind::Stumbled { .. } => {}
            }
        }
        recording
    }

    pub(super) fn brief(&self) -> Option<&TicketBrief> {
        self.brief.as_ref()
    }

    pub(super) fn is_followed(&self) -> bool {
        self.followed
    }

    /// The replay has done all that was done then, and nothing else.
    pub(super) fn is_at_its_end(&self) -> bool {
        self.followed && self.replies.is_empty() && self.inputs.is_empty()
    }

    /// What came after so many replies at the latest, and was not taken yet.
    pub(super) fn inputs(&mut self, replies: u32) -> Vec<Step> {
        let mut due = Vec::new();
        while let Some((_, step)) = self.inputs.pop_front_if(|(after, _)| *after <= replies) {
            due.push(step);
        }
        due
    }

    /// After how many replies the next of it came.
    pub(super) fn next_due(&self) -> Option<u32> {
        self.inputs.front().map(|(after, _)| *after)
    }

    /// Takes a reply of the replay in, beside the recorded one.
    pub(super) fn compare(&mut self, reply: &ModelReply) {
        let then = self.replies.pop_front();
        let alike = |now: &[Call], then: &[Call]| {
            now.len() == then.len()
                && now
                    .iter()
                    .zip(then)
                    .all(|(now, then)| now.name == then.name && now.args == then.args)
        };
        self.followed &= then.is_some_and(|then| alike(&reply.calls, &then));
    }

    /// What the call came to then; made several times, in the order of then, and beyond that as the last time.
    pub(super) fn outcome(&mut self, name: &str, args: &Value) -> Option<Outcome> {
        let fits =
            |(call, outcome): &(Call, Option<Outcome>)| outcome.is_some() && call.name == name && call.args == *args;
        let first = self.outcomes.iter().position(fits)?;
        let is_last = !self.outcomes[first + 1..].iter().any(fits);
        let (_, outcome) = &mut self.outcomes[first];
        if is_last { outcome.clone() } else { outcome.take() }
    }

    /// The summary that was made at this cut.
    pub(super) fn summary(&self, cut: Cut) -> Option<StepKind> {
        let found = self.summaries.iter().find(|(at, _)| *at == cut);
        found.map(|(_, step)| step.clone())
    }
}
