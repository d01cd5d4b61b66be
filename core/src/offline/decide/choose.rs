//! What was found: the question that was asked, the past tickets, and which article convinces.

use serde_json::Value;

use crate::offline::draft::Source;
use crate::offline::rules::read;
use crate::offline::triage::Neighbour;
use crate::search::{Counts, Document, Query, coverage};
use crate::ticket::Triage;

/// Characters of a ticket that go into a search: what follows is seldom the question.
const QUERY: usize = 400;

pub(super) fn question(subject: &str, words: &str) -> String {
    let reading = read(subject, words);
    let text = format!("{} {}", subject.trim(), reading.substance);
    text.trim().chars().take(QUERY).collect()
}

pub(super) fn neighbours(found: Option<&Value>) -> Vec<Neighbour> {
    let list = found
        .and_then(|found| found["tickets"].as_array())
        .map(Vec::as_slice)
        .unwrap_or_default();
    list.iter()
        .map(|one| Neighbour {
            number: one["number"].as_str().unwrap_or_default().to_owned(),
            category: one["category"].as_str().unwrap_or_default().to_owned(),
        })
        .collect()
}

/// The best hit that convinces, in the customer's language when there is one.
pub(super) fn pick(found: Option<&Value>, question: &str, triage: &Triage) -> Option<String> {
    let list = found?["articles"].as_array()?;
    let query = Query::parse(question);
    let convincing: Vec<&Value> = list
        .iter()
        .filter(|hit| convinces(hit, &query, &triage.category))
        .collect();
    let own = convincing
        .iter()
        .find(|hit| hit["language"].as_str() == Some(&triage.language));
    let best = own.or_else(|| convincing.first())?;
    match &best["id"] {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// A hit convinces when title and snippet are about the same matter as the ticket by the rules, or hold most of its words;
/// also when it is about the same matter and the whole article, as the search saw it, has half of what was asked.
fn convinces(hit: &Value, query: &Query, category: &str) -> bool {
    let (title, excerpt) = (
        hit["title"].as_str().unwrap_or_default(),
        hit["snippet"].as_str().unwrap_or_default(),
    );
    let about = read(title, excerpt);
    let same_matter = about
        .scores
        .iter()
        .take(2)
        .any(|(name, score)| *name == category && *score >= 1.6);
    let counts = Counts::of(&Document {
        title,
        body: excerpt,
        ..Document::default()
    });
    let covered = coverage(query, &counts);
    let titled = query.terms.iter().any(|term| {
        term.alternatives
            .iter()
            .any(|(token, fit)| *fit >= 0.5 && counts.tokens.get(token).is_some_and(|fields| fields.title > 0))
    });
    let whole = hit["coverage"].as_f64().unwrap_or(0.0);
    covered >= 0.7 || titled && (same_matter || covered >= 0.45) || same_matter && whole >= 0.5
}

pub(super) fn source(article: &Value) -> Source {
    let text = |key: &str| article[key].as_str().unwrap_or_default().to_owned();
    Source {
        id: text("id"),
        title: text("title"),
        language: text("language"),
        body: text("body"),
    }
}
