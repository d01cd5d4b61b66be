//! "View full": everything that the card had to cut.

use deskhand_core::card::{Body, Card};
use deskhand_core::show;
use slack_morphism::prelude::*;

use super::{BLOCKS, TEXT, modal};
use crate::slack::escape;
use crate::slack::render::parts;

/// A view as JSON may have some 250 kB; a text of this many UTF-16 units stays below, whatever it is made of.
const WHOLE: usize = 60_000;

/// `mail`: the whole mail that the last words are from, where it said more; empty where not.
pub fn full(card: &Card, mail: &str) -> SlackView {
    let mut sections: Vec<(&str, String, bool)> = vec![
        ("What will happen", card.will.clone(), false),
        ("The customer's last words", card.last_words.clone(), false),
    ];
    match &card.body {
        Body::Draft(text) => sections.push(("Draft", text.clone(), false)),
        Body::Diff(diff) => sections.push(("Changes", diff.clone(), true)),
        Body::Facts(facts) => {
            let lines: Vec<String> = facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            sections.push(("Details", lines.join("\n"), false));
        }
    }
    sections.push(("Why", card.why.clone(), false));
    sections.push(("Sources", card.sources.join("\n"), false));
    let marks: Vec<&str> = card.marks.iter().map(|mark| mark.text.as_str()).collect();
    sections.push(("Risks", marks.join("\n"), false));
    // The longest at the end: what does not fit is lost from there.
    sections.push((show::WHOLE_MAIL, mail.to_owned(), false));

    let mut blocks = vec![parts::header(&format!("{} {}", card.ticket, card.subject))];
    let mut left = WHOLE;
    for (title, text, fixed) in sections {
        let text = escape::drawable(&text);
        if text.trim().is_empty() {
            continue;
        }
        blocks.push(parts::rich(vec![parts::bold(title)]));
        for part in escape::parts(&text, TEXT) {
            if blocks.len() >= BLOCKS - 1 || escape::size(part) > left {
                let rest = format!("… (deskhand show {} --whole has the rest.)", card.ticket);
                blocks.push(parts::rich(vec![parts::paragraph(&rest, TEXT)]));
                return modal(&card.approval.to_string(), blocks);
            }
            left -= escape::size(part);
            blocks.push(parts::rich(vec![match fixed {
                true => parts::fixed(part, TEXT),
                false => parts::paragraph(part, TEXT),
            }]));
        }
    }
    modal(&card.approval.to_string(), blocks)
}
