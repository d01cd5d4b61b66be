//! HMAC-SHA256 over parts, and a comparison that does not tell where two texts differ.

use std::time::Duration;

use chrono::{DateTime, Utc};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::Refused;

/// The MAC of the parts as if they were one text. HMAC takes keys of any length; an empty one is refused because
/// anybody could sign with it.
pub(super) fn sha256(secret: &str, parts: &[&[u8]]) -> Result<[u8; 32], Refused> {
    if secret.is_empty() {
        return Err(Refused::NoSecret);
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map_err(|_| Refused::NoSecret)?;
    for part in parts {
        mac.update(part);
    }
    Ok(mac.finalize().into_bytes().into())
}

/// A timestamp in seconds is within the window around the clock, where there is one. Digits only: no sign, no blanks, no
/// fraction. Twelve digits reach past the year 30000 and cannot overflow.
pub(super) fn fresh(timestamp: &str, now: DateTime<Utc>, window: Option<Duration>) -> Result<(), Refused> {
    if timestamp.is_empty() || timestamp.len() > 12 || !timestamp.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Refused::NotATime);
    }
    let at: i64 = timestamp.parse().map_err(|_| Refused::NotATime)?;
    let away = (now.timestamp() - at).unsigned_abs();
    if window.is_some_and(|window| away > window.as_secs()) {
        Err(Refused::Stale)
    } else {
        Ok(())
    }
}

pub(super) fn same(ours: &str, theirs: &str) -> Result<(), Refused> {
    if bool::from(ours.as_bytes().ct_eq(theirs.as_bytes())) {
        Ok(())
    } else {
        Err(Refused::Mismatch)
    }
}
