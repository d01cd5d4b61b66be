//! How a scenario's bot is made: its settings, its clients with short time limits, its listener.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use deskhand::app::{App, Outside};
use deskhand::clock::Clock;
use deskhand::config::Config;
use deskhand::{http, outside};
use deskhand_adapters::discord::{self, DiscordChat};
use deskhand_adapters::slack::{self, SlackChat};
use deskhand_adapters::zendesk::{Zendesk as ZendeskDesk, ZendeskConfig};
use deskhand_core::port::{Desk, Model};
use deskhand_core::ticket::Source;
use sqlx::PgPool;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::fake::discord::Discord;
use crate::fake::model::Script;
use crate::fake::slack::Slack;
use crate::fake::zendesk::Zendesk;
use crate::{API_TOKEN, fake};

/// An empty value unsets a setting.
pub(crate) fn change(settings: &mut BTreeMap<String, String>, changed: &[(&str, &str)]) {
    for (name, value) in changed {
        match value.is_empty() {
            true => settings.remove(*name),
            false => settings.insert((*name).to_owned(), (*value).to_owned()),
        };
    }
}

/// The settings of most scenarios.
pub(crate) fn usual(zendesk: &Zendesk, slack: &Slack) -> BTreeMap<String, String> {
    use fake::{slack as s, zendesk as z};
    let sam = format!("slack:{}", slack.id_of("sam"));
    [
        ("DESKHAND_APPROVERS", sam.as_str()),
        ("DESKHAND_ADMINS", sam.as_str()),
        ("DESKHAND_QUIET_TIME", "0s"),
        ("DESKHAND_API_TOKEN", API_TOKEN),
        ("DESKHAND_SKILLS", concat!(env!("CARGO_MANIFEST_DIR"), "/../skills")),
        ("SLACK_BOT_TOKEN", s::BOT_TOKEN),
        ("SLACK_SIGNING_SECRET", s::SIGNING_SECRET),
        ("SLACK_API_URL", &slack.url()),
        ("SLACK_CHANNEL", s::CHANNEL),
        ("ZENDESK_URL", &zendesk.url()),
        ("ZENDESK_EMAIL", z::EMAIL),
        ("ZENDESK_API_TOKEN", z::TOKEN),
        ("ZENDESK_WEBHOOK_SECRET", z::SECRET),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect()
}

/// Connects Discord too, or in Slack's place, where a scenario asks for it by `WITH_DISCORD` (`both`, `only`, `gateway`: only,
/// and everything comes by the gateway, with the help channel and the forum watched): sam's role may approve.
pub(crate) fn with_discord(settings: &mut BTreeMap<String, String>, discord: &Discord, changed: &[(&str, &str)]) {
    use fake::discord as d;
    let Some((_, how)) = changed.iter().find(|(name, _)| *name == "WITH_DISCORD") else {
        return;
    };
    let (role, url, key) = (format!("discord:&{}", d::LEADS), discord.url(), d::public_key());
    let before = match *how {
        "only" | "gateway" => String::new(),
        _ => settings
            .get("DESKHAND_APPROVERS")
            .map(|who| format!("{who},"))
            .unwrap_or_default(),
    };
    if matches!(*how, "only" | "gateway") {
        settings.retain(|name, _| !name.starts_with("SLACK_"));
    }
    let approvers = format!("{before}{role}");
    for (name, value) in [
        ("DESKHAND_APPROVERS", approvers.as_str()),
        ("DISCORD_BOT_TOKEN", d::BOT_TOKEN),
        ("DISCORD_PUBLIC_KEY", &key),
        ("DISCORD_APPLICATION_ID", d::APPLICATION),
        ("DISCORD_CHANNEL", d::CHANNEL),
        ("DISCORD_API_URL", &url),
    ] {
        settings.insert(name.to_owned(), value.to_owned());
    }
    if *how == "gateway" {
        settings.remove("DISCORD_PUBLIC_KEY");
        settings.insert("DISCORD_WATCH".to_owned(), format!("{},{}", d::HELP, d::FORUM));
        discord.has_no_endpoint();
    }
}

pub(crate) fn app(
    settings: &BTreeMap<String, String>,
    pool: &PgPool,
    clock: &Clock,
    model: &Script,
    server: &fake::tools::Server,
) -> App {
    let file = settings.get("FILE_OF_THE_SCENARIO").map(std::path::Path::new);
    let config = Config::load(file, &|name| settings.get(name).cloned()).expect("the settings are right");
    let slack = config.slack.as_ref().map(|slack| {
        let mut settings = slack::Settings::new(slack.bot_token.clone());
        settings.api_url.clone_from(&slack.api_url);
        settings.pace = slack::Pace::Unlimited;
        settings.time_limit = Duration::from_secs(2);
        Arc::new(SlackChat::new(&settings))
    });
    let discord = config.discord.as_ref().map(|discord| {
        let mut settings = discord::Settings::new(discord.bot_token.clone(), discord.application_id.clone());
        settings.api_url.clone_from(&discord.api_url);
        settings.channel.clone_from(&discord.channel);
        settings.pace = discord::Pace::Unlimited;
        settings.time_limit = Duration::from_secs(2);
        Arc::new(DiscordChat::new(&settings).expect("the address is right"))
    });
    let mut desks: BTreeMap<Source, Arc<dyn Desk>> = BTreeMap::new();
    if let Some(zendesk) = &config.zendesk {
        let token = zendesk.api_token.clone();
        let mut settings = ZendeskConfig::new(zendesk.url.clone(), zendesk.email.clone(), token);
        let clock = clock.clone();
        settings.clock = Arc::new(move || clock.now());
        settings.timeout = Duration::from_secs(2);
        desks.insert(
            Source::Zendesk,
            Arc::new(ZendeskDesk::new(settings).expect("the address is right")),
        );
    }
    if let Some(slack) = &slack {
        desks.insert(Source::Slack, Arc::clone(slack) as Arc<dyn Desk>);
    }
    if let Some(discord) = &discord {
        desks.insert(Source::Discord, Arc::clone(discord) as Arc<dyn Desk>);
    }
    let offline = outside::offline_model(&config);
    let fallback: Arc<dyn Model> = Arc::new(deskhand_adapters::llm::Offline::new(offline));
    let model: Arc<dyn Model> = match settings.get("MODEL_OF_THE_SCENARIO").map(String::as_str) {
        Some("offline") => Arc::clone(&fallback),
        _ => Arc::new(model.clone()),
    };
    let outside = Outside {
        model,
        substitutes: vec![Arc::clone(&fallback)],
        make_model: Arc::new(move |name| match name {
            "offline" => Ok(Arc::clone(&fallback)),
            _ => Err(anyhow::anyhow!("There is no model {name} here.")),
        }),
        slack,
        discord,
        desks,
        post: outside::post(&config).expect("SMTP_URL is right"),
        // Real tool servers where the scenario's file names some.
        tools: outside::tools(&config).or_else(|| Some(Arc::new(server.clone()))),
    };
    App::new(config, pool.clone(), clock.clone(), outside)
}

/// What the bot logs, shown beside a failed scenario; `DESKHAND_LOG=debug` shows more.
pub(crate) fn logs() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("DESKHAND_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_test_writer()
        .compact()
        .try_init();
}

pub(crate) async fn serve(app: &App) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let url = format!("http://{}", listener.local_addr().expect("it listens"));
    let router = http::router(app.clone());
    let served = tokio::spawn(async move {
        axum::serve(listener, router).await.expect("it serves");
    });
    (url, served)
}
