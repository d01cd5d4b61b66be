//! Slack's rate limits: about one post a second for each channel, and tiers for everything else, each method for itself
//! (docs.slack.dev, "Rate limits"). Slack allows short bursts; so do we.

use std::num::NonZeroU32;

use crate::throttle::Throttle;

/// How fast Slack is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// As its documentation asks.
    #[default]
    Slack,
    /// As fast as it goes, apart from what Retry-After asks: for a Slack that is not Slack.
    Unlimited,
}

pub(super) struct Limits {
    posts: Throttle,
    /// 20 a minute.
    tier2: Throttle,
    /// 50 a minute.
    tier3: Throttle,
    /// 100 a minute.
    tier4: Throttle,
}

impl Limits {
    pub(super) fn new(pace: Pace) -> Self {
        let limit = |per_minute, burst| match (pace, NonZeroU32::new(per_minute), NonZeroU32::new(burst)) {
            (Pace::Slack, Some(per_minute), Some(burst)) => Throttle::per_minute(per_minute, burst),
            (Pace::Slack | Pace::Unlimited, _, _) => Throttle::unlimited(),
        };
        Self {
            posts: limit(60, 2),
            tier2: limit(20, 10),
            tier3: limit(50, 20),
            tier4: limit(100, 40),
        }
    }

    /// The throttle for a method, and the key in it.
    pub(super) fn of<'a>(&self, method: &'a str, channel: &'a str) -> (&Throttle, &'a str) {
        match method {
            "chat.postMessage" => (&self.posts, channel),
            "usergroups.users.list" => (&self.tier2, method),
            "chat.update" | "chat.delete" | "conversations.history" | "conversations.replies" => (&self.tier3, method),
            _ => (&self.tier4, method),
        }
    }
}
