//! Low-water marks on the queue's numbers.

use std::time::{Duration, Instant};

use deskhand_adapters::postgres::runs::Levels;

/// What a claim need not look at again: numbers up to the lowest that was taken last, at each priority by itself, with a
/// margin for transactions that commit late. Forgotten every few seconds, so that nothing is passed over for long: a run
/// that becomes due later, or one whose number was drawn long before its commit.
#[derive(Debug, Default)]
pub struct Mark {
    lowest: Levels,
    since: Option<Instant>,
}

impl Mark {
    const MARGIN: i64 = 1_000;
    const FORGET: Duration = Duration::from_secs(3);

    /// Only rows with higher numbers are looked at.
    pub fn above(&mut self) -> Levels {
        if self.since.is_none_or(|since| since.elapsed() > Self::FORGET) {
            self.lowest = Levels::default();
            self.since = Some(Instant::now());
        }
        self.lowest.map(|lowest| (lowest - Self::MARGIN).max(0))
    }

    /// What a claim took. One that took nothing sees everything the next time.
    pub fn saw(&mut self, lowest: &[Option<i64>; 3], empty: bool) {
        if empty {
            self.lowest = Levels::default();
        }
        for (mark, seen) in self.lowest.iter_mut().zip(lowest) {
            *mark = seen.map_or(*mark, |seen| seen.max(*mark));
        }
    }
}
