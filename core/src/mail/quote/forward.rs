//! A mail that somebody passed on: who wrote it, and what it says.

use super::header::{self, Role};
use super::lexicon::lexicon;
use super::{Line, line};
use crate::mail::words::fold;

/// The forwarded mail, read from its header block. Everything in it is what the forwarding person's program wrote, and
/// proves nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Original {
    /// The display name; empty if there is none.
    pub name: String,
    /// The sender's address, in lower case; empty if the block has only a name.
    pub address: String,
    pub subject: String,
    /// As it is written there, in whatever language.
    pub date: String,
    /// What follows the block, with one level of `>` taken away where every line has one.
    pub body: String,
}

/// Reads the forwarded part of a body ([`super::Split::forwarded`]). `None` if there is no header block in it.
pub fn original(forwarded: &str) -> Option<Original> {
    let lines = line::read(forwarded);
    let lines: Vec<&Line<'_>> = lines.iter().collect();
    let head = (0..lines.len().min(8)).find_map(|at| header::block(&lines, at, true))?;
    let value = |role: Role| {
        head.fields
            .iter()
            .find(|field| field.role == role)
            .map(|field| field.value.clone())
    };
    let (name, address) = mailbox(&value(Role::From).unwrap_or_default());
    Some(Original {
        name,
        address,
        subject: value(Role::Subject).unwrap_or_default(),
        date: value(Role::Sent).or_else(|| value(Role::Date)).unwrap_or_default(),
        body: body(&lines[head.end..]),
    })
}

/// `Ann <ann@x.example>`, `"Ann" [mailto:ann@x.example]`, or a bare address.
fn mailbox(text: &str) -> (String, String) {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '=' | '\'' | '/' | '@');
    let address = text
        .split(|c: char| !part(c))
        .find(|word| {
            word.split_once('@')
                .is_some_and(|(local, domain)| !local.is_empty() && domain.contains('.'))
        })
        .unwrap_or_default();
    let head = if address.is_empty() {
        text
    } else {
        text.split(address).next().unwrap_or_default()
    };
    let name = head
        .trim_end_matches("mailto:")
        .trim_matches([' ', '<', '[', '(', '"', '\'', ',', ';', '"']);
    (name.to_owned(), address.to_lowercase())
}

fn body(lines: &[&Line<'_>]) -> String {
    let quoted = lines.iter().filter(|line| !line.blank).all(|line| line.depth > 0);
    let text: Vec<&str> = lines
        .iter()
        .map(|line| {
            let text = line.text();
            let inner = text.trim_start().strip_prefix('>').filter(|_| quoted);
            inner.map_or(text, |inner| inner.strip_prefix(' ').unwrap_or(inner))
        })
        .collect();
    text.join("\n").trim().to_owned()
}

/// The subject's prefix says that the mail was forwarded: `Fwd:`, `WG:`, `TR:`, `转发：` and their like.
pub fn says_forwarded(subject: &str) -> bool {
    let subject = fold(subject);
    let Some((prefix, _)) = subject.split_once(':') else {
        return false;
    };
    let prefix = prefix
        .trim()
        .trim_start_matches(['[', '('])
        .trim_end_matches([']', ')']);
    const SHORT: [&str; 15] = [
        "fw", "fwd", "fwd.", "wg", "tr", "trs", "rv", "enc", "i", "doorst", "pd", "vb", "vl", "ilt", "전달",
    ];
    SHORT.contains(&prefix) || (prefix.chars().count() <= 24 && lexicon().has("forwarded", prefix))
}
