//! Mailgun's signature: the lower-case hex HMAC-SHA256 of `<timestamp><token>` (documentation.mailgun.com, "Securing
//! Webhooks"). It does not cover the body; what stops a replay is that each token is taken once, as the delivery's id.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{Refused, mac};

/// `window` is how far the timestamp may be from the clock. A retry keeps its old timestamp for eight hours, so anything
/// shorter refuses genuine mail; `None` checks nothing.
pub fn mailgun(
    key: &str,
    timestamp: &str,
    token: &str,
    signature: &str,
    now: DateTime<Utc>,
    window: Option<Duration>,
) -> Result<(), Refused> {
    if timestamp.is_empty() {
        return Err(Refused::NoTimestamp);
    }
    if token.is_empty() || signature.is_empty() {
        return Err(Refused::NoSignature);
    }
    mac::fresh(timestamp, now, window)?;
    let mac = mac::sha256(key, &[timestamp.as_bytes(), token.as_bytes()])?;
    mac::same(&hex::encode(mac), signature)
}
