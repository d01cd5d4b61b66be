//! What can go wrong with any service: the switches that scenarios turn, and what a request comes to by them. What only
//! one service does wrong stands beside its state.

use std::time::Duration;

use chrono::{DateTime, Utc};

#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) down: bool,
    /// Every connection breaks without an answer.
    pub(crate) resets: bool,
    /// The next write is applied and its answer lost: the writer cannot know.
    pub(crate) lose_next_answer: bool,
    /// The next write is lost before it is applied: to the writer it looks the same.
    pub(crate) lose_next_request: bool,
    /// 429 until then.
    slow_until: Option<DateTime<Utc>>,
    too_early: usize,
}

impl Faults {
    /// Whether the connection breaks before anything is done.
    pub(crate) fn breaks_before(&mut self, write: bool) -> bool {
        self.resets || (write && std::mem::take(&mut self.lose_next_request))
    }

    /// Whether it breaks once a write is done.
    pub(crate) fn breaks_after(&mut self, written: bool) -> bool {
        written && std::mem::take(&mut self.lose_next_answer)
    }

    pub(crate) fn slow_down(&mut self, now: DateTime<Utc>, seconds: u64) {
        self.slow_until = Some(now + Duration::from_secs(seconds));
    }

    /// The whole seconds of `Retry-After`, while requests come too early.
    pub(crate) fn wait(&mut self, now: DateTime<Utc>) -> Option<i64> {
        let left = self.slow_until.map_or(0, |until| (until - now).num_milliseconds());
        if left <= 0 {
            self.slow_until = None;
            return None;
        }
        self.too_early += 1;
        Some((left + 999) / 1000)
    }

    /// Requests before `Retry-After` had passed; the first one, which learns of it, is not counted.
    pub(crate) fn came_too_early(&self) -> usize {
        self.too_early.saturating_sub(1)
    }
}
