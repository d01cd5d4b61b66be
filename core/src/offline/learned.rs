//! What the offline model learned from the house's past: the classifier, and how much its word counts beside the rules'.
//!
//! Both are found out by the tickets themselves: some are kept out of the training and triaged by what was learned from
//! the rest. The same tickets always give the same bytes, so replicas that share an artifact agree to the last digit.

use serde::{Deserialize, Serialize};

use super::classifier::{Classifier, Example};
use super::house::{Category, House};
use super::rules::read;
use super::triage::{Evidence, best, text_of};

/// A past ticket of which a person has said, or let stand, what it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    pub subject: String,
    /// What the requester wrote.
    pub body: String,
    pub category: String,
    /// 1 is usual, more for a person's correction; 0 or less is left out.
    pub weight: f32,
}

/// The artifact. As JSON it is some megabytes at most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    classifier: Classifier,
    decided: u64,
    /// Sum of the weights of each label's decided tickets, in the labels' order.
    seen: Vec<f64>,
    mix: Mix,
}

/// How the rules' word and the learned word become one, and how sure the sum may be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Mix {
    /// Log-odds for a point of the rules.
    pub(super) rules: f64,
    /// Log-odds of the category for the rest, as long as nothing speaks for another.
    pub(super) unknown: f64,
    /// How much of the classifier's log-odds counts.
    pub(super) words: f64,
    /// Divides the sum, so that of the tickets where it says 0.8 about eight in ten are right.
    pub(super) temperature: f64,
    /// Nothing surer than this is ever said.
    pub(super) surest: f64,
    /// Decided tickets of a category at which the learned word for it counts in half.
    pub(super) half: f64,
}

impl Mix {
    /// Where nothing was learned. The rules were never measured on this house's tickets, so they stay modest.
    pub(super) const BY_RULES: Self = Self {
        rules: 0.85,
        unknown: 1.2,
        words: 1.0,
        temperature: 1.0,
        surest: 0.9,
        half: HALF,
    };
}

/// Fewer decided tickets than this cannot say how good a mix is.
const MEASURABLE: usize = 30;
/// How many decided tickets of a category make its learned word count in half, as long as that cannot be measured; a
/// description is a tenth of that.
const HALF: f64 = 3.0;
const DESCRIPTION: f64 = 0.3;
/// Characters of a ticket that are learned from: what follows is seldom about the matter.
const MOST: usize = 2_000;

impl Learned {
    /// Learns from the categories' descriptions and the decided tickets; those of categories that the house has no more
    /// are left out. `None` with fewer than two labels: there is nothing to tell apart.
    pub fn train(categories: &[Category], decided: &[Decided]) -> Option<Self> {
        let house = House::new(categories.to_vec());
        let decided: Vec<&Decided> = decided
            .iter()
            .filter(|one| one.weight > 0.0 && house.named(&one.category).is_some())
            .collect();
        let readings: Vec<_> = decided
            .iter()
            .map(|one| {
                let body: String = one.body.chars().take(MOST).collect();
                read(&one.subject, &body)
            })
            .collect();
        let mut texts: Vec<(String, &str, f32)> = categories
            .iter()
            .map(|category| (category.words(), category.name.as_str(), 1.0))
            .collect();
        texts.extend(
            decided
                .iter()
                .zip(&readings)
                .map(|(one, reading)| (text_of(&one.subject, reading), one.category.as_str(), one.weight)),
        );
        let examples: Vec<Example<'_>> = texts
            .iter()
            .map(|(text, label, weight)| Example {
                text,
                label,
                weight: *weight,
            })
            .collect();
        let (classifier, held) = Classifier::train_and_hold(&examples, categories.len())?;
        let mut seen = vec![DESCRIPTION; classifier.labels().len()];
        for one in &decided {
            if let Ok(place) = classifier.labels().binary_search(&one.category) {
                seen[place] += f64::from(one.weight);
            }
        }
        let places = places(&classifier, &house);
        let measured: Vec<Measured> = held
            .iter()
            .map(|held| {
                let at = held.example - categories.len();
                Measured {
                    evidence: Evidence::of(&readings[at], &house),
                    odds: odds(&held.log_probabilities, &places, |_| 1.0),
                    right: house.named(&decided[at].category).unwrap_or_default(),
                }
            })
            .collect();
        let mix = if decided.len() >= MEASURABLE {
            measure(&measured)
        } else {
            // The more was decided, the less is unknown.
            Mix {
                unknown: 1.2 * HALF / (HALF + decided.len() as f64),
                ..Mix::BY_RULES
            }
        };
        Some(Self {
            classifier,
            decided: decided.len() as u64,
            seen,
            mix,
        })
    }

    /// From how many decided tickets it was learned.
    pub fn decided(&self) -> u64 {
        self.decided
    }

    pub(super) fn mix(&self) -> &Mix {
        &self.mix
    }

    /// The learned word for each of the house's categories, in units of log-odds: little where little was seen.
    pub(super) fn odds(&self, text: &str, house: &House) -> Vec<f64> {
        odds(
            &self.classifier.log_probabilities(text),
            &places(&self.classifier, house),
            |place| self.seen[place] / (self.seen[place] + self.mix.half),
        )
    }
}

/// The classifier's label of each category of the house.
fn places(classifier: &Classifier, house: &House) -> Vec<Option<usize>> {
    house
        .categories
        .iter()
        .map(|category| classifier.labels().binary_search(&category.name).ok())
        .collect()
}

fn odds(log: &[f64], places: &[Option<usize>], trust: impl Fn(usize) -> f64) -> Vec<f64> {
    // Against knowing nothing.
    let nothing = (log.len().max(1) as f64).ln();
    places
        .iter()
        .map(|place| place.map_or(0.0, |place| (log[place] + nothing).max(-6.0) * trust(place)))
        .collect()
}

/// A decided ticket that was triaged by what was learned from others.
struct Measured {
    evidence: Evidence,
    odds: Vec<f64>,
    right: usize,
}

/// The mix under which the tickets' own categories are likeliest.
fn measure(tickets: &[Measured]) -> Mix {
    let mut best_mix = (f64::MAX, Mix::BY_RULES);
    for rules in [0.85, 0.5, 0.25, 0.1, 0.0] {
        for words in [0.35, 0.6, 1.0] {
            for step in 0..10 {
                let mix = Mix {
                    rules,
                    unknown: 1.4 * rules,
                    words,
                    temperature: 0.5 * 1.17_f64.powi(step),
                    surest: 0.97,
                    half: 0.0,
                };
                let loss: f64 = tickets.iter().map(|ticket| loss(ticket, &mix)).sum();
                if loss < best_mix.0 - 1e-9 {
                    best_mix = (loss, mix);
                }
            }
        }
    }
    best_mix.1
}

fn loss(ticket: &Measured, mix: &Mix) -> f64 {
    let weights = ticket.evidence.weigh(Some(&ticket.odds), mix);
    let (place, probability) = best(&weights);
    let right = probability * (weights[ticket.right] - weights[place]).exp();
    -right.max(1e-6).ln()
}

#[cfg(test)]
mod tests;
