//! What the machine can do at most, measured by pgbench on the same cluster in the same minutes.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, bail};
use tokio::process::Command;

use crate::cluster::{Cluster, Fresh};
use crate::meter::{Meter, Spent};
use crate::webhook;

const SELECT: &str = "SELECT 1;\n";

pub(crate) struct Limit<'a> {
    cluster: &'a Cluster,
    pgbench: PathBuf,
    scripts: tempfile::TempDir,
    seconds: u32,
}

/// What pgbench says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub(crate) per_second: f64,
    pub(crate) milliseconds: f64,
    pub(crate) spent: Spent,
}

impl<'a> Limit<'a> {
    pub(crate) fn new(cluster: &'a Cluster, seconds: u32) -> anyhow::Result<Self> {
        let scripts = tempfile::tempdir()?;
        std::fs::write(scripts.path().join("insert.sql"), insert())?;
        std::fs::write(scripts.path().join("select.sql"), SELECT)?;
        Ok(Self {
            cluster,
            pgbench: find()?,
            scripts,
            seconds,
        })
    }

    pub(crate) async fn inserts(&self, into: &Fresh, clients: u32) -> anyhow::Result<Said> {
        let pool = into.pool(1).await?;
        sqlx::query("CREATE TABLE IF NOT EXISTS bench_row (id bigserial PRIMARY KEY, body bytea NOT NULL)")
            .execute(&pool)
            .await?;
        self.run(into, "insert.sql", clients).await
    }

    pub(crate) async fn selects(&self, from: &Fresh, clients: u32) -> anyhow::Result<Said> {
        self.run(from, "select.sql", clients).await
    }

    async fn run(&self, on: &Fresh, script: &str, clients: u32) -> anyhow::Result<Said> {
        let pool = on.pool(1).await?;
        let meter = Meter::new(self.cluster)?;
        let start = meter.start(&pool).await?;
        let output = Command::new(&self.pgbench)
            .args([
                "-n",
                "-M",
                "prepared",
                "-j",
                "2",
                "-c",
                &clients.to_string(),
                "-T",
                &self.seconds.to_string(),
            ])
            .arg("-f")
            .arg(self.scripts.path().join(script))
            .args(["-U", "deskhand", "-h"])
            .arg(self.cluster.socket())
            .arg(&on.name)
            .env_remove("PGPASSFILE")
            .stdin(Stdio::null())
            .output()
            .await
            .context("pgbench could not be started")?;
        let spent = meter.end(&pool, &start).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            bail!("pgbench failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let number = |label: &str| {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(label))?;
            line.trim_start_matches([' ', '='])
                .split_whitespace()
                .next()?
                .parse()
                .ok()
        };
        Ok(Said {
            per_second: number("tps").context("pgbench told no rate")?,
            milliseconds: number("latency average").context("pgbench told no latency")?,
            spent,
        })
    }
}

/// The bytes of one webhook as one row, in a transaction of its own. In hexadecimal: pgbench takes colons for its own.
fn insert() -> String {
    let (_, body) = webhook::comment();
    format!("INSERT INTO bench_row (body) VALUES ('\\x{}');\n", hex::encode(body))
}

/// Beside the server's programs, or in PATH.
fn find() -> anyhow::Result<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin/pgbench"))
        .collect();
    found.sort();
    found.reverse();
    let path = std::env::var_os("PATH").unwrap_or_default();
    found.extend(std::env::split_paths(&path).map(|folder| folder.join("pgbench")));
    found.into_iter().find(|file| file.is_file()).context(
        "pgbench is not here, and without it there is no limit to measure against: it comes with your distribution's \
         postgresql package (postgresql-contrib on some)",
    )
}
