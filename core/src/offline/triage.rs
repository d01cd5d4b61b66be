//! What a ticket is: the rules' word and the trained words put together, with a confidence and a reason.

use super::house::House;
use super::learned::{Learned, Mix};
use super::rules::{Reading, Signal, action, priority, read};
use crate::ticket::{Action, Triage};

/// A triage with what it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    pub triage: Triage,
    /// Tags for people: `outage`, `prompt_injection`, `multi_intent` …
    pub tags: Vec<&'static str>,
    pub reading: Reading,
}

impl Opinion {
    /// A person said which category it is: theirs is the last word, and what follows from it is worked out anew.
    pub(super) fn follow(&mut self, place: usize, house: &House) {
        let Some(category) = house.categories.get(place) else {
            return;
        };
        let meaning = house.meaning_of(place);
        let triage = &mut self.triage;
        triage.category.clone_from(&category.name);
        triage.team.clone_from(&category.team);
        triage.priority = priority(meaning, &self.reading);
        triage.action = triage.action.max(action(meaning, &self.reading));
        triage.confidence = 0.97;
        triage.reason = format!(
            "Is {} since the team said so; priority {}.",
            category.name, triage.priority
        );
    }
}

/// A past ticket that reads alike.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Neighbour {
    pub number: String,
    pub category: String,
}

/// What can be read of a ticket's category, apart from how much each source counts: a number for each of the house's.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Evidence {
    /// The rules' word, in units of log-odds.
    rules: Vec<f64>,
    /// The rules' word where nobody may overrule it: danger, takeover, law.
    grave: Vec<f64>,
    /// The category for what is none of the others.
    rest: Option<usize>,
}

impl Evidence {
    pub(super) fn of(reading: &Reading, house: &House) -> Self {
        let mut rules = vec![0.0_f64; house.categories.len()];
        let mut grave = vec![0.0_f64; house.categories.len()];
        for (name, score) in &reading.scores {
            if let Some(at) = house.place_of(name) {
                rules[at] = rules[at].max(*score);
            }
            if matches!(*name, "safety" | "security" | "legal")
                && *score >= 5.0
                && let Some(at) = house.named(name)
            {
                grave[at] = *score;
            }
        }
        let rest = house.named("other");
        if let Some(rest) = rest.filter(|_| reading.has(Signal::NothingToDo)) {
            // A ticket that asks for nothing is none of the others.
            rules[rest] += 5.6;
        }
        let nothing_else = reading.substance.trim().is_empty();
        if reading.has(Signal::PromptInjection)
            && (nothing_else || reading.scores.first().is_none_or(|(_, score)| *score < 2.0))
            && let Some(spam) = house.named("spam")
        {
            // Nothing but orders to a machine.
            rules[spam] += 10.5;
        }
        Self { rules, grave, rest }
    }

    /// Log-odds of each category. `learned` is what was learned of each, in the house's order.
    pub(super) fn weigh(&self, learned: Option<&[f64]>, mix: &Mix) -> Vec<f64> {
        self.rules
            .iter()
            .zip(&self.grave)
            .enumerate()
            .map(|(at, (rules, grave))| {
                let words = learned.map_or(0.0, |odds| odds[at]);
                // That the house saw no fire yet is no reason to doubt one.
                let words = if *grave > 0.0 { words.max(0.0) } else { words };
                // Knowing nothing is a conclusion, too.
                let unknown = if self.rest == Some(at) { mix.unknown } else { 0.0 };
                let rules = (mix.rules * rules).max(Mix::BY_RULES.rules * grave);
                (rules + unknown + mix.words * words) / mix.temperature
            })
            .collect()
    }
}

pub(super) fn judge(
    subject: &str,
    body: &str,
    house: &House,
    learned: Option<&Learned>,
    neighbours: &[Neighbour],
) -> Opinion {
    let reading = read(subject, body);
    let words = learned.map(|learned| learned.odds(&text_of(subject, &reading), house));
    let mix = learned.map_or(&Mix::BY_RULES, Learned::mix);
    let mut weights = Evidence::of(&reading, house).weigh(words.as_deref(), mix);
    for neighbour in neighbours.iter().take(3) {
        if let Some(at) = house.named(&neighbour.category) {
            weights[at] += 0.4 * mix.rules;
        }
    }
    let (place, probability) = best(&weights);
    let confidence = probability.clamp(0.05, mix.surest);
    let category = house
        .categories
        .get(place)
        .map_or_else(|| "other".to_owned(), |category| category.name.clone());
    let meaning = house.meaning_of(place);
    let priority = priority(meaning, &reading);
    let mut action = action(meaning, &reading);
    if confidence < 0.3 && action == Action::AutoReply {
        action = Action::NeedsApproval;
    }
    let mut tags: Vec<&'static str> = reading.signals.iter().map(|signal| signal.tag()).collect();
    tags.dedup();
    let reason = reason(&category, &reading, learned, priority, action);
    let team = house
        .categories
        .get(place)
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

/// What the classifier is shown of a ticket, in training and after.
pub(super) fn text_of(subject: &str, reading: &Reading) -> String {
    format!("{subject}\n{}", reading.substance)
}

/// The likeliest place and its probability among all.
pub(super) fn best(weights: &[f64]) -> (usize, f64) {
    let mut top = (0, f64::MIN);
    for (at, weight) in weights.iter().enumerate() {
        if *weight > top.1 {
            top = (at, *weight);
        }
    }
    let mass: f64 = weights.iter().map(|weight| (weight - top.1).exp()).sum();
    (top.0, if mass > 0.0 { 1.0 / mass } else { 0.0 })
}

/// One sentence from our own lists; no word of the customer's is repeated.
fn reason(
    category: &str,
    reading: &Reading,
    learned: Option<&Learned>,
    priority: crate::ticket::Priority,
    action: Action,
) -> String {
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
        match learned {
            Some(learned) if learned.decided() > 0 => format!(
                "it reads like those among {} decided tickets, though no phrase of the rules was found",
                learned.decided()
            ),
            Some(_) | None => "no phrase of the rules was found".to_owned(),
        }
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
