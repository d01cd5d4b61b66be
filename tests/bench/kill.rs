//! The bot killed by SIGKILL at its worst moments, and started again: what it did twice, and what it lost.
//!
//! The bot is a process of its own; desk and model are here and outlive it, so they see whatever it does.

mod outside;

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use chrono::TimeDelta;
use deskhand::clock::Clock;
use deskhand::worker::{dispatcher, runner, sweeper};
use deskhand_core::approval::Surface;
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use crate::cluster::{Cluster, Fresh};
use crate::fake::{Quiet, Scripted};
use crate::report::{Goal, Report, Row};
use crate::runs;
use crate::world;
use outside::{Far, Outside};

/// The first argument that makes this program the bot that is killed.
pub(crate) const WORD: &str = "__bot";

/// Longer than every lease, so that what the killed bot held is free for the next one.
const LATER: i64 = 600;

/// When it is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    InTheModelCall,
    BetweenCalls,
    /// The desk has written and answered; the receipt is perhaps not committed.
    AfterTheSend,
    /// The desk has not written yet.
    InsideTheSendBeforeTheWrite,
    /// The desk has written and did not get to answer.
    InsideTheSendAfterTheWrite,
}

#[derive(Serialize, Deserialize)]
struct Order {
    database: String,
    outside: String,
    /// Seconds by which its clock is ahead.
    ahead: i64,
}

pub(crate) async fn measure(cluster: &Cluster, report: &mut Report) -> anyhow::Result<()> {
    let times = report.size(1, 5);
    for (moment, what) in [
        (Moment::InTheModelCall, "in the model call"),
        (Moment::BetweenCalls, "between calls"),
        (Moment::AfterTheSend, "after the send"),
        (Moment::InsideTheSendBeforeTheWrite, "inside the send, before the write"),
        (Moment::InsideTheSendAfterTheWrite, "inside the send, after the write"),
    ] {
        let mut all = Seen::default();
        for _ in 0..times {
            let seen = once(cluster, moment).await.with_context(|| format!("killed {what}"))?;
            all.repeated += seen.repeated;
            all.twice += seen.twice;
            all.lost += seen.lost;
        }
        for (number, name) in [
            (all.repeated, "calls repeated"),
            (all.twice, "sent twice"),
            (all.lost, "lost"),
        ] {
            report.row(Row {
                what: format!("killed {what}, {times} times: {name}"),
                ours: number as f64,
                unit: "",
                against: None,
                must: Goal::AtMost(0.0),
                aim: Goal::AtMost(0.0),
            });
        }
    }
    Ok(())
}

/// What came of one run.
#[derive(Default)]
struct Seen {
    /// Outcomes beyond the first of a call, and notes beyond the one that was asked for.
    repeated: i64,
    /// Replies beyond the first.
    twice: i64,
    /// No reply in the end, and no word of it to a human either.
    lost: i64,
}

async fn once(cluster: &Cluster, moment: Moment) -> anyhow::Result<Seen> {
    let database = cluster.fresh("killed").await?;
    let pool = database.pool(4).await?;
    let outside = Outside::start(moment).await?;
    // Takes the delivery and the click; it works nothing itself.
    let model = Arc::new(Scripted {
        requests: 4,
        seen: None,
    });
    let door = world::bare(pool.clone(), Clock::default(), model, Arc::new(Quiet::default()))?;
    let mut bot = start(&database, &outside.url, 0)?;
    runs::deliver(&door).await?;
    let mut killed = false;
    let mut clicked = false;
    let mut is_over = false;
    for _ in 0..6_000 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        if !killed && outside.now_or(moment, &pool).await? {
            // SIGKILL.
            bot.kill().await?;
            killed = true;
            outside.go_on();
            bot = start(&database, &outside.url, LATER)?;
        }
        if !clicked && let Some((id, digest)) = open(&pool).await? {
            runs::approve(&door, id, digest, Surface::Local, "ada").await?;
            clicked = true;
        }
        is_over = killed && clicked && over(&pool).await?;
        if is_over {
            break;
        }
    }
    bot.kill().await?;
    anyhow::ensure!(killed, "the moment never came");
    anyhow::ensure!(is_over, "the run is not over after half a minute");
    let seen = look(&pool, outside.replies()).await?;
    pool.close().await;
    Ok(seen)
}

fn start(database: &Fresh, outside: &str, ahead: i64) -> anyhow::Result<Child> {
    let options = &database.options;
    let socket = options.get_socket().context("the server has a socket")?.display();
    let order = Order {
        database: format!(
            "postgres://{}@localhost:{}/{}?host={socket}",
            options.get_username(),
            options.get_port(),
            database.name
        ),
        outside: outside.to_owned(),
        ahead,
    };
    let child = Command::new(std::env::current_exe()?)
        .args([WORD, &serde_json::to_string(&order)?])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    Ok(child)
}

async fn open(pool: &PgPool) -> anyhow::Result<Option<(i64, String)>> {
    let row = sqlx::query_as("SELECT id, digest FROM approval WHERE state = 'open'")
        .fetch_optional(pool)
        .await?;
    Ok(row)
}

/// Every run is final, and every effect has ended one way or another.
async fn over(pool: &PgPool) -> anyhow::Result<bool> {
    let over = sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM run)
            AND NOT EXISTS (SELECT FROM run WHERE state IN ('queued', 'running', 'waiting'))
            AND NOT EXISTS (SELECT FROM outbox WHERE state IN ('pending', 'sending'))",
    );
    Ok(over.fetch_one(pool).await?)
}

async fn look(pool: &PgPool, replies: i64) -> anyhow::Result<Seen> {
    let number = |sql: &'static str| sqlx::query_scalar::<_, i64>(sql).fetch_one(pool);
    let outcomes = number(
        "SELECT coalesce(sum(n - 1), 0)::bigint FROM (
             SELECT count(*) AS n FROM step WHERE kind ->> 'kind' = 'outcome' GROUP BY run_id, kind -> 'call') c",
    )
    .await?;
    let notes = number("SELECT count(*) FROM comment WHERE NOT public AND author = 'bot'").await?;
    let told = number("SELECT count(*) FROM outbox WHERE kind = 'reply' AND state IN ('unknown', 'dead')").await?;
    Ok(Seen {
        repeated: outcomes + (notes - 1).max(0),
        twice: (replies - 1).max(0),
        lost: i64::from(replies == 0 && told == 0),
    })
}

/// The bot that is killed: runner, dispatcher and sweeper, with its outside behind a wire.
pub(crate) async fn child(order: Option<String>) -> anyhow::Result<()> {
    let order: Order = serde_json::from_str(&order.context("no order")?)?;
    let pool = deskhand_adapters::postgres::pool(10).connect(&order.database).await?;
    let clock = Clock::default();
    clock.advance(TimeDelta::seconds(order.ahead));
    let far = Arc::new(Far::new(order.outside));
    let app = world::bare(pool, clock, Arc::clone(&far) as _, far)?;
    let cancel = CancellationToken::new();
    tokio::join!(
        runner::work(app.clone(), cancel.clone()),
        dispatcher::work(app.clone(), cancel.clone()),
        sweeper::work(app, cancel),
    );
    Ok(())
}
