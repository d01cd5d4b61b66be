//! What every command starts with: settings, the database, the app.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::Context as _;
use deskhand_adapters::postgres;
use deskhand_adapters::postgres::embedded::{self, Embedded};
use secrecy::ExposeSecret;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tracing_subscriber::EnvFilter;

use crate::app::{self, App};
use crate::clock::Clock;
use crate::config::{Config, LogFormat, misspelt};
use crate::learning;
use crate::outside;

/// What the arguments say for every command.
#[derive(Clone, Debug)]
pub(super) struct Context {
    pub(super) config: Option<PathBuf>,
    pub(super) json: bool,
    /// A service tells what it does; a command at the terminal only what is wrong.
    pub(super) service: bool,
}

/// A started app, with the embedded server where there is one.
pub(super) struct Started {
    pub(super) app: App,
    embedded: Option<Embedded>,
}

impl Started {
    /// Gives up our share of the embedded server; the last one out stops it.
    pub(super) async fn stop(self) {
        self.app.pool.close().await;
        if let Some(embedded) = self.embedded
            && let Err(error) = embedded.stop().await
        {
            tracing::debug!(%error, "the embedded Postgres was left running");
        }
    }
}

impl Context {
    pub(super) fn settings(&self) -> anyhow::Result<Config> {
        let default = Path::new("deskhand.toml");
        let file = self.config.as_deref().or_else(|| default.is_file().then_some(default));
        let config = Config::load(file, &|name| std::env::var(name).ok())?;
        let names: Vec<String> = std::env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .collect();
        let known_elsewhere = ["DESKHAND_LOG", "DESKHAND_DEMO_PIPE"];
        let names = names
            .iter()
            .map(String::as_str)
            .filter(|name| !known_elsewhere.contains(name));
        for (name, meant) in misspelt(names) {
            let meant = meant
                .map(|meant| format!(" (did you mean {meant}?)"))
                .unwrap_or_default();
            eprintln!("deskhand: {name} is not a setting{meant}; it is ignored");
        }
        Ok(config)
    }

    /// Settings, database and migrations.
    pub(super) async fn start(&self) -> anyhow::Result<Started> {
        self.start_with(self.settings()?).await
    }

    pub(super) async fn start_with(&self, config: Config) -> anyhow::Result<Started> {
        logs(&config, if self.service { "warn,deskhand=info" } else { "warn" });
        anyhow::ensure!(
            config.skills == Path::new("skills") || config.skills.is_dir(),
            "DESKHAND_SKILLS is {}, which is no folder",
            config.skills.display()
        );
        let (options, embedded) = database(&config).await?;
        // One connection first: its reason is told, where a pool would only tell that it waited.
        let first = options
            .connect()
            .await
            .map_err(|error| anyhow::anyhow!("the database does not answer: {error}"))?;
        first.close().await?;
        let pool = postgres::pool(app::connections(config.runners))
            .acquire_timeout(std::time::Duration::from_secs(10))
            .connect_with(options)
            .await
            .context("The database does not answer (DATABASE_URL)")?;
        app::migrate(&pool).await?;
        let clock = Clock::default();
        let outside = outside::connect(&config, &clock)?;
        let app = App::new(config, pool, clock, outside);
        for problem in &app.skills.problems {
            tracing::warn!("a skill was left out: {problem}");
        }
        learning::take_up(&app).await?;
        Ok(Started { app, embedded })
    }
}

/// The settings' database, or the embedded one, started if need be.
async fn database(config: &Config) -> anyhow::Result<(PgConnectOptions, Option<Embedded>)> {
    if let Some(url) = &config.database_url {
        let options = url
            .expose_secret()
            .parse()
            .map_err(|_| anyhow::anyhow!("DATABASE_URL is not a Postgres address, like postgres://user@host/name"))?;
        return Ok((options, None));
    }
    let options = embedded::Options {
        data: config.data.clone(),
        programs: config.pg_bin.clone(),
        durable: true,
    };
    let server = embedded::start(options, &|line| eprintln!("deskhand: {line}")).await?;
    Ok((server.connect_options(), Some(server)))
}

/// Logs go to standard error, so that standard output stays for what was asked. Set up once: the first filter holds,
/// where `DESKHAND_LOG` does not say another.
pub(super) fn logs(config: &Config, filter: &str) {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        let filter = EnvFilter::try_from_env("DESKHAND_LOG").unwrap_or_else(|_| EnvFilter::new(filter));
        let logs = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr);
        let done = match config.log_format {
            LogFormat::Json => logs.json().try_init(),
            LogFormat::Text => logs.with_ansi(std::io::stderr().is_terminal()).compact().try_init(),
        };
        if let Err(error) = done {
            eprintln!("deskhand: logs could not be set up: {error}");
        }
    });
}
