//! Whether a person wrote a mail, or a program: judged by headers first, by words last.
//!
//! Headers that say so are believed (RFC 3834 automatic answers, RFC 3464 delivery reports, RFC 8098 receipts, RFC 5965
//! complaints, RFC 2369 and 2919 lists, and what vendors use instead). Words count only where a program puts them: at
//! the start of a subject. A name like "no-reply", a short text, or a strange one says nothing at all.
//!
//! Nothing here decides what to do with the mail; it only says what it is, and which header or word said so.

mod bounce;
mod header;
#[cfg(test)]
mod tests;
mod word;

pub use bounce::Bounce;

/// What is looked at. All of it is as the mail has it, decoded, and none of it is trusted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mail<'a> {
    /// Name and value, in order. Names in any case; values unfolded or not.
    pub headers: &'a [(String, String)],
    /// Decoded.
    pub subject: &'a str,
    /// The body as text; of a mail that no parser could take apart, all of it.
    pub text: &'a str,
    /// The content types of all parts, as `type/subtype`.
    pub parts: &'a [String],
    /// The text of `message/delivery-status` (or disposition, or feedback) parts.
    pub report: &'a str,
    /// The headers of the mail that is returned within (`message/rfc822`, `text/rfc822-headers`).
    pub returned: &'a str,
    pub ours: Ours<'a>,
}

/// By what our own mail is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ours<'a> {
    /// Addresses that tickets come in at and replies go out from, in lower case.
    pub addresses: &'a [String],
    /// Headers that only our own mail carries.
    pub headers: &'a [&'a str],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Person,
    /// An automatic answer, or a notification that a machine wrote.
    AutoReply,
    /// An automatic answer that says that somebody is away.
    OutOfOffice,
    Bounce(Bounce),
    /// Our mail was read, or delivered.
    Receipt,
    /// A mailing list's or a newsletter's mail.
    List,
    /// A reader marked our mail as spam (RFC 5965).
    Complaint,
    /// A filter asks us to prove that we are no robot, or thanks for that.
    Challenge,
    /// Our own mail.
    Own,
    /// Sent from the address it went to, or round and round.
    Loop,
}

/// What a mail is, and what said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub kind: Kind,
    /// The header (with its value, cut) or the word; empty for a person.
    pub why: String,
    /// The sender's program asks for no automatic answers, which says nothing about who wrote the mail: no
    /// acknowledgement goes out, a considered reply may.
    pub no_automatic_answer: bool,
}

impl Kind {
    /// The word for it in the output of commands.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Person => "human",
            Self::AutoReply | Self::OutOfOffice => "auto_reply",
            Self::Bounce(bounce) if bounce.delayed => "bounce_delayed",
            Self::Bounce(_) => "bounce",
            Self::Receipt => "read_receipt",
            Self::List => "mailing_list",
            Self::Complaint => "complaint",
            Self::Challenge => "challenge_response",
            Self::Own | Self::Loop => "loop",
        }
    }

    /// Never answered, neither by a rule nor by a draft.
    pub fn is_automatic(&self) -> bool {
        match self {
            Self::Person => false,
            Self::AutoReply
            | Self::OutOfOffice
            | Self::Bounce(_)
            | Self::Receipt
            | Self::List
            | Self::Complaint
            | Self::Challenge
            | Self::Own
            | Self::Loop => true,
        }
    }
}

/// What the mail is. The order matters: a report is named by what it reports, whatever else its headers say.
pub fn judge(mail: &Mail<'_>) -> Found {
    let judged = header::own(mail)
        .or_else(|| header::report(mail))
        .or_else(|| header::failed_recipients(mail))
        .or_else(|| word::from_a_mail_server(mail))
        .or_else(|| header::automatic(mail))
        .or_else(|| header::list(mail))
        .or_else(|| header::null_sender(mail))
        .or_else(|| word::subject(mail));
    let (kind, why) = judged.unwrap_or((Kind::Person, String::new()));
    Found {
        kind,
        why,
        no_automatic_answer: header::asks_for_silence(mail),
    }
}

impl<'a> Mail<'a> {
    /// All values of a header.
    fn all(&self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = move |(header, value): &'a (String, String)| {
            header.trim().eq_ignore_ascii_case(name).then_some(value.trim())
        };
        self.headers.iter().filter_map(named)
    }

    fn first(&self, name: &'a str) -> Option<&'a str> {
        self.all(name).next()
    }
}

/// Header and value as `why` has them.
fn said(name: &str, value: &str) -> String {
    let value: String = value.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = value.chars().take(80).collect();
    format!("{name}: {cut}")
}

/// The addresses of a header, in lower case.
fn addresses(value: &str) -> impl Iterator<Item = String> + '_ {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '=' | '\'' | '/' | '@');
    let words = value.split(move |c: char| !part(c));
    words
        .filter(|word| {
            word.split_once('@')
                .is_some_and(|(l, d)| !l.is_empty() && !d.is_empty())
        })
        .map(str::to_lowercase)
}
