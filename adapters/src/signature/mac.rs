//! HMAC-SHA256 over parts, and a comparison that does not tell where two texts differ.

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

pub(super) fn same(ours: &str, theirs: &str) -> Result<(), Refused> {
    if bool::from(ours.as_bytes().ct_eq(theirs.as_bytes())) {
        Ok(())
    } else {
        Err(Refused::Mismatch)
    }
}
