//! The harness: the bot in process, a throw-away Postgres, fakes of the outside.
//!
//! A scenario reads as a product person would tell it. Its body is a closure, so that [`finish`](Bot::finish) always
//! runs: it fails on an outward message that nobody looked at, an unused scripted reply, a held lease, a failed run, and
//! on everything that a fake found wrong with a request.

pub mod db;
pub mod fake;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use deskhand::app::{App, Outside};
use deskhand::clock::Clock;
use deskhand::config::Config;
use deskhand::worker::{dispatcher, runner, sweeper};
use deskhand::{http, outside};
use deskhand_adapters::slack::{self, SlackChat};
use deskhand_adapters::zendesk::{Zendesk as ZendeskDesk, ZendeskConfig};
use deskhand_core::port::{Desk, Model};
use deskhand_core::ticket::Source;
use fake::model::Script;
use fake::slack::{Kind, Slack};
use fake::zendesk::Zendesk;
use sqlx::PgPool;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The bot with its whole world.
pub struct Bot {
    pub zendesk: Zendesk,
    pub slack: Slack,
    pub model: Script,
    /// A server outside with tools of its own; offers none until a scenario says so.
    pub server: fake::tools::Server,
    pub app: App,
    /// Where the bot listens.
    pub url: String,
    settings: BTreeMap<String, String>,
    clock: Clock,
    fakes_clock: fake::clock::Clock,
    served: JoinHandle<()>,
    may_fail: std::sync::atomic::AtomicBool,
    pool: PgPool,
    // Dropped last: dropping it drops the database.
    _database: db::Database,
}

/// A second process of the bot, until it is dropped.
pub struct Replica {
    pub url: String,
    served: JoinHandle<()>,
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.served.abort();
    }
}

/// The bearer token of the API in scenarios.
pub const API_TOKEN: &str = "api-token-of-the-scenarios";

/// Runs a scenario with the usual settings: sam may approve, mode ask, Slack and Zendesk connected.
pub async fn scenario(body: impl AsyncFnOnce(&mut Bot)) {
    scenario_with(&[], body).await;
}

/// The same with some settings changed; an empty value unsets one.
pub async fn scenario_with(settings: &[(&str, &str)], body: impl AsyncFnOnce(&mut Bot)) {
    let mut bot = Bot::start(settings).await;
    body(&mut bot).await;
    bot.finish().await;
}

impl Bot {
    async fn start(changed: &[(&str, &str)]) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        logs();
        let fakes_clock = fake::clock::Clock::at(Utc::now());
        let (zendesk, slack) = (
            Zendesk::start(fakes_clock.clone()).await,
            Slack::start(fakes_clock.clone()).await,
        );
        let mut settings = usual(&zendesk, &slack);
        change(&mut settings, changed);
        let database = db::fresh().await;
        let pool = database.pool(12).await;
        let clock = Clock::default();
        let model = Script::new();
        let server = fake::tools::Server::default();
        let app = app(&settings, &pool, &clock, &model, &server);
        outside::learn_who_we_are(&app).await;
        let (url, served) = serve(&app).await;
        let bot = Self {
            zendesk,
            slack,
            model,
            server,
            app,
            url,
            settings,
            clock,
            fakes_clock,
            served,
            may_fail: std::sync::atomic::AtomicBool::new(false),
            pool,
            _database: database,
        };
        bot.tell_the_fakes();
        bot
    }

    fn tell_the_fakes(&self) {
        self.zendesk.bot_is_at(&self.url);
        self.slack.bot_is_at(&self.url);
    }

    /// The process is killed and started again: everything that was only in memory is gone.
    pub async fn restarts(&mut self) {
        self.restarts_with(&[]).await;
    }

    /// The same, with some settings changed.
    pub async fn restarts_with(&mut self, changed: &[(&str, &str)]) {
        change(&mut self.settings, changed);
        self.served.abort();
        self.app = app(&self.settings, &self.pool, &self.clock, &self.model, &self.server);
        outside::learn_who_we_are(&self.app).await;
        (self.url, self.served) = serve(&self.app).await;
        self.tell_the_fakes();
    }

    /// Another process of the bot on the same store; nothing ticks its workers.
    pub async fn replica(&self) -> Replica {
        let app = app(&self.settings, &self.pool, &self.clock, &self.model, &self.server);
        let (url, served) = serve(&app).await;
        Replica { url, served }
    }

    /// Ticks the workers until none finds anything to do: no sleeps, no polling. A lane's pace of one post a second is
    /// waited for by moving the clock; retries and due times are not: [`advance`](Self::advance) does that.
    pub async fn settle(&self) {
        for _ in 0..400 {
            let before = self.clock.now();
            if self.tick().await == 0 && !self.wait_for_the_pace(before).await {
                return;
            }
        }
        panic!("the bot does not come to rest");
    }

    /// One round of all workers and of what the outside echoes. Gives how much was done.
    pub async fn tick(&self) -> usize {
        let mut done = runner::tick(&self.app).await.expect("the runner ticks");
        done += dispatcher::tick(&self.app).await.expect("the dispatcher ticks");
        done += sweeper::tick(&self.app).await.expect("the sweeper ticks");
        done += self.zendesk.delivers_echoes().await;
        done + self.slack.delivers_echoes().await
    }

    /// Only the runners' work, to the rest.
    pub async fn runners_settle(&self) {
        while runner::tick(&self.app).await.expect("the runner ticks") > 0 {}
    }

    /// True when something waited only for the pace of its lane, judged by the time before the tick that did nothing: a
    /// lane may have become free since.
    async fn wait_for_the_pace(&self, before: chrono::DateTime<Utc>) -> bool {
        let paced = sqlx::query_scalar::<_, bool>(
            "SELECT EXISTS (SELECT FROM outbox o JOIN lane l ON l.name = o.lane
                             WHERE o.state = 'pending' AND o.next_at <= $1
                               AND l.next_at > $1 AND l.next_at <= $1 + interval '2 seconds')",
        )
        .bind(before)
        .fetch_one(&self.pool)
        .await
        .expect("the database answers");
        if paced {
            self.advance(Duration::from_millis(1100));
        }
        paced
    }

    /// Moves everybody's clock.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(TimeDelta::from_std(by).expect("a time that fits"));
        self.fakes_clock.advance(by);
    }

    /// Starts working and is killed in the middle of the model's answer: what was not written down is gone.
    pub async fn is_killed_while_the_model_thinks(&self) {
        self.model.holds();
        let app = self.app.clone();
        let work = tokio::spawn(async move { runner::tick(&app).await });
        self.model.is_thinking().await;
        work.abort();
        let _ = work.await;
        self.model.releases();
    }

    /// A run of this scenario may end as failed.
    pub fn may_fail(&self) {
        self.may_fail.store(true, std::sync::atomic::Ordering::Relaxed);
    }

    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// One number from the store, for what no surface shows.
    pub async fn counts(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar::<_, i64>(sql)
            .fetch_one(&self.pool)
            .await
            .expect("the query is right")
    }

    /// Publishes an article.
    pub async fn knows(&self, id: &str, language: &str, title: &str, body: &str) {
        use deskhand_adapters::postgres::articles::{self, Publish};
        let mut tx = self.pool.begin().await.expect("the database answers");
        let publish = Publish {
            id: &deskhand_core::id::ArticleId(id.to_owned()),
            title,
            section: "",
            body,
            language,
            state: deskhand_core::article::ArticleState::Published,
            base: None,
            author: "import",
            rationale: "for a scenario",
            run: None,
            approval: None,
        };
        articles::publish(&mut tx, &publish)
            .await
            .expect("it can be published")
            .expect("it is new");
        tx.commit().await.expect("it commits");
    }

    /// The text of an article now.
    pub async fn article(&self, id: &str) -> String {
        let id = deskhand_core::id::ArticleId(id.to_owned());
        let found = deskhand_adapters::postgres::articles::get(&self.pool, &id)
            .await
            .expect("the database answers");
        found.expect("the article is there").article.body
    }

    /// Sends a request to the API; gives the status and the answer.
    pub async fn api(&self, method: &str, path: &str, body: Option<serde_json::Value>) -> (u16, serde_json::Value) {
        let client = reqwest::Client::new();
        let method = method.parse().expect("a method");
        let mut request = client
            .request(method, format!("{}{path}", self.url))
            .bearer_auth(API_TOKEN);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.expect("the bot answers");
        (response.status().as_u16(), response.json().await.unwrap_or_default())
    }

    /// Fails on whatever the scenario left unsaid.
    async fn finish(self) {
        let mut found = Vec::new();
        found.extend(
            self.zendesk
                .violations()
                .into_iter()
                .map(|v| format!("Zendesk refuses: {v}")),
        );
        found.extend(
            self.slack
                .violations()
                .into_iter()
                .map(|v| format!("Slack refuses: {v}")),
        );
        found.extend(
            self.model
                .violations()
                .into_iter()
                .map(|v| format!("A provider refuses: {v}")),
        );
        found.extend(
            self.model
                .unused()
                .into_iter()
                .map(|line| format!("The model never got to say: {line}")),
        );
        found.extend(
            self.zendesk
                .unlooked()
                .into_iter()
                .map(|text| format!("Nobody looked at the reply: {text}")),
        );
        // A header shows what its cards and ticket say, and a line in the thread what its card says.
        let shown = self
            .slack
            .unlooked()
            .into_iter()
            .filter(|unlooked| match unlooked.kind {
                Kind::Header => false,
                Kind::Line => !unlooked.text.contains("A-"),
                Kind::Card | Kind::Private => true,
            });
        found.extend(shown.map(|unlooked| format!("Nobody looked at {unlooked}")));
        if self.counts("SELECT count(*) FROM run WHERE state = 'running'").await > 0 {
            found.push("A lease is still held".into());
        }
        let failed = sqlx::query_scalar::<_, String>("SELECT error FROM run WHERE state = 'failed'")
            .fetch_all(&self.pool)
            .await
            .expect("the database answers");
        if !self.may_fail.load(std::sync::atomic::Ordering::Relaxed) {
            found.extend(failed.into_iter().map(|error| format!("A run failed: {error}")));
        }
        self.served.abort();
        self.pool.close().await;
        assert!(
            found.is_empty(),
            "the scenario left something unsaid:\n  {}",
            found.join("\n  ")
        );
    }
}

/// An empty value unsets a setting.
fn change(settings: &mut BTreeMap<String, String>, changed: &[(&str, &str)]) {
    for (name, value) in changed {
        match value.is_empty() {
            true => settings.remove(*name),
            false => settings.insert((*name).to_owned(), (*value).to_owned()),
        };
    }
}

/// The settings of most scenarios.
fn usual(zendesk: &Zendesk, slack: &Slack) -> BTreeMap<String, String> {
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

fn app(
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
        desks,
        // Real tool servers where the scenario's file names some.
        tools: outside::tools(&config).or_else(|| Some(Arc::new(server.clone()))),
    };
    App::new(config, pool.clone(), clock.clone(), outside)
}

/// What the bot logs, shown beside a failed scenario; `DESKHAND_LOG=debug` shows more.
fn logs() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("DESKHAND_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_test_writer()
        .compact()
        .try_init();
}

async fn serve(app: &App) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let url = format!("http://{}", listener.local_addr().expect("it listens"));
    let router = http::router(app.clone());
    let served = tokio::spawn(async move {
        axum::serve(listener, router).await.expect("it serves");
    });
    (url, served)
}
