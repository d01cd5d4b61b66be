//! The bot as `serve` makes it, with the outside answering at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use deskhand::app::{self, App, Outside};
use deskhand::clock::Clock;
use deskhand::config::Config;
use deskhand::http;
use deskhand::worker::{dispatcher, runner, wakes};
use deskhand_adapters::discord::{self, DiscordChat};
use deskhand_adapters::postgres::search::{self, Entry, Kind};
use deskhand_adapters::slack::{self, SlackChat};
use deskhand_core::port::{Desk, Model};
use deskhand_core::ticket::Source;
use deskhand_tests::fake;
use deskhand_tests::fake::discord::Discord;
use deskhand_tests::fake::slack::Slack;
use sqlx::PgPool;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cluster::Fresh;

/// What opens the API.
pub(crate) const API_TOKEN: &str = "bench-api-token";

/// Runs at once.
pub(crate) const RUNNERS: usize = 32;

pub(crate) struct World {
    pub(crate) app: App,
    pub(crate) pool: PgPool,
    /// Sam, who may approve.
    pub(crate) approver: String,
    stop: CancellationToken,
    tasks: TaskTracker,
    // The fake of the chat ends with it.
    _slack: Slack,
}

/// What of the workers is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Nothing,
    Runner,
    RunnerAndDispatcher,
}

impl World {
    pub(crate) async fn start(
        database: &Fresh,
        runners: usize,
        model: Arc<dyn Model>,
        desk: Arc<dyn Desk>,
        work: Work,
    ) -> anyhow::Result<Self> {
        Self::start_with(database, runners, model, desk, work, None).await
    }

    /// The same, in Discord too.
    pub(crate) async fn start_with(
        database: &Fresh,
        runners: usize,
        model: Arc<dyn Model>,
        desk: Arc<dyn Desk>,
        work: Work,
        discord: Option<&Discord>,
    ) -> anyhow::Result<Self> {
        let slack = Slack::start(fake::clock::Clock::at(chrono::Utc::now())).await;
        let approver = slack.id_of("sam");
        let mut settings = settings(&approver, &slack.url(), runners);
        if let Some(discord) = discord {
            in_discord(&mut settings, &discord.url());
        }
        let pool = database.pool(app::connections(runners)).await?;
        let app = app(&settings, pool.clone(), Clock::default(), model, desk)?;
        if let Some(discord) = &app.discord {
            // Our server there, without which a click is looked at later.
            discord.register_commands().await?;
        }
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        tasks.spawn(wakes::listen(app.clone(), stop.clone()));
        tasks.spawn(wakes::announce(app.clone(), stop.clone()));
        if work != Work::Nothing {
            tasks.spawn(runner::work(app.clone(), stop.clone()));
        }
        if work == Work::RunnerAndDispatcher {
            tasks.spawn(dispatcher::work(app.clone(), stop.clone()));
        }
        Ok(Self {
            app,
            pool,
            approver,
            stop,
            tasks,
            _slack: slack,
        })
    }

    pub(crate) fn dispatch(&self) {
        self.tasks.spawn(dispatcher::work(self.app.clone(), self.stop.clone()));
    }

    /// Listens as `serve` does.
    pub(crate) async fn serve(&self) -> anyhow::Result<String> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let (router, stop) = (http::router(self.app.clone()), self.stop.clone());
        self.tasks.spawn(async move {
            let served = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned());
            if let Err(error) = served.await {
                eprintln!("bench: the listener failed: {error}");
            }
        });
        Ok(url)
    }

    /// A small knowledge base, so that a look-up finds something.
    pub(crate) async fn know_something(&self) -> anyhow::Result<()> {
        let body = "Refunds go back the way you paid. Banks take up to five working days to show them. A kettle that was \
                    returned unused is refunded in full; one that was used, in part.";
        let keys: Vec<String> = (0..50).map(|n| format!("article-{n}")).collect();
        let titles: Vec<String> = (0..50).map(|n| format!("Refunds and returns, part {n}")).collect();
        let entries: Vec<Entry<'_>> = keys
            .iter()
            .zip(&titles)
            .map(|(key, title)| Entry {
                key,
                title,
                section: "Billing",
                body,
                language: "en",
            })
            .collect();
        let mut tx = self.pool.begin().await?;
        search::put(&mut tx, Kind::Article, &entries).await?;
        tx.commit().await?;
        Ok(())
    }

    pub(crate) async fn number(&self, sql: &'static str) -> anyhow::Result<i64> {
        Ok(sqlx::query_scalar::<_, i64>(sql).fetch_one(&self.pool).await?)
    }

    /// Waits until a number from the store is at least this.
    pub(crate) async fn until(&self, sql: &'static str, at_least: i64) -> anyhow::Result<()> {
        for _ in 0..60_000 {
            if self.number(sql).await? >= at_least {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        anyhow::bail!("the bot does not get there: {sql} is below {at_least} after five minutes")
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        // A listener waits for its connections, which the other side keeps open.
        let _ = tokio::time::timeout(Duration::from_secs(3), self.tasks.wait()).await;
        self.pool.close().await;
    }
}

fn settings(approver: &str, slack_url: &str, runners: usize) -> BTreeMap<String, String> {
    use fake::{slack as s, zendesk as z};
    let approver = format!("slack:{approver}");
    let runners = runners.to_string();
    [
        ("DESKHAND_APPROVERS", approver.as_str()),
        ("DESKHAND_API_TOKEN", API_TOKEN),
        ("DESKHAND_QUIET_TIME", "0s"),
        ("DESKHAND_RUNNERS", &runners),
        ("DESKHAND_MAX_STEPS", "200"),
        ("DESKHAND_SKILLS", concat!(env!("CARGO_MANIFEST_DIR"), "/../skills")),
        ("SLACK_BOT_TOKEN", s::BOT_TOKEN),
        ("SLACK_SIGNING_SECRET", s::SIGNING_SECRET),
        ("SLACK_API_URL", slack_url),
        ("SLACK_CHANNEL", s::CHANNEL),
        ("ZENDESK_URL", "http://127.0.0.1:9"),
        ("ZENDESK_EMAIL", z::EMAIL),
        ("ZENDESK_API_TOKEN", z::TOKEN),
        ("ZENDESK_WEBHOOK_SECRET", z::SECRET),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect()
}

fn in_discord(settings: &mut BTreeMap<String, String>, url: &str) {
    use fake::discord as d;
    let approvers = settings.entry("DESKHAND_APPROVERS".into()).or_default();
    approvers.push_str(&format!(",discord:&{}", d::LEADS));
    for (name, value) in [
        ("DISCORD_BOT_TOKEN", d::BOT_TOKEN.to_owned()),
        ("DISCORD_PUBLIC_KEY", d::public_key()),
        ("DISCORD_APPLICATION_ID", d::APPLICATION.to_owned()),
        ("DISCORD_CHANNEL", d::CHANNEL.to_owned()),
        ("DISCORD_API_URL", url.to_owned()),
    ] {
        settings.insert(name.to_owned(), value);
    }
}

fn app(
    settings: &BTreeMap<String, String>,
    pool: PgPool,
    clock: Clock,
    model: Arc<dyn Model>,
    desk: Arc<dyn Desk>,
) -> anyhow::Result<App> {
    let config = Config::load(None, &|name| settings.get(name).cloned())?;
    let slack = config.slack.as_ref().context("Slack is set")?;
    let mut chat = slack::Settings::new(slack.bot_token.clone());
    chat.api_url.clone_from(&slack.api_url);
    let chat = Arc::new(SlackChat::new(&chat));
    let discord = config.discord.as_ref().map(|discord| {
        let mut settings = discord::Settings::new(discord.bot_token.clone(), discord.application_id.clone());
        settings.api_url.clone_from(&discord.api_url);
        settings.channel.clone_from(&discord.channel);
        DiscordChat::new(&settings).map(Arc::new)
    });
    let outside = Outside {
        slack: Some(chat),
        discord: discord.transpose()?,
        desks: BTreeMap::from([(Source::Zendesk, desk)]),
        ..Outside::of(model)
    };
    let app = App::new(config, pool, clock, outside);
    Ok(app)
}

/// A bot in a process of its own, for the killing: its outside is in another process.
pub(crate) fn bare(pool: PgPool, clock: Clock, model: Arc<dyn Model>, desk: Arc<dyn Desk>) -> anyhow::Result<App> {
    let mut settings = settings("U0SAM", "http://127.0.0.1:9", 4);
    settings.retain(|name, _| !name.starts_with("SLACK_"));
    settings.insert("DESKHAND_APPROVERS".into(), "local:*".into());
    let config = Config::load(None, &|name| settings.get(name).cloned())?;
    let outside = Outside {
        desks: BTreeMap::from([(Source::Zendesk, desk)]),
        ..Outside::of(model)
    };
    Ok(App::new(config, pool, clock, outside))
}
