//! `deskhand triage T-1001`: works on a ticket, or looks on while a service does, and tells what happens as it happens.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use deskhand_core::command::{Command, TicketRef};
use deskhand_core::id::{RunId, TicketId};

use super::ask::local_actor;
use super::operate::with;
use super::seen::{self, Seen, newest};
use super::start::Context;
use super::told::{Manner, Teller};
use crate::app::App;
use crate::commands;
use crate::follow::Reader;
use crate::worker::perform::resolve;
use crate::worker::{dispatcher, runner, sweeper};

/// How long a run that is worked on elsewhere is looked on at.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long nothing is done when there is nothing to do here.
const IDLE: Duration = Duration::from_millis(200);

#[derive(Args, Debug)]
pub(super) struct Triage {
    /// T-1001, or its number in its source: zendesk:35436
    ticket: String,
    /// What to do, in your words.
    instruction: Vec<String>,
}

/// Starts or joins the ticket's run and follows it. Without a service at work, it works itself.
pub(super) async fn run(context: &Context, triage: &Triage) -> anyhow::Result<ExitCode> {
    let reference: TicketRef = triage.ticket.parse()?;
    let instruction = triage.instruction.join(" ");
    with(context, async |started| {
        let app = &started.app;
        let id = resolve(app, &reference)
            .await?
            .with_context(|| format!("there is no ticket {reference} here: deskhand list shows what there is"))?;
        let command = Command::Triage {
            ticket: TicketRef::Number(id),
            instruction: Some(instruction.clone()).filter(|text| !text.trim().is_empty()),
        };
        // What a run did before is not told again.
        let from = Seen::all(app, id).await?;
        let answer = commands::execute(app, &local_actor(), &command).await?;
        if !context.json {
            println!("{answer}");
        }
        let mut teller = Teller::new(id, if context.json { Manner::Json } else { Manner::Lines });
        let rests = follow(app, id, from, &mut teller).await?;
        teller.rests();
        if context.json {
            return Ok(ExitCode::SUCCESS);
        }
        if !rests {
            println!("Still at work; it goes on where a runner is (deskhand serve).");
        }
        let show = Command::Show(TicketRef::Number(id));
        println!("{}", commands::execute(app, &local_actor(), &show).await?);
        Ok(ExitCode::SUCCESS)
    })
    .await
}

/// Works and tells until the ticket's newest run waits or is over. False when that took too long.
async fn follow(app: &App, ticket: TicketId, from: Seen, teller: &mut Teller) -> anyhow::Result<bool> {
    let started = Instant::now();
    let mut reading: Option<(RunId, Reader)> = None;
    while let Some(run) = newest(app, ticket).await? {
        let id = RunId(run.id);
        if reading.as_ref().is_none_or(|(of, _)| *of != id) {
            let reader = app.followers.follow(app, id, from.cursor(run.id)).await?;
            reading = reader.map(|reader| (id, reader));
        }
        let Some((_, reader)) = &mut reading else { break };
        let worked = work_and_tell(app, reader, teller).await?;
        if started.elapsed() > PATIENCE {
            return Ok(false);
        }
        if worked > 0 {
            continue;
        }
        let now = newest(app, ticket).await?;
        let at_work = match &now {
            Some(run) if RunId(run.id) == id => {
                matches!(run.state.as_str(), "queued" | "running") || seen::is_helped(app, run).await?
            }
            Some(_) | None => true,
        };
        reader.look(app).await?;
        teller.tell_ready(reader);
        if !at_work {
            return Ok(true);
        }
        tokio::select! {
            () = tokio::time::sleep(IDLE) => {}
            told = reader.next() => teller.tell_all(&told.unwrap_or_default(), reader),
        }
    }
    Ok(true)
}

/// One round of all workers; what happens meanwhile is told meanwhile. Gives how much was done.
async fn work_and_tell(app: &App, reader: &mut Reader, teller: &mut Teller) -> anyhow::Result<usize> {
    let work =
        async { anyhow::Ok(runner::tick(app).await? + dispatcher::tick(app).await? + sweeper::tick(app).await?) };
    tokio::pin!(work);
    let mut open = true;
    loop {
        tokio::select! {
            worked = &mut work => return worked,
            told = reader.next(), if open => match told {
                Some(told) => teller.tell_all(&told, reader),
                None => open = false,
            },
        }
    }
}
