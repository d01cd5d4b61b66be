//! The time, which scenarios may move. Leases and due times always go by the database's clock; this one only tells the
//! database how far it was moved.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, NaiveTime, TimeDelta, Utc};

/// The system's clock, moved forward by an offset that is zero in production.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    offset: Arc<AtomicI64>,
}

impl Clock {
    pub fn now(&self) -> DateTime<Utc> {
        Utc::now() + TimeDelta::milliseconds(self.offset.load(Ordering::Relaxed))
    }

    /// When the day began, UTC.
    pub fn midnight(&self) -> DateTime<Utc> {
        self.now().date_naive().and_time(NaiveTime::MIN).and_utc()
    }

    /// For the store: `None` in production, where the database's own clock counts.
    pub fn moved(&self) -> Option<DateTime<Utc>> {
        (self.offset.load(Ordering::Relaxed) != 0).then(|| self.now())
    }

    pub fn advance(&self, by: TimeDelta) {
        self.offset.fetch_add(by.num_milliseconds(), Ordering::Relaxed);
    }
}
