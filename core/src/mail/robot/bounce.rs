//! What a bounce tells of the mail that did not arrive: RFC 3464's fields where there are any, else what its text shows.

use super::word::{head, words};
use super::{Mail, addresses};
use crate::mail::words::fold;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounce {
    /// Still being tried: no failure yet.
    pub delayed: bool,
    /// In lower case, each once.
    pub recipients: Vec<String>,
    /// RFC 3463, `5.1.1`.
    pub status: Option<String>,
    /// The server's own words, cut at 300 characters.
    pub diagnostic: Option<String>,
    /// The `Message-ID` of the mail that came back, without its brackets.
    pub original: Option<String>,
}

pub(super) struct Read {
    pub bounce: Bounce,
    /// Nothing failed: a report of success (RFC 3464: delivered, relayed, expanded).
    pub delivered: bool,
}

/// Lines of a mail's text that are looked into.
const LINES: usize = 3000;

pub(super) fn read(mail: &Mail<'_>) -> Read {
    // Of a mail whose parts were not told apart, the report is within the text.
    let report = if mail.report.is_empty() { mail.text } else { mail.report };
    let mut bounce = Bounce::default();
    let mut actions = Vec::new();
    let mut within = Vec::new();
    for line in report.lines().take(LINES) {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        match name.trim().to_ascii_lowercase().as_str() {
            "final-recipient" | "original-recipient" => within.extend(addresses(value)),
            "action" => actions.push(value.to_ascii_lowercase()),
            "status" => bounce.status = bounce.status.or_else(|| status(value)),
            "diagnostic-code" if bounce.diagnostic.is_none() => {
                bounce.diagnostic = Some(value.chars().take(300).collect());
            }
            _ => {}
        }
    }
    let any = |word: &str| actions.iter().any(|action| action.starts_with(word));
    let failed = any("failed");
    let temporary = bounce.status.as_deref().is_some_and(|status| status.starts_with('4'));
    let spoken = words().has("delayed", &fold(mail.subject))
        || (actions.is_empty() && temporary && words().has("delayed", &head(mail)));
    bounce.delayed = !failed && (any("delayed") || spoken);
    let delivered = !actions.is_empty() && !failed && !any("delayed");
    if bounce.status.is_none() {
        bounce.status = mail.text.lines().take(LINES).find_map(status);
    }
    if within.is_empty() {
        within = told(mail);
    }
    for recipient in within {
        if !bounce.recipients.contains(&recipient) && bounce.recipients.len() < 100 {
            bounce.recipients.push(recipient);
        }
    }
    bounce.original = message_id(mail.returned)
        .or_else(|| message_id(mail.text))
        .or_else(|| message_id(report));
    Read { bounce, delivered }
}

/// `class.subject.detail` as a word of its own.
fn status(text: &str) -> Option<String> {
    let word = |c: char| !(c.is_ascii_digit() || c == '.');
    let coded = |code: &&str| {
        let parts: Vec<&str> = code.split('.').collect();
        let sized = parts.iter().all(|part| (1..=3).contains(&part.len()));
        parts.len() == 3 && sized && matches!(parts[0], "2" | "4" | "5")
    };
    text.split(word)
        .map(|code| code.trim_matches('.'))
        .find(coded)
        .map(str::to_owned)
}

/// Addresses in the server's own words, before the returned mail begins: those alone on a line, or in brackets.
fn told(mail: &Mail<'_>) -> Vec<String> {
    let own = mail.text.lines().take(60).take_while(|line| {
        let folded = line.to_ascii_lowercase();
        !(folded.contains("copy of") || folded.starts_with("return-path:") || folded.starts_with("received:"))
    });
    let names = |line: &&str| {
        let line = line.trim_start();
        line.starts_with('<') || line.split_whitespace().next().is_some_and(|word| word.contains('@'))
    };
    own.filter(names).flat_map(|line| addresses(line).take(1)).collect()
}

/// The value of the first `Message-ID` in text that holds headers.
fn message_id(headers: &str) -> Option<String> {
    let mut lines = headers.lines().take(LINES);
    while let Some(line) = lines.next() {
        let line = line.trim_start_matches(['>', ' ', '|']);
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        if !name.trim().eq_ignore_ascii_case("message-id") {
            continue;
        }
        let folded = if value.trim().is_empty() {
            lines.next().unwrap_or_default()
        } else {
            value
        };
        let id = folded
            .trim()
            .trim_start_matches('<')
            .split(['>', ' '])
            .next()
            .unwrap_or_default();
        if !id.is_empty() {
            return Some(id.to_owned());
        }
    }
    None
}
