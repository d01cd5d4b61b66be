//! Runs with nothing to do, as fast as the runner ends them; and how long a queued one takes to start when all is quiet.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::unbounded_channel;

use crate::cluster::{Cluster, Fresh};
use crate::fake::{Quiet, Scripted};
use crate::meter::{Meter, median, milliseconds};
use crate::report::{Goal, Report, Row};
use crate::runs;
use crate::world::{RUNNERS, Work, World};

/// Measured elsewhere on two such cores, quoted: graphile-worker.
const TUNED: f64 = 37_000.0;
const DEFAULT: f64 = 3_600.0;
const START: f64 = 2.85;

/// Runs that were queued only to look, on tickets of which nothing new was said.
pub(crate) async fn fill(database: &Fresh, many: i64) -> anyhow::Result<()> {
    let pool = database.pool(1).await?;
    let statements = [
        "INSERT INTO ticket (source, outside_id, subject) SELECT 'zendesk', n::text, 'Where is my refund?'
           FROM generate_series(1, $1::bigint) n",
        "INSERT INTO run (id, ticket_id, state, mode, if_news)
         SELECT gen_random_uuid(), id, 'queued', 'ask', true FROM ticket ORDER BY id LIMIT $1::bigint",
        "INSERT INTO ready (run_id) SELECT id FROM run ORDER BY ticket_id LIMIT $1::bigint",
    ];
    for statement in statements {
        sqlx::query(statement).bind(many).execute(&pool).await?;
    }
    for statement in [
        "VACUUM ANALYZE ticket",
        "VACUUM ANALYZE run",
        "VACUUM ANALYZE ready",
        "CHECKPOINT",
    ] {
        sqlx::query(statement).execute(&pool).await?;
    }
    pool.close().await;
    Ok(())
}

pub(crate) async fn measure(cluster: &Cluster, report: &mut Report) -> anyhow::Result<()> {
    let many = report.size(500, 20_000);
    for (runners, against, number, must, aim) in [
        (RUNNERS, "graphile-worker tuned, quoted", TUNED, 0.2, 0.5),
        (4, "graphile-worker default, quoted", DEFAULT, 2.0, 5.0),
    ] {
        let mut rates = Vec::new();
        for _ in 0..report.rounds() {
            let (rate, pieces, spent) = drain(cluster, many, runners).await?;
            rates.push(rate);
            report.cost(format!("empty run, {runners} runners"), pieces, spent);
        }
        report.row(Row {
            what: format!("empty runs/s, {runners} runners"),
            ours: median(rates),
            unit: "/s",
            against: Some((against.into(), number)),
            must: Goal::AtLeast(must),
            aim: Goal::AtLeast(aim),
        });
    }
    start(cluster, report).await
}

async fn drain(cluster: &Cluster, many: i64, runners: usize) -> anyhow::Result<(f64, f64, crate::meter::Spent)> {
    let database = cluster.fresh("drain").await?;
    fill(&database, many).await?;
    let meter = Meter::new(cluster)?;
    let watch = database.pool(1).await?;
    let start = meter.start(&watch).await?;
    let begun = Instant::now();
    let model = Arc::new(Scripted {
        requests: 4,
        seen: None,
    });
    let world = World::start(&database, runners, model, Arc::new(Quiet::default()), Work::Runner).await?;
    let mut open = true;
    while open {
        tokio::time::sleep(Duration::from_millis(10)).await;
        open =
            sqlx::query_scalar("SELECT EXISTS (SELECT FROM ready) OR EXISTS (SELECT FROM run WHERE state = 'running')")
                .fetch_one(&watch)
                .await?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let spent = meter.end(&watch, &start).await?;
    let ended = world
        .number("SELECT count(*) FROM run WHERE state = 'completed'")
        .await?;
    anyhow::ensure!(ended == many, "{ended} of {many} runs ended");
    world.stop().await;
    Ok((many as f64 / seconds, many as f64, spent))
}

/// From the delivery's acceptance to the model's first request, one at a time.
async fn start(cluster: &Cluster, report: &mut Report) -> anyhow::Result<()> {
    let database = cluster.fresh("start").await?;
    let (tell, mut seen) = unbounded_channel();
    let model = Arc::new(Scripted {
        requests: 4,
        seen: Some(tell),
    });
    let world = World::start(&database, 4, model, Arc::new(Quiet::default()), Work::Runner).await?;
    world.know_something().await?;
    let mut times = Vec::new();
    for n in 0..report.size(20, 400) {
        runs::deliver(&world.app).await?;
        let queued = Instant::now();
        loop {
            let Some((_, before, at)) = seen.recv().await else {
                break;
            };
            if before == 0 {
                times.push(milliseconds(at.saturating_duration_since(queued)));
                break;
            }
        }
        world
            .until("SELECT count(*) FROM run WHERE state = 'waiting'", n + 1)
            .await?;
    }
    world.stop().await;
    report.row(Row {
        what: "queued → first model request, p50".into(),
        ours: median(times),
        unit: "ms",
        against: Some(("graphile-worker, quoted".into(), START)),
        must: Goal::AtMost(0.6),
        aim: Goal::AtMost(0.35),
    });
    Ok(())
}
