//! `deskhand replay T-1001 …`: recorded tickets, worked once more in memory with another model or other playbooks, and
//! what would come out differently. Nothing is written, nobody is asked, nothing leaves; a provider's model is asked anew
//! and costs what it costs.

mod again;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use deskhand_adapters::postgres::tickets::{self, Filter};
use deskhand_core::command::TicketRef;
use deskhand_core::id::TicketId;
use deskhand_core::port::Model;
use indicatif::{ProgressBar, ProgressStyle};

use super::start::Context;
use crate::app::App;
use crate::worker::perform::resolve;
use again::{Replayed, Replayer};

#[derive(Args, Debug)]
pub(super) struct Replay {
    /// T-1001, or its number in its source, zendesk:35436; several for a scorecard
    #[arg(required_unless_present = "last", conflicts_with = "last")]
    tickets: Vec<String>,
    /// The last N tickets that were worked on.
    #[arg(long, value_name = "N")]
    last: Option<u16>,
    /// Another model: offline, anthropic:NAME or openai:NAME
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Other playbooks and house rules: a folder like skills/
    #[arg(long, value_name = "DIR")]
    skills: Option<PathBuf>,
}

pub(super) async fn run(context: &Context, replay: &Replay) -> anyhow::Result<ExitCode> {
    let mut config = context.settings()?;
    if let Some(skills) = &replay.skills {
        anyhow::ensure!(skills.is_dir(), "--skills is {}, which is no folder", skills.display());
        config.skills.clone_from(skills);
    }
    let started = context.start_with(config).await?;
    let done = all(&started.app, replay, context.json).await;
    started.stop().await;
    done
}

async fn all(app: &App, replay: &Replay, json: bool) -> anyhow::Result<ExitCode> {
    let model = model(app, replay.model.as_deref()).await?;
    let ids = wanted(app, replay).await?;
    anyhow::ensure!(
        !ids.is_empty(),
        "no ticket was worked on yet, so there is nothing to replay"
    );
    if let Some(tools) = &app.tools {
        // They are offered as they would be, and never called.
        tools.ready().await;
    }
    let bar = progress(ids.len());
    let mut replayer = Replayer::new(app, model);
    let mut all: Vec<Replayed> = Vec::new();
    for id in ids {
        bar.set_message(id.to_string());
        all.push(replayer.ticket(id).await?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let all_replayed = all.iter().all(|one| one.missing.is_none());
    match json {
        true => println!("{}", serde_json::to_string_pretty(&report::json(&all))?),
        false => println!("{}", report::text(&all)),
    }
    Ok(if all_replayed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The named model, else the one that new requests go to.
async fn model(app: &App, name: Option<&str>) -> anyhow::Result<Arc<dyn Model>> {
    match name {
        Some(name) => app
            .models
            .can(name)
            .with_context(|| format!("--model {name} cannot be used")),
        None => {
            app.learn_choices().await?;
            Ok(app.models.first())
        }
    }
}

async fn wanted(app: &App, replay: &Replay) -> anyhow::Result<Vec<TicketId>> {
    if let Some(last) = replay.last {
        let filter = Filter {
            most: i64::from(last),
            ..Filter::default()
        };
        let rows = tickets::list(&app.pool, &filter).await?;
        let mut ids: Vec<TicketId> = rows.iter().map(|row| TicketId(row.id)).collect();
        ids.sort();
        return Ok(ids);
    }
    let mut ids = Vec::new();
    for text in &replay.tickets {
        let reference: TicketRef = text.parse()?;
        let found = resolve(app, &reference).await?;
        ids.push(
            found.with_context(|| format!("there is no ticket {reference} here: deskhand list shows what there is"))?,
        );
    }
    Ok(ids)
}

/// Drawn for several tickets, and only where standard error is a terminal.
fn progress(tickets: usize) -> ProgressBar {
    if tickets < 2 {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(tickets as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30.cyan} {pos}/{len} {wide_msg} {eta}") {
        bar.set_style(style);
    }
    bar
}
