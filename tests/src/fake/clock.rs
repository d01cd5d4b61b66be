//! The one clock of a scenario: the fakes read it, the bot reads it, only the test moves it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeZone, Utc};

/// Cheap to clone; all clones show the same time.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Mutex<DateTime<Utc>>>);

impl Clock {
    /// A Monday morning, the same in every test, so that snapshots hold.
    pub fn new() -> Self {
        let monday = Utc.with_ymd_and_hms(2026, 3, 2, 9, 0, 0);
        Self::at(monday.single().expect("a time that exists"))
    }

    pub fn at(time: DateTime<Utc>) -> Self {
        Self(Arc::new(Mutex::new(time)))
    }

    pub fn now(&self) -> DateTime<Utc> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn advance(&self, by: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

pub fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

pub fn minutes(n: u64) -> Duration {
    Duration::from_secs(60 * n)
}

pub fn hours(n: u64) -> Duration {
    Duration::from_secs(3600 * n)
}
