//! Commands that change something: a run, who has the ticket, the mode.

use deskhand_adapters::postgres::{approvals, ledger, outbox, runs, settings, tickets};
use deskhand_core::approval::Actor;
use deskhand_core::id::TicketId;
use deskhand_core::ledger::EntryKind;
use deskhand_core::step::StepKind;
use deskhand_core::ticket::Mode;

use crate::app::App;

use super::look::waits;

pub(super) async fn triage(
    app: &App,
    actor: &Actor,
    ticket: TicketId,
    instruction: Option<&str>,
) -> anyhow::Result<String> {
    let open = runs::of_ticket(&app.pool, ticket)
        .await?
        .into_iter()
        .find(|run| matches!(run.state.as_str(), "queued" | "running" | "waiting"));
    if let (Some(run), None) = (&open, instruction) {
        let waits = waits(app, ticket).await?;
        let also = if waits.is_empty() {
            String::new()
        } else {
            format!(" It waits for {}.", waits.join(", "))
        };
        return Ok(match run.state.as_str() {
            _ if run.paused => format!("{ticket} is paused; resume {ticket} lets it go on.{also}"),
            "waiting" if waits.is_empty() => format!("{ticket} waits for something outside."),
            "waiting" => format!("{ticket} waits for {}.", waits.join(", ")),
            "queued" => format!("{ticket} stands in the queue; its turn comes.{also}"),
            _ => format!("{ticket} is being worked on.{also}"),
        });
    }
    let step = instruction.map(|text| StepKind::Instructed {
        text: text.to_owned(),
        by: actor.key(),
        by_name: actor.name.clone(),
    });
    let mode = app.mode().await?;
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    if step.is_some() {
        // The draft that waits was made without it.
        let why = format!("{} gave a new instruction", actor.name);
        approvals::withdraw_replies(&mut tx, &[ticket], &why).await?;
    }
    let run = runs::instruct(&mut tx, ticket, mode, step.as_ref()).await?;
    tx.commit().await?;
    app.wake();
    let paused = open.is_some_and(|run| run.paused);
    Ok(match (run, instruction) {
        (Some(_), Some(_)) if paused => {
            format!("{ticket} is paused; it hears your instruction when resume {ticket} lets it go on.")
        }
        (None, _) => format!("{ticket} is with a person; release it first."),
        (Some(_), None) => format!("Working on {ticket}."),
        (Some(_), Some(_)) => format!("Working on {ticket} with your instruction."),
    })
}

pub(super) async fn fresh(app: &App, ticket: TicketId) -> anyhow::Result<String> {
    let mode = app.mode().await?;
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    runs::cancel(&mut tx, ticket, "a new run was asked for").await?;
    approvals::withdraw_all(&mut tx, ticket, "a new run was asked for").await?;
    let run = runs::instruct(&mut tx, ticket, mode, None).await?;
    if let Some(run) = run {
        runs::continue_nothing(&mut tx, run).await?;
    }
    tx.commit().await?;
    app.pass_word();
    Ok(match run {
        Some(_) => format!("{ticket} starts afresh."),
        None => format!("{ticket} is with a person; release it first."),
    })
}

pub(super) async fn stop(app: &App, actor: &Actor, ticket: TicketId) -> anyhow::Result<String> {
    let why = format!("stopped by {}", actor.name);
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    let runs = runs::cancel(&mut tx, ticket, &why).await?;
    approvals::withdraw_all(&mut tx, ticket, &why).await?;
    outbox::withdraw_pending(&mut tx, ticket, &why).await?;
    outbox::refresh_header(&mut tx, ticket).await?;
    let late = outbox::being_sent(&mut tx, ticket).await?;
    tx.commit().await?;
    app.pass_word();
    let late = if late {
        " Something was on its way already: too late for that."
    } else {
        ""
    };
    Ok(match runs.is_empty() {
        true => format!("Nothing was at work on {ticket}; whatever waited is withdrawn.{late}"),
        false => format!("{ticket} is stopped; whatever waited is withdrawn.{late}"),
    })
}

pub(super) async fn take(app: &App, actor: &Actor, ticket: TicketId) -> anyhow::Result<String> {
    let mut tx = app.pool.begin().await?;
    tickets::take(&mut tx, ticket, &actor.name).await?;
    outbox::refresh_header(&mut tx, ticket).await?;
    let late = outbox::being_sent(&mut tx, ticket).await?;
    tx.commit().await?;
    app.pass_word();
    let late = if late {
        " A reply was on its way already: too late for that one."
    } else {
        ""
    };
    Ok(format!(
        "{ticket} is yours; I keep my hands off it until release {ticket}.{late}"
    ))
}

pub(super) async fn release(app: &App, ticket: TicketId) -> anyhow::Result<String> {
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    let released = tickets::release(&mut tx, ticket).await?;
    outbox::refresh_header(&mut tx, ticket).await?;
    tx.commit().await?;
    app.wake();
    Ok(match released {
        true => format!("{ticket} is released; the next comment starts a run, or type {ticket} to start one now."),
        false => format!("{ticket} is not with a person."),
    })
}

pub(super) async fn set_mode(app: &App, actor: &Actor, mode: Mode) -> anyhow::Result<String> {
    let by = actor.key();
    let mut tx = app.pool.begin().await?;
    settings::set(&mut *tx, "mode", mode.as_str(), &by).await?;
    let line = ledger::Line {
        actor: &by,
        word: mode.as_str(),
        ..ledger::Line::of(EntryKind::Setting, None)
    };
    ledger::append(&mut tx, &line).await?;
    tx.commit().await?;
    Ok(match mode {
        Mode::Shadow => "The mode is shadow: nothing leaves the house, everything is recorded.".into(),
        Mode::Ask => "The mode is ask: replies wait for a supervisor.".into(),
        Mode::Auto => {
            "The mode is auto: replies that triage calls auto_reply go out unasked, unless an inspector marks them."
                .into()
        }
    })
}
