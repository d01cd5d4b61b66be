//! Discord's signature: Ed25519 over `<timestamp><body>`, in hex (docs.discord.com, "Interactions overview").
//!
//! Discord sends requests with a bad signature on purpose, and takes an address away that does not answer them 401. It
//! documents no window of time: the timestamp is opaque text inside the signed bytes, and a repeated interaction is known
//! by its id.

use ring::signature::{ED25519, UnparsedPublicKey};

use super::Refused;

/// `key` is the application's public key as the developer portal shows it (64 hex digits); `timestamp` and `signature` are
/// `X-Signature-Timestamp` and `X-Signature-Ed25519`.
pub fn discord(key: &str, timestamp: Option<&str>, signature: Option<&str>, body: &[u8]) -> Result<(), Refused> {
    let timestamp = timestamp.filter(|t| !t.is_empty()).ok_or(Refused::NoTimestamp)?;
    let signature = signature.filter(|s| !s.is_empty()).ok_or(Refused::NoSignature)?;
    let key = hex::decode(key.trim())
        .ok()
        .filter(|key| key.len() == 32)
        .ok_or(Refused::NoSecret)?;
    let signature = hex::decode(signature).map_err(|_| Refused::UnknownForm)?;
    let signed = [timestamp.as_bytes(), body].concat();
    let key = UnparsedPublicKey::new(&ED25519, key);
    key.verify(&signed, &signature).map_err(|_| Refused::Mismatch)
}
