//! How often an outside system may be called: so many calls a minute for each key, and holds that the other side asked
//! for with Retry-After.
//!
//! This is one process's courtesy, not a guarantee: replicas do not share it, and the order of posts in a channel is
//! kept by the dispatcher in Postgres.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota};

/// After so many calls the keys that no longer matter are forgotten, so that a year of threads does not stay in memory.
const PRUNE_EVERY: u32 = 1024;

pub struct Throttle {
    /// `None`: only holds count.
    limiter: Option<DefaultKeyedRateLimiter<String>>,
    clock: DefaultClock,
    holds: Mutex<HashMap<String, Instant>>,
    calls: AtomicU32,
}

/// The key's turn is farther away than the caller wanted to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub wait: Duration,
}

impl Throttle {
    /// At most `per_minute` calls for each key, `burst` of them at once.
    pub fn per_minute(per_minute: NonZeroU32, burst: NonZeroU32) -> Self {
        Self::new(Some(DefaultKeyedRateLimiter::keyed(
            Quota::per_minute(per_minute).allow_burst(burst),
        )))
    }

    /// No limit of our own: only what the other side asks for.
    pub fn unlimited() -> Self {
        Self::new(None)
    }

    fn new(limiter: Option<DefaultKeyedRateLimiter<String>>) -> Self {
        Self {
            limiter,
            clock: DefaultClock::default(),
            holds: Mutex::default(),
            calls: AtomicU32::new(0),
        }
    }

    /// Waits for the key's turn and takes it. What would take longer than `patience` is not waited for: the caller
    /// reschedules instead of keeping a worker busy.
    pub async fn ready(&self, key: &str, patience: Duration) -> Result<(), Held> {
        if self.calls.fetch_add(1, Ordering::Relaxed) % PRUNE_EVERY == PRUNE_EVERY - 1 {
            self.prune();
        }
        let until = Instant::now() + patience;
        while let Some(wait) = self.take(key) {
            if Instant::now() + wait > until {
                return Err(Held { wait });
            }
            tokio::time::sleep(wait).await;
        }
        Ok(())
    }

    /// Lets nobody through for the key until `pause` is over. A shorter hold never cuts a longer one.
    pub fn hold(&self, key: &str, pause: Duration) {
        let until = Instant::now() + pause;
        let mut holds = self.holds.lock().unwrap_or_else(|broken| broken.into_inner());
        let entry = holds.entry(key.to_owned()).or_insert(until);
        *entry = (*entry).max(until);
    }

    /// Forgets keys that are as good as new.
    pub fn prune(&self) {
        let now = Instant::now();
        let mut holds = self.holds.lock().unwrap_or_else(|broken| broken.into_inner());
        holds.retain(|_, until| *until > now);
        drop(holds);
        if let Some(limiter) = &self.limiter {
            limiter.retain_recent();
            limiter.shrink_to_fit();
        }
    }

    /// `None`: taken. Otherwise how long to wait before asking again.
    fn take(&self, key: &str) -> Option<Duration> {
        let held = {
            let holds = self.holds.lock().unwrap_or_else(|broken| broken.into_inner());
            holds
                .get(key)
                .map(|until| until.saturating_duration_since(Instant::now()))
        };
        if let Some(wait) = held.filter(|wait| !wait.is_zero()) {
            return Some(wait);
        }
        let limiter = self.limiter.as_ref()?;
        match limiter.check_key(&key.to_owned()) {
            Ok(()) => None,
            Err(not_until) => Some(not_until.wait_time_from(self.clock.now())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow() -> Throttle {
        Throttle::per_minute(NonZeroU32::MIN, NonZeroU32::MIN)
    }

    #[tokio::test]
    async fn a_key_waits_for_its_turn_and_others_do_not() {
        let throttle = slow();
        assert_eq!(throttle.ready("C1", Duration::ZERO).await, Ok(()));
        assert!(throttle.ready("C1", Duration::ZERO).await.is_err());
        assert_eq!(throttle.ready("C2", Duration::ZERO).await, Ok(()));
    }

    #[tokio::test]
    async fn a_hold_that_is_longer_than_the_patience_is_told_and_not_waited_for() {
        let throttle = Throttle::unlimited();
        throttle.hold("chat.update", Duration::from_secs(3600));
        throttle.hold("chat.update", Duration::from_secs(1));
        let held = throttle.ready("chat.update", Duration::from_secs(5)).await;
        assert!(held.is_err_and(|held| held.wait > Duration::from_secs(3000)));
        assert_eq!(throttle.ready("chat.delete", Duration::ZERO).await, Ok(()));
    }

    #[test]
    fn pruning_keeps_the_holds_that_still_count() {
        let throttle = slow();
        throttle.hold("past", Duration::ZERO);
        throttle.hold("ahead", Duration::from_secs(3600));
        throttle.prune();
        assert_eq!(throttle.take("past"), None);
        assert!(throttle.take("ahead").is_some());
    }
}
