//! When to try again: backoff with jitter, `Retry-After` honoured but clamped.
//!
//! No randomness lives here: the caller draws a fraction, so that the same arguments always give the same delay.

mod breaker;

pub use breaker::Breaker;

use std::time::Duration;

/// How often and how patiently something is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The longest delay after the first failure; each further one doubles it.
    pub base: Duration,
    /// No delay of our own is longer.
    pub cap: Duration,
    /// How many attempts there are in all, the first one included.
    pub attempts: u32,
    /// A longer `Retry-After` is cut to this: a service that says "tomorrow" must not park a customer's reply unseen.
    pub longest_told: Duration,
}

impl RetryPolicy {
    /// Effects on their way out: some nine hours before a person has to look.
    pub const DELIVERY: Self = Self {
        base: Duration::from_secs(2),
        cap: Duration::from_secs(60 * 60),
        attempts: 20,
        longest_told: Duration::from_secs(60 * 60),
    };
    /// A model's request: a few minutes, then another model or a person takes over.
    pub const MODEL: Self = Self {
        base: Duration::from_secs(1),
        cap: Duration::from_secs(60),
        attempts: 6,
        longest_told: Duration::from_secs(5 * 60),
    };
}

/// How long to wait after attempt number `attempt` (1 is the first) failed; `None` to give up.
///
/// `fraction` is a fresh random number from 0 to 1. Half of the backoff is fixed and half is random, so that callers
/// that failed together do not come back together. A `Retry-After` takes the place of the backoff, and is never
/// undercut: the jitter comes on top.
pub fn delay(attempt: u32, fraction: f64, retry_after: Option<Duration>, policy: &RetryPolicy) -> Option<Duration> {
    if attempt >= policy.attempts {
        return None;
    }
    // `clamp` would keep a NaN, and `mul_f64` would panic on it.
    let fraction = if fraction.is_nan() {
        0.0
    } else {
        fraction.clamp(0.0, 1.0)
    };
    Some(match retry_after {
        Some(told) => told.min(policy.longest_told) + policy.base.mul_f64(fraction),
        None => {
            let doubled = 2u32.saturating_pow(attempt.saturating_sub(1));
            let most = policy.base.saturating_mul(doubled).min(policy.cap);
            most / 2 + (most / 2).mul_f64(fraction)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy = RetryPolicy {
        base: Duration::from_secs(2),
        cap: Duration::from_secs(60),
        attempts: 10,
        longest_told: Duration::from_secs(300),
    };

    fn secs(n: u64) -> Option<Duration> {
        Some(Duration::from_secs(n))
    }

    #[test]
    fn the_wait_doubles_up_to_its_cap_and_then_there_is_an_end() {
        let longest: Vec<_> = (1..=10).map(|attempt| delay(attempt, 1.0, None, &POLICY)).collect();
        let expected = [2, 4, 8, 16, 32, 60, 60, 60, 60].map(secs);
        assert_eq!(longest[..9], expected);
        assert_eq!(longest[9], None);
        assert_eq!(
            delay(
                u32::MAX - 1,
                1.0,
                None,
                &RetryPolicy {
                    attempts: u32::MAX,
                    ..POLICY
                }
            ),
            secs(60)
        );
    }

    #[test]
    fn jitter_takes_at_most_half_and_no_fraction_breaks_it() {
        assert_eq!(delay(3, 0.0, None, &POLICY), secs(4));
        assert_eq!(delay(3, 0.5, None, &POLICY), secs(6));
        for odd in [f64::NAN, -3.0, f64::NEG_INFINITY] {
            assert_eq!(delay(3, odd, None, &POLICY), secs(4), "{odd}");
        }
        assert_eq!(delay(3, f64::INFINITY, None, &POLICY), secs(8));
    }

    #[test]
    fn retry_after_is_never_undercut_and_never_believed_beyond_its_clamp() {
        assert_eq!(delay(1, 0.0, secs(30), &POLICY), secs(30));
        assert_eq!(delay(1, 1.0, secs(30), &POLICY), secs(32));
        assert_eq!(delay(8, 0.0, secs(0), &POLICY), secs(0));
        assert_eq!(delay(1, 0.0, Some(Duration::MAX), &POLICY), secs(300));
        assert_eq!(delay(10, 0.0, secs(1), &POLICY), None);
    }

    #[test]
    fn deliveries_are_tried_for_hours_and_models_for_minutes() {
        let whole = |policy: &RetryPolicy| -> Duration {
            (1..policy.attempts)
                .filter_map(|attempt| delay(attempt, 1.0, None, policy))
                .sum()
        };
        assert!(whole(&RetryPolicy::DELIVERY) > Duration::from_secs(8 * 60 * 60));
        assert!(whole(&RetryPolicy::MODEL) < Duration::from_secs(5 * 60));
    }
}
