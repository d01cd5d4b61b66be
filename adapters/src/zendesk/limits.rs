//! What is known of Zendesk's rate limits, so that a request that would be refused is not made.
//!
//! Two limits are kept: the account's (learned from the answers' headers), and 30 updates of one ticket by one account in
//! 10 minutes (documented, and not told by any header before it strikes). Kept per process; replicas learn from their 429s.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

const UPDATES_PER_TICKET: usize = 30;
const UPDATE_WINDOW: TimeDelta = TimeDelta::minutes(10);
/// A wait longer than this is not believed.
const LONGEST_WAIT: TimeDelta = TimeDelta::hours(1);
/// Tickets remembered before those without a recent update are dropped.
const REMEMBERED: usize = 1_000;

#[derive(Default)]
pub(super) struct Limits(Mutex<State>);

#[derive(Default)]
struct State {
    account_until: Option<DateTime<Utc>>,
    ticket_until: HashMap<String, DateTime<Utc>>,
    updates: HashMap<String, VecDeque<DateTime<Utc>>>,
}

impl Limits {
    /// Whether a request may be made now; `ticket` names the one that it updates. `Err` says how long to wait.
    pub(super) fn admit(&self, now: DateTime<Utc>, ticket: Option<&str>) -> Result<(), TimeDelta> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = state.account_until.filter(|until| *until > now) {
            return Err(until - now);
        }
        let Some(ticket) = ticket else { return Ok(()) };
        if let Some(until) = state.ticket_until.get(ticket).filter(|until| **until > now) {
            return Err(*until - now);
        }
        if state.updates.len() > REMEMBERED {
            state
                .updates
                .retain(|_, times| times.back().is_some_and(|time| *time + UPDATE_WINDOW > now));
            state.ticket_until.retain(|_, until| *until > now);
        }
        let times = state.updates.entry(ticket.to_owned()).or_default();
        while times.front().is_some_and(|time| *time + UPDATE_WINDOW <= now) {
            times.pop_front();
        }
        match times.front() {
            Some(oldest) if times.len() >= UPDATES_PER_TICKET => Err(*oldest + UPDATE_WINDOW - now),
            Some(_) | None => {
                times.push_back(now);
                Ok(())
            }
        }
    }

    /// Learns from an answer. A 429 while the account has requests left is the ticket's own limit.
    pub(super) fn learn(&self, now: DateTime<Utc>, status: StatusCode, headers: &HeaderMap, ticket: Option<&str>) {
        let remaining = whole(headers, "x-rate-limit-remaining").or_else(|| whole(headers, "ratelimit-remaining"));
        let reset = whole(headers, "ratelimit-reset").map(TimeDelta::seconds);
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if status == StatusCode::TOO_MANY_REQUESTS {
            let Some(wait) = retry_after(now, headers).or(reset) else {
                return;
            };
            match (ticket, remaining) {
                (Some(ticket), Some(1..)) => {
                    state.ticket_until.insert(ticket.to_owned(), now + wait);
                }
                (Some(_) | None, Some(_) | None) => state.account_until = Some(now + wait),
            }
        } else if remaining == Some(0)
            && let Some(reset) = reset
        {
            state.account_until = Some(now + reset.min(LONGEST_WAIT));
        }
    }
}

/// `Retry-After`, in seconds or as a date.
pub(super) fn retry_after(now: DateTime<Utc>, headers: &HeaderMap) -> Option<TimeDelta> {
    let wait = match whole(headers, "retry-after") {
        Some(seconds) => TimeDelta::seconds(seconds),
        None => {
            let date = headers.get("retry-after")?.to_str().ok()?;
            DateTime::parse_from_rfc2822(date).ok()?.with_timezone(&Utc) - now
        }
    };
    Some(wait.clamp(TimeDelta::zero(), LONGEST_WAIT))
}

/// A header that holds a whole number, at most a day's seconds; nonsense is no header.
fn whole(headers: &HeaderMap, name: &str) -> Option<i64> {
    let number: i64 = headers.get(name)?.to_str().ok()?.trim().parse().ok()?;
    (0..=86_400).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")))
            .collect()
    }

    #[test]
    fn the_thirty_first_update_of_a_ticket_waits_for_the_first_to_age() {
        let limits = Limits::default();
        let start = DateTime::UNIX_EPOCH;
        for second in 0..30 {
            assert_eq!(limits.admit(start + TimeDelta::seconds(second), Some("7")), Ok(()));
        }
        let now = start + TimeDelta::minutes(1);
        assert_eq!(limits.admit(now, Some("7")), Err(TimeDelta::minutes(9)));
        assert_eq!(limits.admit(now, Some("8")), Ok(()));
        assert_eq!(limits.admit(now, None), Ok(()));
        assert_eq!(limits.admit(start + TimeDelta::minutes(10), Some("7")), Ok(()));
    }

    #[test]
    fn a_429_stops_the_account_unless_requests_were_left() {
        let start = DateTime::UNIX_EPOCH;
        let slow = StatusCode::TOO_MANY_REQUESTS;
        let limits = Limits::default();
        let of_the_ticket = headers(&[("retry-after", "93"), ("x-rate-limit-remaining", "650")]);
        limits.learn(start, slow, &of_the_ticket, Some("7"));
        assert_eq!(limits.admit(start, Some("7")), Err(TimeDelta::seconds(93)));
        assert_eq!(limits.admit(start, Some("8")), Ok(()));

        limits.learn(start, slow, &headers(&[("retry-after", "20")]), Some("7"));
        assert_eq!(limits.admit(start, None), Err(TimeDelta::seconds(20)));
        assert_eq!(limits.admit(start + TimeDelta::seconds(20), None), Ok(()));
    }

    #[test]
    fn the_last_request_of_a_minute_is_the_last() {
        let limits = Limits::default();
        let start = DateTime::UNIX_EPOCH;
        let spent = headers(&[("x-rate-limit-remaining", "0"), ("ratelimit-reset", "41")]);
        limits.learn(start, StatusCode::OK, &spent, None);
        assert_eq!(limits.admit(start, None), Err(TimeDelta::seconds(41)));
    }

    #[test]
    fn retry_after_may_be_a_date_and_is_clamped() {
        let now = DateTime::UNIX_EPOCH;
        for (text, seconds) in [
            ("93", Some(93)),
            ("Thu, 01 Jan 1970 00:01:00 GMT", Some(60)),
            ("Wed, 31 Dec 1969 00:01:00 GMT", Some(0)),
            ("80000", Some(3600)),
            ("soon", None),
        ] {
            let wait = retry_after(now, &headers(&[("retry-after", text)]));
            assert_eq!(wait, seconds.map(TimeDelta::seconds), "{text}");
        }
    }
}
