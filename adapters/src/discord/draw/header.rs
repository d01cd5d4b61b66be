//! The one message of a ticket: what it is about, how it stands, and what waits.

use deskhand_core::card::Header;
use serde_json::json;

use super::{Drawn, message, parts};
use crate::discord::escape;

const WAITS: usize = 8;
const WAIT: usize = 110;
const PLAN: usize = 8;
const WORD: usize = 100;

pub(super) fn draw(header: &Header) -> Drawn {
    let state = header.state.as_str().replace('_', " ");
    let mut description = format!(
        "{} · {}\n{}",
        parts::word(&header.requester, 200),
        parts::word(&header.outside, WORD),
        standing(header, &state)
    );
    if let Some(trouble) = &header.trouble {
        description.push_str(&format!("\n\n❗ {}", parts::text(trouble, 1000, "…")));
    }
    let mut fields = Vec::new();
    if !header.waits.is_empty() {
        fields.push(parts::field("Waiting", list(&header.waits, WAITS)));
    }
    if !header.plan.is_empty() {
        fields.push(parts::field("Plan", list(&header.plan, PLAN)));
    }
    let title = parts::word(&format!("{} · {}", header.ticket, header.subject), 240);
    let mut embed = json!({ "title": title, "description": description, "fields": fields });
    if let Some(url) = parts::url(header.url.as_deref()) {
        embed["url"] = url.into();
    }
    let simple = format!("**{title}**\n{state}\n{}", list(&header.waits, WAITS));
    Drawn {
        full: message("", vec![embed], Vec::new()),
        simple: message(&simple, Vec::new(), Vec::new()),
    }
}

fn standing(header: &Header, state: &str) -> String {
    let mut words = vec![("State", state)];
    words.extend(header.priority.map(|priority| ("Priority", priority.as_str())));
    words.extend(header.category.as_deref().map(|category| ("Category", category)));
    words.extend(header.team.as_deref().map(|team| ("Team", team)));
    let words = words
        .into_iter()
        .map(|(name, word)| format!("{name}: **{}**", parts::word(word, WORD)));
    words.collect::<Vec<_>>().join("  ·  ")
}

/// At most `most` lines, below a field's 1,024 characters.
fn list(all: &[String], most: usize) -> String {
    let mut lines: Vec<String> = all
        .iter()
        .take(most)
        .map(|line| format!("- {}", parts::word(&escape::one_line(line), WAIT)))
        .collect();
    if all.len() > most {
        lines.push(format!("- … and {} more", all.len() - most));
    }
    lines.join("\n")
}
