//! The house's categories, and how they stand to the rules' own: worked out once, not for every ticket.

use std::collections::BTreeMap;

use super::text::words;
use crate::search::stem;

/// A category of the team, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Category {
    pub name: String,
    /// Plain words; they train the classifier before there are past tickets.
    pub description: String,
    /// Who gets it; empty leaves it where it is.
    pub team: String,
}

impl Category {
    /// Name and description as one text of plain words.
    pub(super) fn words(&self) -> String {
        format!("{} {}", self.name.replace(['_', '-'], " "), self.description)
    }
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

/// The categories with their places among the rules'. Made once; a look-up costs nothing.
#[derive(Clone, Debug)]
pub(super) struct House {
    pub(super) categories: Vec<Category>,
    /// The team's category for each of the rules'.
    places: BTreeMap<String, usize>,
    /// The rules' category that each of the team's means.
    meanings: Vec<String>,
}

impl House {
    pub(super) fn new(categories: Vec<Category>) -> Self {
        let known: Vec<(Category, Vec<String>)> = default_categories()
            .into_iter()
            .map(|category| {
                let stems = stems(&category);
                (category, stems)
            })
            .collect();
        let own: Vec<Vec<String>> = categories.iter().map(stems).collect();
        let places = known
            .iter()
            .filter_map(|(rule, asked)| Some((rule.name.clone(), place(&rule.name, asked, &categories, &own)?)))
            .collect();
        let meanings = categories
            .iter()
            .zip(&own)
            .map(|(category, stems)| meaning(&category.name, stems, &known))
            .collect();
        Self {
            categories,
            places,
            meanings,
        }
    }

    pub(super) fn place_of(&self, rule: &str) -> Option<usize> {
        self.places.get(rule).copied()
    }

    /// The place of a category that has just this name.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.categories.iter().position(|category| category.name == name)
    }

    pub(super) fn meaning_of(&self, place: usize) -> &str {
        self.meanings.get(place).map_or("technical", String::as_str)
    }
}

/// The team's category for one of the rules': by its name, else by the words of its description.
fn place(rule: &str, asked: &[String], categories: &[Category], own: &[Vec<String>]) -> Option<usize> {
    if let Some(at) = categories.iter().position(|category| category.name == rule) {
        return Some(at);
    }
    let (at, shared) = own
        .iter()
        .enumerate()
        .map(|(at, stems)| (at, stems.iter().filter(|stem| asked.contains(stem)).count()))
        .max_by_key(|(_, shared)| *shared)?;
    (shared >= 2).then_some(at)
}

/// The rules' category that a team's category means.
fn meaning(name: &str, stems: &[String], known: &[(Category, Vec<String>)]) -> String {
    let near = known.iter().find(|(rule, _)| rule.name == name).or_else(|| {
        known
            .iter()
            .max_by_key(|(_, asked)| asked.iter().filter(|stem| stems.contains(stem)).count())
            .filter(|(_, asked)| asked.iter().any(|stem| stems.contains(stem)))
    });
    near.map_or_else(|| "technical".to_owned(), |(rule, _)| rule.name.clone())
}

fn stems(category: &Category) -> Vec<String> {
    words(&category.words())
        .iter()
        .filter(|word| !crate::search::is_stop_word(word))
        .map(|word| stem(word))
        .filter(|stem| !stem.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Category, House, default_categories};

    fn category(name: &str, description: &str) -> Category {
        Category {
            name: name.into(),
            description: description.into(),
            team: String::new(),
        }
    }

    #[test]
    fn a_house_of_its_own_words_is_mapped_to_the_rules() {
        let house = House::new(vec![
            category("parcels", "where an order or parcel is, late delivery"),
            category("login", "cannot sign in, forgotten password"),
            category("loyalty", "points and tiers"),
        ]);
        assert_eq!(house.place_of("order_status"), Some(0));
        assert_eq!(house.place_of("account_access"), Some(1));
        assert_eq!(house.place_of("safety"), None);
        assert_eq!(
            (house.meaning_of(0), house.meaning_of(1)),
            ("order_status", "account_access")
        );
        assert_eq!(
            house.meaning_of(2),
            "technical",
            "what means nothing known is an ordinary question"
        );
    }

    #[test]
    fn the_built_in_categories_mean_themselves() {
        let house = House::new(default_categories());
        for (at, category) in default_categories().iter().enumerate() {
            assert_eq!(house.place_of(&category.name), Some(at));
            assert_eq!(house.meaning_of(at), category.name);
        }
    }
}
