//! The tool servers of `deskhand.toml`: `[mcp.NAME]`, and what their tools may do: `[mcp.NAME.tools]`.
//!
//! Secrets stay in the environment; the file names the variables that a server is given.

use std::collections::BTreeMap;
use std::time::Duration;

use deskhand_adapters::mcp::{RESTARTS, Reach, Server};
use deskhand_core::near;
use deskhand_core::tool::outside::Rule;
use secrecy::SecretString;
use toml::Value;

use super::layers::{Layers, as_text};
use super::tables::entries;
use super::{ConfigError, value};

const KEYS: &[&str] = &[
    "args",
    "command",
    "env",
    "rule",
    "timeout",
    "token",
    "tools",
    "trust_hints",
    "url",
];
const RULES: &[&str] = &["allow", "ask", "deny"];

pub(super) fn servers(layers: &Layers<'_>) -> Result<Vec<Server>, ConfigError> {
    let mut servers = Vec::new();
    for (name, value) in entries(layers, "mcp")? {
        if !is_name(name) {
            let why = "is not a tool server's name: at most 24 letters, digits, dashes and single underscores inside";
            return Err(ConfigError::new(layers.place("mcp", name), why));
        }
        let Some(table) = value.as_table() else {
            return Err(ConfigError::new(
                layers.place("mcp", name),
                "is not a table with command or url",
            ));
        };
        let given = Given { layers, name, table };
        servers.push(given.server()?);
    }
    Ok(servers)
}

/// Two underscores part it from the tool's name, so it holds none.
fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    (1..=24).contains(&name.len())
        && name.bytes().all(plain)
        && !name.contains("__")
        && !name.starts_with('_')
        && !name.ends_with('_')
}

/// The table of one server.
struct Given<'a> {
    layers: &'a Layers<'a>,
    name: &'a str,
    table: &'a toml::Table,
}

impl Given<'_> {
    fn server(&self) -> Result<Server, ConfigError> {
        for key in self.table.keys() {
            if !KEYS.contains(&key.as_str()) {
                return Err(ConfigError::unknown(self.place(key), near::nearest(key, KEYS)));
            }
        }
        let timeout = match self.text("timeout")? {
            Some(text) => value::some_time(&text).map_err(|why| self.wrong("timeout", why))?,
            None => Duration::from_secs(60),
        };
        let rule = match self.text("rule")? {
            Some(text) => value::word(&text, RULES).map_err(|why| self.wrong("rule", why))?,
            None => Rule::Ask,
        };
        let trust_hints = match self.table.get("trust_hints") {
            Some(Value::Boolean(yes)) => *yes,
            Some(_) => return Err(self.wrong("trust_hints", "is neither true nor false")),
            None => false,
        };
        Ok(Server {
            name: self.name.to_owned(),
            reach: self.reach()?,
            timeout,
            rule,
            trust_hints,
            rules: self.rules()?,
            restarts: RESTARTS,
        })
    }

    fn reach(&self) -> Result<Reach, ConfigError> {
        let refuse = |key: &str, other: &str| match self.table.contains_key(key) {
            true => Err(self.wrong(key, format!("does not go with {other}"))),
            false => Ok(()),
        };
        match (self.text("command")?, self.text("url")?) {
            (Some(command), None) => {
                refuse("token", "command")?;
                let (args, env) = (self.args()?, self.env()?);
                Ok(Reach::Child { command, args, env })
            }
            (None, Some(url)) => {
                refuse("args", "url")?;
                refuse("env", "url")?;
                let url = value::url(&url).map_err(|why| self.wrong("url", why))?;
                let token = match self.text("token")? {
                    Some(variable) => Some(self.variable("token", &variable)?),
                    None => None,
                };
                Ok(Reach::Http { url, token })
            }
            (Some(_), Some(_)) => Err(self.wrong("url", "does not go with command: a server has one of them")),
            (None, None) => Err(self.wrong("command", "is missing: a server has command or url")),
        }
    }

    fn args(&self) -> Result<Vec<String>, ConfigError> {
        let all = self.list("args", "is not a list of arguments like [\"--stdio\"]")?;
        Ok(all.unwrap_or_default())
    }

    /// A list of variables that are passed on as they are, or a table of the server's names and ours.
    fn env(&self) -> Result<Vec<(String, SecretString)>, ConfigError> {
        let wrong = "is not a list of names of variables, like [\"SHOP_TOKEN\"]";
        let pairs: Vec<(String, String)> = match self.table.get("env") {
            Some(Value::Table(table)) => {
                let pair = |(theirs, ours): (&String, &Value)| Some((theirs.clone(), ours.as_str()?.to_owned()));
                let pairs = table.iter().map(pair).collect::<Option<_>>();
                pairs.ok_or_else(|| self.wrong("env", "has a value that is not the name of a variable"))?
            }
            Some(_) | None => {
                let names = self.list("env", wrong)?.unwrap_or_default();
                names.into_iter().map(|name| (name.clone(), name)).collect()
            }
        };
        let pairs = pairs.into_iter();
        pairs
            .map(|(theirs, ours)| Ok((theirs, self.variable("env", &ours)?)))
            .collect()
    }

    fn rules(&self) -> Result<BTreeMap<String, Rule>, ConfigError> {
        let table = match self.table.get("tools") {
            None => return Ok(BTreeMap::new()),
            Some(Value::Table(table)) => table,
            Some(_) => return Err(self.wrong("tools", "is not a table of tools with allow, ask or deny")),
        };
        let rule = |(tool, rule): (&String, &Value)| {
            let text = as_text(rule).unwrap_or_default();
            match value::word(&text, RULES) {
                Ok(rule) => Ok((tool.clone(), rule)),
                Err(why) => Err(self.wrong(&format!("tools.{tool}"), why)),
            }
        };
        table.iter().map(rule).collect()
    }

    /// What a variable of our environment holds. Its value is never part of a message, nor is a name that looks like one.
    fn variable(&self, key: &str, name: &str) -> Result<SecretString, ConfigError> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        if name.is_empty() || !name.bytes().all(plain) {
            let why = "has to name a variable of the environment; the value itself does not belong in the file";
            return Err(self.wrong(key, why));
        }
        match self.layers.variable(name) {
            Some(value) => Ok(value.into()),
            // Not even the name: it may be a token that somebody put there.
            None => Err(self.wrong(key, "names a variable that is not set in the environment")),
        }
    }

    fn text(&self, key: &str) -> Result<Option<String>, ConfigError> {
        match self.table.get(key).map(as_text) {
            None => Ok(None),
            Some(Some(text)) if !text.trim().is_empty() => Ok(Some(text.trim().to_owned())),
            Some(Some(_)) => Err(self.wrong(key, "is empty")),
            Some(None) => Err(self.wrong(key, "is not a text")),
        }
    }

    fn list(&self, key: &str, wrong: &str) -> Result<Option<Vec<String>>, ConfigError> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        let items = value
            .as_array()
            .and_then(|items| items.iter().map(as_text).collect::<Option<_>>());
        items.map(Some).ok_or_else(|| self.wrong(key, wrong))
    }

    fn place(&self, key: &str) -> String {
        self.layers.place(&format!("mcp.{}", self.name), key)
    }

    fn wrong(&self, key: &str, why: impl Into<String>) -> ConfigError {
        ConfigError::new(self.place(key), why)
    }
}

#[cfg(test)]
mod tests;
