//! How long a transcript is for its model, and what of it was summarised.

use super::Transcript;
use crate::context::{Cut, Prompted, Told, estimate, line};
use crate::model::TicketBrief;
use crate::step::StepKind;

impl Transcript {
    /// The latest summary, with the cut that it was made for.
    pub fn compacted(&self) -> Option<(Cut, &str)> {
        self.latest_summary().map(|(cut, _, summary)| (cut, summary))
    }

    pub(super) fn latest_summary(&self) -> Option<(Cut, &TicketBrief, &str)> {
        self.summary_before(self.steps.len())
    }

    fn summary_before(&self, index: usize) -> Option<(Cut, &TicketBrief, &str)> {
        self.steps[..index].iter().rev().find_map(|step| match &step.kind {
            StepKind::Compacted {
                cut, brief, summary, ..
            } => Some((*cut, &**brief, summary.as_str())),
            _ => None,
        })
    }

    /// Whether a summary was asked for since the last one was made or found impossible.
    pub fn asked_to_compact(&self) -> bool {
        for step in self.steps.iter().rev() {
            match step.kind {
                StepKind::CompactAsked { .. } => return true,
                StepKind::Compacted { .. } | StepKind::Replied { .. } => return false,
                _ => {}
            }
        }
        false
    }

    /// Whether a cut there would leave anything out.
    pub(crate) fn has_something_before(&self, cut: Cut) -> bool {
        let first = self.steps.first().map_or(1, |step| step.seq);
        self.earlier.is_some() || cut.comments > 0 || cut.step > first
    }

    /// Everything before a cut that the last summary does not hold, oldest first.
    pub(crate) fn before(&self, cut: Cut, tell: &mut dyn FnMut(Told<'_>)) {
        let from = self.compacted().map_or(Cut::default(), |(cut, _)| cut);
        if from == Cut::default()
            && let Some(earlier) = &self.earlier
        {
            if let Some((_, summary)) = earlier.compacted() {
                tell(Told::Line(format!("Summary of what was before: {summary}")));
            }
            earlier.before(
                Cut {
                    step: i32::MAX,
                    comments: 0,
                },
                tell,
            );
        }
        let name_of = |key| {
            self.call(key)
                .map_or_else(Default::default, |call| (call.name.clone(), call.args.to_string()))
        };
        for step in self
            .steps
            .iter()
            .filter(|step| step.seq >= from.step && step.seq <= cut.step)
        {
            if let StepKind::Heard { comments, .. } = &step.kind {
                let first = if step.seq == from.step { from.comments } else { 0 };
                let last = if step.seq == cut.step {
                    cut.comments
                } else {
                    comments.len()
                };
                for comment in comments.get(first..last).unwrap_or_default() {
                    tell(Told::Comment(comment));
                }
            } else if step.seq < cut.step
                && let Some(line) = line(&step.kind, name_of)
            {
                tell(Told::Line(line));
            }
        }
    }

    /// The estimated tokens of the next request, corrected by what the provider counted for the last one.
    pub(crate) fn next_request(&self, head: u64) -> u64 {
        let now = self.request_at(self.steps.len(), head);
        let counted = self
            .steps
            .iter()
            .enumerate()
            .rev()
            .find_map(|(at, step)| match &step.kind {
                StepKind::Replied { reply, .. } => {
                    let counted = reply.usage.input + reply.usage.cache_read + reply.usage.cache_write;
                    Some((at, counted)).filter(|_| counted > 0)
                }
                _ => None,
            });
        match counted {
            Some((at, counted)) => {
                let then = self.request_at(at, head).max(1);
                // Within reason: a provider that counts nothing, or everything twice, must not stop a run.
                let ratio = (counted as f64 / then as f64).clamp(0.5, 3.0);
                (now as f64 * ratio) as u64
            }
            None => now,
        }
    }

    /// The estimated tokens of the turns as they are.
    pub(crate) fn length(&self) -> u64 {
        self.request_at(self.steps.len(), 0)
    }

    /// The estimated tokens of a request that is made when this many steps are there.
    fn request_at(&self, index: usize, head: u64) -> u64 {
        let (mut sum, cut) = match self.summary_before(index) {
            Some((cut, brief, summary)) => (head + Prompted::tokens(brief, summary), cut),
            None => {
                let earlier = self.earlier.as_ref();
                (
                    earlier.map_or(head, |earlier| earlier.request_at(earlier.steps.len(), head)),
                    Cut::default(),
                )
            }
        };
        for (step, tokens) in self.steps.iter().zip(&self.tokens).take(index) {
            if step.seq > cut.step {
                sum += tokens;
            } else if step.seq == cut.step {
                let left_out = match &step.kind {
                    StepKind::Heard { comments, .. } => comments.iter().take(cut.comments).map(estimate::comment).sum(),
                    _ => 0,
                };
                sum += tokens.saturating_sub(left_out);
            }
        }
        sum
    }
}
