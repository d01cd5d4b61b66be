//! Whole runs, many at once: delivery, model requests, calls, one approval, its click, the resumed run, the outbox.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use deskhand::app::App;
use deskhand::decisions::{self, Wanted};
use deskhand::http::{intake, webhooks};
use deskhand::worker::AnswerTo;
use deskhand_adapters::postgres::inbox::Delivery;
use deskhand_core::approval::{Actor, Answer, Surface, Wish};
use deskhand_core::id::ApprovalId;
use deskhand_core::ticket::Source;
use serde_json::json;

use crate::cluster::Cluster;
use crate::fake::{Quiet, Scripted};
use crate::meter::{Meter, Spent, median, resident};
use crate::report::{Goal, Report, Row};
use crate::webhook;
use crate::world::{RUNNERS, Work, World};

/// One kind of whole run, with what LangGraph on Postgres took for it: measured elsewhere on two such cores, quoted.
pub(crate) struct Plan {
    requests: usize,
    short: usize,
    long: usize,
    rate: Option<f64>,
    cpu_ms: f64,
    cpu: (f64, f64),
    wal_kb: f64,
    wal: (f64, f64),
}

pub(crate) const FOUR: Plan = Plan {
    requests: 4,
    short: 40,
    long: 4_000,
    rate: Some(28.6),
    cpu_ms: 38.0,
    cpu: (1.0 / 10.0, 1.0 / 20.0),
    wal_kb: 54.0,
    wal: (0.4, 0.25),
};

pub(crate) const LONG: Plan = Plan {
    requests: 43,
    short: 8,
    long: 500,
    rate: None,
    cpu_ms: 722.0,
    cpu: (1.0 / 15.0, 1.0 / 25.0),
    wal_kb: 696.0,
    wal: (0.15, 0.1),
};

pub(crate) async fn measure(cluster: &Cluster, report: &mut Report, plan: &Plan) -> anyhow::Result<()> {
    let many = report.size(plan.short, plan.long);
    let (mut rates, mut cpu, mut wal, mut memory) = (vec![], vec![], vec![], vec![]);
    for _ in 0..report.rounds() {
        let (spent, resident) = round(cluster, plan.requests, many).await?;
        rates.push(many as f64 / spent.seconds);
        cpu.push(spent.cpu() / many as f64 * 1e3);
        wal.push(spent.wal / many as f64 / 1024.0);
        memory.push(resident);
        report.cost(format!("run of {} requests", plan.requests), many as f64, spent);
    }
    let of = format!("{} requests", plan.requests);
    report.row(Row {
        what: format!("whole runs/s, {of}, {RUNNERS} at once"),
        ours: median(rates),
        unit: "/s",
        against: plan.rate.map(|rate| ("LangGraph, quoted".into(), rate)),
        must: plan.rate.map_or(Goal::None, |_| Goal::AtLeast(12.0)),
        aim: plan.rate.map_or(Goal::None, |_| Goal::AtLeast(25.0)),
    });
    report.row(Row {
        what: format!("CPU per run, {of}"),
        ours: median(cpu),
        unit: "ms",
        against: Some(("LangGraph, quoted".into(), plan.cpu_ms)),
        must: Goal::AtMost(plan.cpu.0),
        aim: Goal::AtMost(plan.cpu.1),
    });
    report.row(Row {
        what: format!("WAL per run, {of}"),
        ours: median(wal),
        unit: "kB",
        against: Some(("LangGraph, quoted".into(), plan.wal_kb)),
        must: Goal::AtMost(plan.wal.0),
        aim: Goal::AtMost(plan.wal.1),
    });
    if plan.requests == FOUR.requests {
        report.row(Row {
            what: "memory of the process at work".into(),
            ours: median(memory),
            unit: "MB",
            against: Some(("LangGraph, quoted".into(), 121.0)),
            must: Goal::AtMost(0.35),
            aim: Goal::AtMost(0.2),
        });
        commits(cluster, report).await?;
    }
    Ok(())
}

async fn round(cluster: &Cluster, requests: usize, many: usize) -> anyhow::Result<(Spent, f64)> {
    let database = cluster.fresh("runs").await?;
    let desk = Arc::new(Quiet::default());
    let model = Arc::new(Scripted { requests, seen: None });
    let world = World::start(
        &database,
        RUNNERS,
        model,
        Arc::clone(&desk) as _,
        Work::RunnerAndDispatcher,
    )
    .await?;
    world.know_something().await?;
    // A few first, so that prepared statements and caches are there, as in a service that is up.
    drive(&world, &desk, RUNNERS).await?;
    let meter = Meter::new(cluster)?;
    let start = meter.start(&world.pool).await?;
    drive(&world, &desk, many).await?;
    let spent = meter.end(&world.pool, &start).await?;
    let memory = resident()?;
    world.stop().await;
    Ok((spent, memory))
}

/// Works so many whole runs, at most `RUNNERS` of them open at a time.
async fn drive(world: &World, desk: &Quiet, many: usize) -> anyhow::Result<()> {
    let before = desk.replies();
    let completed = world
        .number("SELECT count(*) FROM run WHERE state = 'completed'")
        .await?;
    let mut clicks = Clicks::from_now(world).await?;
    let mut begun = 0;
    let deadline = Instant::now() + Duration::from_secs(600);
    while desk.replies() - before < many {
        anyhow::ensure!(
            Instant::now() < deadline,
            "{} of {many} runs got their answer",
            desk.replies() - before
        );
        let open = begun - (desk.replies() - before);
        for _ in open..RUNNERS.min(many - begun + open) {
            let app = world.app.clone();
            tokio::spawn(async move { deliver(&app).await });
            begun += 1;
        }
        clicks.click(world).await?;
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let all = completed + i64::try_from(many)?;
    world
        .until("SELECT count(*) FROM run WHERE state = 'completed'", all)
        .await
}

/// A customer's first comment, through the door that webhooks take.
pub(crate) async fn deliver(app: &App) -> anyhow::Result<()> {
    let (number, body) = webhook::comment();
    let signed = webhook::zendesk(&number, body);
    let mut headers = HeaderMap::new();
    for (name, value) in &signed.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value)?);
    }
    let mapped = webhooks::map_zendesk(app, &headers, &signed.body).await;
    let delivery = Delivery {
        source: Source::Zendesk,
        delivery_id: number,
        headers: json!({ "content-type": "application/json" }),
        body: signed.body,
        mapped,
    };
    intake::accept(app, delivery).await.map_err(anyhow::Error::msg)?;
    Ok(())
}

/// The supervisor, who presses "Approve" on whatever is open.
struct Clicks {
    above: i64,
    seen: HashSet<i64>,
}

/// Numbers are drawn before their transactions commit, so a lower one may be seen after a higher one.
const LATE: i64 = 500;

impl Clicks {
    async fn from_now(world: &World) -> anyhow::Result<Self> {
        let above = world.number("SELECT coalesce(max(id), 0) FROM approval").await?;
        Ok(Self {
            above,
            seen: HashSet::new(),
        })
    }

    async fn click(&mut self, world: &World) -> anyhow::Result<()> {
        let rows = sqlx::query_as::<_, (i64, String)>(
            "SELECT id, digest FROM approval WHERE id > $1 AND state = 'open' ORDER BY id",
        );
        let rows = rows.bind(self.above).fetch_all(&world.pool).await?;
        for (id, digest) in rows {
            if self.seen.insert(id) {
                let (app, person) = (world.app.clone(), world.approver.clone());
                tokio::spawn(async move { approve(&app, id, digest, Surface::Slack, &person).await });
            }
            self.above = self.above.max(id - LATE);
        }
        Ok(())
    }
}

pub(crate) async fn approve(app: &App, id: i64, digest: String, surface: Surface, person: &str) -> anyhow::Result<()> {
    let wanted = Wanted {
        approval: ApprovalId(id),
        actor: Actor {
            surface,
            id: person.into(),
            name: "sam".into(),
            workspace: None,
            roles: Vec::new(),
        },
        wish: Wish::Approve,
        digest: Some(digest),
        delivery: format!("click-{id}"),
        answer: AnswerTo::default(),
    };
    match decisions::decide(app, &wanted).await? {
        Answer::Decided(_) => Ok(()),
        other => anyhow::bail!("a click came to {other:?}"),
    }
}

/// Counts the transactions of runs by themselves, then those of their effects.
async fn commits(cluster: &Cluster, report: &mut Report) -> anyhow::Result<()> {
    let many = report.size(16, 256);
    let database = cluster.fresh("commits").await?;
    let desk = Arc::new(Quiet::default());
    let model = Arc::new(Scripted {
        requests: 4,
        seen: None,
    });
    let world = World::start(&database, RUNNERS, model, Arc::clone(&desk) as _, Work::Runner).await?;
    world.know_something().await?;
    let meter = Meter::new(cluster)?;
    let start = meter.start(&world.pool).await?;
    let mut clicks = Clicks::from_now(&world).await?;
    // One after the other, so that no two share the commit of their delivery or of their claim.
    for n in 0..many {
        deliver(&world.app).await?;
        world.until("SELECT count(*) FROM approval", n + 1).await?;
        clicks.click(&world).await?;
        world
            .until("SELECT count(*) FROM run WHERE ending IS NOT NULL", n + 1)
            .await?;
    }
    let own = meter.end(&world.pool, &start).await?;
    let pieces = many as f64;
    report.cost("run of 4 requests without its outbox, one by one", pieces, own);
    let start = meter.start(&world.pool).await?;
    world.dispatch();
    world
        .until("SELECT count(*) FROM run WHERE state = 'completed'", many)
        .await?;
    let effects = world
        .number("SELECT count(*) FROM outbox WHERE state = 'delivered'")
        .await?;
    let sent = meter.end(&world.pool, &start).await?;
    report.cost("effect, by the dispatcher", effects as f64, sent);
    world.stop().await;
    report.row(Row {
        what: "commits per run, its own, intake and claims included".into(),
        ours: own.writes / pieces,
        unit: "",
        against: None,
        must: Goal::AtMost(14.0),
        aim: Goal::AtMost(10.0),
    });
    report.row(Row {
        what: "commits per effect, the dispatcher's".into(),
        ours: sent.writes / effects as f64,
        unit: "",
        against: None,
        must: Goal::AtMost(2.0),
        aim: Goal::AtMost(2.0),
    });
    Ok(())
}
