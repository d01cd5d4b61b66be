//! `deskhand eval`: a model measured on labelled tickets. No database is needed; nothing is stored and nothing is sent.

mod ask;
mod csv;
mod file;
mod report;
mod score;
mod ticket;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use clap::Args;
use deskhand_adapters::llm;
use deskhand_core::model::Usage;
use deskhand_core::offline::{Category, Decided, Learned, Offline};
use deskhand_core::port::Model;
use deskhand_core::prompt;
use indicatif::{ProgressBar, ProgressStyle};

use self::ask::Desk;
use self::file::{Half, Labelled};
use self::report::Report;
use self::score::{Guess, Tally};
use self::ticket::Ticket;
use super::start::{Context, logs};
use crate::app::Skills;
use crate::clock::Clock;
use crate::config::{Config, ModelChoice};
use crate::outside;

#[derive(Args, Debug)]
pub(super) struct Eval {
    /// Labelled tickets: JSON with "tickets", a list, an object a line, or CSV with text and category.
    file: PathBuf,
    /// Past tickets to learn from beforehand, in the same shapes; of a file with "train" and "test", the first.
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Another model than the settings': offline, anthropic:<name> or openai:<name>.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
}

pub(super) async fn run(context: &Context, eval: &Eval) -> anyhow::Result<ExitCode> {
    let mut config = context.settings()?;
    if let Some(name) = &eval.model {
        config.model = name.parse().map_err(|why| anyhow::anyhow!("--model {why}"))?;
    }
    logs(&config, "warn");
    let mut labelled = file::read(&eval.file, Half::Test)?;
    let mut past = std::mem::take(&mut labelled.past);
    if let Some(history) = &eval.history {
        let more = file::read(history, Half::Train)?;
        past.extend(more.past);
        past.extend(more.tickets);
        anyhow::ensure!(
            past.iter().any(|ticket| ticket.category.is_some()),
            "{}: line 1: no ticket has a category, so there is nothing to learn",
            history.display()
        );
    }
    let categories = categories(&config, &labelled, &past);
    if config.model != ModelChoice::Offline {
        // A provider's model learns nothing from them, and is not said to have.
        past.clear();
    }
    let (offline, train_s) = school(&categories, &past);
    let asked = match config.model {
        ModelChoice::Offline => by_offline(offline, &config, &labelled, &categories).await?,
        ModelChoice::Anthropic(_) | ModelChoice::OpenAi(_) => by_provider(&config, &labelled, &categories).await?,
    };
    let report = Report {
        model: &asked.model,
        tally: &asked.tally,
        past: past.iter().filter(|ticket| ticket.category.is_some()).count(),
        train_s,
        ms_per_ticket: asked.seconds * 1e3 / asked.tally.n.max(1) as f64,
        usage: asked.usage,
        requests: asked.requests,
    };
    match context.json {
        true => println!("{}", serde_json::to_string_pretty(&report.json())?),
        false => report.print(),
    }
    Ok(ExitCode::SUCCESS)
}

/// The file's own categories; else the house's, where they have all of the labels; else the labels themselves.
fn categories(config: &Config, labelled: &Labelled, past: &[Ticket]) -> Vec<Category> {
    let labels = labelled
        .tickets
        .iter()
        .chain(past)
        .filter_map(|ticket| ticket.category.as_ref());
    let mut labels: Vec<&String> = labels.collect();
    labels.sort();
    labels.dedup();
    let mut known = match labelled.categories.is_empty() {
        false => labelled.categories.clone(),
        true => {
            let house = outside::categories(config);
            let all = labels.iter().all(|label| house.iter().any(|one| one.name == **label));
            if all { house } else { Vec::new() }
        }
    };
    for label in labels {
        if !known.iter().any(|category| category.name == *label) {
            known.push(Category {
                name: label.clone(),
                description: String::new(),
                team: String::new(),
            });
        }
    }
    known
}

/// The offline model after its lesson, and how many seconds that took.
fn school(categories: &[Category], past: &[Ticket]) -> (Offline, f64) {
    let offline = Offline::new(categories.to_vec());
    let decided: Vec<Decided> = past
        .iter()
        .filter_map(|ticket| {
            Some(Decided {
                subject: ticket.subject.clone(),
                body: ticket.body.clone(),
                category: ticket.category.clone()?,
                weight: 1.0,
            })
        })
        .collect();
    if decided.is_empty() {
        return (offline, 0.0);
    }
    let wheel = ProgressBar::new_spinner().with_message(format!("learning from {} past tickets", decided.len()));
    wheel.enable_steady_tick(std::time::Duration::from_millis(120));
    let begun = Instant::now();
    let learned = Learned::train(categories, &decided);
    let seconds = begun.elapsed().as_secs_f64();
    wheel.finish_and_clear();
    match learned {
        Some(learned) => (offline.with(Arc::new(learned)), seconds),
        None => (offline, seconds),
    }
}

struct Asked {
    model: String,
    tally: Tally,
    seconds: f64,
    usage: Option<Usage>,
    requests: usize,
}

fn bar(n: usize) -> anyhow::Result<ProgressBar> {
    let bar = ProgressBar::new(n as u64);
    bar.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {eta}")?);
    Ok(bar)
}

/// Its triage by itself for every ticket, and the whole work on those whose text gives orders.
async fn by_offline(
    offline: Offline,
    config: &Config,
    labelled: &Labelled,
    categories: &[Category],
) -> anyhow::Result<Asked> {
    let bar = bar(labelled.tickets.len())?;
    let begun = Instant::now();
    let mut guesses: Vec<Guess> = Vec::new();
    for ticket in &labelled.tickets {
        let triage = offline.triage(&ticket.subject, &ticket.body).triage;
        guesses.push(Guess {
            category: triage.category,
            priority: Some(triage.priority),
            action: Some(triage.action),
            language: triage.language,
            confidence: triage.confidence,
            obeyed: false,
        });
        bar.inc(1);
    }
    let seconds = begun.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let desk = Desk::new(system(config, labelled, categories), &labelled.articles);
    let model = llm::Offline::new(offline);
    let mut tally = Tally::default();
    for (at, (ticket, guess)) in labelled.tickets.iter().zip(&mut guesses).enumerate() {
        if ticket.orders {
            let worked = desk.work(&model, at + 1, ticket).await?;
            guess.obeyed = worked.guess.is_some_and(|guess| guess.obeyed);
        }
        tally.count(ticket, Some(guess));
    }
    Ok(Asked {
        model: model.name().to_owned(),
        tally,
        seconds,
        usage: None,
        requests: 0,
    })
}

/// Every ticket through the Model port, one after the other: a provider's limits are a matter for its clients.
async fn by_provider(config: &Config, labelled: &Labelled, categories: &[Category]) -> anyhow::Result<Asked> {
    let outside = outside::connect(config, &Clock::default())?;
    let desk = Desk::new(system(config, labelled, categories), &labelled.articles);
    let bar = bar(labelled.tickets.len())?;
    let begun = Instant::now();
    let mut tally = Tally::default();
    let mut usage = Usage::default();
    let mut requests = 0;
    for (at, ticket) in labelled.tickets.iter().enumerate() {
        let worked = desk
            .work(outside.model.as_ref(), at + 1, ticket)
            .await
            .with_context(|| format!("{} did not answer at ticket {}", outside.model.name(), at + 1))?;
        usage += worked.usage;
        requests += worked.requests;
        tally.count(ticket, worked.guess.as_ref());
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(Asked {
        model: outside.model.name().to_owned(),
        tally,
        seconds: begun.elapsed().as_secs_f64(),
        usage: Some(usage),
        requests,
    })
}

/// The prompt of the product, with the file's categories and teams.
fn system(config: &Config, labelled: &Labelled, categories: &[Category]) -> String {
    let skills = if config.skills.is_dir() {
        Skills::read(&config.skills)
    } else {
        Skills::built_in()
    };
    let categories: Vec<(String, String)> = categories
        .iter()
        .map(|category| (category.name.clone(), category.description.clone()))
        .collect();
    let teams = match labelled.teams.is_empty() {
        false => labelled.teams.clone(),
        true => config.teams.keys().cloned().collect(),
    };
    prompt::system(&skills.rules, &skills.skills, &categories, &teams)
}
