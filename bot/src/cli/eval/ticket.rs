//! A labelled ticket, read from an object, a pair or a row, in the names that such files use.

use deskhand_core::article::primary_tag;
use deskhand_core::ticket::{Action, Priority};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ticket {
    pub(super) subject: String,
    pub(super) body: String,
    pub(super) category: Option<String>,
    pub(super) priority: Option<Priority>,
    pub(super) action: Option<Action>,
    /// BCP 47 primary tag.
    pub(super) language: Option<String>,
    /// The text gives orders to a machine.
    pub(super) orders: bool,
    /// What must not come of it, as the file words it.
    pub(super) forbid: Vec<String>,
}

/// Columns and keys that hold the text.
pub(super) const TEXT: [&str; 7] = ["text", "body", "message", "query", "utterance", "question", "subject"];
const CATEGORY: [&str; 3] = ["category", "label", "intent"];
const LANGUAGE: [&str; 3] = ["language", "lang", "locale"];

/// An object, or a pair of text and category.
pub(super) fn of_value(value: &Value) -> Result<Ticket, String> {
    match value {
        Value::Array(pair) => match pair.as_slice() {
            [Value::String(text), Value::String(category)] => Ok(Ticket {
                body: text.clone(),
                category: Some(category.clone()),
                ..Ticket::default()
            }),
            _ => Err("a pair of text and category is expected, both of them strings".into()),
        },
        Value::Object(object) => {
            let expect = ["expect", "expected", "labels"]
                .iter()
                .map(|name| &value[*name])
                .find(|expect| expect.is_object())
                .unwrap_or(value);
            let label = |names: &[&str]| {
                names
                    .iter()
                    .find_map(|name| word(&expect[*name]).or_else(|| word(&value[*name])))
            };
            let text = |name: &str| object.get(name).and_then(Value::as_str);
            let mut ticket = labelled(&label)?;
            let body = TEXT
                .iter()
                .filter(|name| **name != "subject")
                .find_map(|name| text(name));
            let subject = text("subject").or_else(|| text("title"));
            if body.is_none() && subject.is_none() {
                return Err("the ticket has no \"text\" (nor \"subject\" and \"body\")".into());
            }
            ticket.body = body.unwrap_or_default().to_owned();
            ticket.subject = subject.unwrap_or_default().to_owned();
            ticket.forbid = words(&expect["forbid"]);
            let tags = words(&expect["tags"]);
            ticket.orders = !ticket.forbid.is_empty()
                || tags.iter().any(|tag| tag.contains("injection"))
                || expect["injection"] == true
                || value["injection"] == true;
            Ok(ticket)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            Err("a ticket is expected: an object, or a pair of text and category".into())
        }
    }
}

/// A row, by the names of its columns.
pub(super) fn of_fields(names: &[String], fields: &[String]) -> Result<Ticket, String> {
    let field = |name: &str| {
        let at = names.iter().position(|known| known == name)?;
        fields
            .get(at)
            .map(|field| field.trim())
            .filter(|field| !field.is_empty())
    };
    let label = |wanted: &[&str]| wanted.iter().find_map(|name| field(name)).map(str::to_owned);
    let body = TEXT
        .iter()
        .filter(|name| **name != "subject")
        .find_map(|name| field(name));
    let subject = field("subject").or_else(|| field("title"));
    if body.is_none() && subject.is_none() {
        return Err("the row has no text".into());
    }
    Ok(Ticket {
        body: body.unwrap_or_default().to_owned(),
        subject: subject.unwrap_or_default().to_owned(),
        ..labelled(&label)?
    })
}

fn labelled(label: &dyn Fn(&[&str]) -> Option<String>) -> Result<Ticket, String> {
    let ticket = Ticket {
        category: label(&CATEGORY),
        priority: parsed("priority", label(&["priority"]))?,
        action: parsed("action", label(&["action"]))?,
        language: label(&LANGUAGE).as_deref().map(primary_tag),
        ..Ticket::default()
    };
    if ticket.category.is_none() && ticket.priority.is_none() && ticket.action.is_none() && ticket.language.is_none() {
        return Err("the ticket has no label: category, priority, action or language".into());
    }
    Ok(ticket)
}

fn parsed<T: std::str::FromStr>(what: &str, word: Option<String>) -> Result<Option<T>, String>
where
    T::Err: std::fmt::Display,
{
    word.map(|word| {
        word.to_lowercase()
            .parse()
            .map_err(|error| format!("the {what} {error}"))
    })
    .transpose()
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(word) if !word.trim().is_empty() => Some(word.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(word).collect()
}
