//! Zendesk's webhook signature: base64 of the HMAC-SHA256 of `<timestamp><body>`, the key being the secret's own text,
//! not what it would decode to (developer.zendesk.com, "Verifying webhooks").

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};

use super::{Refused, mac};

/// Signs the deliveries of webhooks that are tried out before they are created. It is printed in Zendesk's own
/// documentation, so anybody can sign with it.
pub const TEST_SECRET: &str = "dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==";

/// What a deployment asks of Zendesk's deliveries, beyond a signature that fits. The default is production's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZendeskPolicy {
    /// Accept [`TEST_SECRET`] as the secret. Never in production.
    pub allow_test_secret: bool,
    /// How far the timestamp may be from the clock. `None` checks nothing: Zendesk documents no window, and it retries
    /// with the old timestamp after minutes of trouble on our side. Replays change nothing anyway, since the invocation
    /// id is unique in the inbox.
    pub window: Option<Duration>,
}

/// `timestamp` is `X-Zendesk-Webhook-Signature-Timestamp`, `signature` is `X-Zendesk-Webhook-Signature`, `body` the
/// bytes as they came (empty for GET and DELETE webhooks, which sign the timestamp alone).
pub fn zendesk(
    secret: &str,
    timestamp: Option<&str>,
    signature: Option<&str>,
    body: &[u8],
    now: DateTime<Utc>,
    policy: ZendeskPolicy,
) -> Result<(), Refused> {
    if secret == TEST_SECRET && !policy.allow_test_secret {
        return Err(Refused::PublicTestSecret);
    }
    let timestamp = timestamp.filter(|t| !t.is_empty()).ok_or(Refused::NoTimestamp)?;
    let signature = signature.filter(|s| !s.is_empty()).ok_or(Refused::NoSignature)?;
    if let Some(window) = policy.window {
        let away = (now - time(timestamp)?).abs().to_std().map_err(|_| Refused::Stale)?;
        if away > window {
            return Err(Refused::Stale);
        }
    }
    let mac = mac::sha256(secret, &[timestamp.as_bytes(), body])?;
    // Compared as text: a second spelling of the same bytes (no padding, URL alphabet) is not what Zendesk sends.
    mac::same(&STANDARD.encode(mac), signature)
}

fn time(text: &str) -> Result<DateTime<Utc>, Refused> {
    DateTime::parse_from_rfc3339(text)
        .map(|at| at.to_utc())
        .map_err(|_| Refused::NotATime)
}
