//! Settings of outside services. A service is connected whole or not at all: half of it is a slip that would show only
//! when the first customer waits.

use secrecy::SecretString;
use url::Url;

use super::layers::Layers;
use super::{ConfigError, optional, secret, value};

#[derive(Clone, Debug)]
pub struct SlackConfig {
    pub bot_token: SecretString,
    pub signing_secret: SecretString,
    /// Only for Socket Mode.
    pub app_token: Option<SecretString>,
    /// Where cards go unless their action names another place; without one only those can be shown.
    pub channel: Option<String>,
    /// Channels in which customers write: what they post there becomes tickets.
    pub watch: Vec<String>,
    /// Without a slash at the end.
    pub api_url: String,
}

#[derive(Clone, Debug)]
pub struct DiscordConfig {
    pub bot_token: SecretString,
    /// 64 hex digits; checks what comes to the interactions address. `None`: everything comes by the gateway.
    pub public_key: Option<String>,
    /// Whether the gateway is listened to.
    pub gateway: bool,
    pub application_id: String,
    /// Where cards go unless their action names another place; its server is the one whose people are heard.
    pub channel: Option<String>,
    /// Channels in which customers write, forums too: what they post there becomes tickets.
    pub watch: Vec<String>,
    /// With the version, without a slash at the end.
    pub api_url: String,
}

#[derive(Clone, Debug)]
pub struct ZendeskConfig {
    pub url: Url,
    /// The account that the bot acts as.
    pub email: String,
    pub api_token: SecretString,
    pub webhook_secret: SecretString,
}

/// A provider of models.
#[derive(Clone, Debug)]
pub struct ProviderConfig {
    /// `None` for local servers without keys.
    pub api_key: Option<SecretString>,
    /// Without a slash at the end.
    pub base_url: String,
}

pub(super) fn slack(layers: &Layers<'_>) -> Result<Option<SlackConfig>, ConfigError> {
    const NEEDED: &[&str] = &["SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET"];
    if !whole(
        layers,
        "Slack",
        NEEDED,
        &["SLACK_APP_TOKEN", "SLACK_CHANNEL", "SLACK_WATCH"],
    )? {
        return Ok(None);
    }
    Ok(Some(SlackConfig {
        bot_token: required(layers, "SLACK_BOT_TOKEN")?,
        signing_secret: required(layers, "SLACK_SIGNING_SECRET")?,
        app_token: secret(layers, "SLACK_APP_TOKEN")?,
        channel: optional(layers, "SLACK_CHANNEL", |text| Ok(text.to_owned()))?,
        watch: optional(layers, "SLACK_WATCH", |text| channels(text, slack_channel))?.unwrap_or_default(),
        api_url: base(layers, "SLACK_API_URL", "https://slack.com/api")?,
    }))
}

pub(super) fn discord(layers: &Layers<'_>) -> Result<Option<DiscordConfig>, ConfigError> {
    const NEEDED: &[&str] = &["DISCORD_BOT_TOKEN", "DISCORD_APPLICATION_ID"];
    const BESIDES: &[&str] = &[
        "DISCORD_PUBLIC_KEY",
        "DISCORD_CHANNEL",
        "DISCORD_WATCH",
        "DISCORD_GATEWAY",
    ];
    if !whole(layers, "Discord", NEEDED, BESIDES)? {
        return Ok(None);
    }
    let missing = |name: &str| ConfigError::new(name, "is not set");
    let id = "DISCORD_APPLICATION_ID";
    let key = optional(layers, "DISCORD_PUBLIC_KEY", public_key)?;
    let watch = optional(layers, "DISCORD_WATCH", |text| channels(text, snowflake))?.unwrap_or_default();
    let gateway = optional(layers, "DISCORD_GATEWAY", on_or_off)?;
    let why = "is off, but only the gateway tells what is written in the channels of DISCORD_WATCH";
    match (gateway, &key) {
        (Some(false), _) if !watch.is_empty() => return Err(ConfigError::new("DISCORD_GATEWAY", why)),
        (Some(false), None) => {
            let why = "is off, so clicks must come over HTTP, and DISCORD_PUBLIC_KEY is not set to check them";
            return Err(ConfigError::new("DISCORD_GATEWAY", why));
        }
        (Some(_) | None, _) => {}
    }
    Ok(Some(DiscordConfig {
        bot_token: required(layers, "DISCORD_BOT_TOKEN")?,
        gateway: gateway.unwrap_or(key.is_none() || !watch.is_empty()),
        public_key: key,
        application_id: optional(layers, id, snowflake)?.ok_or_else(|| missing(id))?,
        channel: optional(layers, "DISCORD_CHANNEL", snowflake)?,
        watch,
        api_url: base(layers, "DISCORD_API_URL", "https://discord.com/api/v10")?,
    }))
}

fn on_or_off(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => Err(value::not(text, "on or off", None)),
    }
}

fn public_key(text: &str) -> Result<String, String> {
    match text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err(value::not(
            text,
            "a public key: 64 hex digits, as the developer portal shows them",
            None,
        )),
    }
}

/// Discord's ids.
fn snowflake(text: &str) -> Result<String, String> {
    match !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        true => Ok(text.to_owned()),
        false => Err(value::not(text, "a Discord id: a long number", None)),
    }
}

/// A list of channels, each once.
fn channels(text: &str, one: fn(&str) -> Result<String, String>) -> Result<Vec<String>, String> {
    let entries = text.split([',', ' ', '\n', '\t']).filter(|entry| !entry.is_empty());
    let mut channels = entries.map(one).collect::<Result<Vec<_>, _>>()?;
    channels.sort();
    channels.dedup();
    Ok(channels)
}

/// Events name a channel by its id, never by its name.
fn slack_channel(text: &str) -> Result<String, String> {
    let id = text.len() > 5
        && text.starts_with(['C', 'G'])
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    match id {
        true => Ok(text.to_owned()),
        false => Err(value::not(
            text,
            "the id of a Slack channel, like C024BE7LR: the channel's details show it",
            None,
        )),
    }
}

pub(super) fn zendesk(layers: &Layers<'_>) -> Result<Option<ZendeskConfig>, ConfigError> {
    const NEEDED: &[&str] = &[
        "ZENDESK_URL",
        "ZENDESK_EMAIL",
        "ZENDESK_API_TOKEN",
        "ZENDESK_WEBHOOK_SECRET",
    ];
    if !whole(layers, "Zendesk", NEEDED, &[])? {
        return Ok(None);
    }
    let missing = |name: &str| ConfigError::new(name, "is not set");
    Ok(Some(ZendeskConfig {
        url: optional(layers, "ZENDESK_URL", value::url)?.ok_or_else(|| missing("ZENDESK_URL"))?,
        email: optional(layers, "ZENDESK_EMAIL", email)?.ok_or_else(|| missing("ZENDESK_EMAIL"))?,
        api_token: required(layers, "ZENDESK_API_TOKEN")?,
        webhook_secret: required(layers, "ZENDESK_WEBHOOK_SECRET")?,
    }))
}

pub(super) fn anthropic(layers: &Layers<'_>) -> Result<ProviderConfig, ConfigError> {
    Ok(ProviderConfig {
        api_key: secret(layers, "ANTHROPIC_API_KEY")?,
        base_url: base(layers, "ANTHROPIC_BASE_URL", "https://api.anthropic.com")?,
    })
}

pub(super) fn openai(layers: &Layers<'_>) -> Result<ProviderConfig, ConfigError> {
    Ok(ProviderConfig {
        api_key: secret(layers, "OPENAI_API_KEY")?,
        base_url: base(layers, "OPENAI_BASE_URL", OPENAI)?,
    })
}

/// The public service, which answers nobody without a key.
pub(super) const OPENAI: &str = "https://api.openai.com/v1";

/// Whether all of `needed` are set; an error when only some are, or when `besides` are set without them.
pub(super) fn whole(
    layers: &Layers<'_>,
    service: &str,
    needed: &[&'static str],
    besides: &[&'static str],
) -> Result<bool, ConfigError> {
    let mut set = Vec::new();
    let mut missing = Vec::new();
    for name in needed {
        match layers.get(name)? {
            Some(_) => set.push(*name),
            None => missing.push(*name),
        }
    }
    for name in besides {
        if layers.get(name)?.is_some() {
            set.push(name);
        }
    }
    match (set.first(), missing.is_empty()) {
        (None, _) => Ok(false),
        (Some(_), true) => Ok(true),
        (Some(name), false) => {
            let why = format!("is set, but {service} also needs {}", missing.join(" and "));
            Err(ConfigError::new(*name, why))
        }
    }
}

pub(super) fn required(layers: &Layers<'_>, name: &'static str) -> Result<SecretString, ConfigError> {
    secret(layers, name)?.ok_or_else(|| ConfigError::new(name, "is not set"))
}

pub(super) fn base(layers: &Layers<'_>, name: &'static str, default: &str) -> Result<String, ConfigError> {
    let url = optional(layers, name, value::url)?;
    Ok(url.map_or_else(
        || default.to_owned(),
        |url| url.as_str().trim_end_matches('/').to_owned(),
    ))
}

fn email(text: &str) -> Result<String, String> {
    match text.split_once('@') {
        Some((_, host)) if text.ends_with("/token") || host.contains('/') => {
            Err("ends in /token, which Deskhand adds itself: give the address alone".to_owned())
        }
        Some((name, host)) if !name.is_empty() && !host.is_empty() => Ok(text.to_owned()),
        _ => Err(value::not(text, "an e-mail address", None)),
    }
}
