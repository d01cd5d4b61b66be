//! What waiting runs hold in memory: nothing should.

use std::sync::Arc;

use crate::cluster::Cluster;
use crate::fake::{Quiet, Scripted};
use crate::meter::resident;
use crate::report::{Goal, Report, Row};
use crate::runs;
use crate::world::{RUNNERS, Work, World};

const WAITING: &str = "SELECT count(*) FROM run WHERE state = 'waiting'";

pub(crate) async fn measure(cluster: &Cluster, report: &mut Report) -> anyhow::Result<()> {
    let (few, many) = (report.size(20, 100), report.size(200, 10_000));
    let database = cluster.fresh("paused").await?;
    let model = Arc::new(Scripted {
        requests: 4,
        seen: None,
    });
    let world = World::start(&database, RUNNERS, model, Arc::new(Quiet::default()), Work::Runner).await?;
    world.know_something().await?;
    // The allocator takes its share at the first load, whatever becomes of the runs.
    let warm = report.size(20, 1_000);
    until_waiting(&world, 0, warm).await?;
    sqlx::query("UPDATE run SET state = 'cancelled'")
        .execute(&world.pool)
        .await?;
    until_waiting(&world, 0, few).await?;
    let before = resident()?;
    until_waiting(&world, few, many).await?;
    let after = resident()?;
    world.stop().await;
    report.row(Row {
        what: format!("memory from {few} to {many} waiting runs"),
        ours: after - before,
        unit: "MB",
        against: None,
        must: Goal::AtMost(4.0),
        aim: Goal::AtMost(1.0),
    });
    report.row(Row {
        what: format!("memory with {many} waiting runs"),
        ours: after,
        unit: "MB",
        against: None,
        must: Goal::None,
        aim: Goal::None,
    });
    Ok(())
}

/// Delivers a handful at a time until so many wait.
async fn until_waiting(world: &World, from: i64, to: i64) -> anyhow::Result<()> {
    let mut now = from;
    while now < to {
        let handful = (to - now).min(50);
        let deliveries = (0..handful).map(|_| runs::deliver(&world.app));
        futures_util::future::try_join_all(deliveries).await?;
        now += handful;
        world.until(WAITING, now).await?;
    }
    Ok(())
}
