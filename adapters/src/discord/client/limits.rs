//! Discord's rate limits: 50 calls a second in all; for each route a bucket that the headers of its answers describe;
//! and at most 10,000 refused calls (401, 403, 429) in ten minutes, beyond which Discord bans the address for a day
//! (docs.discord.com, "Rate Limits").

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::failure::Failure;
use crate::throttle::{Held, Throttle};

/// How fast Discord is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// As its documentation asks.
    #[default]
    Discord,
    /// As fast as it goes, apart from what its answers ask: for a Discord that is not Discord.
    Unlimited,
}

/// Everything waits for the same hold when Discord says that the limit was the global one.
const GLOBAL: &str = "global";
/// Far below the ban: whoever is refused so often has a setting to mend.
const REFUSED: usize = 2_000;
const REFUSED_WITHIN: Duration = Duration::from_secs(600);
/// A pause that Discord asks for is believed up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

pub(super) struct Limits {
    global: Throttle,
    /// By route and first id.
    holds: Throttle,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Which bucket a route belongs to: several may share one.
    buckets: HashMap<String, String>,
    refused: VecDeque<Instant>,
}

impl Limits {
    pub(super) fn new(pace: Pace) -> Self {
        // A little below fifty a second, since replicas share the limit.
        let global = match (pace, NonZeroU32::new(40 * 60), NonZeroU32::new(40)) {
            (Pace::Discord, Some(per_minute), Some(burst)) => Throttle::per_minute(per_minute, burst),
            (Pace::Discord | Pace::Unlimited, _, _) => Throttle::unlimited(),
        };
        Self {
            global,
            holds: Throttle::unlimited(),
            known: Mutex::default(),
        }
    }

    /// Waits for the call's turn, or says how long it would take.
    pub(super) async fn ready(&self, route: &str, patience: Duration) -> Result<(), Failure> {
        if let Some(wait) = self.refused_too_often() {
            tracing::error!("Discord refused too many calls; none is made until it is safe again");
            return Err(Failure::Slow {
                retry_after: Some(wait),
            });
        }
        let held = |Held { wait }| Failure::Slow {
            retry_after: Some(wait),
        };
        self.holds.ready(&self.bucket(route), patience).await.map_err(held)?;
        self.global.ready(GLOBAL, patience).await.map_err(held)
    }

    /// What an answer tells of the limits.
    pub(super) fn learn(&self, route: &str, status: u16, told: &Told, answer: Option<&Value>) {
        if let Some(bucket) = &told.bucket {
            let mut known = self.known();
            // Routes come and go with channels and threads; what is forgotten is learnt again.
            if known.buckets.len() > 10_000 {
                known.buckets.clear();
            }
            known
                .buckets
                .insert(route.to_owned(), format!("{bucket} {}", first_id(route)));
        }
        if matches!(status, 401 | 403) || status == 429 && !told.shared {
            let now = Instant::now();
            let mut known = self.known();
            known.refused.push_back(now);
            known.refused.retain(|at| now.duration_since(*at) < REFUSED_WITHIN);
        }
        match status {
            429 => {
                let pause = told.pause(answer).unwrap_or(Duration::from_secs(1)).min(LONGEST_PAUSE);
                let global = told.global || answer.is_some_and(|answer| answer["global"] == true);
                match global {
                    true => self.global.hold(GLOBAL, pause),
                    false => self.holds.hold(&self.bucket(route), pause),
                }
            }
            _ => {
                if let (Some(0), Some(pause)) = (told.remaining, told.reset_after) {
                    self.holds.hold(&self.bucket(route), pause.min(LONGEST_PAUSE));
                }
            }
        }
    }

    fn bucket(&self, route: &str) -> String {
        self.known()
            .buckets
            .get(route)
            .cloned()
            .unwrap_or_else(|| route.to_owned())
    }

    fn refused_too_often(&self) -> Option<Duration> {
        let known = self.known();
        let oldest = known.refused.get(known.refused.len().checked_sub(REFUSED)?)?;
        REFUSED_WITHIN.checked_sub(oldest.elapsed())
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The id that has a limit of its own.
fn first_id(route: &str) -> &str {
    let mut parts = route.split('/');
    parts
        .find(|part| part.len() > 10 && part.bytes().any(|b| b.is_ascii_digit()))
        .unwrap_or_default()
}

/// What an answer's headers say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    bucket: Option<String>,
    remaining: Option<u32>,
    reset_after: Option<Duration>,
    retry_after: Option<Duration>,
    global: bool,
    /// The resource's limit, which others used up: not counted against us.
    shared: bool,
}

impl Told {
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let seconds = |name: &str| text(name).and_then(|text| text.parse().ok()).and_then(duration);
        Self {
            bucket: text("x-ratelimit-bucket").map(str::to_owned),
            remaining: text("x-ratelimit-remaining").and_then(|text| text.parse().ok()),
            reset_after: seconds("x-ratelimit-reset-after"),
            retry_after: seconds("retry-after"),
            global: text("x-ratelimit-global").is_some() || text("x-ratelimit-scope") == Some("global"),
            shared: text("x-ratelimit-scope") == Some("shared"),
        }
    }

    /// How long a 429 asks to wait: the body says it more exactly than the header.
    pub(super) fn pause(&self, answer: Option<&Value>) -> Option<Duration> {
        let body = answer
            .and_then(|answer| answer["retry_after"].as_f64())
            .and_then(duration);
        body.or(self.retry_after).or(self.reset_after)
    }
}

fn duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const POST: &str = "POST channels/645027906669510660/messages";
    const OTHER: &str = "POST channels/645027906669510661/messages";

    fn told(change: impl FnOnce(&mut Told)) -> Told {
        let mut told = Told::default();
        change(&mut told);
        told
    }

    #[tokio::test]
    async fn a_used_up_bucket_holds_its_own_channel_alone() {
        let limits = Limits::new(Pace::Unlimited);
        let used_up = told(|told| {
            told.bucket = Some("abcd1234".into());
            told.remaining = Some(0);
            told.reset_after = Some(Duration::from_secs(60));
        });
        limits.learn(POST, 200, &used_up, None);
        assert!(limits.ready(POST, Duration::ZERO).await.is_err());
        assert!(limits.ready(OTHER, Duration::ZERO).await.is_ok());
    }

    #[tokio::test]
    async fn the_body_of_a_429_says_how_long_and_a_global_one_holds_everything() {
        let limits = Limits::new(Pace::Unlimited);
        let slow = json!({ "retry_after": 64.57, "global": false });
        limits.learn(POST, 429, &Told::default(), Some(&slow));
        let Err(Failure::Slow {
            retry_after: Some(wait),
        }) = limits.ready(POST, Duration::ZERO).await
        else {
            panic!("it is held")
        };
        assert!(wait > Duration::from_secs(60));
        assert!(limits.ready(OTHER, Duration::ZERO).await.is_ok());
        limits.learn(
            POST,
            429,
            &Told::default(),
            Some(&json!({ "retry_after": 60.0, "global": true })),
        );
        assert!(limits.ready(OTHER, Duration::ZERO).await.is_err());
    }

    #[tokio::test]
    async fn whoever_is_refused_all_the_time_stops_calling_before_the_ban() {
        let limits = Limits::new(Pace::Unlimited);
        let shared = told(|told| told.shared = true);
        for _ in 0..REFUSED {
            limits.learn(OTHER, 429, &shared, Some(&json!({ "retry_after": 0.0 })));
        }
        assert!(
            limits.ready(POST, Duration::ZERO).await.is_ok(),
            "what others used up counts for nothing"
        );
        for _ in 0..REFUSED {
            limits.learn(OTHER, 403, &Told::default(), None);
        }
        assert!(limits.ready(POST, Duration::ZERO).await.is_err());
    }
}
