//! The tables of `deskhand.toml` whose keys are the house's own: approvals, categories, teams.

use std::collections::BTreeMap;
use std::time::Duration;

use deskhand_core::budget::{Price, Prices};
use deskhand_core::near;
use deskhand_core::roster::Who;

use super::layers::{Layers, as_text};
use super::{ConfigError, ModelChoice, value};

/// Who decides one kind of action, where, and until when. `None` means as everywhere else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalRule {
    pub approvers: Option<Vec<Who>>,
    /// The channel that the card is shown in, or several with commas between them.
    pub channel: Option<String>,
    /// `Some(None)`: it never expires.
    pub expires: Option<Option<Duration>>,
}

/// What a category means, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Category {
    /// For the model and for people.
    pub description: String,
    /// A key of [`Config::teams`](super::Config::teams).
    pub team: String,
}

/// The actions that ask, by the tool they come from.
const ACTIONS: &[&str] = &[
    "ask_question",
    "escalate_ticket",
    "propose_knowledge_edit",
    "reply_customer",
];

/// Name, what it is about, team.
const CATEGORIES: &[(&str, &str, &str)] = &[
    ("account_access", "login, password, locked or lost account", "support"),
    ("billing", "charges, invoices, payment methods", "billing"),
    ("refund", "wants money back", "billing"),
    ("order_status", "where it is, delay, delivery", "orders"),
    ("return_exchange", "send back, swap, wrong or damaged item", "orders"),
    ("cancellation", "cancel an order, subscription or contract", "orders"),
    ("technical", "product or site does not work, how-to", "technical"),
    (
        "security",
        "fraud, takeover, phishing, data protection requests",
        "trust",
    ),
    ("safety", "danger to people or property", "trust"),
    ("legal", "lawyers, authorities, deadlines, threats to sue", "trust"),
    ("complaint", "dissatisfaction with no other concrete request", "support"),
    ("feedback", "praise or suggestions", "support"),
    ("presales", "questions before buying", "sales"),
    ("sales", "offers, bulk orders, partnerships", "sales"),
    ("spam", "unsolicited advertising or nonsense", "support"),
    ("other", "none of these", "support"),
];

const TEAMS: &[(&str, &str)] = &[
    (
        "support",
        "the first line: accounts, praise, complaints, and what nobody else has",
    ),
    ("billing", "charges, invoices, refunds"),
    ("orders", "deliveries, returns, cancellations"),
    ("technical", "products and the site"),
    ("trust", "security, safety and legal matters"),
    ("sales", "questions before buying, offers, bulk orders"),
];

pub(super) fn approvals(layers: &Layers<'_>) -> Result<BTreeMap<String, ApprovalRule>, ConfigError> {
    let mut rules = BTreeMap::new();
    for (action, value) in entries(layers, "approvals")? {
        let place = |key: &str| layers.place(&format!("approvals.{action}"), key);
        if !ACTIONS.contains(&action.as_str()) {
            let place = layers.place("approvals", action);
            return Err(ConfigError::unknown(place, near::nearest(action, ACTIONS)));
        }
        let Some(table) = value.as_table() else {
            return Err(ConfigError::new(layers.place("approvals", action), "is not a table"));
        };
        let mut rule = ApprovalRule::default();
        for (key, value) in table {
            let text = as_text(value).unwrap_or_default();
            let wrong = |why: String| ConfigError::new(place(key), why);
            match key.as_str() {
                "approvers" => rule.approvers = Some(value::people(&text).map_err(wrong)?),
                "channel" if text.is_empty() => return Err(wrong("is empty".to_owned())),
                "channel" => rule.channel = Some(text),
                "expires" => rule.expires = Some(value::expiry(&text).map_err(wrong)?),
                _ => {
                    let meant = near::nearest(key, &["approvers", "channel", "expires"]);
                    return Err(ConfigError::unknown(place(key), meant));
                }
            }
        }
        rules.insert(action.clone(), rule);
    }
    Ok(rules)
}

/// What models cost, by their whole names: `[prices."anthropic:claude-sonnet-4-5"]`.
pub(super) fn prices(layers: &Layers<'_>) -> Result<Prices, ConfigError> {
    const KEYS: &[&str] = &["cache_read", "cache_write", "input", "output"];
    let mut prices = Prices::new();
    for (model, value) in entries(layers, "prices")? {
        let place = |key: &str| layers.place(&format!("prices.\"{model}\""), key);
        if let Err(why) = model.parse::<ModelChoice>() {
            let why = format!("{why}; write the whole name in quotes, like [prices.\"anthropic:<name>\"]");
            return Err(ConfigError::new(layers.place("prices", model), why));
        }
        let Some(table) = value.as_table() else {
            let why = "is not a table with input and output";
            return Err(ConfigError::new(layers.place("prices", model), why));
        };
        let mut price = Price::default();
        for (key, value) in table {
            let amount = value
                .as_float()
                .or_else(|| value.as_integer().map(|whole| whole as f64));
            let Some(amount) = amount.filter(|amount| (0.0..1e6).contains(amount)) else {
                let why = "is not a price of a million tokens, like 3.0";
                return Err(ConfigError::new(place(key), why));
            };
            match key.as_str() {
                "input" => price.input = amount,
                "output" => price.output = amount,
                "cache_read" => price.cache_read = amount,
                "cache_write" => price.cache_write = amount,
                _ => return Err(ConfigError::unknown(place(key), near::nearest(key, KEYS))),
            }
        }
        prices.insert(model.clone(), price);
    }
    Ok(prices)
}

/// The house's teams; its own ones take the place of the built-in ones, all or none, since a team that does not exist
/// there must not be routed to.
pub(super) fn teams(layers: &Layers<'_>) -> Result<BTreeMap<String, String>, ConfigError> {
    let mut teams = BTreeMap::new();
    for (name, value) in entries(layers, "teams")? {
        let Some(description) = value.as_str().map(str::trim).filter(|text| !text.is_empty()) else {
            return Err(ConfigError::new(
                layers.place("teams", name),
                "is not a description in quotes",
            ));
        };
        teams.insert(name.trim().to_owned(), description.to_owned());
    }
    if teams.is_empty() {
        teams = TEAMS
            .iter()
            .map(|(name, about)| ((*name).to_owned(), (*about).to_owned()))
            .collect();
    }
    Ok(teams)
}

/// The built-in categories, with what the file changes and adds.
///
/// With teams of the house's own, every built-in category has to be given one of them only if it is to be routed; the
/// others have an empty team and stay where they are.
pub(super) fn categories(
    layers: &Layers<'_>,
    teams: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, Category>, ConfigError> {
    let mut categories: BTreeMap<String, Category> = CATEGORIES
        .iter()
        .map(|(name, description, team)| {
            let team = if teams.contains_key(*team) { team } else { "" };
            let category = Category {
                description: (*description).to_owned(),
                team: team.to_owned(),
            };
            ((*name).to_owned(), category)
        })
        .collect();
    for (name, value) in entries(layers, "categories")? {
        let place = |key: &str| layers.place(&format!("categories.{name}"), key);
        if name.is_empty()
            || !name
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        {
            let why = "is not a category's name: small letters, digits and underscores";
            return Err(ConfigError::new(layers.place("categories", name), why));
        }
        let Some(table) = value.as_table() else {
            let why = "is not a table with description and team";
            return Err(ConfigError::new(layers.place("categories", name), why));
        };
        let mut category = categories.remove(name).unwrap_or_else(|| Category {
            description: String::new(),
            team: String::new(),
        });
        for (key, value) in table {
            let text = as_text(value).unwrap_or_default().trim().to_owned();
            match key.as_str() {
                "description" => category.description = text,
                "team" if teams.contains_key(&text) => category.team = text,
                "team" => {
                    let known: Vec<&str> = teams.keys().map(String::as_str).collect();
                    let why = value::not(
                        &text,
                        &format!("one of the teams {}", known.join(", ")),
                        near::nearest(&text, &known),
                    );
                    return Err(ConfigError::new(place("team"), why));
                }
                _ => {
                    return Err(ConfigError::unknown(
                        place(key),
                        near::nearest(key, &["description", "team"]),
                    ));
                }
            }
        }
        if category.description.is_empty() {
            return Err(ConfigError::new(
                place("description"),
                "is missing: the model is told what belongs there",
            ));
        }
        categories.insert(name.clone(), category);
    }
    Ok(categories)
}

pub(super) fn entries<'a>(
    layers: &'a Layers<'_>,
    name: &str,
) -> Result<Vec<(&'a String, &'a toml::Value)>, ConfigError> {
    match layers.table(name) {
        None => Ok(Vec::new()),
        Some(toml::Value::Table(table)) => Ok(table.iter().collect()),
        Some(_) => Err(ConfigError::new(layers.place("", name), "is not a table")),
    }
}
