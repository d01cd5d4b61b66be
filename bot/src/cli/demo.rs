//! `deskhand demo`: everything embedded, on sample tickets and articles of a made-up shop.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use deskhand_adapters::postgres::articles::{self, Publish};
use deskhand_adapters::postgres::inbox::{self, Delivery};
use deskhand_adapters::postgres::tickets::{self, Filter};
use deskhand_adapters::postgres::{approvals, runs};
use deskhand_core::approval::ApprovalState;
use deskhand_core::article::ArticleState;
use deskhand_core::id::{ArticleId, RunId, TicketId};
use deskhand_core::inbound::{Happening, Inbound, NewComment, Told};
use deskhand_core::roster::Who;
use deskhand_core::show;
use deskhand_core::ticket::{Author, OutsideId, Requester, Source};
use deskhand_core::transcript::{self, Transcript};
use serde::Deserialize;
use serde_json::json;

use super::start::Context;
use super::table::{clip, styled, table};
use super::{ask, kb};
use crate::app::App;
use crate::config::{MailConfig, ModelChoice};
use crate::worker::{dispatcher, runner, sweeper};

#[derive(Args, Debug)]
pub(super) struct Demo {
    /// Ask nothing; end when every run is final or waiting.
    #[arg(long)]
    once: bool,
    /// Start afresh: forget what the demo knows.
    #[arg(long)]
    reset: bool,
}

#[derive(Deserialize)]
struct Sample {
    id: String,
    subject: String,
    requester: SampleRequester,
    comments: Vec<SampleComment>,
}

#[derive(Deserialize)]
struct SampleRequester {
    name: String,
    address: String,
}

#[derive(Deserialize)]
struct SampleComment {
    hours_ago: i64,
    body: String,
}

const TICKETS: &str = include_str!("../../samples/tickets.json");

/// Name and text of each sample article.
static ARTICLES: &[(&str, &str)] = &[
    ("charged-twice", include_str!("../../samples/articles/charged-twice.md")),
    ("delivery-de", include_str!("../../samples/articles/delivery-de.md")),
    ("delivery-ja", include_str!("../../samples/articles/delivery-ja.md")),
    ("delivery-zh", include_str!("../../samples/articles/delivery-zh.md")),
    ("delivery", include_str!("../../samples/articles/delivery.md")),
    ("descaling-zh", include_str!("../../samples/articles/descaling-zh.md")),
    ("descaling", include_str!("../../samples/articles/descaling.md")),
    ("invoices", include_str!("../../samples/articles/invoices.md")),
    ("returns-de", include_str!("../../samples/articles/returns-de.md")),
    ("returns-fr", include_str!("../../samples/articles/returns-fr.md")),
    ("returns-ja", include_str!("../../samples/articles/returns-ja.md")),
    ("returns-zh", include_str!("../../samples/articles/returns-zh.md")),
    ("returns", include_str!("../../samples/articles/returns.md")),
    ("sign-in", include_str!("../../samples/articles/sign-in.md")),
    (
        "subscription-de",
        include_str!("../../samples/articles/subscription-de.md"),
    ),
    ("subscription", include_str!("../../samples/articles/subscription.md")),
    ("warranty", include_str!("../../samples/articles/warranty.md")),
];

pub(super) async fn run(context: &Context, demo: &Demo) -> anyhow::Result<ExitCode> {
    let mut config = context.settings()?;
    // The demo is for whoever sits here, and shows nothing to anybody else.
    config.approvers = vec![Who::AnyoneLocal];
    config.approvals.clear();
    config.slack = None;
    config.discord = None;
    config.zendesk = None;
    config.mail = MailConfig::default();
    config.mcp.clear();
    if demo.reset {
        anyhow::ensure!(
            config.database_url.is_none(),
            "DATABASE_URL is set: the demo resets only its own embedded database, so unset it for demo --reset"
        );
    }
    if config.model == ModelChoice::Offline {
        eprintln!("deskhand: no model is set, so the offline one works (see DESKHAND_MODEL)");
    }
    let started = context.start_with(config).await?;
    if let Err(error) = only_the_demos(&started.app).await {
        started.stop().await;
        return Err(error);
    }
    if demo.reset {
        reset(&started.app).await?;
    }
    let done = play(&started.app, demo, context.json).await;
    started.stop().await;
    done.map(|()| ExitCode::SUCCESS)
}

async fn play(app: &App, demo: &Demo, json: bool) -> anyhow::Result<()> {
    let fresh = load(app).await?;
    if !json {
        println!(
            "{}",
            match fresh {
                true => "Loaded the sample tickets and articles of Lindenhof, a made-up shop. Triaging them:",
                false => "Found the data of an earlier start (--reset starts afresh).",
            }
        );
    }
    settle(app, !json).await?;
    if json {
        println!("{}", serde_json::to_string_pretty(&concluded_json(app).await?)?);
        return Ok(());
    }
    println!("\n{}", concluded(app).await?);
    if demo.once || !std::io::stdin().is_terminal() && !std::env::var("DESKHAND_DEMO_PIPE").is_ok_and(|on| on == "1") {
        let open = approvals::read(&app.pool, approvals::Which::Open).await?;
        println!(
            "\n{} approvals wait. Run `deskhand demo` in a terminal to decide them.",
            open.len()
        );
        return Ok(());
    }
    loop {
        let decided = ask::all(app).await?;
        if decided == 0 {
            break;
        }
        // What was decided is carried out, and rejected drafts may come back as new ones.
        settle(app, true).await?;
        if approvals::read(&app.pool, approvals::Which::Open).await?.is_empty() {
            break;
        }
        println!("\nSome are still open:");
    }
    println!("\n{}", concluded(app).await?);
    println!("\nThat was the demo. `deskhand serve` runs the bot; the README says how to connect Zendesk and Slack.");
    Ok(())
}

/// The demo neither plays with real customers' tickets nor forgets them.
async fn only_the_demos(app: &App) -> anyhow::Result<()> {
    let real = tickets::from_outside(&app.pool).await?;
    anyhow::ensure!(
        real == 0,
        "this database holds {real} tickets of a connected desk: give the demo another DESKHAND_DATA, and no DATABASE_URL"
    );
    Ok(())
}

/// Empties the demo's own database.
async fn reset(app: &App) -> anyhow::Result<()> {
    deskhand_adapters::postgres::empty(&app.pool)
        .await
        .context("The demo's data could not be reset")?;
    crate::app::migrate(&app.pool).await
}

/// Loads the samples once. False when they were there.
async fn load(app: &App) -> anyhow::Result<bool> {
    for (id, text) in ARTICLES {
        let file = kb::parse_file(id, text).map_err(|why| anyhow::anyhow!("sample article {id}: {why}"))?;
        let mut tx = app.pool.begin().await?;
        let publish = Publish {
            id: &ArticleId((*id).to_owned()),
            title: &file.title,
            section: &file.section,
            body: &file.body,
            language: &file.language,
            state: ArticleState::Published,
            base: None,
            author: "import",
            rationale: "sample",
            run: None,
            approval: None,
        };
        articles::publish(&mut tx, &publish).await?;
        tx.commit().await?;
    }
    let samples: Vec<Sample> = serde_json::from_str(TICKETS).context("the sample tickets are broken")?;
    let mut intake = app.intake().await?;
    intake.quiet = 0.0;
    let deliveries: Vec<Delivery> = samples.iter().map(|sample| delivery(app, sample)).collect();
    let accepted = inbox::accept(&app.pool, &deliveries, intake).await?;
    Ok(accepted.iter().any(|accepted| !accepted.repeat))
}

fn delivery(app: &App, sample: &Sample) -> Delivery {
    let outside = OutsideId {
        source: Source::Api,
        id: format!("sample-{}", sample.id),
    };
    let comments = sample
        .comments
        .iter()
        .enumerate()
        .map(|(n, comment)| NewComment {
            outside_id: Some(format!("sample-{}-{n}", sample.id)),
            author: Author::Requester,
            author_name: sample.requester.name.clone(),
            public: true,
            body: comment.body.clone(),
            created_at: Some(app.clock.now() - chrono::TimeDelta::hours(comment.hours_ago)),
            marker: None,
        })
        .collect();
    let told = Told {
        subject: Some(sample.subject.clone()),
        requester: Some(Requester {
            name: sample.requester.name.clone(),
            address: sample.requester.address.clone(),
        }),
        comments,
        ..Told::default()
    };
    Delivery {
        source: Source::Api,
        delivery_id: format!("sample-{}", sample.id),
        headers: json!({}),
        body: Vec::new(),
        mapped: Ok(Inbound {
            ticket: outside,
            what: Happening::Told(Box::new(told)),
        }),
    }
}

/// Works until nothing is ready any more, with a line for each step as it is taken.
async fn settle(app: &App, show: bool) -> anyhow::Result<()> {
    let watcher = show.then(|| tokio::spawn(watch(app.clone())));
    loop {
        let worked = runner::tick(app).await? + dispatcher::tick(app).await? + sweeper::tick(app).await?;
        if worked == 0 {
            break;
        }
    }
    sweeper::index_tickets(app).await?;
    if let Some(watcher) = watcher {
        // One more look for the last lines.
        tokio::time::sleep(Duration::from_millis(150)).await;
        watcher.abort();
    }
    Ok(())
}

/// Lines of progress as tools run, from the runs' own logs.
async fn watch(app: App) {
    let mut seen: std::collections::HashMap<RunId, i32> = std::collections::HashMap::new();
    let mut first = true;
    loop {
        if let Err(error) = lines(&app, &mut seen, !first).await {
            tracing::debug!(%error, "the progress could not be read");
        }
        first = false;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn lines(app: &App, seen: &mut std::collections::HashMap<RunId, i32>, show: bool) -> sqlx::Result<()> {
    for row in tickets::list(
        &app.pool,
        &Filter {
            most: 100,
            ..Filter::default()
        },
    )
    .await?
    {
        for run in runs::of_ticket(&app.pool, TicketId(row.id)).await?.into_iter().take(1) {
            let id = RunId(run.id);
            let after = seen.get(&id).copied().unwrap_or(0);
            let all = runs::steps(&app.pool, id, 0).await?;
            let Some(last) = all.last().map(|step| step.seq).filter(|last| *last > after) else {
                continue;
            };
            seen.insert(id, last);
            let whole = Transcript::new(all);
            if !show && run.state != "running" && run.state != "queued" {
                continue;
            }
            for step in whole.steps().iter().filter(|step| step.seq > after) {
                if let Some(line) = transcript::line(&whole, step) {
                    println!(
                        "{} {} {}",
                        styled("●", "32"),
                        styled(&TicketId(row.id).to_string(), "1"),
                        clip(&line, 100)
                    );
                }
            }
        }
    }
    Ok(())
}

async fn concluded(app: &App) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for row in tickets::list(
        &app.pool,
        &Filter {
            most: 100,
            ..Filter::default()
        },
    )
    .await?
    .iter()
    .rev()
    {
        let part = |name: &str| {
            row.triage
                .as_ref()
                .and_then(|t| t[name].as_str())
                .unwrap_or("–")
                .to_owned()
        };
        let id = TicketId(row.id);
        let what = what_now(app, id).await?;
        rows.push(vec![
            id.to_string(),
            clip(&row.subject, 30),
            part("language"),
            part("category"),
            part("priority"),
            part("team"),
            part("action"),
            what,
        ]);
    }
    rows.sort();
    Ok(table(
        &[
            "ticket", "subject", "lang", "category", "priority", "team", "action", "now",
        ],
        &rows,
    ))
}

async fn what_now(app: &App, id: TicketId) -> anyhow::Result<String> {
    let open: Vec<String> = approvals::read(&app.pool, approvals::Which::OfTicket(id))
        .await?
        .iter()
        .filter(|row| row.state == ApprovalState::Open && !row.recorded)
        .map(|row| format!("waits: {}", show::title(row.id, row.ticket, &row.effect)))
        .collect();
    if !open.is_empty() {
        return Ok(open.join("; "));
    }
    let run = runs::of_ticket(&app.pool, id).await?.into_iter().next();
    Ok(run.map_or_else(String::new, |run| run.ending.unwrap_or(run.state).replace('_', " ")))
}

async fn concluded_json(app: &App) -> anyhow::Result<serde_json::Value> {
    let mut all = Vec::new();
    for row in tickets::list(
        &app.pool,
        &Filter {
            most: 100,
            ..Filter::default()
        },
    )
    .await?
    .iter()
    .rev()
    {
        let id = TicketId(row.id);
        let runs = runs::of_ticket(&app.pool, id).await?;
        let open: Vec<_> = approvals::read(&app.pool, approvals::Which::OfTicket(id))
            .await?
            .iter()
            .filter(|row| row.state == ApprovalState::Open)
            .map(crate::http::api::approval)
            .collect();
        all.push(
            json!({ "ticket": id.to_string(), "subject": row.subject, "state": row.state, "triage": row.triage,
                         "run": runs.first(), "approvals": open }),
        );
    }
    Ok(json!({ "tickets": all }))
}
