//! The benchmark: what the bot does in a second, and what that costs, held against what the machine can do.
//!
//! It starts a Postgres of its own with the durable defaults, drives the real server, runner, store and dispatcher with
//! a desk, a chat and a model that answer at once, and measures the limits on the same cluster between its own rounds.
//! It is no test: it judges nothing by the clock. `--short` only shows that everything here still works.

mod claim;
mod cluster;
mod drain;
mod events;
mod fake;
mod ingest;
mod interactions;
mod kill;
mod limit;
mod load;
mod mail;
mod meter;
mod paused;
mod report;
mod resume;
mod runs;
mod search;
mod tokens;
mod webhook;
mod world;

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use cluster::Cluster;
use report::Report;

#[derive(Parser, Debug)]
#[command(name = "bench", about = "Measures the bot on a Postgres of its own")]
struct Args {
    /// What to measure.
    #[arg(value_enum, required = true)]
    figures: Vec<Figure>,
    /// A few seconds each, only to see that it works: its numbers mean nothing.
    #[arg(long)]
    short: bool,
    /// One JSON object instead of tables.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Figure {
    All,
    Ingest,
    Drain,
    Claim,
    Runs,
    Long,
    Resume,
    Paused,
    Kill,
    Search,
    Events,
    Interactions,
    Tokens,
    Mail,
}

const EACH: [Figure; 13] = [
    Figure::Ingest,
    Figure::Drain,
    Figure::Claim,
    Figure::Runs,
    Figure::Long,
    Figure::Resume,
    Figure::Paused,
    Figure::Kill,
    Figure::Search,
    Figure::Events,
    Figure::Interactions,
    Figure::Tokens,
    Figure::Mail,
];

fn main() -> ExitCode {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let filter = tracing_subscriber::EnvFilter::try_from_env("DESKHAND_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("error"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .compact()
        .init();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error.into()),
    };
    let done = runtime.block_on(async {
        // The program starts itself again where a part must be a process of its own.
        let mut words = std::env::args().skip(1);
        match words.next().as_deref() {
            Some(load::WORD) => load::child(words.next()).await,
            Some(events::WORD) => events::child(words.next()).await,
            Some(kill::WORD) => kill::child(words.next()).await,
            Some(mail::WORD) => mail::child(words.next()).await,
            _ => measure(&Args::parse()).await,
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    eprintln!("bench: {error:#}");
    ExitCode::FAILURE
}

async fn measure(args: &Args) -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let mut report = Report::new(args.short);
    let wanted = |figure| args.figures.contains(&Figure::All) || args.figures.contains(&figure);
    let mut done = Ok(());
    for figure in EACH.into_iter().filter(|figure| wanted(*figure)) {
        done = one(figure, &cluster, &mut report).await;
        if done.is_err() {
            break;
        }
    }
    // The server is stopped whatever happened.
    cluster.stop().await?;
    done?;
    report.print(args.json);
    Ok(())
}

async fn one(figure: Figure, cluster: &Cluster, report: &mut Report) -> anyhow::Result<()> {
    eprintln!("bench: {figure:?} …");
    match figure {
        Figure::All => Ok(()),
        Figure::Ingest => ingest::measure(cluster, report).await,
        Figure::Drain => drain::measure(cluster, report).await,
        Figure::Claim => claim::measure(cluster, report).await,
        Figure::Runs => runs::measure(cluster, report, &runs::FOUR).await,
        Figure::Long => runs::measure(cluster, report, &runs::LONG).await,
        Figure::Resume => resume::measure(cluster, report).await,
        Figure::Paused => paused::measure(cluster, report).await,
        Figure::Kill => kill::measure(cluster, report).await,
        Figure::Search => search::measure(cluster, report).await,
        Figure::Events => events::measure(cluster, report).await,
        Figure::Interactions => interactions::measure(cluster, report).await,
        Figure::Tokens => tokens::measure(cluster, report).await,
        Figure::Mail => mail::measure(report).await,
    }
}
