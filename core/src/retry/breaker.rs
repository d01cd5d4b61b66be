//! A circuit breaker: a provider that failed several times in a row is left alone for a while, then tried with one
//! request. So a dead provider eats neither time nor the runs' attempts.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// Failures in a row that open it.
const FAILURES: u32 = 5;
/// The first time that it stays open; each further one doubles it.
const FIRST: Duration = Duration::from_secs(15);
const LONGEST: Duration = Duration::from_secs(5 * 60);
/// How long one request may be out as a trial before another may be.
const TRIAL: Duration = Duration::from_secs(60);

/// The state of one provider, as one process sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breaker {
    failures: u32,
    /// How often in a row it was opened.
    opened: u32,
    until: Option<DateTime<Utc>>,
    /// The first failure in this row.
    since: Option<DateTime<Utc>>,
}

impl Breaker {
    /// Whether a request may be made now; `Err` with when the next one may.
    pub fn admit(&mut self, now: DateTime<Utc>) -> Result<(), DateTime<Utc>> {
        match self.until {
            Some(until) if now < until => Err(until),
            Some(_) => {
                // One request tries; the others wait for what becomes of it.
                self.until = Some(now + delta(TRIAL));
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// A failure that says something about the provider, not about the request. `told` is its `Retry-After`.
    pub fn failed(&mut self, now: DateTime<Utc>, told: Option<Duration>) {
        self.failures += 1;
        self.since.get_or_insert(now);
        let tried = self.until.is_some();
        if self.failures < FAILURES && !tried {
            return;
        }
        let doubled = FIRST.saturating_mul(2u32.saturating_pow(self.opened.min(10)));
        let rest = doubled.max(told.unwrap_or_default()).min(LONGEST);
        self.opened += 1;
        self.until = Some(now + delta(rest));
    }

    /// For how long nothing has succeeded.
    pub fn down_for(&self, now: DateTime<Utc>) -> Duration {
        self.since
            .and_then(|since| (now - since).to_std().ok())
            .unwrap_or_default()
    }

    /// Until when it is open, for people.
    pub fn open_until(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.until.filter(|until| now < *until)
    }
}

fn delta(duration: Duration) -> TimeDelta {
    TimeDelta::from_std(duration).unwrap_or(TimeDelta::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    fn failing() -> Breaker {
        let mut breaker = Breaker::default();
        for _ in 0..FAILURES {
            assert_eq!(breaker.admit(at(0)), Ok(()));
            breaker.failed(at(0), None);
        }
        breaker
    }

    #[test]
    fn five_failures_in_a_row_open_it() {
        let mut breaker = failing();
        assert_eq!(breaker.admit(at(14)), Err(at(15)));
        assert_eq!(breaker.open_until(at(14)), Some(at(15)));
        assert_eq!(breaker.down_for(at(14)), Duration::from_secs(14));
    }

    #[test]
    fn one_request_tries_while_the_others_wait() {
        let mut breaker = failing();
        assert_eq!(breaker.admit(at(15)), Ok(()));
        assert!(breaker.admit(at(16)).is_err(), "one trial at a time");
        breaker.succeeded();
        assert_eq!(breaker.admit(at(17)), Ok(()));
        assert_eq!(breaker, Breaker::default());
    }

    #[test]
    fn a_trial_that_fails_opens_it_for_longer_each_time() {
        let mut breaker = failing();
        let mut now = 15;
        let mut rests = Vec::new();
        for _ in 0..7 {
            assert_eq!(breaker.admit(at(now)), Ok(()));
            breaker.failed(at(now), None);
            let until = breaker.open_until(at(now)).expect("it is open");
            rests.push((until - at(now)).num_seconds());
            now = (until - at(0)).num_seconds();
        }
        assert_eq!(rests, [30, 60, 120, 240, 300, 300, 300]);
    }

    #[test]
    fn a_trial_that_never_came_back_does_not_close_it_for_ever() {
        let mut breaker = failing();
        assert_eq!(breaker.admit(at(15)), Ok(()));
        assert_eq!(breaker.admit(at(75)), Ok(()));
    }

    #[test]
    fn a_success_in_between_starts_the_count_anew() {
        let mut breaker = Breaker::default();
        for n in 0..20 {
            breaker.failed(at(n), None);
            if n % 3 == 0 {
                breaker.succeeded();
            }
        }
        assert_eq!(breaker.open_until(at(20)), None);
    }

    #[test]
    fn what_the_provider_says_is_heeded_within_reason() {
        let mut breaker = Breaker::default();
        for _ in 0..FAILURES {
            breaker.failed(at(0), Some(Duration::from_secs(60)));
        }
        assert_eq!(breaker.admit(at(59)), Err(at(60)));
        let mut breaker = Breaker::default();
        for _ in 0..FAILURES {
            breaker.failed(at(0), Some(Duration::from_secs(86_400)));
        }
        assert_eq!(breaker.admit(at(299)), Err(at(300)));
    }
}
