//! Readers of running tickets: what a thousand of them cost the process that runs these, and how soon one that comes again
//! is current.
//!
//! The model writes a word every twentieth of a second on each run; the readers are a process of their own.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use async_trait::async_trait;
use deskhand_core::model::{ModelReply, ModelRequest};
use deskhand_core::port::{Model, ModelError, Sink};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::cluster::Cluster;
use crate::fake::{Quiet, said};
use crate::limit::Limit;
use crate::meter::{Meter, median, milliseconds};
use crate::report::{Goal, Report, Row};
use crate::runs;
use crate::world::{API_TOKEN, RUNNERS, Work, World};

/// The first argument that makes this program the readers.
pub(crate) const WORD: &str = "__readers";

const PACE: Duration = Duration::from_millis(50);

/// A model that is never done.
struct Writing;

#[async_trait]
impl Model for Writing {
    fn name(&self) -> &str {
        "writing"
    }

    async fn reply(&self, _request: &ModelRequest, sink: &mut dyn Sink) -> Result<ModelReply, ModelError> {
        // Longer than any round; the benchmark ends first.
        for _ in 0..20 * 600 {
            sink.text("refund ");
            tokio::time::sleep(PACE).await;
        }
        Ok(said(0, &[]))
    }

    async fn offered(&self) -> Result<Vec<String>, ModelError> {
        Ok(Vec::new())
    }
}

#[derive(Serialize, Deserialize)]
struct Order {
    address: String,
    runs: Vec<String>,
    readers: usize,
}

pub(crate) async fn measure(cluster: &Cluster, report: &mut Report) -> anyhow::Result<()> {
    let readers = report.size(50, 1_000);
    let seconds = Duration::from_secs(report.size(2, 15));
    let database = cluster.fresh("events").await?;
    let world = World::start(
        &database,
        RUNNERS,
        Arc::new(Writing),
        Arc::new(Quiet::default()),
        Work::Runner,
    )
    .await?;
    let url = world.serve().await?;
    let address = url.trim_start_matches("http://").to_owned();
    for _ in 0..RUNNERS {
        runs::deliver(&world.app).await?;
    }
    world
        .until(
            "SELECT count(*) FROM run WHERE state = 'running'",
            i64::try_from(RUNNERS)?,
        )
        .await?;
    let runs: Vec<String> = sqlx::query_scalar("SELECT id::text FROM run")
        .fetch_all(&world.pool)
        .await?;
    let meter = Meter::new(cluster)?;
    let alone = meter.start(&world.pool).await?;
    tokio::time::sleep(seconds).await;
    let alone = meter.end(&world.pool, &alone).await?;

    let order = Order {
        address: address.clone(),
        runs: runs.clone(),
        readers,
    };
    let mut child = Command::new(std::env::current_exe()?)
        .args([WORD, &serde_json::to_string(&order)?])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut word = child.stdin.take().context("the readers have an input")?;
    let mut lines = BufReader::new(child.stdout.take().context("the readers have an output")?).lines();
    let line = lines.next_line().await?;
    ensure!(line.as_deref() == Some("reading"), "the readers did not get ready");
    let watched = meter.start(&world.pool).await?;
    tokio::time::sleep(seconds).await;
    let watched = meter.end(&world.pool, &watched).await?;
    word.write_all(b"stop\n").await?;
    let events: u64 = lines.next_line().await?.context("the readers say nothing")?.parse()?;
    child.wait().await?;

    let mut times = Vec::new();
    for n in 0..report.size(5, 100) {
        times.push(come_again(&address, &runs[n % runs.len()]).await?);
    }
    let round_trip = Limit::new(cluster, 1)?.selects(&database, 1).await?.milliseconds;
    world.stop().await;

    let cores = std::thread::available_parallelism()?.get() as f64;
    let share = (watched.cpu() - alone.cpu()) / watched.seconds / cores * 100.0;
    for (what, ours, unit, must) in [
        (
            format!("{readers} readers of {RUNNERS} runs: CPU of bot and Postgres"),
            share,
            "%",
            Goal::AtMost(5.0),
        ),
        (
            "the same without readers".to_owned(),
            alone.cpu() / alone.seconds / cores * 100.0,
            "%",
            Goal::None,
        ),
        ("events told, all readers".to_owned(), events as f64, "", Goal::None),
        (
            "a reader that comes again is current".to_owned(),
            median(times),
            "ms",
            Goal::None,
        ),
        (
            "one look into the store (SELECT 1)".to_owned(),
            round_trip,
            "ms",
            Goal::None,
        ),
    ] {
        report.row(Row {
            what,
            ours,
            unit,
            against: None,
            must,
            aim: must,
        });
    }
    Ok(())
}

fn request(address: &str, run: &str, after: Option<&str>) -> String {
    let after = after.map_or_else(String::new, |id| format!("last-event-id: {id}\r\n"));
    format!(
        "GET /api/runs/{run}/events HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {API_TOKEN}\r\n{after}\r\n"
    )
}

/// Milliseconds from a reader's request after what it has read to the first event that is new to it. Runs write all the
/// time, so that there is one at once.
async fn come_again(address: &str, run: &str) -> anyhow::Result<f64> {
    let mut first = BufReader::new(TcpStream::connect(address).await?);
    first.write_all(request(address, run, None).as_bytes()).await?;
    let id = last_id(&mut first).await?;
    drop(first);
    // Some words later, so that there is something to catch up with.
    tokio::time::sleep(PACE * 4).await;
    let mut again = BufReader::new(TcpStream::connect(address).await?);
    let start = Instant::now();
    again.write_all(request(address, run, Some(&id)).as_bytes()).await?;
    let newer = last_id(&mut again).await?;
    ensure!(newer != id, "an event came twice");
    Ok(milliseconds(start.elapsed()))
}

/// The id of the next event.
async fn last_id(reader: &mut BufReader<TcpStream>) -> anyhow::Result<String> {
    let mut line = String::new();
    loop {
        line.clear();
        ensure!(reader.read_line(&mut line).await? > 0, "the bot closed the connection");
        if let Some(id) = line.strip_prefix("id:") {
            return Ok(id.trim().to_owned());
        }
    }
}

/// The readers: each reads on until the word comes, and all count what they were told.
pub(crate) async fn child(order: Option<String>) -> anyhow::Result<()> {
    let order: Order = serde_json::from_str(&order.context("no order")?)?;
    let mut readers = Vec::new();
    for n in 0..order.readers {
        let mut stream = TcpStream::connect(&order.address).await?;
        let run = &order.runs[n % order.runs.len()];
        stream.write_all(request(&order.address, run, None).as_bytes()).await?;
        readers.push(tokio::spawn(count(stream)));
    }
    println!("reading");
    let mut word = String::new();
    BufReader::new(tokio::io::stdin()).read_line(&mut word).await?;
    readers.iter().for_each(tokio::task::JoinHandle::abort);
    println!("{}", COUNTED.load(Ordering::Relaxed));
    Ok(())
}

/// Events that any reader was told.
static COUNTED: AtomicU64 = AtomicU64::new(0);

async fn count(mut stream: TcpStream) -> anyhow::Result<()> {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = stream.read(&mut buffer).await?;
        ensure!(read > 0, "the bot closed the connection");
        // Each event has one id line.
        let events = buffer[..read].windows(4).filter(|four| four == b"\nid:").count();
        COUNTED.fetch_add(events as u64, Ordering::Relaxed);
    }
}
