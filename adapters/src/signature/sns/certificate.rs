//! The RSA key of an X.509 certificate (RFC 5280): just enough DER to find it.
//!
//! Why not webpki? It refuses certificates that are no leaves of a known root, and knows no SHA-1, which SNS still signs
//! with by default. Whether the certificate is SNS's own was settled by where it came from.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const SEQUENCE: u8 = 0x30;
const BIT_STRING: u8 = 0x03;
/// The version, which old certificates leave out.
const VERSION: u8 = 0xa0;

/// The PKCS#1 key within the first certificate of a PEM text.
pub(super) fn rsa_key(pem: &str) -> Option<Vec<u8>> {
    let inner = pem
        .split("-----BEGIN CERTIFICATE-----")
        .nth(1)?
        .split("-----END CERTIFICATE-----")
        .next()?;
    let der = STANDARD.decode(inner.split_whitespace().collect::<String>()).ok()?;
    let (certificate, _) = element(&der, SEQUENCE)?;
    let (mut fields, _) = element(certificate, SEQUENCE)?;
    if fields.first() == Some(&VERSION) {
        fields = any(fields)?.2;
    }
    // Serial number, algorithm, issuer, validity, subject.
    for _ in 0..5 {
        fields = any(fields)?.2;
    }
    let (key, _) = element(fields, SEQUENCE)?;
    let (_, after_algorithm) = element(key, SEQUENCE)?;
    let (bits, _) = element(after_algorithm, BIT_STRING)?;
    // The first byte counts unused bits.
    bits.strip_prefix(&[0]).map(<[u8]>::to_vec)
}

/// The content of the element at the start, and what follows it; `None` if it is of another kind.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, content, rest) = any(der)?;
    (found == tag).then_some((content, rest))
}

fn any(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if *first < 0x80 {
        (usize::from(*first), rest)
    } else {
        let count = usize::from(first & 0x7f);
        if count == 0 || count > 3 || rest.len() < count {
            return None;
        }
        let (digits, rest) = rest.split_at(count);
        (digits.iter().fold(0, |sum, digit| sum << 8 | usize::from(*digit)), rest)
    };
    (rest.len() >= length).then(|| (*tag, &rest[..length], &rest[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_certificate_has_no_key() {
        for pem in [
            "",
            "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\n????",
        ] {
            assert_eq!(rsa_key(pem), None, "{pem}");
        }
        assert_eq!(any(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(any(&[0x30, 0x02, 0x01]), None);
    }
}
