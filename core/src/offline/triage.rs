//! What a ticket is: rules and the trained classifier put together, with a confidence and a reason.

use super::classifier::Classifier;
use super::rules::{Reading, Signal, action, priority, read};
use super::text::words;
use crate::search::stem;
use crate::ticket::{Action, Triage};

/// A category of the team, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Category {
    pub name: String,
    /// Plain words; they train the classifier before there are past tickets.
    pub description: String,
    /// Who gets it; empty leaves it where it is.
    pub team: String,
}

/// The categories of a shop's help desk. Settings may replace them all.
pub fn default_categories() -> Vec<Category> {
    [
        (
            "account_access",
            "cannot sign in, forgotten password, locked account, changing account data",
            "Support",
        ),
        (
            "billing",
            "charges, payments, payment methods, invoices and receipts",
            "Billing",
        ),
        ("refund", "the customer wants the money back", "Billing"),
        (
            "order_status",
            "where an order or parcel is, late or lost delivery, delivery address",
            "Orders",
        ),
        (
            "return_exchange",
            "sending goods back, swapping them, wrong, damaged or missing items, warranty",
            "Orders",
        ),
        (
            "cancellation",
            "calling off an order, ending a subscription or contract",
            "Orders",
        ),
        (
            "technical",
            "a product, app or site does not work, errors, how to set something up",
            "Technical",
        ),
        (
            "security",
            "hacked account, fraud, phishing, personal data and privacy requests",
            "Trust and Safety",
        ),
        (
            "safety",
            "danger to people or property: fire, smoke, injury, shock",
            "Trust and Safety",
        ),
        (
            "legal",
            "lawyers, courts, authorities, claims for damages, formal deadlines",
            "Legal",
        ),
        (
            "complaint",
            "unhappy with the service, without another concrete request",
            "Support",
        ),
        ("feedback", "praise, ideas and suggestions", "Support"),
        (
            "presales",
            "questions before buying: stock, prices, shipping, features",
            "Sales",
        ),
        ("sales", "large orders, quotations, resellers, partnerships", "Sales"),
        ("spam", "unasked advertising, scams, nonsense", "Support"),
        ("other", "none of the others", "Support"),
    ]
    .into_iter()
    .map(|(name, description, team)| Category {
        name: name.into(),
        description: description.into(),
        team: team.into(),
    })
    .collect()
}

/// A triage with what it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    pub triage: Triage,
    /// Tags for people: `outage`, `prompt_injection`, `multi_intent` …
    pub tags: Vec<&'static str>,
    pub reading: Reading,
}

/// A past ticket that reads alike.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Neighbour {
    pub number: String,
    pub category: String,
}

pub(super) fn judge(
    subject: &str,
    body: &str,
    categories: &[Category],
    classifier: Option<&Classifier>,
    neighbours: &[Neighbour],
) -> Opinion {
    let reading = read(subject, body);
    let text = format!("{subject}\n{}", reading.substance);
    let mut weights: Vec<(String, f64)> = categories.iter().map(|category| (category.name.clone(), 0.0)).collect();
    for (name, score) in &reading.scores {
        let at = place_of(name, categories);
        if let Some((_, weight)) = at.and_then(|at| weights.get_mut(at)) {
            *weight = weight.max(0.85 * score);
        }
    }
    if let Some(classifier) = classifier {
        let trust = classifier.trust();
        let uniform = 1.0 / classifier.labels().len().max(1) as f64;
        for (label, p) in classifier.predict(&text) {
            if let Some((_, weight)) = weights.iter_mut().find(|(name, _)| *name == label) {
                // In units of log-odds against knowing nothing.
                *weight += trust * (p.max(1e-4) / uniform).ln();
            } else {
                weights.push((label, trust * (p.max(1e-4) / uniform).ln()));
            }
        }
    }
    for neighbour in neighbours.iter().take(3) {
        if let Some((_, weight)) = weights.iter_mut().find(|(name, _)| *name == neighbour.category) {
            *weight += 0.4;
        }
    }
    if let Some((_, weight)) = weights.iter_mut().find(|(name, _)| name == "other") {
        // Knowing nothing is a conclusion, too; and a ticket that asks for nothing is none of the others.
        *weight += if reading.has(Signal::NothingToDo) { 6.0 } else { 1.2 };
    }
    if reading.has(Signal::PromptInjection)
        && reading.scores.first().is_none_or(|(_, score)| *score < 2.0)
        && let Some((_, weight)) = weights.iter_mut().find(|(name, _)| name == "spam")
    {
        // Nothing but orders to a machine.
        *weight += 9.0;
    }
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    let top = weights.first().map_or(0.0, |(_, weight)| *weight);
    let mass: f64 = weights.iter().map(|(_, weight)| (weight - top).exp()).sum();
    let confidence = (1.0 / mass).clamp(0.05, 0.97);
    let category = weights
        .first()
        .map_or_else(|| "other".to_owned(), |(name, _)| name.clone());
    let meaning = meaning_of(&category, categories);
    let priority = priority(meaning, &reading);
    let mut action = action(meaning, &reading);
    if confidence < 0.3 && action == Action::AutoReply {
        action = Action::NeedsApproval;
    }
    let mut tags: Vec<&'static str> = reading.signals.iter().map(|signal| signal.tag()).collect();
    tags.dedup();
    let reason = reason(&category, &reading, priority, action);
    let team = categories
        .iter()
        .find(|one| one.name == category)
        .map(|one| one.team.clone())
        .unwrap_or_default();
    Opinion {
        triage: Triage {
            category,
            priority,
            team,
            language: reading.language.language.to_owned(),
            action,
            confidence,
            reason,
        },
        tags,
        reading,
    }
}

/// The team's category for one of the rules': by its name, else by the words of its description.
fn place_of(name: &str, categories: &[Category]) -> Option<usize> {
    if let Some(at) = categories.iter().position(|category| category.name == name) {
        return Some(at);
    }
    let own = default_categories()
        .into_iter()
        .find(|category| category.name == name)?;
    let asked = stems(&own);
    let (at, shared) = categories
        .iter()
        .enumerate()
        .map(|(at, category)| (at, stems(category).iter().filter(|stem| asked.contains(stem)).count()))
        .max_by_key(|(_, shared)| *shared)?;
    (shared >= 2).then_some(at)
}

/// The rules' category that a team's category means.
fn meaning_of(name: &str, categories: &[Category]) -> &'static str {
    let known = default_categories();
    let names = [
        "safety",
        "security",
        "legal",
        "refund",
        "cancellation",
        "return_exchange",
        "billing",
        "order_status",
        "account_access",
        "technical",
        "presales",
        "sales",
        "complaint",
        "feedback",
        "spam",
        "other",
    ];
    if let Some(same) = names.iter().find(|known| **known == name) {
        return same;
    }
    let Some(category) = categories.iter().find(|category| category.name == name) else {
        return "technical";
    };
    let asked = stems(category);
    let near = known
        .iter()
        .max_by_key(|one| stems(one).iter().filter(|stem| asked.contains(stem)).count());
    near.and_then(|one| names.iter().find(|name| **name == one.name))
        .copied()
        .unwrap_or("technical")
}

fn stems(category: &Category) -> Vec<String> {
    words(&format!("{} {}", category.name.replace('_', " "), category.description))
        .iter()
        .filter(|word| !crate::search::is_stop_word(word))
        .map(|word| stem(word))
        .filter(|stem| !stem.is_empty())
        .collect()
}

/// One sentence from our own lists; no word of the customer's is repeated.
fn reason(category: &str, reading: &Reading, priority: crate::ticket::Priority, action: Action) -> String {
    let mut phrases: Vec<String> = Vec::new();
    for (meaning, phrase) in &reading.evidence {
        if !matches!(
            *meaning,
            "thanks" | "how" | "send_me" | "order" | "parcel" | "payment" | "fails"
        ) || reading.evidence.len() < 3
        {
            let shown = format!(
                "\"{}\"",
                phrase.replace(" .. ", " … ").replace(".. ", "…").replace('*', "")
            );
            if !phrases.contains(&shown) {
                phrases.push(shown);
            }
        }
    }
    phrases.truncate(3);
    let because = if phrases.is_empty() {
        "no phrase of the rules was found".to_owned()
    } else {
        format!("it says {}", phrases.join(", "))
    };
    let mut signals: Vec<String> = reading
        .signals
        .iter()
        .map(|signal| signal.tag().replace('_', " "))
        .collect();
    signals.dedup();
    let marks = if signals.is_empty() {
        String::new()
    } else {
        format!("; signs: {}", signals.join(", "))
    };
    let why = match action {
        Action::AutoReply => "an ordinary question that an article may answer",
        Action::NeedsApproval => "money, goods or a contract are at stake, so a person decides",
        Action::Human => "a person must handle it",
        Action::Ignore => "nothing is asked",
    };
    format!("Reads as {category} since {because}{marks}; priority {priority}: {why}.")
}
