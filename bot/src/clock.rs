//! The time, which scenarios may move. Leases and due times always go by the database's clock; this one only tells the
//! database how far it was moved.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};

/// The system's clock, moved forward by an offset that is zero in production.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    offset: Arc<AtomicI64>,
}

impl Clock {
    pub fn now(&self) -> DateTime<Utc> {
        Utc::now() + TimeDelta::milliseconds(self.offset.load(Ordering::Relaxed))
    }

    /// For the store: `None` in production, where the database's own clock counts.
    pub fn moved(&self) -> Option<DateTime<Utc>> {
        (self.offset.load(Ordering::Relaxed) != 0).then(|| self.now())
    }

    pub fn advance(&self, by: TimeDelta) {
        self.offset.fetch_add(by.num_milliseconds(), Ordering::Relaxed);
    }
}
