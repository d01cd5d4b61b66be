//! The ways in: what each provider posts, brought to one form.

mod mailgun;
mod postmark;
mod sendgrid;
mod ses;
#[cfg(test)]
mod tests;

use sha2::{Digest, Sha256};

use super::parse::{ParsedMail, parse};

pub use mailgun::{MailgunProof, mailgun, mailgun_proof};
pub use postmark::postmark;
pub use sendgrid::sendgrid;
pub use ses::{SesNotice, ses};

/// A mail as it came in, whichever way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Makes a repeat recognisable: the provider's id of the delivery, or a digest over the mail.
    pub delivery: String,
    pub mail: ParsedMail,
    /// Who the mail server was told that it is from; empty for a bounce, or where nobody says.
    pub envelope_from: String,
    /// The addresses it was delivered to.
    pub envelope_to: Vec<String>,
    /// Sentences of doubt: a provider's spam verdict, a failed DMARC check. Shown, and a reason to ask.
    pub doubts: Vec<String>,
}

/// Verified, but not mappable. Says in one sentence why; never quotes the payload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct MapError {
    pub why: String,
}

impl MapError {
    fn new(why: &str) -> Self {
        Self { why: why.to_owned() }
    }
}

/// Raw MIME, as it comes over HTTP with a token, or from IMAP.
pub fn raw(bytes: &[u8]) -> Received {
    let mail = parse(bytes);
    // The last server before us wrote down where the mail was really delivered.
    let delivered = ["Delivered-To", "X-Original-To", "Envelope-To"];
    let to = delivered.iter().filter_map(|name| mail.header(name));
    let to = to.map(|to| to.trim_matches(['<', '>', ' ']).to_lowercase()).collect();
    let from = mail.header("Return-Path").unwrap_or_default().to_owned();
    received(format!("mail:{}", digest(bytes)), mail, from, to)
}

fn digest(bytes: &[u8]) -> String {
    hex::encode(&Sha256::digest(bytes)[..20])
}

fn received(delivery: String, mail: ParsedMail, from: String, to: Vec<String>) -> Received {
    let doubts = doubts(&mail);
    Received {
        delivery,
        mail,
        envelope_from: from.trim_matches(['<', '>', ' ']).to_lowercase(),
        envelope_to: to,
        doubts,
    }
}

/// What headers say of spam and of the sender's proof. `Authentication-Results` of our own mail server stands first.
fn doubts(mail: &ParsedMail) -> Vec<String> {
    let mut doubts = Vec::new();
    let header = |name: &str| mail.header(name).unwrap_or_default().to_ascii_lowercase();
    if header("Authentication-Results").contains("dmarc=fail") {
        doubts.push("The sender's domain disowns this mail (DMARC failed).".to_owned());
    }
    let spam = header("X-Spam-Flag").starts_with("yes")
        || header("X-Spam-Status").starts_with("yes")
        || header("X-Mailgun-Sflag").starts_with("yes");
    if spam {
        doubts.push("The mail server takes this mail for spam.".to_owned());
    }
    doubts
}
