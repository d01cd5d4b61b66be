//! The card of an approval: eight sections in a fixed order, each with its share of what a message may hold.

use deskhand_core::card::{Body, ButtonKind, Card, SettledAs};
use serde_json::{Value, json};

use super::{CONTENT, Drawn, message, parts};
use crate::discord::escape;

// Shares of the 6,000 that all texts of the embed together may have; with the fixed words they stay below it.
const TITLE: usize = 240;
const REQUESTER: usize = 150;
const WILL: usize = 400;
const LAST_WORDS: usize = 450;
const LAST_LINES: usize = 3;
const BODY: usize = 1800;
const WHY: usize = 750;
const SOURCE: usize = 110;
const SOURCES: usize = 4;
const MARK: usize = 170;
const MARKS: usize = 4;
const FACTS: usize = 12;
const FACT: usize = 140;
const OUTCOME: usize = 350;
const FOOTER: usize = 350;

pub(super) fn draw(card: &Card) -> Drawn {
    // Where there is no "View full", the words must not send people to it.
    let more = match card.buttons.iter().any(|button| button.kind == ButtonKind::View) {
        true => "… (View full has the rest)",
        false => "… (shortened)",
    };
    let mut description = format!(
        "{} · opened {}\n\n**{}**",
        parts::word(&card.requester, REQUESTER),
        parts::time(card.opened_at, 'R'),
        parts::word(&card.will, WILL),
    );
    if !card.last_words.trim().is_empty() {
        description.push_str(&format!("\n\n{}", parts::quote(&last_words(&card.last_words, more))));
    }
    if let Some(body) = body(&card.body, more) {
        description.push_str(&format!("\n\n{body}"));
    }
    let mut embed = json!({
        "title": parts::word(&format!("{} · {}", card.ticket, card.subject), TITLE),
        "description": description,
        "color": color(card),
        "fields": fields(card, more),
        "footer": { "text": footer(card) },
    });
    if let Some(url) = parts::url(card.url.as_deref()) {
        embed["url"] = url.into();
    }
    let rows = match card.settled {
        Some(_) => Vec::new(),
        None => parts::rows(&card.buttons),
    };
    Drawn {
        full: message(&notice(card), vec![embed], rows.clone()),
        simple: message(&summary(card), Vec::new(), rows),
    }
}

/// What a notification shows.
fn notice(card: &Card) -> String {
    match &card.settled {
        Some(settled) => format!(
            "{} · {} {}",
            card.approval,
            sign(settled.ending),
            parts::word(&settled.line, OUTCOME)
        ),
        None => format!("{} waits for a decision", card.approval),
    }
}

/// The whole card in one text, where Discord refuses the embed.
fn summary(card: &Card) -> String {
    let body = match &card.body {
        Body::Draft(text) | Body::Diff(text) => text.clone(),
        Body::Facts(facts) => lines(facts).join("\n"),
    };
    let text = format!(
        "{}\n**{}**\n{}\n{}",
        notice(card),
        parts::word(&format!("{} · {}", card.ticket, card.subject), TITLE),
        parts::word(&card.will, WILL),
        parts::text(&body, 700, "… (shortened)"),
    );
    debug_assert!(text.encode_utf16().count() <= CONTENT);
    text
}

fn last_words(text: &str, more: &str) -> String {
    let text = escape::drawable(escape::start(text));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let shown = lines[..lines.len().min(LAST_LINES)].join("\n");
    match lines.len() > LAST_LINES {
        // The sign of an omission stands on the last line that is shown.
        true => {
            let cut = escape::clip(&shown, LAST_WORDS - escape::size(more), "");
            format!("{}{more}", escape::escape(&cut))
        }
        false => parts::text(&shown, LAST_WORDS, more),
    }
}

fn body(body: &Body, more: &str) -> Option<String> {
    match body {
        Body::Draft(text) => Some(format!("**Draft**\n{}", parts::text(text, BODY, more))),
        Body::Diff(diff) => {
            let diff = escape::fenced(&escape::drawable(escape::start(diff)));
            let shown = escape::clip(&diff, BODY, "…");
            let rest = if shown.len() < diff.len() { more } else { "" };
            Some(format!("```diff\n{shown}\n```{rest}"))
        }
        Body::Facts(facts) if facts.is_empty() => None,
        Body::Facts(facts) => {
            let all = lines(facts);
            let mut shown: Vec<String> = all.iter().take(FACTS).map(|line| parts::word(line, FACT)).collect();
            if all.len() > FACTS {
                shown.push(more.to_owned());
            }
            Some(format!("- {}", shown.join("\n- ")))
        }
    }
}

fn lines(facts: &[(String, String)]) -> Vec<String> {
    // One more than is shown tells that some were left out.
    let shown = facts.iter().take(FACTS + 1);
    shown
        .map(|(name, value)| format!("{}: {}", escape::one_line(name), escape::one_line(value)))
        .collect()
}

fn fields(card: &Card, more: &str) -> Vec<Value> {
    let mut fields = Vec::new();
    if !card.why.trim().is_empty() {
        fields.push(parts::field("Why", parts::text(&card.why, WHY, more)));
    }
    if !card.sources.is_empty() {
        let shown = card
            .sources
            .iter()
            .take(SOURCES)
            .map(|source| parts::word(source, SOURCE));
        let mut sources = shown.collect::<Vec<_>>().join("; ");
        if card.sources.len() > SOURCES {
            sources.push_str(more);
        }
        fields.push(parts::field("Sources", sources));
    }
    if let Some(confidence) = card.confidence {
        let percent = (confidence.clamp(0.0, 1.0) * 100.0).round();
        fields.push(parts::field("Confidence", format!("{percent} %")));
    }
    if !card.marks.is_empty() {
        let mut marks: Vec<String> = card
            .marks
            .iter()
            .take(MARKS)
            .map(|mark| parts::word(&mark.text, MARK))
            .collect();
        if card.marks.len() > MARKS {
            marks.push(more.to_owned());
        }
        fields.push(parts::field("Risks", format!("⚠ {}", marks.join("\n⚠ "))));
    }
    match (&card.settled, card.footer.expires_at) {
        (Some(settled), _) => fields.push(parts::field(
            "Outcome",
            format!(
                "{} {} · {}",
                sign(settled.ending),
                parts::word(&settled.line, OUTCOME),
                parts::time(settled.at, 'f')
            ),
        )),
        (None, Some(at)) => fields.push(parts::field("Expires", parts::time(at, 'f'))),
        (None, None) => {}
    }
    fields
}

fn sign(ending: SettledAs) -> &'static str {
    match ending {
        SettledAs::Approved | SettledAs::Edited | SettledAs::Answered => "✅",
        SettledAs::Rejected => "⛔",
        SettledAs::Expired => "⌛",
        SettledAs::Withdrawn | SettledAs::Superseded => "↩️",
        SettledAs::Recorded => "📝",
    }
}

/// The bar beside the embed.
fn color(card: &Card) -> u32 {
    match card.settled.as_ref().map(|settled| settled.ending) {
        None => 0x00f0_b232,
        Some(SettledAs::Approved | SettledAs::Edited | SettledAs::Answered) => 0x0024_8046,
        Some(SettledAs::Rejected) => 0x00da_373c,
        Some(SettledAs::Expired | SettledAs::Withdrawn | SettledAs::Superseded | SettledAs::Recorded) => 0x0080_848e,
    }
}

fn footer(card: &Card) -> String {
    let footer = &card.footer;
    let mut text = format!("{} · asked: {} · {}", card.approval, footer.owner, footer.digest);
    if !footer.note.trim().is_empty() {
        text.push_str(&format!(" · {}", footer.note));
    }
    parts::plain(&text, FOOTER)
}
