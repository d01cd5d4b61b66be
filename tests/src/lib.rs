//! The harness: the bot in process, a throw-away Postgres, fakes of the outside.
//!
//! A scenario reads as a product person would tell it. Its body is a closure, so that [`finish`](Bot::finish) always
//! runs: it fails on an outward message that nobody looked at, an unused scripted reply, a held lease, a failed run, and
//! on everything that a fake found wrong with a request.

pub mod db;
pub mod fake;

mod ears;
mod world;

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use deskhand::app::App;
use deskhand::clock::Clock;
use deskhand::outside;
use deskhand::worker::{dispatcher, runner, sweeper};
use fake::discord::Discord;
use fake::looks::Unlooked;
use fake::model::Script;
use fake::slack::Slack;
use fake::zendesk::Zendesk;
use sqlx::PgPool;
use tokio::task::JoinHandle;
use world::{app, change, logs, serve, usual, with_discord};

/// The bot with its whole world.
pub struct Bot {
    pub zendesk: Zendesk,
    pub slack: Slack,
    /// Connected where a scenario asks for it by `WITH_DISCORD`.
    pub discord: Discord,
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
    /// Processes that listen to Discord's gateway.
    ears: Vec<ears::Ear>,
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
        let (zendesk, slack, discord) = (
            Zendesk::start(fakes_clock.clone()).await,
            Slack::start(fakes_clock.clone()).await,
            Discord::start(fakes_clock.clone()).await,
        );
        let mut settings = usual(&zendesk, &slack);
        with_discord(&mut settings, &discord, changed);
        change(&mut settings, changed);
        let database = db::fresh().await;
        let pool = database.pool(12).await;
        let clock = Clock::default();
        let model = Script::new();
        let server = fake::tools::Server::default();
        let app = app(&settings, &pool, &clock, &model, &server);
        outside::learn_who_we_are(&app).await;
        let (url, served) = serve(&app).await;
        let mut bot = Self {
            zendesk,
            slack,
            discord,
            model,
            server,
            app,
            url,
            settings,
            clock,
            fakes_clock,
            served,
            ears: Vec::new(),
            may_fail: std::sync::atomic::AtomicBool::new(false),
            pool,
            _database: database,
        };
        bot.tell_the_fakes();
        bot.listens().await;
        bot
    }

    fn tell_the_fakes(&self) {
        self.zendesk.bot_is_at(&self.url);
        self.slack.bot_is_at(&self.url);
        self.discord.bot_is_at(&self.url);
    }

    /// The process is killed and started again: everything that was only in memory is gone.
    pub async fn restarts(&mut self) {
        self.restarts_with(&[]).await;
    }

    /// The same, with some settings changed.
    pub async fn restarts_with(&mut self, changed: &[(&str, &str)]) {
        change(&mut self.settings, changed);
        self.served.abort();
        self.ears.clear();
        self.app = app(&self.settings, &self.pool, &self.clock, &self.model, &self.server);
        outside::learn_who_we_are(&self.app).await;
        (self.url, self.served) = serve(&self.app).await;
        self.tell_the_fakes();
        self.listens().await;
    }

    /// Another process of the bot on the same store; nothing ticks its workers.
    pub async fn replica(&self) -> Replica {
        let (url, served) = serve(&self.another_app()).await;
        Replica { url, served }
    }

    fn another_app(&self) -> App {
        app(&self.settings, &self.pool, &self.clock, &self.model, &self.server)
    }

    /// Ticks the workers until none finds anything to do: no sleeps, no polling. A lane's pace of one post a second is
    /// waited for by moving the clock; retries and due times are not: [`advance`](Self::advance) does that.
    pub async fn settle(&self) {
        for _ in 0..400 {
            self.has_heard().await;
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

    /// A runner begins to work, and its model is in the middle of a reply that is held back.
    pub async fn works_until_the_model_thinks(&self) -> JoinHandle<anyhow::Result<usize>> {
        let app = self.app.clone();
        let work = tokio::spawn(async move { runner::tick(&app).await });
        self.model.is_thinking().await;
        work
    }

    /// Starts working and is killed in the middle of the model's answer: what was not written down is gone.
    pub async fn is_killed_while_the_model_thinks(&self) {
        self.model.holds();
        let work = self.works_until_the_model_thinks().await;
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
            self.discord
                .violations()
                .into_iter()
                .map(|v| format!("Discord refuses: {v}")),
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
        let shown = self.slack.unlooked().into_iter().chain(self.discord.unlooked());
        let missed = shown.filter(Unlooked::must_be_looked_at);
        found.extend(missed.map(|unlooked| format!("Nobody looked at {unlooked}")));
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
