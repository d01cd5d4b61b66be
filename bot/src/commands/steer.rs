//! Commands that steer a run without ending it: pause and resume, a summary of older turns, the model.

use deskhand_adapters::postgres::runs::{self, Paused};
use deskhand_adapters::postgres::{ledger, outbox, settings, tickets};
use deskhand_core::approval::Actor;
use deskhand_core::id::TicketId;
use deskhand_core::ledger::EntryKind;
use deskhand_core::step::StepKind;

use super::work::triage;
use crate::app::App;

pub(super) async fn pause(app: &App, actor: &Actor, ticket: TicketId) -> anyhow::Result<String> {
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    let paused = runs::pause(&mut tx, ticket).await?;
    outbox::refresh_header(&mut tx, ticket).await?;
    tx.commit().await?;
    app.pass_word();
    let by = &actor.name;
    Ok(match paused {
        Paused::Rests(_) => format!("{ticket} is paused by {by}; resume {ticket} lets it go on."),
        Paused::AtWork(_) => {
            format!(
                "{ticket} is paused by {by}: what is being written is kept as it is. resume {ticket} lets it go on."
            )
        }
        Paused::Already(_) => format!("{ticket} is paused already; resume {ticket} lets it go on."),
        Paused::Nothing => format!("Nothing is at work on {ticket}, so there is nothing to pause."),
    })
}

/// Lets a paused run go on; without one it is the same as naming the ticket.
pub(super) async fn resume(app: &App, actor: &Actor, ticket: TicketId) -> anyhow::Result<String> {
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    let resumed = runs::resume(&mut tx, ticket).await?;
    outbox::refresh_header(&mut tx, ticket).await?;
    tx.commit().await?;
    app.wake();
    match resumed {
        Some(_) => Ok(format!("{ticket} goes on.")),
        None => triage(app, actor, ticket, None).await,
    }
}

/// Asks for a summary of the older turns of the run that is at work.
pub(super) async fn compact(app: &App, actor: &Actor, ticket: TicketId) -> anyhow::Result<String> {
    let step = StepKind::CompactAsked {
        by_name: actor.name.clone(),
    };
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    let run = runs::tell_open(&mut tx, ticket, &step).await?;
    tx.commit().await?;
    app.wake();
    Ok(match run {
        Some(_) => format!("The older turns of {ticket} are summarised before its model is asked again."),
        None => format!("Nothing is at work on {ticket}; its next run shortens what came before by itself."),
    })
}

pub(super) fn model(app: &App) -> String {
    let names: Vec<String> = app
        .models
        .in_order()
        .iter()
        .map(|model| model.name().to_owned())
        .collect();
    match names.as_slice() {
        [one] => format!("The model is {one}; when it does not answer, a person takes over."),
        [first, others @ ..] => format!(
            "The model is {first}; when it does not answer: {}.",
            others.join(", then ")
        ),
        [] => "No model is set.".into(),
    }
}

/// Chooses the model that new requests go to, on every replica.
pub(super) async fn set_model(app: &App, actor: &Actor, name: &str) -> anyhow::Result<String> {
    let name = name.trim();
    let model = match app.models.can(name) {
        Ok(model) => model,
        Err(error) => return Ok(error.to_string()),
    };
    // A name that the provider does not offer would fail every run from here on.
    match model.offered().await {
        Ok(offered) if !offered.is_empty() && name != "offline" => {
            let wanted = name.split_once(':').map_or(name, |(_, wanted)| wanted);
            if !offered.iter().any(|one| one == wanted) {
                let few: Vec<&str> = offered.iter().map(String::as_str).take(8).collect();
                return Ok(format!(
                    "{wanted} is not among what the provider offers: {} …",
                    few.join(", ")
                ));
            }
        }
        Ok(_) => {}
        Err(error) => return Ok(format!("{name} cannot be used now: {error}.")),
    }
    let by = actor.key();
    let mut tx = app.pool.begin().await?;
    settings::set(&mut *tx, "model", name, &by).await?;
    let line = ledger::Line {
        actor: &by,
        word: "model",
        ..ledger::Line::of(EntryKind::Setting, None)
    };
    ledger::append(&mut tx, &line).await?;
    tx.commit().await?;
    app.models.choose(Some(name));
    Ok(format!("The model is {name} from the next request on."))
}
