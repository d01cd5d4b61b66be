//! From a signed click over the wire to the model's next request, one at a time: verified, decided, committed, resumed.

use std::sync::Arc;
use std::time::Instant;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc::unbounded_channel;

use crate::cluster::Cluster;
use crate::fake::{Quiet, Scripted};
use crate::limit::Limit;
use crate::load::{answered, on_the_wire};
use crate::meter::{median, milliseconds};
use crate::report::{Goal, Report, Row};
use crate::runs;
use crate::webhook;
use crate::world::{Work, World};

/// Measured elsewhere on two such cores, quoted: LangGraph on Postgres.
const LANGGRAPH: f64 = 7.1;

pub(crate) async fn measure(cluster: &Cluster, report: &mut Report) -> anyhow::Result<()> {
    let limit = Limit::new(cluster, report.size(1, 5))?;
    let (mut ours, mut commits, mut reads) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..report.rounds() {
        let database = cluster.fresh("resume").await?;
        ours.push(median(times(&database, report.size(10, 300)).await?));
        commits.push(limit.inserts(&database, 1).await?.milliseconds);
        reads.push(limit.selects(&database, 1).await?.milliseconds);
    }
    let ours = median(ours);
    for (what, number, must, aim) in [
        ("pgbench INSERT, one client", median(commits), 8.0, 5.0),
        ("LangGraph, quoted", LANGGRAPH, 0.33, 0.2),
    ] {
        report.row(Row {
            what: "signed click → next model request, p50".into(),
            ours,
            unit: "ms",
            against: Some((what.into(), number)),
            must: Goal::AtMost(must),
            aim: Goal::AtMost(aim),
        });
    }
    report.row(Row {
        what: "pgbench SELECT 1, one client".into(),
        ours: median(reads),
        unit: "ms",
        against: None,
        must: Goal::None,
        aim: Goal::None,
    });
    Ok(())
}

async fn times(database: &crate::cluster::Fresh, many: i64) -> anyhow::Result<Vec<f64>> {
    let (tell, mut seen) = unbounded_channel();
    let model = Arc::new(Scripted {
        requests: 4,
        seen: Some(tell),
    });
    let world = World::start(database, 4, model, Arc::new(Quiet::default()), Work::Runner).await?;
    world.know_something().await?;
    let url = world.serve().await?;
    let address = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    let mut times = Vec::new();
    for n in 0..many {
        runs::deliver(&world.app).await?;
        world
            .until("SELECT count(*) FROM run WHERE state = 'waiting' AND ending IS NULL", 1)
            .await?;
        let (id, digest) = sqlx::query_as::<_, (i64, String)>("SELECT id, digest FROM approval WHERE state = 'open'")
            .fetch_one(&world.pool)
            .await?;
        let request = on_the_wire(
            "/slack/interactions",
            address,
            &webhook::approve(&world.approver, id, &digest),
        );
        let clicked = Instant::now();
        stream.write_all(&request).await?;
        answered(&mut stream, &mut buffer).await?;
        loop {
            let Some((_, before, at)) = seen.recv().await else {
                break;
            };
            if before == 3 {
                times.push(milliseconds(at.saturating_duration_since(clicked)));
                break;
            }
        }
        world
            .until("SELECT count(*) FROM run WHERE ending IS NOT NULL", n + 1)
            .await?;
    }
    world.stop().await;
    Ok(times)
}
