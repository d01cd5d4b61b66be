//! Files of labelled tickets: one JSON document, one JSON object a line, or CSV. What cannot be read is refused with one
//! sentence that names the line.

use std::path::Path;

use deskhand_core::offline::Category;
use serde_json::Value;
use serde_json::value::RawValue;

use super::csv;
use super::ticket::{Ticket, of_fields, of_value};

/// What a file has.
#[derive(Debug, Default)]
pub(super) struct Labelled {
    pub(super) tickets: Vec<Ticket>,
    /// Empty where the file names none.
    pub(super) categories: Vec<Category>,
    /// Past tickets that come with it, to be learned from.
    pub(super) past: Vec<Ticket>,
    pub(super) articles: Vec<Article>,
    pub(super) teams: Vec<String>,
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct Article {
    pub(super) id: String,
    #[serde(default)]
    pub(super) title: String,
    #[serde(default, alias = "text")]
    pub(super) body: String,
    #[serde(default, alias = "lang")]
    pub(super) language: String,
}

/// Which part of a file that has two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Test,
    Train,
}

pub(super) fn read(path: &Path, half: Half) -> anyhow::Result<Labelled> {
    let name = path.display();
    anyhow::ensure!(!path.is_dir(), "{name} is a folder: give a file of labelled tickets");
    let bytes = std::fs::read(path).map_err(|error| anyhow::anyhow!("{name} cannot be read: {error}"))?;
    let labelled = parse(&bytes, half).map_err(|why| anyhow::anyhow!("{name}: {why}"))?;
    Ok(labelled)
}

fn parse(bytes: &[u8], half: Half) -> Result<Labelled, String> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.trim_start_matches('\u{feff}'),
        Err(error) => {
            let line = bytes[..error.valid_up_to()]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count()
                + 1;
            return Err(format!("line {line}: the file is not UTF-8 text"));
        }
    };
    if text.contains('\0') {
        return Err(format!(
            "line {}: the file is not text",
            line_at(text, text.find('\0').unwrap_or(0))
        ));
    }
    let labelled = match text.trim_start().chars().next() {
        None => return Err("line 1: the file is empty".into()),
        Some('[') => array(text, text, "the list")?,
        Some('{') => object(text, half)?,
        Some(_) => table(text)?,
    };
    if labelled.tickets.is_empty() {
        return Err("line 1: there is not one ticket in the file".into());
    }
    Ok(labelled)
}

fn line_at(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}

/// Where a piece of the text stands in it.
fn line_of(text: &str, part: &str) -> usize {
    let offset = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    line_at(text, offset)
}

fn broken(error: &serde_json::Error, before: usize) -> String {
    let why = error.to_string();
    let why = why.split(" at line ").next().unwrap_or(&why);
    format!("line {}: this is not JSON: {why}", before + error.line().max(1))
}

/// A list of tickets, each an object or a pair of text and category.
fn array(text: &str, part: &str, what: &str) -> Result<Labelled, String> {
    Ok(Labelled {
        tickets: tickets(text, part, what)?,
        ..Labelled::default()
    })
}

fn tickets(text: &str, part: &str, what: &str) -> Result<Vec<Ticket>, String> {
    let first = line_of(text, part);
    let list: Vec<&RawValue> = serde_json::from_str(part).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => format!("line {first}: {what} is not a list of tickets"),
        _ => broken(&error, first - 1),
    })?;
    // Counted on from ticket to ticket: a file of one long line would else be read once for each of them.
    let offset = |part: &str| (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let mut at = (offset(part), first);
    list.iter()
        .map(|raw| {
            let here = offset(raw.get());
            let line = at.1 + line_at(&text[at.0..], here - at.0) - 1;
            at = (here, line);
            let value: Value = serde_json::from_str(raw.get()).map_err(|error| broken(&error, line - 1))?;
            of_value(&value).map_err(|why| format!("line {line}: {why}"))
        })
        .collect()
}

/// One document, or one object a line.
fn object(text: &str, half: Half) -> Result<Labelled, String> {
    type Fields<'a> = std::collections::BTreeMap<String, &'a RawValue>;
    let fields: Fields<'_> = match serde_json::from_str(text) {
        Ok(fields) => fields,
        Err(error) => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let first = lines.clone().next().unwrap_or_default();
            return match serde_json::from_str::<Value>(first) {
                Ok(_) => lines_of_objects(text),
                Err(_) => Err(broken(&error, 0)),
            };
        }
    };
    let part = |name: &str| fields.get(name).map(|raw| raw.get());
    if let Some(list) = part("tickets") {
        return Ok(Labelled {
            tickets: tickets(text, list, "\"tickets\"")?,
            categories: part("categories").map_or(Ok(Vec::new()), |part| categories(text, part))?,
            past: ["past_tickets", "past", "history"]
                .iter()
                .find_map(|name| part(name))
                .map_or(Ok(Vec::new()), |list| tickets(text, list, "the list of past tickets"))?,
            articles: part("articles").map_or(Ok(Vec::new()), |list| {
                serde_json::from_str(list)
                    .map_err(|error| format!("line {}: an article cannot be read: {error}", line_of(text, list)))
            })?,
            teams: part("teams").map(teams).unwrap_or_default(),
        });
    }
    let name = match half {
        Half::Test => "test",
        Half::Train => "train",
    };
    if let Some(list) = part(name) {
        return array(text, list, &format!("\"{name}\""));
    }
    // One ticket by itself is a file of one line.
    if ["text", "body", "subject"]
        .iter()
        .any(|name| fields.contains_key(*name))
    {
        return lines_of_objects(text);
    }
    Err(format!(
        "line 1: the document has no \"tickets\", and no \"{name}\" with pairs of text and category"
    ))
}

fn lines_of_objects(text: &str) -> Result<Labelled, String> {
    let one = serde_json::from_str::<Value>(text).ok();
    let lines: Vec<(usize, &str)> = match one {
        Some(_) => vec![(0, text)],
        None => text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .collect(),
    };
    let tickets = lines
        .into_iter()
        .map(|(before, line)| {
            let value: Value = serde_json::from_str(line).map_err(|error| broken(&error, before))?;
            of_value(&value).map_err(|why| format!("line {}: {why}", before + 1))
        })
        .collect::<Result<Vec<Ticket>, String>>()?;
    Ok(Labelled {
        tickets,
        ..Labelled::default()
    })
}

/// `{"name": "description"}`, `{"name": {"description", "team"}}` or a list of `{"name", "description", "team"}`.
fn categories(text: &str, part: &str) -> Result<Vec<Category>, String> {
    let wrong = || {
        format!(
            "line {}: \"categories\" is no list of names with descriptions",
            line_of(text, part)
        )
    };
    let value: Value = serde_json::from_str(part).map_err(|_| wrong())?;
    let category = |name: &str, of: &Value| {
        let field = |key: &str| of[key].as_str().unwrap_or_default().to_owned();
        Category {
            name: name.to_owned(),
            description: of.as_str().map_or_else(|| field("description"), str::to_owned),
            team: field("team"),
        }
    };
    match &value {
        Value::Object(all) => Ok(all.iter().map(|(name, of)| category(name, of)).collect()),
        Value::Array(all) => all
            .iter()
            .map(|one| match one {
                Value::String(name) => Ok(category(name, &Value::Null)),
                one => one["name"].as_str().map(|name| category(name, one)).ok_or_else(wrong),
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(wrong()),
    }
}

fn teams(part: &str) -> Vec<String> {
    match serde_json::from_str(part) {
        Ok(Value::Object(all)) => all.keys().cloned().collect(),
        Ok(Value::Array(all)) => all
            .iter()
            .filter_map(|one| one.as_str().or_else(|| one["name"].as_str()))
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

/// Columns by the names in the first line.
fn table(text: &str) -> Result<Labelled, String> {
    let head = text.lines().next().unwrap_or_default();
    let separator = if head.contains('\t') { '\t' } else { ',' };
    let rows = csv::rows(text, separator)?;
    let Some(((line, names), rows)) = rows.split_first() else {
        return Err("line 1: the file is empty".into());
    };
    let names: Vec<String> = names.iter().map(|name| name.trim().to_lowercase()).collect();
    let tickets = rows
        .iter()
        .map(|(line, fields)| {
            if fields.len() != names.len() {
                let (has, wants) = (fields.len(), names.len());
                return Err(format!(
                    "line {line}: the row has {has} fields, and the first line names {wants}"
                ));
            }
            of_fields(&names, fields).map_err(|why| format!("line {line}: {why}"))
        })
        .collect::<Result<Vec<Ticket>, String>>();
    match tickets {
        Ok(tickets) if tickets.is_empty() => {
            Err(format!("line {line}: there is only the head, and no ticket below it"))
        }
        Ok(tickets) => Ok(Labelled {
            tickets,
            ..Labelled::default()
        }),
        Err(_) if !names.iter().any(|name| super::ticket::TEXT.contains(&name.as_str())) => Err(format!(
            "line {line}: this is neither JSON nor CSV whose first line names the columns \"text\" and \"category\""
        )),
        Err(why) => Err(why),
    }
}

#[cfg(test)]
mod tests;
