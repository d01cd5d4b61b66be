//! Signed webhooks over many connections, each answered only after the commit that holds all of it: delivery, ticket,
//! comment and queued run. The limit is one INSERT of as many bytes by as many clients.

use std::sync::Arc;

use crate::cluster::Cluster;
use crate::fake::{Quiet, Scripted};
use crate::limit::Limit;
use crate::load;
use crate::meter::{Meter, Spent, median};
use crate::report::{Goal, Report, Row};
use crate::world::{Work, World};

const CONNECTIONS: u32 = 64;

/// Measured elsewhere on two such cores, quoted: fastify with pg.
const FASTIFY_CPU: f64 = 0.17;
const FASTIFY_P99: f64 = 15.6;

pub(crate) async fn measure(cluster: &Cluster, report: &mut Report) -> anyhow::Result<()> {
    let requests = report.size(1_280, 64_000);
    let meter = Meter::new(cluster)?;
    let limit = Limit::new(cluster, report.size(1, 8))?;
    let (mut ours, mut limits, mut p50, mut p99, mut cpu) = (vec![], vec![], vec![], vec![], vec![]);
    let mut spent = Spent::default();
    let mut limit_spent = Spent::default();
    for _ in 0..report.rounds() {
        let database = cluster.fresh("ingest").await?;
        let model = Arc::new(Scripted {
            requests: 4,
            seen: None,
        });
        let world = World::start(&database, 4, model, Arc::new(Quiet::default()), Work::Nothing).await?;
        let url = world.serve().await?;
        let sender = load::prepare(&url, CONNECTIONS as usize, requests).await?;
        let start = meter.start(&world.pool).await?;
        let seen = sender.go().await?;
        spent = meter.end(&world.pool, &start).await?;
        let stored = world
            .number("SELECT count(*) FROM ready JOIN run ON run.id = run_id")
            .await?;
        anyhow::ensure!(
            stored == i64::try_from(requests)?,
            "{stored} of {requests} deliveries were queued"
        );
        world.stop().await;
        let said = limit.inserts(&database, CONNECTIONS).await?;
        ours.push(seen.per_second);
        limits.push(said.per_second);
        p50.push(seen.p50);
        p99.push(seen.p99);
        cpu.push(spent.cpu() / requests as f64 * 1000.0);
        limit_spent = said.spent;
    }
    report.row(Row {
        what: "webhooks/s, 2 KB, 64 connections".into(),
        ours: median(ours),
        unit: "/s",
        against: Some(("pgbench INSERT, 64 clients".into(), median(limits.clone()))),
        must: Goal::AtLeast(0.8),
        aim: Goal::AtLeast(1.0),
    });
    report.row(Row {
        what: "CPU per 1,000 webhooks".into(),
        ours: median(cpu),
        unit: "s",
        against: Some(("fastify + pg, quoted".into(), FASTIFY_CPU)),
        must: Goal::AtMost(0.5),
        aim: Goal::AtMost(0.33),
    });
    report.row(Row {
        what: "webhook p99".into(),
        ours: median(p99),
        unit: "ms",
        against: Some(("fastify + pg, quoted".into(), FASTIFY_P99)),
        must: Goal::AtMost(1.0),
        aim: Goal::AtMost(0.6),
    });
    report.row(Row {
        what: "webhook p50".into(),
        ours: median(p50),
        unit: "ms",
        against: None,
        must: Goal::None,
        aim: Goal::None,
    });
    report.cost("webhook", requests as f64, spent);
    report.cost("pgbench INSERT", limit_spent.writes, limit_spent);
    Ok(())
}
