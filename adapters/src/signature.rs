//! Whether a delivery was really signed by the service that it claims to come from.
//!
//! Pure checks over the raw bytes: the clock is an argument, bodies need not be UTF-8, and comparing takes the same time
//! wherever the first difference lies. This module reads no headers and answers no requests; whoever does, gets a
//! [`Refused`] and answers 401 without storing anything.
//!
//! Why not the verifier of slack-morphism? It takes the body as `&str` (a signed body may hold any bytes), reads the
//! machine's clock itself, and subtracts timestamps unchecked, so that an absurd one overflows.

mod basic;
mod discord;
mod mac;
#[cfg(test)]
mod mail_tests;
mod mailgun;
mod sendgrid;
mod slack;
mod sns;
mod zendesk;

pub use basic::basic;
pub use discord::discord;
pub use mailgun::mailgun;
pub use sendgrid::sendgrid;
pub use slack::slack;
pub use sns::{sns, sns_certificate_url, sns_path};
pub use zendesk::{TEST_SECRET, ZendeskPolicy, zendesk};

/// Why a delivery was not taken for genuine. None of the sentences holds a secret or a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the timestamp header is missing")]
    NoTimestamp,
    #[error("the signature header is missing")]
    NoSignature,
    #[error("a signature header stands there twice")]
    Twice,
    #[error("a signature header holds something other than plain ASCII")]
    NotAscii,
    #[error("the timestamp header is not a time")]
    NotATime,
    #[error("the timestamp is too old or too far ahead")]
    Stale,
    #[error("the signature is not of the one form that is known")]
    UnknownForm,
    #[error("the signature does not fit the body")]
    Mismatch,
    #[error("the signing certificate is not one of SNS's own")]
    ForeignCertificate,
    #[error("the notification is of another topic")]
    ForeignTopic,
    #[error("no signing secret is set")]
    NoSecret,
    #[error("the signing secret is the public one for trying webhooks out; set the webhook's own")]
    PublicTestSecret,
}

/// The only value of a header, as text. A header that is there twice is refused: which of them a proxy or a framework
/// would pick is anybody's guess.
pub fn only<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Result<Option<&'a str>, Refused> {
    let mut values = values.into_iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(Refused::Twice);
    }
    match std::str::from_utf8(value) {
        Ok(text) if text.is_ascii() => Ok(Some(text)),
        Ok(_) | Err(_) => Err(Refused::NotAscii),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_counts_only_when_it_is_there_once() {
        assert_eq!(only([]), Ok(None));
        assert_eq!(only([&b"v0=ab"[..]]), Ok(Some("v0=ab")));
        assert_eq!(only([&b"v0=ab"[..], b"v0=ab"]), Err(Refused::Twice));
        assert_eq!(only([&b"v0=\xff"[..]]), Err(Refused::NotAscii));
        assert_eq!(only(["v0=é".as_bytes()]), Err(Refused::NotAscii));
    }
}
