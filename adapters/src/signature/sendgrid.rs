//! SendGrid's signature: ECDSA on P-256 with SHA-256 over `<timestamp><body>`, in DER and base64
//! (twilio.com/docs/sendgrid, "Securing your Parse Webhooks").
//!
//! Over the bytes as they came: SendGrid's own helpers decode them first, and so refuse a genuine mail with a part that
//! is not UTF-8.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};

use super::{Refused, mac};

/// What stands before the point in a P-256 key's SubjectPublicKeyInfo (RFC 5480).
const PREFIX: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// `key` is the verification key as SendGrid shows it (base64 of its SubjectPublicKeyInfo); `timestamp` and `signature`
/// are `X-Twilio-Email-Event-Webhook-Timestamp` and `-Signature`. SendGrid documents no window and retries for days.
pub fn sendgrid(
    key: &str,
    timestamp: Option<&str>,
    signature: Option<&str>,
    body: &[u8],
    now: DateTime<Utc>,
    window: Option<Duration>,
) -> Result<(), Refused> {
    let timestamp = timestamp.filter(|t| !t.is_empty()).ok_or(Refused::NoTimestamp)?;
    let signature = signature.filter(|s| !s.is_empty()).ok_or(Refused::NoSignature)?;
    let key = STANDARD.decode(key.trim()).map_err(|_| Refused::NoSecret)?;
    let point = key.strip_prefix(PREFIX.as_slice()).ok_or(Refused::NoSecret)?;
    mac::fresh(timestamp, now, window)?;
    let signature = STANDARD.decode(signature).map_err(|_| Refused::UnknownForm)?;
    let mut signed = timestamp.as_bytes().to_vec();
    signed.extend_from_slice(body);
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point);
    key.verify(&signed, &signature).map_err(|_| Refused::Mismatch)
}
