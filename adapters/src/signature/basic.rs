//! HTTP Basic authentication (RFC 7617), which is all that Postmark offers: the name and the password stand in the
//! webhook's address.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::Refused;

/// `authorization` is the header's value. The name ends at the first colon; both are UTF-8.
pub fn basic(name: &str, password: &str, authorization: Option<&str>) -> Result<(), Refused> {
    if password.is_empty() {
        return Err(Refused::NoSecret);
    }
    let (scheme, given) = authorization
        .and_then(|value| value.trim().split_once(' '))
        .ok_or(Refused::NoSignature)?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(Refused::UnknownForm);
    }
    let given = STANDARD.decode(given.trim()).map_err(|_| Refused::UnknownForm)?;
    // Compared as digests, so that not even the length shows.
    let ours = Sha256::digest(format!("{name}:{password}"));
    if bool::from(ours.as_slice().ct_eq(Sha256::digest(&given).as_slice())) {
        Ok(())
    } else {
        Err(Refused::Mismatch)
    }
}
