//! Settings: `deskhand.toml`, overlaid by the environment; secrets only from the environment or from files it names.
//!
//! Everything is read and judged once, at start; a wrong setting is one sentence that names it. What cannot be known
//! without asking a service (is the token valid, does the channel exist) is `doctor`'s to find out.

mod layers;
mod mail;
mod servers;
mod service;
mod setting;
mod tables;
mod value;

pub use mail::MailConfig;
pub use service::{DiscordConfig, ProviderConfig, SlackConfig, ZendeskConfig};
pub use setting::{SETTINGS, Setting, misspelt};
pub use tables::{ApprovalRule, Category};
pub use value::ModelChoice;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use deskhand_adapters::mcp;
use deskhand_core::budget::Prices;
use deskhand_core::roster::Who;
use deskhand_core::ticket::{Mode, Source};
use layers::Layers;
use secrecy::SecretString;
use url::Url;

#[derive(Clone, Debug)]
pub struct Config {
    /// `None`: an embedded Postgres under `data`.
    pub database_url: Option<SecretString>,
    pub data: PathBuf,
    /// Where the server programs of the embedded Postgres are; `None` searches the usual places.
    pub pg_bin: Option<PathBuf>,
    pub addr: SocketAddr,
    /// How people reach the console, for links on cards.
    pub public_url: Option<Url>,
    /// Stands in every button: other deployments' clicks are left alone.
    pub deployment: String,
    pub log_format: LogFormat,
    pub model: ModelChoice,
    /// What takes over when the model's provider is down, in order; after the last one a person.
    pub fallback: Vec<ModelChoice>,
    pub mode: Mode,
    /// How many runs this process works on at the same time.
    pub runners: usize,
    pub skills: PathBuf,
    /// `None`: the API takes no tickets and shows none.
    pub api_token: Option<SecretString>,
    /// Empty: nobody may decide.
    pub approvers: Vec<Who>,
    /// `None`: all full members of the connected workspace.
    pub team: Option<Vec<Who>>,
    /// Empty: nobody but the terminal on the bot's own host.
    pub admins: Vec<Who>,
    pub limits: Limits,
    pub slack: Option<SlackConfig>,
    pub discord: Option<DiscordConfig>,
    pub zendesk: Option<ZendeskConfig>,
    pub mail: MailConfig,
    pub anthropic: ProviderConfig,
    pub openai: ProviderConfig,
    /// Servers whose tools the model is offered.
    pub mcp: Vec<mcp::Server>,
    /// What a million tokens cost, by the model's whole name.
    pub prices: Arc<Prices>,
    /// By the tool that an action comes from.
    pub approvals: BTreeMap<String, ApprovalRule>,
    pub categories: BTreeMap<String, Category>,
    /// Name and what it does.
    pub teams: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

impl std::str::FromStr for LogFormat {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Replies of the model in one run.
    pub max_steps: u32,
    /// Tokens of one run, in and out.
    pub max_tokens: u64,
    /// Cost of one run, in millionths of the price table's currency.
    pub max_cost: Option<u64>,
    /// Tokens and cost of all runs from midnight to midnight, UTC.
    pub day_tokens: Option<u64>,
    pub day_cost: Option<u64>,
    /// A request that is longer is shortened by a summary of its older turns, in tokens.
    pub compact_above: u64,
    /// A tool's result that is longer is shown with head and tail, in characters.
    pub max_tool_result: usize,
    /// How long a ticket is left alone after a comment, so that a burst becomes one run.
    pub quiet_time: Duration,
    /// How long a runner may be silent before its run is given to another one.
    pub lease: Duration,
    /// `None`: approvals do not expire.
    pub approval_expiry: Option<Duration>,
}

/// What is wrong with the settings, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Its name in the environment, or its key and the file.
    pub setting: String,
    pub why: String,
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}.", self.setting, self.why)
    }
}

impl std::error::Error for ConfigError {}

impl ConfigError {
    fn new(setting: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            setting: setting.into(),
            why: why.into(),
        }
    }

    fn unknown(place: String, meant: Option<&str>) -> Self {
        let meant = meant.map(|key| format!(" (did you mean {key}?)")).unwrap_or_default();
        Self::new(place, format!("is not a setting{meant}"))
    }
}

/// Who decides one action and until when, with the general settings filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApprovalRoute<'a> {
    /// Empty: nobody.
    pub approvers: &'a [Who],
    /// `None`: never.
    pub expires: Option<Duration>,
}

impl Config {
    /// Reads `file`, if there is one, and what `env` says above it.
    pub fn load(file: Option<&Path>, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let layers = Layers::read(file, env)?;
        let l = &layers;
        let teams = tables::teams(l)?;
        let config = Self {
            database_url: secret(l, "DATABASE_URL")?,
            data: path(l, "DESKHAND_DATA")?.unwrap_or_else(|| ".deskhand".into()),
            pg_bin: path(l, "DESKHAND_PG_BIN")?,
            addr: optional(l, "DESKHAND_ADDR", address)?.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 8787))),
            public_url: optional(l, "DESKHAND_PUBLIC_URL", value::url)?,
            deployment: optional(l, "DESKHAND_DEPLOYMENT", value::deployment)?.unwrap_or_else(|| "deskhand".into()),
            log_format: optional(l, "DESKHAND_LOG_FORMAT", |text| value::word(text, &["text", "json"]))?
                .unwrap_or(LogFormat::Text),
            model: optional(l, "DESKHAND_MODEL", str::parse)?.unwrap_or(ModelChoice::Offline),
            fallback: optional(l, "DESKHAND_FALLBACK", value::models)?.unwrap_or_else(|| vec![ModelChoice::Offline]),
            mode: optional(l, "DESKHAND_MODE", |text| value::word(text, &["shadow", "ask", "auto"]))?
                .unwrap_or(Mode::Ask),
            runners: whole_number(l, "DESKHAND_RUNNERS", 1, 256)?.unwrap_or(4),
            skills: path(l, "DESKHAND_SKILLS")?.unwrap_or_else(|| "skills".into()),
            api_token: secret(l, "DESKHAND_API_TOKEN")?,
            approvers: optional(l, "DESKHAND_APPROVERS", value::people)?.unwrap_or_default(),
            team: optional(l, "DESKHAND_TEAM", value::people)?,
            admins: optional(l, "DESKHAND_ADMINS", value::people)?.unwrap_or_default(),
            limits: Limits {
                max_steps: whole_number(l, "DESKHAND_MAX_STEPS", 1, 1000)?.unwrap_or(40),
                max_tokens: whole_number(l, "DESKHAND_MAX_TOKENS", 1000, 1_000_000_000)?.unwrap_or(1_000_000),
                max_cost: optional(l, "DESKHAND_MAX_COST", value::money)?,
                day_tokens: whole_number(l, "DESKHAND_DAY_TOKENS", 1000, 1_000_000_000_000)?,
                day_cost: optional(l, "DESKHAND_DAY_COST", value::money)?,
                compact_above: whole_number(l, "DESKHAND_COMPACT_ABOVE", 8000, 10_000_000)?.unwrap_or(60_000),
                max_tool_result: whole_number(l, "DESKHAND_MAX_TOOL_RESULT", 1000, 1_000_000)?.unwrap_or(12_000),
                quiet_time: optional(l, "DESKHAND_QUIET_TIME", value::duration)?.unwrap_or(Duration::from_secs(5)),
                lease: optional(l, "DESKHAND_LEASE", value::some_time)?.unwrap_or(Duration::from_secs(60)),
                approval_expiry: optional(l, "DESKHAND_APPROVAL_EXPIRY", value::expiry)?
                    .unwrap_or(Some(Duration::from_secs(72 * 60 * 60))),
            },
            slack: service::slack(l)?,
            discord: service::discord(l)?,
            zendesk: service::zendesk(l)?,
            mail: mail::mail(l)?,
            anthropic: service::anthropic(l)?,
            openai: service::openai(l)?,
            mcp: servers::servers(l)?,
            prices: Arc::new(tables::prices(l)?),
            approvals: tables::approvals(l)?,
            categories: tables::categories(l, &teams)?,
            teams,
        };
        config.refuse_model_without_key()?;
        config.refuse_cards_before_customers()?;
        Ok(config)
    }

    /// What goes for an action, by the tool that it comes from.
    pub fn route(&self, tool: &str) -> ApprovalRoute<'_> {
        let rule = self.approvals.get(tool);
        ApprovalRoute {
            approvers: rule
                .and_then(|rule| rule.approvers.as_deref())
                .unwrap_or(&self.approvers),
            expires: rule
                .and_then(|rule| rule.expires)
                .unwrap_or(self.limits.approval_expiry),
        }
    }

    /// Where the cards of an action are shown, by the tool that it comes from: `slack:C024BE91L`, `discord:645027906669510660`.
    pub fn card_lanes(&self, tool: &str) -> Vec<String> {
        match self.approvals.get(tool).and_then(|rule| rule.channel.as_deref()) {
            Some(channels) => channels.split(',').map(lane).collect(),
            None => self.home_lanes(),
        }
    }

    /// Where tickets have their headers, and lines for the team go: in each chat that has a channel.
    pub fn home_lanes(&self) -> Vec<String> {
        let slack = self.slack.as_ref().and_then(|slack| slack.channel.as_deref());
        let discord = self.discord.as_ref().and_then(|discord| discord.channel.as_deref());
        let slack = slack.map(|channel| format!("slack:{channel}"));
        slack
            .into_iter()
            .chain(discord.map(|channel| format!("discord:{channel}")))
            .collect()
    }

    /// Whether customers' posts in one of these channels become tickets.
    pub fn watches(&self, source: Source, channels: [&str; 2]) -> bool {
        let watched = match source {
            Source::Slack => self.slack.as_ref().map(|slack| &slack.watch),
            Source::Discord => self.discord.as_ref().map(|discord| &discord.watch),
            Source::Zendesk | Source::Email | Source::Api => None,
        };
        watched.is_some_and(|watched| watched.iter().any(|channel| channels.contains(&channel.as_str())))
    }

    /// Whether it is the team's own room: cards and headers go there.
    pub fn is_the_teams(&self, source: Source, channels: [&str; 2]) -> bool {
        let mut lanes = self.home_lanes();
        let others = self.approvals.values().filter_map(|rule| rule.channel.as_deref());
        lanes.extend(others.flat_map(|channels| channels.split(',').map(lane)));
        lanes.iter().any(|lane| {
            lane.split_once(':')
                .is_some_and(|(chat, id)| chat == source.as_str() && channels.contains(&id))
        })
    }

    /// Settings that are allowed and most likely not meant, a sentence each.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let key = self.anthropic.api_key.is_some() || self.openai.api_key.is_some();
        if self.model == ModelChoice::Offline && key {
            remarks.push(
                "A provider's key is set, but DESKHAND_MODEL names no model of it: the offline model works.".into(),
            );
        }
        let priced =
            |model: &ModelChoice| *model == ModelChoice::Offline || self.prices.contains_key(&model.to_string());
        if (self.limits.max_cost.is_some() || self.limits.day_cost.is_some()) && !priced(&self.model) {
            let model = &self.model;
            remarks.push(format!(
                "A ceiling of cost is set, but [prices] has no \"{model}\": its requests count as free."
            ));
        }
        if self.approvers.is_empty() && self.approvals.values().all(|rule| rule.approvers.is_none()) {
            remarks.push("DESKHAND_APPROVERS is empty: nobody may decide, and everything that asks will wait.".into());
        }
        if self.mail.comes_in() && self.mail.addresses.is_empty() {
            remarks.push(
                "Mail comes in, but MAIL_FROM is not set: our own mail is not recognised when it comes back.".into(),
            );
        }
        if self.slack.as_ref().is_some_and(|slack| slack.channel.is_none()) {
            remarks.push("SLACK_CHANNEL is not set: cards have no place in Slack.".into());
        }
        if self.discord.as_ref().is_some_and(|discord| discord.channel.is_none()) {
            remarks.push("DISCORD_CHANNEL is not set: cards have no place in Discord.".into());
        }
        remarks
    }

    /// Cards show what customers must not read.
    fn refuse_cards_before_customers(&self) -> Result<(), ConfigError> {
        let watched = |name, source, watch: Option<&Vec<String>>| match watch
            .into_iter()
            .flatten()
            .find(|channel| self.is_the_teams(source, [channel, channel]))
        {
            None => Ok(()),
            Some(channel) => {
                let why = format!("names {channel}, where cards go: customers would read along");
                Err(ConfigError::new(name, why))
            }
        };
        watched(
            "SLACK_WATCH",
            Source::Slack,
            self.slack.as_ref().map(|slack| &slack.watch),
        )?;
        let discord = self.discord.as_ref().map(|discord| &discord.watch);
        watched("DISCORD_WATCH", Source::Discord, discord)
    }

    fn refuse_model_without_key(&self) -> Result<(), ConfigError> {
        for model in &self.fallback {
            self.refuse_without_key("DESKHAND_FALLBACK", model)?;
        }
        self.refuse_without_key("DESKHAND_MODEL", &self.model)
    }

    fn refuse_without_key(&self, setting: &str, model: &ModelChoice) -> Result<(), ConfigError> {
        let needs = |name: &str, more: &str| {
            let why = format!("is {model}, but {name} is not set{more}");
            Err(ConfigError::new(setting, why))
        };
        match model {
            ModelChoice::Anthropic(_) if self.anthropic.api_key.is_none() => needs("ANTHROPIC_API_KEY", ""),
            ModelChoice::OpenAi(_) if self.openai.api_key.is_none() && self.openai.base_url == service::OPENAI => {
                needs(
                    "OPENAI_API_KEY",
                    " (for a server that wants no key set OPENAI_BASE_URL)",
                )
            }
            ModelChoice::Offline | ModelChoice::Anthropic(_) | ModelChoice::OpenAi(_) => Ok(()),
        }
    }
}

/// A channel as a rule writes it: Discord's ids are numbers, Slack's are not, and either may be named.
fn lane(channel: &str) -> String {
    let channel = channel.trim();
    match channel.split_once(':') {
        Some((chat, id)) => format!("{}:{}", chat.trim().to_ascii_lowercase(), id.trim()),
        None if channel.bytes().all(|b| b.is_ascii_digit()) => format!("discord:{channel}"),
        None => format!("slack:{channel}"),
    }
}

fn optional<T>(
    layers: &Layers<'_>,
    name: &'static str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, ConfigError> {
    let Some(given) = layers.get(name)? else {
        return Ok(None);
    };
    parse(&given.text)
        .map(Some)
        .map_err(|why| ConfigError::new(given.place, why))
}

/// Never parsed, so that no message can show it.
fn secret(layers: &Layers<'_>, name: &'static str) -> Result<Option<SecretString>, ConfigError> {
    Ok(layers.get(name)?.map(|given| given.text.into()))
}

fn path(layers: &Layers<'_>, name: &'static str) -> Result<Option<PathBuf>, ConfigError> {
    optional(layers, name, |text| Ok(text.into()))
}

fn whole_number<T: TryFrom<u64>>(
    layers: &Layers<'_>,
    name: &'static str,
    least: u64,
    most: u64,
) -> Result<Option<T>, ConfigError> {
    optional(layers, name, |text| {
        let number = value::number(text, least, most)?;
        T::try_from(number).map_err(|_| value::not(text, "a number that fits", None))
    })
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| value::not(text, "an address and port like 127.0.0.1:8787", None))
}

#[cfg(test)]
mod tests;
