//! The one message of a ticket: what it is about, how it stands, and what waits.

use deskhand_core::card::Header;
use slack_morphism::prelude::*;

use super::{Drawn, drawn, parts};
use crate::slack::escape;

const WAITS: usize = 15;
const WAIT: usize = 200;
const WORD: usize = 100;

pub(super) fn draw(header: &Header) -> Drawn {
    let state = header.state.as_str().replace('_', " ");
    let mut blocks = vec![
        parts::header(&format!("{} · {}", header.ticket, header.subject)),
        about(header),
        standing(header, &state),
    ];
    if !header.waits.is_empty() {
        let mut waits: Vec<String> = header
            .waits
            .iter()
            .take(WAITS)
            .map(|wait| escape::one_line(wait))
            .collect();
        if header.waits.len() > WAITS {
            waits.push(format!("… and {} more", header.waits.len() - WAITS));
        }
        blocks.push(parts::rich(vec![parts::bold("Waiting"), parts::list(&waits, WAIT)]));
    }
    if !header.plan.is_empty() {
        blocks.push(parts::rich(vec![parts::bold("Plan"), parts::list(&plan(header), WAIT)]));
    }
    if let Some(trouble) = &header.trouble {
        blocks.push(parts::rich(vec![parts::paragraph(&format!("❗ {trouble}"), 1500)]));
    }
    let subject = escape::clip(&escape::one_line(&header.subject), 150, "…");
    let mut text = format!("{} · {subject} · {state}", header.ticket);
    for line in header.waits.iter().take(WAITS).chain(&header.trouble) {
        text.push_str(&format!("\n{}", escape::clip(&escape::one_line(line), WAIT, "…")));
    }
    drawn(&text, blocks, None)
}

/// At most as many lines as a plan may have.
fn plan(header: &Header) -> Vec<String> {
    header.plan.iter().take(20).map(|line| escape::one_line(line)).collect()
}

fn about(header: &Header) -> SlackBlock {
    let mut elements = vec![
        parts::plain(&escape::one_line(&header.requester), 200).into(),
        parts::plain(&header.outside, WORD).into(),
    ];
    if let Some(link) = header
        .url
        .as_deref()
        .and_then(|url| parts::link(url, "Open the ticket"))
    {
        elements.push(parts::own(link).into());
    }
    parts::context(elements)
}

fn standing(header: &Header, state: &str) -> SlackBlock {
    let mut words = vec![("State", state)];
    words.extend(header.priority.map(|priority| ("Priority", priority.as_str())));
    words.extend(header.category.as_deref().map(|category| ("Category", category)));
    words.extend(header.team.as_deref().map(|team| ("Team", team)));
    let text: Vec<String> = words
        .into_iter()
        .map(|(name, word)| format!("{name}: {}", escape::clip(&escape::one_line(word), WORD, "…")))
        .collect();
    parts::rich(vec![parts::paragraph(&text.join("  ·  "), 600)])
}
