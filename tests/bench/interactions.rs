//! Discord's interactions while all runners are busy: signed, over the wire, at an even pace whatever the answers take.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::ensure;
use deskhand_tests::fake::by;
use deskhand_tests::fake::clock::Clock;
use deskhand_tests::fake::discord::{Discord, Seen};
use serde_json::json;
use tokio::task::JoinSet;

use crate::cluster::Cluster;
use crate::fake::{Quiet, Scripted};
use crate::meter::{milliseconds, percentile};
use crate::report::{Goal, Report, Row};
use crate::runs;
use crate::world::{RUNNERS, Work, World};

const A_SECOND: u32 = 50;

pub(crate) async fn measure(cluster: &Cluster, report: &mut Report) -> anyhow::Result<()> {
    let many = report.size(100, 1_500);
    let database = cluster.fresh("interactions").await?;
    let discord = Discord::start(Clock::at(chrono::Utc::now())).await;
    let model = Arc::new(Scripted {
        requests: 4,
        seen: None,
    });
    let world = World::start_with(
        &database,
        RUNNERS,
        model,
        Arc::new(Quiet::default()),
        Work::Runner,
        Some(&discord),
    )
    .await?;
    world.know_something().await?;
    discord.bot_is_at(&world.serve().await?);
    let app = world.app.clone();
    let pool = world.pool.clone();
    // More is ready than there are runners, all the time.
    let busy = tokio::spawn(async move {
        loop {
            let ready: i64 = sqlx::query_scalar("SELECT count(*) FROM ready")
                .fetch_one(&pool)
                .await?;
            for _ in ready..i64::try_from(RUNNERS)? {
                runs::deliver(&app).await?;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        #[expect(unreachable_code, reason = "names the error's type")]
        anyhow::Ok(())
    });
    world
        .until("SELECT count(*) FROM approval WHERE state = 'open'", 32)
        .await?;

    let worked = world.number("SELECT count(*) FROM step").await?;
    let start = Instant::now();
    let mut at_work = JoinSet::new();
    let mut pace = tokio::time::interval(Duration::from_secs(1) / A_SECOND);
    for n in 0..many {
        let due = pace.tick().await.into_std();
        let (discord, pool) = (discord.clone(), world.pool.clone());
        at_work.spawn(async move {
            let seen = one(&discord, &pool, n).await?;
            ensure!(seen.status == 200, "an interaction was answered with {}", seen.status);
            ensure!(
                seen.answer["type"].is_u64(),
                "an interaction had no answer: {}",
                seen.answer
            );
            anyhow::Ok((n % 4, milliseconds(due.elapsed())))
        });
    }
    let mut times = [vec![], vec![], vec![], vec![]];
    while let Some(done) = at_work.join_next().await {
        let (kind, took) = done??;
        times[kind].push(took);
    }
    let seconds = start.elapsed().as_secs_f64();
    let worked = world.number("SELECT count(*) FROM step").await? - worked;
    ensure!(!busy.is_finished(), "the runners ran out of work");
    busy.abort();
    let decided = world
        .number("SELECT count(*) FROM approval WHERE state = 'approved'")
        .await?;
    ensure!(
        decided == i64::try_from(times[3].len())?,
        "{decided} of {} clicks decided something",
        times[3].len()
    );
    world.stop().await;

    for (what, times) in ["offered while typing", "show", "list", "click on Approve"]
        .into_iter()
        .zip(&mut times)
    {
        report.row(Row {
            what: format!("{what}: answered, p99"),
            ours: percentile(times, 0.99),
            unit: "ms",
            against: None,
            must: Goal::AtMost(100.0),
            aim: Goal::AtMost(100.0),
        });
    }
    let mut all = times.concat();
    for (what, share) in [("p50", 0.5), ("p99", 0.99)] {
        report.row(Row {
            what: format!("{A_SECOND} interactions/s while {RUNNERS} runners are busy, {what}"),
            ours: percentile(&mut all, share),
            unit: "ms",
            against: None,
            must: Goal::AtMost(100.0),
            aim: Goal::AtMost(100.0),
        });
    }
    report.row(Row {
        what: "steps/s of the runners meanwhile".into(),
        ours: worked as f64 / seconds,
        unit: "/s",
        against: None,
        must: Goal::None,
        aim: Goal::None,
    });
    Ok(())
}

/// One of each kind in turn.
async fn one(discord: &Discord, pool: &sqlx::PgPool, n: usize) -> anyhow::Result<Seen> {
    Ok(match n % 4 {
        0 => {
            discord
                .sends(
                    |body| {
                        body["type"] = 4.into();
                        body["data"] = json!({
                            "id": "771825006014889984", "name": "triage", "type": 1,
                            "options": [{ "type": 1, "name": "show", "options": [
                                { "type": 3, "name": "ticket", "value": "T-10", "focused": true },
                            ] }],
                        });
                    },
                    by("sam"),
                )
                .await
        }
        1 => {
            let ticket = format!("T-{}", 1001 + n % 30);
            discord.commands("show", &[("ticket", &ticket)], by("sam")).await
        }
        2 => discord.commands("list", &[], by("sam")).await,
        _ => {
            // Each presses another card: those of the first runs, in their order.
            let nth = i64::try_from(n / 4)?;
            let (id, digest) =
                sqlx::query_as::<_, (i64, String)>("SELECT id, digest FROM approval ORDER BY id LIMIT 1 OFFSET $1")
                    .bind(nth)
                    .fetch_one(pool)
                    .await?;
            discord
                .sends(
                    |body| {
                        body["type"] = 3.into();
                        body["message"] = json!({ "id": "1700000000000000001", "channel_id": body["channel_id"] });
                        body["data"] = json!({
                            "custom_id": format!("approve:deskhand:{id}:{}", &digest[..12]), "component_type": 2,
                        });
                    },
                    by("sam"),
                )
                .await
        }
    })
}
