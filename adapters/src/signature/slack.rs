//! Slack's v0 signature: `v0=` and the lower-case hex HMAC-SHA256 of `v0:<timestamp>:<body>`
//! (docs.slack.dev, "Verifying requests from Slack").

use chrono::{DateTime, Utc};

use super::{Refused, mac};

/// Seconds that a timestamp may differ from the clock, in both directions. Slack's own Python verifier refuses the far
/// future too; a signature for tomorrow would be a replay kept for later.
const WINDOW: i64 = 300;

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
    let at = seconds(timestamp)?;
    if (now.timestamp() - at).abs() > WINDOW {
        return Err(Refused::Stale);
    }
    let mac = mac::sha256(secret, &[b"v0:", timestamp.as_bytes(), b":", body])?;
    mac::same(&format!("v0={}", hex::encode(mac)), signature)
}

/// Digits only: no sign, no blanks, no fraction. Twelve digits reach past the year 30000 and cannot overflow.
fn seconds(text: &str) -> Result<i64, Refused> {
    if text.is_empty() || text.len() > 12 || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Refused::NotATime);
    }
    text.parse().map_err(|_| Refused::NotATime)
}
