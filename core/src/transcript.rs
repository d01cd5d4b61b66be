//! The steps of a run, folded: what was heard, what the model said, which calls still lack an outcome.

mod length;
mod told;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::context::estimate;
use crate::id::{ArticleId, CallKey};
use crate::model::{Call, ModelReply, Usage};
use crate::step::{About, Outcome, Step, StepKind};
use crate::ticket::{Author, Comment};
use crate::tool::plan::Plan;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// The transcript of the run that this one continues.
    earlier: Option<Box<Transcript>>,
    steps: Vec<Step>,
    /// What each step adds to a request, beside it.
    tokens: Vec<u64>,
    /// How many of the last steps are not written down yet.
    held: usize,
}

impl Transcript {
    /// Steps in the order of their numbers.
    pub fn new(steps: Vec<Step>) -> Self {
        let tokens = steps.iter().map(|step| estimate::step(&step.kind)).collect();
        Self {
            earlier: None,
            steps,
            tokens,
            held: 0,
        }
    }

    /// A run that continues an earlier one: the model is shown both. Calls, replies and what they used are each run's own.
    pub fn continuing(self, earlier: Self) -> Self {
        Self {
            earlier: Some(Box::new(earlier)),
            ..self
        }
    }

    /// The transcript of the run that this one continues.
    pub fn earlier(&self) -> Option<&Self> {
        self.earlier.as_deref()
    }

    pub fn push(&mut self, step: Step) {
        self.tokens.push(estimate::step(&step.kind));
        self.steps.push(step);
    }

    /// Takes steps in that are written down later, together with what comes of them.
    pub fn hold(&mut self, kinds: Vec<StepKind>, at: DateTime<Utc>) {
        for kind in kinds {
            let seq = self.next_seq();
            self.push(Step { seq, at, kind });
            self.held += 1;
        }
    }

    /// The last steps, which are not written down yet.
    pub fn held(&self) -> &[Step] {
        &self.steps[self.steps.len() - self.held..]
    }

    pub fn holds_a_reply(&self) -> bool {
        self.held()
            .iter()
            .any(|step| matches!(step.kind, StepKind::Replied { .. }))
    }

    /// The held steps as they were written down, and others after them.
    pub fn written(&mut self, steps: Vec<Step>) {
        let kept = self.steps.len() - self.held;
        self.steps.truncate(kept);
        self.tokens.truncate(kept);
        self.held = 0;
        steps.into_iter().for_each(|step| self.push(step));
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub fn next_seq(&self) -> i32 {
        self.steps.last().map_or(1, |step| step.seq + 1)
    }

    /// The newest comment that was heard; 0 before the first.
    pub fn last_heard(&self) -> i64 {
        let earlier = self.earlier.as_ref().map_or(0, |earlier| earlier.last_heard());
        self.heard()
            .flat_map(|(comments, _)| comments)
            .map(|comment| comment.id)
            .max()
            .unwrap_or(0)
            .max(earlier)
    }

    /// The newest comment that had been heard before a step of this run; 0 where none had.
    pub fn heard_before(&self, seq: i32) -> i64 {
        let before = self.steps.iter().filter(|step| step.seq < seq);
        let heard = before.filter_map(|step| match &step.kind {
            StepKind::Heard { comments, .. } => comments.iter().map(|comment| comment.id).max(),
            _ => None,
        });
        let earlier = self.earlier.as_ref().map_or(0, |earlier| earlier.last_heard());
        heard.max().unwrap_or(0).max(earlier)
    }

    /// The ticket's version that the model has seen.
    pub fn version(&self) -> Option<i64> {
        self.heard().map(|(_, version)| version).max()
    }

    fn heard(&self) -> impl Iterator<Item = (&[Comment], i64)> {
        self.steps.iter().filter_map(|step| match &step.kind {
            StepKind::Heard { comments, version, .. } => Some((comments.as_slice(), *version)),
            _ => None,
        })
    }

    /// The latest reply with the number of its step.
    pub fn last_reply(&self) -> Option<(i32, &ModelReply)> {
        self.steps.iter().rev().find_map(|step| match &step.kind {
            StepKind::Replied { reply, .. } => Some((step.seq, &**reply)),
            _ => None,
        })
    }

    pub fn replies(&self) -> u32 {
        let replies = self
            .steps
            .iter()
            .filter(|step| matches!(step.kind, StepKind::Replied { .. }))
            .count();
        u32::try_from(replies).unwrap_or(u32::MAX)
    }

    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        self.usages().for_each(|(_, one)| usage += one);
        usage
    }

    /// What each request used, with the model's name.
    pub fn usages(&self) -> impl Iterator<Item = (&str, Usage)> {
        self.steps.iter().filter_map(|step| match &step.kind {
            StepKind::Replied { model, reply } => Some((model.as_str(), reply.usage)),
            StepKind::Compacted { model, usage, .. } => Some((model.as_str(), *usage)),
            _ => None,
        })
    }

    /// The plan as it stands.
    pub fn plan(&self) -> Option<Plan> {
        self.steps.iter().rev().find_map(|step| match &step.kind {
            StepKind::Outcome { outcome, .. } => serde_json::from_value(outcome.details.get("plan")?.clone()).ok(),
            _ => None,
        })
    }

    pub fn outcome(&self, key: CallKey) -> Option<&Outcome> {
        self.steps.iter().rev().find_map(|step| match &step.kind {
            StepKind::Outcome { call, outcome } if *call == key => Some(outcome),
            _ => None,
        })
    }

    /// Every call that has an outcome, with it.
    pub fn outcomes(&self) -> impl Iterator<Item = (CallKey, &Outcome)> {
        self.steps.iter().filter_map(|step| match &step.kind {
            StepKind::Outcome { call, outcome } => Some((*call, outcome)),
            _ => None,
        })
    }

    /// The calls of the latest reply that have no outcome yet, in their order.
    pub fn open_calls(&self) -> Vec<(CallKey, &Call)> {
        let Some((seq, reply)) = self.last_reply() else {
            return Vec::new();
        };
        let done: BTreeSet<CallKey> = self.outcomes().map(|(key, _)| key).collect();
        (0..)
            .map(|index| CallKey { step: seq, index })
            .zip(&reply.calls)
            .filter(|(key, _)| !done.contains(key))
            .collect()
    }

    pub fn call(&self, key: CallKey) -> Option<&Call> {
        self.steps.iter().find_map(|step| match &step.kind {
            StepKind::Replied { reply, .. } if step.seq == key.step => {
                reply.calls.get(usize::try_from(key.index).ok()?)
            }
            _ => None,
        })
    }

    pub fn started(&self, key: CallKey) -> bool {
        self.steps
            .iter()
            .any(|step| matches!(step.kind, StepKind::Started { call } if call == key))
    }

    /// Whether the run once waited for helpers at this call.
    pub fn awaited(&self, key: CallKey) -> bool {
        self.steps
            .iter()
            .any(|step| matches!(step.kind, StepKind::Awaited { call, .. } if call == key))
    }

    /// Whether the run ever started a helper.
    pub fn has_helpers(&self) -> bool {
        self.outcomes().any(|(_, outcome)| outcome.details["helper"].is_i64())
    }

    pub fn noted(&self, about: About) -> bool {
        self.steps
            .iter()
            .any(|step| matches!(step.kind, StepKind::Noted { about: it, .. } if it == about))
    }

    /// Whether something was told to the model after its latest reply and that reply's outcomes.
    pub fn has_news(&self) -> bool {
        for step in self.steps.iter().rev() {
            match step.kind {
                StepKind::Replied { .. } => return false,
                StepKind::Heard { .. }
                | StepKind::Instructed { .. }
                | StepKind::Tasked { .. }
                | StepKind::Noted { .. }
                | StepKind::Nudged
                | StepKind::Partial { .. }
                | StepKind::Outcome { .. } => return true,
                StepKind::Started { .. }
                | StepKind::CompactAsked { .. }
                | StepKind::Compacted { .. }
                | StepKind::Asked { .. }
                | StepKind::Awaited { .. }
                | StepKind::Booked { .. }
                | StepKind::Stumbled { .. } => {}
            }
        }
        true
    }

    /// Whether somebody of the team instructed the bot after the model's latest reply.
    pub fn instructed_since_reply(&self) -> bool {
        self.steps
            .iter()
            .rev()
            .take_while(|step| !matches!(step.kind, StepKind::Replied { .. }))
            .any(|step| matches!(step.kind, StepKind::Instructed { .. }))
    }

    /// Whether the latest reply was already asked to go on.
    pub fn nudged(&self) -> bool {
        let mut replies = 0;
        for step in self.steps.iter().rev() {
            match step.kind {
                StepKind::Replied { .. } => replies += 1,
                StepKind::Nudged => return replies == 1,
                _ => {}
            }
            if replies > 1 {
                return false;
            }
        }
        false
    }

    /// Who instructed the bot last, as `slack:U…`.
    pub fn instructed_by(&self) -> Option<&str> {
        self.steps.iter().rev().find_map(|step| match &step.kind {
            StepKind::Instructed { by, .. } => Some(by.as_str()),
            _ => None,
        })
    }

    /// Who of the team said that the ticket is of this category, as `slack:U…`. A later instruction that names none changes
    /// nothing.
    pub fn named_category(&self, category: &str) -> Option<&str> {
        self.steps.iter().rev().find_map(|step| match &step.kind {
            StepKind::Instructed { text, by, .. } if crate::offline::names_category(text, category) => {
                Some(by.as_str())
            }
            _ => None,
        })
    }

    /// Revisions of the articles that were read in this run.
    pub fn articles_read(&self) -> BTreeMap<ArticleId, i64> {
        let mut read = self
            .earlier
            .as_ref()
            .map_or_else(BTreeMap::new, |earlier| earlier.articles_read());
        for (_, outcome) in self.outcomes() {
            if let (Some(id), Some(revision)) = (
                outcome.details["article"].as_str(),
                outcome.details["revision"].as_i64(),
            ) {
                read.insert(ArticleId(id.into()), revision);
            }
        }
        read
    }

    /// Everything that people outside the team wrote on the ticket, as far as it was heard.
    pub fn customers_words(&self) -> impl Iterator<Item = &str> {
        self.all_heard().into_iter().filter_map(|comment| match comment.author {
            Author::Requester | Author::Other => Some(comment.body.as_str()),
            Author::Agent | Author::Bot => None,
        })
    }

    /// Everything that was written on the ticket, by whomever, as far as it was heard.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.all_heard().into_iter().map(|comment| comment.body.as_str())
    }

    /// Every comment that this run and those before it have heard, oldest first.
    fn all_heard(&self) -> Vec<&Comment> {
        let mut all = self
            .earlier
            .as_ref()
            .map_or_else(Vec::new, |earlier| earlier.all_heard());
        all.extend(self.heard().flat_map(|(comments, _)| comments));
        all
    }

    /// The steps after the last one that put the bookkeeping into the outbox.
    pub fn unbooked(&self) -> &[Step] {
        let from = self
            .steps
            .iter()
            .rposition(|step| matches!(step.kind, StepKind::Booked { .. }));
        &self.steps[from.map_or(0, |at| at + 1)..]
    }
}

/// One line for people on a step: what the live view and `runs` show.
pub fn line(transcript: &Transcript, step: &Step) -> Option<String> {
    match &step.kind {
        StepKind::Heard { comments, .. } => match comments.len() {
            0 => Some("read the ticket".into()),
            1 => Some("read 1 comment".into()),
            n => Some(format!("read {n} comments")),
        },
        StepKind::Instructed { by_name, .. } => Some(format!("instructed by {by_name}")),
        StepKind::Tasked { text } => Some(format!("is to find out: {}", first_line(text))),
        StepKind::Noted { text, .. } => Some(text.clone()),
        StepKind::Nudged => Some("empty reply; asked to go on".into()),
        StepKind::Replied { reply, .. } if reply.calls.is_empty() => Some(first_line(&reply.text)),
        StepKind::Started { call } => Some(format!(
            "calling {}",
            transcript.call(*call).map_or("?", |call| call.name.as_str())
        )),
        StepKind::Replied { .. } | StepKind::Booked { .. } => None,
        StepKind::Outcome { call, outcome } => {
            let (name, args) = transcript
                .call(*call)
                .map_or(("?", &Value::Null), |call| (call.name.as_str(), &call.args));
            let what = crate::tool::find(name).map_or_else(|| name.to_owned(), |tool| (tool.activity)(args));
            Some(if outcome.failed {
                format!("{what}: {}", first_line(&outcome.text))
            } else {
                what
            })
        }
        StepKind::Asked { approval, .. } => Some(format!("asked as {approval}")),
        StepKind::Awaited { helpers, .. } => {
            let numbers: Vec<String> = helpers.iter().map(ToString::to_string).collect();
            Some(format!("waits for helper {}", numbers.join(", ")))
        }
        StepKind::Partial { why, .. } => Some(format!("reply {why}")),
        StepKind::CompactAsked { by_name } => Some(format!("a summary of older turns was asked for by {by_name}")),
        StepKind::Compacted { .. } => Some("summarised older turns".into()),
        StepKind::Stumbled { what } => Some(what.clone()),
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(200).collect()
}

#[cfg(test)]
mod tests;
