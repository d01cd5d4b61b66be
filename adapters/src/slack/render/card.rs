//! The card of an approval: eight sections in a fixed order, each with its share of what a message may hold.

use deskhand_core::card::{Body, Button, ButtonKind, Card, SettledAs};
use slack_morphism::prelude::*;

use super::{BLOCK, Drawn, drawn, parts};
use crate::slack::escape;

// Shares of the 12,000 that all texts together may have; with the fixed words they stay below it.
const REQUESTER: usize = 200;
const WILL: usize = 600;
const LAST_WORDS: usize = 600;
const LAST_LINES: usize = 3;
const WHY: usize = 1200;
const SOURCE: usize = 150;
const SOURCES: usize = 8;
const MARK: usize = 300;
const MARKS: usize = 8;
const FACTS: usize = 20;
const FACT: usize = 130;

pub(super) fn draw(card: &Card) -> Drawn {
    // Where there is no "View full", the words must not send people to it.
    let more = match card.buttons.iter().any(|button| button.kind == ButtonKind::View) {
        true => "… (View full has the rest)",
        false => "… (shortened)",
    };
    let mut blocks = vec![
        parts::header(&format!("{} · {}", card.ticket, card.subject)),
        about(card),
        parts::rich(vec![parts::bold(&escape::clip(&card.will, WILL, more))]),
    ];
    if !card.last_words.trim().is_empty() {
        blocks.push(parts::rich(vec![parts::quote(
            &last_words(&card.last_words, more),
            LAST_WORDS,
        )]));
    }
    blocks.extend(body(&card.body, more));
    blocks.extend(reasons(card, more));
    if !card.marks.is_empty() {
        let mut marks: Vec<String> = card
            .marks
            .iter()
            .take(MARKS)
            .map(|mark| format!("⚠ {}", mark.text))
            .collect();
        if card.marks.len() > MARKS {
            marks.push(more.to_owned());
        }
        blocks.push(parts::rich(vec![parts::list(&marks, MARK)]));
    }
    let buttons = buttons(&card.buttons);
    match &card.settled {
        Some(settled) => blocks.push(outcome(settled.ending, &settled.line, settled.at)),
        None => blocks.extend(buttons.clone()),
    }
    blocks.push(footer(card));
    let buttons = if card.settled.is_some() { None } else { buttons };
    drawn(&summary(card), blocks, buttons)
}

/// What a notification says, and the whole card where Slack refuses the blocks.
fn summary(card: &Card) -> String {
    let will = escape::clip(&card.will, WILL, "…");
    let subject = escape::clip(&escape::one_line(&card.subject), 150, "…");
    let mut text = format!("{} · {} · {subject}\n{will}", card.approval, card.ticket);
    if let Some(settled) = &card.settled {
        text.push_str(&format!("\n{}", escape::clip(&settled.line, 300, "…")));
    }
    let (title, body) = match &card.body {
        Body::Draft(draft) => ("Draft", escape::start(draft).to_owned()),
        Body::Diff(diff) => ("Changes", escape::start(diff).to_owned()),
        Body::Facts(facts) => ("Details", lines(facts).join("\n")),
    };
    text.push_str(&format!(
        "\n{title}: {}",
        escape::clip(&escape::drawable(&body), 1500, "… (shortened)")
    ));
    text
}

fn about(card: &Card) -> SlackBlock {
    let mut elements = vec![
        parts::plain(&escape::one_line(&card.requester), REQUESTER).into(),
        parts::own(format!("opened {}", parts::time(card.opened_at, "{ago}"))).into(),
    ];
    if let Some(link) = card.url.as_deref().and_then(|url| parts::link(url, "Open the ticket")) {
        elements.push(parts::own(link).into());
    }
    parts::context(elements)
}

fn last_words(text: &str, more: &str) -> String {
    let text = escape::drawable(escape::start(text));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let shown = lines[..lines.len().min(LAST_LINES)].join("\n");
    if lines.len() > LAST_LINES {
        let (start, _) = escape::head(&shown, LAST_WORDS - escape::size(more));
        format!("{start}{more}")
    } else {
        escape::clip(&shown, LAST_WORDS, more)
    }
}

fn body(body: &Body, more: &str) -> Vec<SlackBlock> {
    match body {
        Body::Draft(text) => vec![
            SlackDividerBlock::new().into(),
            parts::rich(vec![parts::bold("Draft")]),
            parts::rich(vec![parts::paragraph(
                &escape::clip(&escape::drawable(escape::start(text)), BLOCK, more),
                BLOCK,
            )]),
            SlackDividerBlock::new().into(),
        ],
        Body::Diff(diff) => {
            vec![parts::rich(vec![parts::fixed(
                &escape::clip(&escape::drawable(escape::start(diff)), BLOCK, more),
                BLOCK,
            )])]
        }
        Body::Facts(facts) if facts.is_empty() => Vec::new(),
        Body::Facts(facts) => {
            let mut lines = lines(facts);
            if lines.len() > FACTS {
                lines.truncate(FACTS);
                lines.push(more.to_owned());
            }
            vec![parts::rich(vec![parts::list(&lines, FACT)])]
        }
    }
}

fn lines(facts: &[(String, String)]) -> Vec<String> {
    // One more than is shown tells that some were left out.
    facts
        .iter()
        .take(FACTS + 1)
        .map(|(name, value)| format!("{name}: {}", escape::one_line(value)))
        .collect()
}

fn reasons(card: &Card, more: &str) -> Option<SlackBlock> {
    let mut elements = Vec::new();
    if !card.why.trim().is_empty() {
        elements.push(parts::named("Why", &escape::clip(&card.why, WHY, more), WHY));
    }
    if !card.sources.is_empty() {
        let shown = card
            .sources
            .iter()
            .take(SOURCES)
            .map(|source| escape::clip(&escape::one_line(source), SOURCE, "…"));
        let mut sources = shown.collect::<Vec<_>>().join("; ");
        if card.sources.len() > SOURCES {
            sources.push_str(more);
        }
        elements.push(parts::named("Sources", &sources, BLOCK));
    }
    if let Some(confidence) = card.confidence {
        let percent = (confidence.clamp(0.0, 1.0) * 100.0).round();
        elements.push(parts::named("Confidence", &format!("{percent} %"), 20));
    }
    (!elements.is_empty()).then(|| parts::rich(elements))
}

fn buttons(buttons: &[Button]) -> Option<SlackBlock> {
    let elements: Vec<SlackActionBlockElement> = buttons
        .iter()
        .map(|button| {
            let element = SlackBlockButtonElement::new(parts::plain(button.label(), 75).into())
                .with_action_id(button.id().into())
                .with_value(button.value.encode());
            match button.kind {
                ButtonKind::Approve => element.with_style(SlackBlockButtonStyle::Primary),
                ButtonKind::Reject => element.with_style(SlackBlockButtonStyle::Danger),
                ButtonKind::Edit | ButtonKind::View | ButtonKind::Choose | ButtonKind::Answer => element,
            }
            .into()
        })
        .collect();
    (!elements.is_empty()).then(|| SlackActionsBlock::new(elements).into())
}

fn outcome(ending: SettledAs, line: &str, at: chrono::DateTime<chrono::Utc>) -> SlackBlock {
    let sign = match ending {
        SettledAs::Approved | SettledAs::Edited | SettledAs::Answered => "✅",
        SettledAs::Rejected => "⛔",
        SettledAs::Expired => "⌛",
        SettledAs::Withdrawn | SettledAs::Superseded => "↩️",
        SettledAs::Recorded => "📝",
    };
    parts::context(vec![
        parts::plain(&format!("{sign} {}", escape::one_line(line)), 500).into(),
        parts::own(parts::time(at, "{date_short_pretty} {time}")).into(),
    ])
}

fn footer(card: &Card) -> SlackBlock {
    let mut elements = vec![parts::plain(&format!("{} · asked: {}", card.approval, card.footer.owner), 300).into()];
    if let (Some(at), None) = (card.footer.expires_at, &card.settled) {
        elements.push(parts::own(format!("expires {}", parts::time(at, "{date_short_pretty} {time}"))).into());
    }
    elements.push(parts::plain(&card.footer.digest, 64).into());
    if !card.footer.note.trim().is_empty() {
        elements.push(parts::plain(&card.footer.note, 300).into());
    }
    parts::context(elements)
}
