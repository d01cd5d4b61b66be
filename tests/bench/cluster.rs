//! A Postgres for the benchmark alone: a fresh cluster in a temporary folder, durable, reached by a Unix socket.

use std::path::{Path, PathBuf};

use anyhow::Context;
use deskhand_adapters::postgres::MIGRATOR;
use deskhand_adapters::postgres::embedded::{self, Embedded, Options};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgPool};

pub(crate) struct Cluster {
    server: Embedded,
    /// Removed when the benchmark is over.
    folder: tempfile::TempDir,
}

impl Cluster {
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("deskhand-bench-").tempdir()?;
        // The server runs as another account when we are root, which must be able to enter.
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let options = Options {
            data: folder.path().to_owned(),
            programs: None,
            durable: true,
        };
        let server = embedded::start(options, &|_| {}).await?;
        Ok(Self { server, folder })
    }

    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        self.server.stop().await?;
        self.folder.close()?;
        Ok(())
    }

    pub(crate) fn socket(&self) -> &Path {
        self.server.socket()
    }

    /// A database of its own for each round, so that no round pays for the rows of the one before.
    pub(crate) async fn fresh(&self, name: &str) -> anyhow::Result<Fresh> {
        let mut admin = self.server.connect_options().database("postgres").connect().await?;
        for statement in [
            format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
            format!("CREATE DATABASE {name}"),
        ] {
            sqlx::query(AssertSqlSafe(statement)).execute(&mut admin).await?;
        }
        // What earlier rounds left to write must not be paid for by this one.
        sqlx::query("CHECKPOINT").execute(&mut admin).await?;
        admin.close().await?;
        let options = self.server.connect_options().database(name);
        let mut connection = options.connect().await?;
        MIGRATOR.run(&mut connection).await?;
        connection.close().await?;
        Ok(Fresh {
            options,
            name: name.to_owned(),
        })
    }

    /// The number of the server's first process.
    pub(crate) fn postmaster(&self) -> anyhow::Result<i32> {
        let file: PathBuf = self.server.data().join("cluster/postmaster.pid");
        let text = std::fs::read_to_string(&file).context("the server's process file cannot be read")?;
        text.lines()
            .next()
            .and_then(|line| line.trim().parse().ok())
            .context("the server's process file is empty")
    }
}

/// A migrated, empty database.
#[derive(Clone)]
pub(crate) struct Fresh {
    pub(crate) options: PgConnectOptions,
    pub(crate) name: String,
}

impl Fresh {
    /// A pool that opens its connections now and keeps them, as a service does that has been up for a while.
    pub(crate) async fn pool(&self, size: u32) -> anyhow::Result<PgPool> {
        let pool = deskhand_adapters::postgres::pool(size)
            .min_connections(size)
            .connect_with(self.options.clone())
            .await?;
        Ok(pool)
    }
}
