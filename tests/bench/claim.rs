//! The claim by itself: whether it stays as cheap with a million queued runs, and while somebody holds a snapshot open.

use std::time::{Duration, Instant};

use deskhand::worker::runner::Mark;
use deskhand_adapters::postgres::runs;
use sqlx::PgPool;

use crate::cluster::Cluster;
use crate::drain;
use crate::meter::{median, milliseconds};
use crate::report::{Goal, Report, Row};

/// Runs that a claim takes.
const AT_ONCE: i64 = 4;

pub(crate) async fn measure(cluster: &Cluster, report: &mut Report) -> anyhow::Result<()> {
    depth(cluster, report).await?;
    snapshot(cluster, report).await
}

async fn depth(cluster: &Cluster, report: &mut Report) -> anyhow::Result<()> {
    let deep_many = report.size(20_000, 1_000_000);
    let claims = report.size(20, 200);
    let deep = cluster.fresh("deep").await?;
    drain::fill(&deep, deep_many).await?;
    let deep = deep.pool(1).await?;
    let (mut shallow_times, mut deep_times) = (Vec::new(), Vec::new());
    for _ in 0..report.rounds() * 2 - 1 {
        let shallow = cluster.fresh("shallow").await?;
        drain::fill(&shallow, 1_000).await?;
        let shallow = shallow.pool(1).await?;
        shallow_times.push(claims_take(&shallow, claims).await?);
        deep_times.push(claims_take(&deep, claims).await?);
        shallow.close().await;
    }
    report.row(Row {
        what: format!("a claim of {AT_ONCE} at {deep_many} queued"),
        ours: median(deep_times),
        unit: "ms",
        against: Some(("the same at 1,000".into(), median(shallow_times))),
        must: Goal::AtMost(1.15),
        aim: Goal::AtMost(1.05),
    });
    Ok(())
}

/// The median time of a claim.
async fn claims_take(pool: &PgPool, many: usize) -> anyhow::Result<f64> {
    let mut mark = Mark::default();
    let mut times = Vec::new();
    for _ in 0..many {
        let start = Instant::now();
        claim(pool, &mut mark).await?;
        times.push(milliseconds(start.elapsed()));
    }
    Ok(median(times))
}

async fn claim(pool: &PgPool, mark: &mut Mark) -> anyhow::Result<usize> {
    let claimed = runs::claim(pool, "bench", AT_ONCE, 60.0, &mark.above(), None).await?;
    mark.saw(&claimed.lowest, claimed.leases.is_empty());
    Ok(claimed.leases.len())
}

async fn snapshot(cluster: &Cluster, report: &mut Report) -> anyhow::Result<()> {
    let seconds = report.size(1, 24);
    let queued = report.size(20_000, 500_000);
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..report.size(1, 2) {
        for held in [false, true] {
            let database = cluster.fresh("snapshot").await?;
            drain::fill(&database, queued).await?;
            let pool = database.pool(2).await?;
            let mut old = pool.begin().await?;
            if held {
                sqlx::query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                    .execute(&mut *old)
                    .await?;
                sqlx::query("SELECT count(*) FROM setting").execute(&mut *old).await?;
            }
            let rate = rate_at_the_end(&pool, Duration::from_secs(seconds)).await?;
            if held {
                with.push(rate)
            } else {
                without.push(rate)
            }
            old.rollback().await?;
            pool.close().await;
        }
    }
    report.row(Row {
        what: format!("claims/s with a snapshot open for {seconds} s"),
        ours: median(with),
        unit: "/s",
        against: Some(("without".into(), median(without))),
        must: Goal::AtLeast(0.8),
        aim: Goal::AtLeast(0.95),
    });
    Ok(())
}

/// Claims for a while, and gives the rate of the last third. The queue must be long enough to last.
async fn rate_at_the_end(pool: &PgPool, time: Duration) -> anyhow::Result<f64> {
    let mut mark = Mark::default();
    let start = Instant::now();
    let (mut late, mut since) = (0_u32, None);
    while start.elapsed() < time {
        if claim(pool, &mut mark).await? == 0 {
            break;
        }
        if start.elapsed() > time * 2 / 3 {
            since.get_or_insert_with(Instant::now);
            late += 1;
        }
    }
    let since = since.ok_or_else(|| anyhow::anyhow!("the queue was empty too early"))?;
    Ok(f64::from(late) / since.elapsed().as_secs_f64())
}
