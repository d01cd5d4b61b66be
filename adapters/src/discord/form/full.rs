//! "View full": everything that the card had to cut, as a file.

use deskhand_core::card::{Body, Card};
use deskhand_core::show;

use crate::discord::escape;

/// The card as plain text, whole: a file may have ten megabytes, and a card has far less. `mail`: the whole mail that the last
/// words are from, where it said more; empty where not.
pub fn full(card: &Card, mail: &str) -> String {
    let body = match &card.body {
        Body::Draft(text) => ("Draft", text.clone()),
        Body::Diff(diff) => ("Changes", diff.clone()),
        Body::Facts(facts) => {
            let lines: Vec<String> = facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            ("Details", lines.join("\n"))
        }
    };
    let marks: Vec<&str> = card.marks.iter().map(|mark| mark.text.as_str()).collect();
    let sections = [
        ("What will happen", card.will.clone()),
        ("The customer's last words", card.last_words.clone()),
        body,
        ("Why", card.why.clone()),
        ("Sources", card.sources.join("\n")),
        ("Risks", marks.join("\n")),
        (show::WHOLE_MAIL, mail.to_owned()),
    ];
    let mut text = format!(
        "{} · {} · {}\n",
        card.approval,
        card.ticket,
        escape::one_line(&card.subject)
    );
    for (title, section) in sections {
        let section = escape::drawable(&section);
        if !section.trim().is_empty() {
            text.push_str(&format!("\n== {title} ==\n{section}\n"));
        }
    }
    text
}
