//! What words say: only those that a program puts where a person does not.

use std::sync::OnceLock;

use super::bounce;
use super::{Kind, Mail, said};
use crate::mail::words::{Words, fold};

type Judged = Option<(Kind, String)>;

/// So much of a text is looked into.
const HEAD: usize = 4000;

pub(super) fn words() -> &'static Words {
    static READ: OnceLock<Words> = OnceLock::new();
    READ.get_or_init(|| Words::read(include_str!("words.txt")))
}

pub(super) fn head(mail: &Mail<'_>) -> String {
    fold(&mail.text.chars().take(HEAD).collect::<String>())
}

/// The text or the subject says that somebody is away. Asked only of mail that is known to be automatic.
pub(super) fn is_away(mail: &Mail<'_>) -> bool {
    words().has("away", &fold(mail.subject)) || words().has("away", &head(mail))
}

pub(super) fn is_challenge(mail: &Mail<'_>) -> bool {
    words().has("challenge", &head(mail))
}

/// The sender is a mail server: its local part or its name says so, or nobody is named as the sender of the envelope
/// and the subject speaks of a return.
pub(super) fn is_from_a_mail_server(mail: &Mail<'_>) -> bool {
    let from = fold(mail.first("From").unwrap_or_default());
    let local = from.split('@').next().unwrap_or_default();
    let local = local.rsplit(['<', '"', ' ', '(']).next().unwrap_or_default();
    let served = |text: &str| words().is("daemon", text);
    served(local) || from.contains("mail delivery s") || from.starts_with("mailer-daemon")
}

/// A bounce without a report: old servers, and those that know no better.
pub(super) fn from_a_mail_server(mail: &Mail<'_>) -> Judged {
    let subject = fold(mail.subject);
    let server = is_from_a_mail_server(mail);
    let null = mail.all("Return-Path").any(|path| path == "<>");
    let bounced = words().has("bounced", &subject);
    let told = server && words().has("bounced text", &head(mail));
    if !((server || null) && bounced) && !told && !(server && null) {
        return None;
    }
    let why = if server {
        said("From", mail.first("From").unwrap_or_default())
    } else {
        said("Return-Path", "<>")
    };
    Some((Kind::Bounce(bounce::read(mail).bounce), why))
}

/// "Automatic reply: …" in any language. A text that asks something is a person's, unless it says that it is away.
pub(super) fn subject(mail: &Mail<'_>) -> Judged {
    let subject = fold(mail.subject);
    let (section, phrase) = ["automatic", "away"]
        .iter()
        .find_map(|section| Some((*section, marked(&subject, section)?)))?;
    let away = words().has("away", &head(mail));
    let answers = mail.first("In-Reply-To").is_some() || mail.first("References").is_some();
    let asks = mail.text.contains(['?', '？', '؟']);
    // A person who will be away and asks something says both as well; only a program names its own answer.
    if asks && (!away || section == "away") {
        return None;
    }
    // Somebody answers what a program wrote: its subject begins as the program's did. A program that answers puts its
    // phrase before "Re:" or behind the subject.
    let rest = without_answer(&subject);
    if section == "automatic" && !away && rest != subject && rest.starts_with(phrase) {
        return None;
    }
    // A word for absence alone may be what a person writes about: a program's note is an answer, or says it again.
    if section == "away" && !away && !answers {
        return None;
    }
    let kind = if section == "away" || away {
        Kind::OutOfOffice
    } else {
        Kind::AutoReply
    };
    Some((kind, said("Subject", phrase)))
}

const SHORT: usize = 6;

fn without_answer(subject: &str) -> &str {
    let mut rest = subject.trim_start_matches(['*', ' ', '"']);
    for answer in ["re:", "aw:", "sv:", "回复:", "答复:", "re :"] {
        rest = rest.strip_prefix(answer).unwrap_or(rest).trim_start();
    }
    rest
}

/// A phrase of the section stands at the start and is followed by a colon or by nothing, or stands in brackets of its own.
fn marked<'s>(subject: &'s str, section: &str) -> Option<&'s str> {
    let bracketed = subject
        .split(['[', '(', '【'])
        .skip(1)
        .filter_map(|rest| rest.split([']', ')', '】']).next());
    if let Some(found) = bracketed.map(str::trim).find(|inside| words().is(section, inside)) {
        return Some(found);
    }
    let rest = without_answer(subject);
    let start = rest
        .split([':', '\u{2013}', '\u{2014}'])
        .next()
        .unwrap_or_default()
        .split(" - ")
        .next()
        .unwrap_or_default();
    let answered = ["re", "aw", "fw", "fwd", "sv", "vs", "antw", "odp", "ynt", "tr", "wg"];
    let start = match start.trim().rsplit_once(' ') {
        // "Out of office Re: order": the prefix of what is answered stands before the colon.
        Some((before, last)) if answered.contains(&last) => before,
        Some(_) | None => start,
    };
    // A word so short is also the name of a thing ("Auto"): a program has a subject behind it.
    if start.is_ascii() && start.len() < SHORT && start.len() == rest.len() {
        return None;
    }
    words()
        .is(section, start.trim().trim_end_matches(['.', '!', '*']))
        .then_some(start)
}
