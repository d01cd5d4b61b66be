//! Slack's v0 signature: `v0=` and the lower-case hex HMAC-SHA256 of `v0:<timestamp>:<body>`
//! (docs.slack.dev, "Verifying requests from Slack").

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{Refused, mac};

/// How far a timestamp may differ from the clock, in both directions. Slack's own Python verifier refuses the far
/// future too; a signature for tomorrow would be a replay kept for later.
const WINDOW: Duration = Duration::from_secs(300);

/// `timestamp` is `X-Slack-Request-Timestamp`, `signature` is `X-Slack-Signature`, `body` the bytes as they came.
pub fn slack(
    secret: &str,
    timestamp: Option<&str>,
    signature: Option<&str>,
    body: &[u8],
    now: DateTime<Utc>,
) -> Result<(), Refused> {
    let timestamp = timestamp.ok_or(Refused::NoTimestamp)?;
    let signature = signature.filter(|s| !s.is_empty()).ok_or(Refused::NoSignature)?;
    if !signature.starts_with("v0=") {
        return Err(Refused::UnknownForm);
    }
    mac::fresh(timestamp, now, Some(WINDOW))?;
    let mac = mac::sha256(secret, &[b"v0:", timestamp.as_bytes(), b":", body])?;
    mac::same(&format!("v0={}", hex::encode(mac)), signature)
}
