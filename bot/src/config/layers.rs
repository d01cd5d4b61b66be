//! Where a setting's text comes from: the environment, else a secret's own file, else `deskhand.toml`.
//!
//! Everything becomes text here and is parsed once, behind; so a number in the file and a number in the environment are
//! judged by the same words.

use std::path::Path;

use super::ConfigError;
use super::setting::{FREE_TABLES, SETTINGS, Setting, in_file, nearest_key};

pub(super) struct Layers<'a> {
    file: toml::Table,
    /// How messages name the file.
    file_name: String,
    env: &'a dyn Fn(&str) -> Option<String>,
}

/// A setting's text, and the words by which a message names it.
pub(super) struct Given {
    pub(super) text: String,
    pub(super) place: String,
}

impl<'a> Layers<'a> {
    /// Reads the file, refusing unknown keys and secrets in it.
    pub(super) fn read(file: Option<&Path>, env: &'a dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let (file, file_name) = match file {
            None => (toml::Table::new(), String::new()),
            Some(path) => {
                let name = path.display().to_string();
                let text = std::fs::read_to_string(path)
                    .map_err(|error| ConfigError::new(&name, format!("cannot be read: {error}")))?;
                let table = text
                    .parse()
                    .map_err(|error| ConfigError::new(&name, not_toml(&text, &error)))?;
                (table, name)
            }
        };
        let layers = Self { file, file_name, env };
        layers.refuse_unknown_keys()?;
        Ok(layers)
    }

    /// `None` when it is not set anywhere. An empty variable counts as not set, as Compose files leave them behind.
    pub(super) fn get(&self, name: &'static str) -> Result<Option<Given>, ConfigError> {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
            return Err(ConfigError::new(name, "is not in the table of settings"));
        };
        let from_env = self.variable(name);
        if setting.secret {
            return self.secret(setting, from_env);
        }
        if let Some(text) = from_env {
            let place = name.to_owned();
            return Ok(Some(Given { text, place }));
        }
        self.in_file(setting)
    }

    /// The free tables, as they stand in the file.
    pub(super) fn table(&self, name: &str) -> Option<&toml::Value> {
        self.file.get(name)
    }

    /// A variable of the environment; an empty one counts as not set.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        (self.env)(name)
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
    }

    fn secret(&self, setting: &Setting, from_env: Option<String>) -> Result<Option<Given>, ConfigError> {
        let file_variable = format!("{}_FILE", setting.name);
        let (text, place) = match (from_env, self.variable(&file_variable)) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => {
                return Err(ConfigError::new(
                    setting.name,
                    format!("is set twice: drop it, or drop {file_variable}"),
                ));
            }
            (Some(text), None) => (text, setting.name.to_owned()),
            (None, Some(path)) => match std::fs::read_to_string(&path) {
                Ok(text) => (text.trim().to_owned(), file_variable),
                Err(error) => return Err(ConfigError::new(file_variable, format!("cannot be read: {error}"))),
            },
        };
        if text.is_empty() {
            return Err(ConfigError::new(place, "names an empty file"));
        }
        Ok(Some(Given { text, place }))
    }

    fn in_file(&self, setting: &Setting) -> Result<Option<Given>, ConfigError> {
        let value = match setting.table {
            "" => self.file.get(setting.key),
            table => self.file.get(table).and_then(|table| table.get(setting.key)),
        };
        let Some(value) = value else { return Ok(None) };
        let place = self.place(setting.table, setting.key);
        let Some(text) = as_text(value) else {
            return Err(ConfigError::new(
                place,
                "is a table or a date where text, a number or a list is wanted",
            ));
        };
        let text = text.trim().to_owned();
        // An empty list is an answer (nobody); empty text is a slip, and must not count as "not set", which for the team
        // would mean everybody.
        if text.is_empty() && !value.is_array() {
            return Err(ConfigError::new(
                place,
                "is empty: leave the line out if it is not meant to be set",
            ));
        }
        Ok(Some(Given { text, place }))
    }

    fn refuse_unknown_keys(&self) -> Result<(), ConfigError> {
        for (key, value) in &self.file {
            if FREE_TABLES.contains(&key.as_str()) {
                continue;
            }
            match value.as_table() {
                Some(inner) if SETTINGS.iter().any(|setting| setting.table == key) => {
                    for inner_key in inner.keys() {
                        self.refuse_unless_open(key, inner_key)?;
                    }
                }
                Some(_) | None => self.refuse_unless_open("", key)?,
            }
        }
        Ok(())
    }

    fn refuse_unless_open(&self, table: &str, key: &str) -> Result<(), ConfigError> {
        let place = self.place(table, key);
        match in_file(table, key) {
            Some(setting) if setting.secret => {
                let name = setting.name;
                Err(ConfigError::new(
                    place,
                    format!(
                        "is a secret and does not belong in the file: set {name} or {name}_FILE in the environment"
                    ),
                ))
            }
            Some(_) => Ok(()),
            None => Err(ConfigError::unknown(place, nearest_key(table, key))),
        }
    }

    /// `slack.channel in deskhand.toml`
    pub(super) fn place(&self, table: &str, key: &str) -> String {
        let dot = if table.is_empty() { "" } else { "." };
        format!("{table}{dot}{key} in {}", self.file_name)
    }
}

/// Lists become what the environment would hold: their entries with commas between them.
pub(super) fn as_text(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Boolean(yes) => Some(yes.to_string()),
        toml::Value::Array(items) => items
            .iter()
            .map(as_text)
            .collect::<Option<Vec<_>>>()
            .map(|list| list.join(",")),
        toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}

fn not_toml(text: &str, error: &toml::de::Error) -> String {
    let at = error.span().map_or(0, |span| span.start).min(text.len());
    let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
    format!("is not TOML in line {line}: {}", error.message())
}
