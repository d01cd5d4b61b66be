//! What something cost: time, CPU of this process and of every process of the server, WAL, commits.

use std::time::{Duration, Instant};

use sqlx::PgPool;

use crate::cluster::Cluster;

/// Linux counts CPU time in hundredths of a second.
const TICKS: f64 = 100.0;

pub(crate) struct Meter {
    postmaster: i32,
}

pub(crate) struct Start {
    at: Instant,
    bot: f64,
    postgres: f64,
    wal: i64,
    writes: i64,
}

/// What went between a start and its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) seconds: f64,
    /// CPU seconds of this process.
    pub(crate) bot: f64,
    /// CPU seconds of all of the server's processes.
    pub(crate) postgres: f64,
    /// Bytes.
    pub(crate) wal: f64,
    /// Transactions that wrote or locked something; plain reads are none.
    pub(crate) writes: f64,
}

impl Spent {
    pub(crate) fn cpu(&self) -> f64 {
        self.bot + self.postgres
    }
}

impl Meter {
    pub(crate) fn new(cluster: &Cluster) -> anyhow::Result<Self> {
        Ok(Self {
            postmaster: cluster.postmaster()?,
        })
    }

    pub(crate) async fn start(&self, pool: &PgPool) -> anyhow::Result<Start> {
        let (wal, writes) = counters(pool).await?;
        Ok(Start {
            at: Instant::now(),
            bot: own()?,
            postgres: self.server()?,
            wal,
            writes,
        })
    }

    pub(crate) async fn end(&self, pool: &PgPool, start: &Start) -> anyhow::Result<Spent> {
        let seconds = start.at.elapsed().as_secs_f64();
        let (bot, postgres) = (own()? - start.bot, self.server()? - start.postgres);
        let (wal, writes) = counters(pool).await?;
        Ok(Spent {
            seconds,
            bot,
            postgres,
            wal: (wal - start.wal) as f64,
            writes: (writes - start.writes) as f64,
        })
    }

    /// The first process with those of its children that are over, and those that live.
    fn server(&self) -> anyhow::Result<f64> {
        let mut sum = cpu(&stat(self.postmaster)?, 4);
        for entry in std::fs::read_dir("/proc")?.flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            // One that ends while we look was counted by nobody; it is one connection's last hundredth.
            let Ok(fields) = stat(pid) else { continue };
            if fields.get(1).and_then(|parent| parent.parse().ok()) == Some(self.postmaster) {
                sum += cpu(&fields, 2);
            }
        }
        Ok(sum)
    }
}

/// WAL's end, and how many transactions ever wrote: numbers are given to writing ones only.
async fn counters(pool: &PgPool) -> anyhow::Result<(i64, i64)> {
    let row = sqlx::query_as::<_, (i64, i64)>(
        "SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint,
                pg_snapshot_xmax(pg_current_snapshot())::text::bigint",
    );
    Ok(row.fetch_one(pool).await?)
}

fn own() -> anyhow::Result<f64> {
    Ok(cpu(&stat(i32::try_from(std::process::id())?)?, 2))
}

/// The fields of a process from its state on: what precedes may hold spaces.
fn stat(pid: i32) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let rest = text.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    Ok(rest.split_whitespace().map(str::to_owned).collect())
}

/// utime and stime, and for four fields those of children that were waited for.
fn cpu(fields: &[String], many: usize) -> f64 {
    fields
        .iter()
        .skip(11)
        .take(many)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum::<f64>()
        / TICKS
}

/// Memory of this process that is in use, in MB.
pub(crate) fn resident() -> anyhow::Result<f64> {
    memory("VmRSS:")
}

/// The most that it ever had in use, in MB.
pub(crate) fn peak() -> anyhow::Result<f64> {
    memory("VmHWM:")
}

fn memory(of: &str) -> anyhow::Result<f64> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix(of)).unwrap_or_default();
    let kb: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kb / 1024.0)
}

pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    percentile(&mut numbers, 0.5)
}

/// The number below which this share of them lies; they are sorted by it.
pub(crate) fn percentile(numbers: &mut [f64], share: f64) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len().saturating_sub(1);
    let at = (share * last as f64).round() as usize;
    numbers.get(at).copied().unwrap_or(f64::NAN)
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
