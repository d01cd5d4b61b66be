//! The real outside, from the settings: model, chat, desks, tool servers.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context;
use deskhand_adapters::discord::{self, DiscordChat};
use deskhand_adapters::email::out::{Post, Provider, Smtp};
use deskhand_adapters::llm::{Anthropic, AnthropicConfig, Limits, Offline, OpenAi, OpenAiConfig};
use deskhand_adapters::mcp::Servers;
use deskhand_adapters::slack::{self, SlackChat};
use deskhand_adapters::zendesk::{Zendesk, ZendeskConfig};
use deskhand_core::offline::{self, Category};
use deskhand_core::port::{Desk, Model, Tools};
use deskhand_core::ticket::Source;
use secrecy::ExposeSecret;
use url::Url;

use crate::app::{App, Outside};
use crate::clock::Clock;
use crate::config::{Config, DiscordConfig, ModelChoice};
use crate::models::Make;

/// Clients for everything that the settings name. Nothing is called yet.
pub fn connect(config: &Config, clock: &Clock) -> anyhow::Result<Outside> {
    let offline: Arc<dyn Model> = Arc::new(Offline::new(offline_model(config)));
    let make = |config: &Config, offline: &Arc<dyn Model>, choice: &ModelChoice| match choice {
        ModelChoice::Offline => Ok(Arc::clone(offline)),
        ModelChoice::Anthropic(name) => anthropic(config, name),
        ModelChoice::OpenAi(name) => openai(config, name),
    };
    let model = make(config, &offline, &config.model)?;
    let substitutes = config
        .fallback
        .iter()
        .map(|choice| make(config, &offline, choice))
        .collect::<anyhow::Result<_>>()?;
    let make_model: Make = {
        let config = config.clone();
        Arc::new(move |name| {
            let choice: ModelChoice = name.parse().map_err(|why| anyhow::anyhow!("The model {why}."))?;
            make(&config, &offline, &choice)
        })
    };
    let slack = config.slack.as_ref().map(|slack| {
        let mut settings = slack::Settings::new(slack.bot_token.clone());
        settings.api_url.clone_from(&slack.api_url);
        Arc::new(SlackChat::new(&settings))
    });
    let discord = config.discord.as_ref().map(discord).transpose()?;
    let mut desks: BTreeMap<Source, Arc<dyn Desk>> = BTreeMap::new();
    if let Some(zendesk) = &config.zendesk {
        let mut settings = ZendeskConfig::new(zendesk.url.clone(), zendesk.email.clone(), zendesk.api_token.clone());
        let clock = clock.clone();
        settings.clock = Arc::new(move || clock.now());
        let desk = Zendesk::new(settings).map_err(|error| anyhow::anyhow!("ZENDESK_URL: {error}"))?;
        desks.insert(Source::Zendesk, Arc::new(desk));
    }
    if let Some(slack) = &slack {
        desks.insert(Source::Slack, Arc::clone(slack) as Arc<dyn Desk>);
    }
    if let Some(discord) = &discord {
        desks.insert(Source::Discord, Arc::clone(discord) as Arc<dyn Desk>);
    }
    Ok(Outside {
        model,
        substitutes,
        make_model,
        slack,
        discord,
        desks,
        post: post(config)?,
        tools: tools(config),
    })
}

/// By whom mail goes out; nobody is called yet.
pub fn post(config: &Config) -> anyhow::Result<Option<Arc<dyn Post>>> {
    let Some(url) = &config.mail.smtp_url else {
        let Some(account) = config.mail.provider.clone() else {
            return Ok(None);
        };
        let provider = Provider::new(account, SMTP_TIME).map_err(anyhow::Error::msg)?;
        return Ok(Some(Arc::new(provider)));
    };
    let smtp = Smtp::new(url.expose_secret(), SMTP_TIME, &config.mail.house())
        .map_err(|why| anyhow::anyhow!("SMTP_URL {why}"))?;
    Ok(Some(Arc::new(smtp)))
}

/// For each step of a delivery over SMTP; RFC 5321 would allow minutes.
const SMTP_TIME: std::time::Duration = std::time::Duration::from_secs(30);

fn discord(config: &DiscordConfig) -> anyhow::Result<Arc<DiscordChat>> {
    let mut settings = discord::Settings::new(config.bot_token.clone(), config.application_id.clone());
    settings.api_url.clone_from(&config.api_url);
    settings.channel.clone_from(&config.channel);
    Ok(Arc::new(DiscordChat::new(&settings)?))
}

/// The tool servers of the settings; none is started yet.
pub fn tools(config: &Config) -> Option<Arc<dyn Tools>> {
    match config.mcp.as_slice() {
        [] => None,
        servers => Some(Arc::new(Servers::new(servers.to_vec()))),
    }
}

fn anthropic(config: &Config, name: &str) -> anyhow::Result<Arc<dyn Model>> {
    let api_key = config
        .anthropic
        .api_key
        .clone()
        .context("ANTHROPIC_API_KEY is not set")?;
    let base_url: Url = config
        .anthropic
        .base_url
        .parse()
        .context("ANTHROPIC_BASE_URL is not an address")?;
    let model = Anthropic::new(AnthropicConfig {
        base_url,
        api_key,
        model: name.into(),
        limits: Limits::default(),
    })?;
    Ok(Arc::new(model))
}

fn openai(config: &Config, name: &str) -> anyhow::Result<Arc<dyn Model>> {
    let api_key = config.openai.api_key.clone();
    let base_url: Url = config
        .openai
        .base_url
        .parse()
        .context("OPENAI_BASE_URL is not an address")?;
    let model = OpenAi::new(OpenAiConfig {
        base_url,
        api_key,
        model: name.into(),
        limits: Limits::default(),
    })?;
    Ok(Arc::new(model))
}

/// The house's categories, as the offline model takes them.
pub fn categories(config: &Config) -> Vec<Category> {
    let all = config.categories.iter().map(|(name, category)| Category {
        name: name.clone(),
        description: category.description.clone(),
        team: category.team.clone(),
    });
    all.collect()
}

pub fn offline_model(config: &Config) -> offline::Offline {
    offline::Offline::new(categories(config))
}

/// Asks the outside who we are there. Until Zendesk answers, our own comments are recognised by the id that their delivery
/// brought; until Discord does, clicks are kept and looked at later.
pub async fn learn_who_we_are(app: &App) {
    tokio::join!(at_zendesk(app), at_discord(app));
}

/// Our guild at Discord, and the commands there.
async fn at_discord(app: &App) {
    let Some(discord) = &app.discord else { return };
    match discord.register_commands().await {
        Ok(true) => tracing::info!("the commands were registered with Discord"),
        Ok(false) => {}
        Err(error) => tracing::warn!(%error, "the commands could not be registered; trying again at the next start"),
    }
}

async fn at_zendesk(app: &App) {
    let Some(zendesk) = &app.config.zendesk else { return };
    {
        let mut ours = app.zendesk_author.write().await;
        ours.email = Some(zendesk.email.clone());
    }
    let settings = ZendeskConfig::new(zendesk.url.clone(), zendesk.email.clone(), zendesk.api_token.clone());
    let who = match Zendesk::new(settings) {
        Ok(client) => client.who().await,
        Err(error) => Err(error),
    };
    match who {
        Ok(ours) => *app.zendesk_author.write().await = ours,
        Err(error) => {
            tracing::warn!(%error, "Zendesk could not be asked who we are there; trying again at the next start")
        }
    }
}
