//! What operators do: work on a ticket, decide, look after inbox, outbox and ledger.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Subcommand;
use deskhand_adapters::postgres::{
    approvals as store, inbox as inbox_store, ledger as ledger_store, outbox as outbox_store,
};
use deskhand_adapters::postgres::{mails, posts, tickets};
use deskhand_core::approval::{Answer, Wish};
use deskhand_core::command::{self, TicketRef};
use deskhand_core::id::{ApprovalId, EffectId, TicketId};
use deskhand_core::ticket::Source;
use serde_json::json;

use super::ask::{self, local_actor};
use super::start::{Context, Started};
use super::table::{clip, styled, table};
use crate::commands;
use crate::http::{api, webhooks};
use crate::mail;
use crate::worker::perform::resolve;
use crate::worker::{dispatcher, runner};

#[derive(Subcommand, Debug)]
pub(super) enum InboxCommand {
    /// What could not be mapped, with why.
    List,
    /// Map it again, after an update.
    Retry { id: i64 },
}

#[derive(Subcommand, Debug)]
pub(super) enum OutboxCommand {
    /// Of one ticket; else what is on its way or in trouble.
    List { ticket: Option<String> },
    /// Send a dead or unknown one again; it looks before it sends.
    Redrive { id: String },
}

#[derive(Subcommand, Debug)]
pub(super) enum LedgerCommand {
    /// Follow the chain from its start.
    Verify,
}

/// Starts, acts, and leaves in good order.
pub(super) async fn with<F>(context: &Context, act: F) -> anyhow::Result<ExitCode>
where
    F: AsyncFnOnce(&Started) -> anyhow::Result<ExitCode>,
{
    let started = context.start().await?;
    let done = act(&started).await;
    started.stop().await;
    done
}

/// Any command of the grammar.
pub(super) async fn command(context: &Context, text: &str) -> anyhow::Result<ExitCode> {
    let command = command::parse(text)?;
    with(context, async |started| {
        if let Some(reference) = commands::ticket_of(&command) {
            let found = resolve(&started.app, reference).await?;
            anyhow::ensure!(
                found.is_some(),
                "there is no ticket {reference} here: deskhand list shows what there is"
            );
        }
        let text = commands::execute(&started.app, &local_actor(), &command).await?;
        if context.json {
            println!("{}", json!({ "text": text }));
            return Ok(ExitCode::SUCCESS);
        }
        println!("{text}");
        Ok(ExitCode::SUCCESS)
    })
    .await
}

pub(super) async fn list(context: &Context, filter: &str) -> anyhow::Result<ExitCode> {
    if !context.json {
        return command(context, format!("list {filter}").trim()).await;
    }
    with(context, async |started| {
        let rows = tickets::list(
            &started.app.pool,
            &tickets::Filter {
                most: 200,
                ..tickets::Filter::default()
            },
        )
        .await?;
        println!("{}", serde_json::to_string_pretty(&rows)?);
        Ok(ExitCode::SUCCESS)
    })
    .await
}

/// `whole`: with the mails that said more than their comments do. JSON always has them.
pub(super) async fn show(context: &Context, ticket: &str, whole: bool) -> anyhow::Result<ExitCode> {
    if !context.json {
        let shown = command(context, &format!("show {ticket}")).await?;
        if whole && shown == ExitCode::SUCCESS {
            return whole_mails(context, ticket).await;
        }
        return Ok(shown);
    }
    let reference: TicketRef = ticket.parse()?;
    with(context, async |started| {
        let whole = api::whole_ticket(&started.app, &reference).await?;
        let whole = whole.with_context(|| format!("there is no ticket {reference} here"))?;
        println!("{}", serde_json::to_string_pretty(&whole)?);
        Ok(ExitCode::SUCCESS)
    })
    .await
}

async fn whole_mails(context: &Context, ticket: &str) -> anyhow::Result<ExitCode> {
    let reference: TicketRef = ticket.parse()?;
    with(context, async |started| {
        let id = resolve(&started.app, &reference).await?;
        let id = id.with_context(|| format!("there is no ticket {reference} here"))?;
        let comments = tickets::comments(&started.app.pool, id, 0).await?;
        let wholes = mails::wholes(&started.app.pool, id).await?;
        if wholes.is_empty() {
            println!("\nNo mail of it said more than what stands above.");
        }
        for (comment, mail) in &wholes {
            let of = comments.iter().find(|one| one.id == *comment);
            let head = of.map_or_else(String::new, |of| {
                format!("{}, {}", of.author_name, of.created_at.format("%F %R UTC"))
            });
            println!(
                "\n{}\n{}",
                styled(&ask::clean_lines(&head), "1"),
                ask::clean_lines(mail)
            );
        }
        Ok(ExitCode::SUCCESS)
    })
    .await
}

pub(super) async fn approvals(context: &Context) -> anyhow::Result<ExitCode> {
    with(context, async |started| {
        let rows = store::read(&started.app.pool, store::Which::Open).await?;
        if context.json {
            let all: Vec<_> = rows.iter().map(api::approval).collect();
            println!("{}", serde_json::to_string_pretty(&all)?);
        } else if rows.is_empty() {
            println!("Nothing waits for a decision.");
        } else {
            for row in &rows {
                if let Some(card) = crate::worker::card(&started.app, row.id).await? {
                    println!("{}\n", ask::draw(&card, "", false));
                }
            }
            println!(
                "Decide with: deskhand approve {}, or deskhand reject {} --reason \"…\"; a question: deskhand answer",
                rows[0].id, rows[0].id
            );
        }
        Ok(ExitCode::SUCCESS)
    })
    .await
}

pub(super) async fn approve(context: &Context, approval: &str) -> anyhow::Result<ExitCode> {
    decide(context, approval, Wish::Approve).await
}

pub(super) async fn reject(context: &Context, approval: &str, reason: &str) -> anyhow::Result<ExitCode> {
    decide(
        context,
        approval,
        Wish::Reject {
            reason: reason.to_owned(),
        },
    )
    .await
}

pub(super) async fn answer(context: &Context, approval: &str, text: &str) -> anyhow::Result<ExitCode> {
    decide(context, approval, Wish::Answer { text: text.to_owned() }).await
}

async fn decide(context: &Context, approval: &str, wish: Wish) -> anyhow::Result<ExitCode> {
    let id: ApprovalId = approval.parse()?;
    with(context, async |started| {
        let answer = ask::decide(&started.app, id, wish, None).await?;
        if !context.json {
            println!("{}", answer.sentence(id));
        }
        let decided = matches!(answer, Answer::Decided(_));
        if decided {
            // Carried out at once where no service is at work; harmless where one is.
            while runner::tick(&started.app).await? + dispatcher::tick(&started.app).await? > 0 {}
        }
        if context.json {
            println!("{}", json!({ "decided": decided, "sentence": answer.sentence(id) }));
        }
        Ok(if decided { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
    .await
}

pub(super) async fn inbox(context: &Context, inbox: &InboxCommand) -> anyhow::Result<ExitCode> {
    with(context, async |started| {
        let app = &started.app;
        match inbox {
            InboxCommand::List => {
                let rows = inbox_store::unmapped(&app.pool).await?;
                if context.json {
                    println!("{}", serde_json::to_string_pretty(&rows)?);
                } else if rows.is_empty() {
                    println!("Everything that came in could be mapped.");
                } else {
                    let rows: Vec<Vec<String>> = rows
                        .iter()
                        .map(|row| {
                            let at = row.received_at.format("%F %H:%M UTC").to_string();
                            vec![
                                row.id.to_string(),
                                row.source.clone(),
                                row.kind.clone(),
                                at,
                                clip(&row.error, 90),
                            ]
                        })
                        .collect();
                    println!("{}", table(&["id", "source", "kind", "received", "why"], &rows));
                    println!("Map one again with: deskhand inbox retry <id>");
                }
            }
            InboxCommand::Retry { id } if posts::retry(&app.pool, *id).await? => {
                println!("Post {id} is served again in a moment, by the bot that is running.");
            }
            InboxCommand::Retry { id } => {
                let (source, _, headers, body) = inbox_store::raw(&app.pool, *id)
                    .await?
                    .with_context(|| format!("there is no delivery {id} in the inbox"))?;
                let mapped = match source.parse() {
                    Ok(Source::Zendesk) => {
                        let headers = webhooks::headers_from(&headers);
                        let mapped = webhooks::map_zendesk(app, &headers, &body).await;
                        mapped.map_err(anyhow::Error::msg)
                    }
                    Ok(Source::Email) => mail::map_again(app, &headers, &body).await,
                    Ok(Source::Slack | Source::Discord | Source::Api) | Err(_) => {
                        anyhow::bail!("deliveries from {source} cannot be mapped again")
                    }
                };
                let inbound = mapped.map_err(|why| anyhow::anyhow!("it still cannot be mapped: {why:#}"))?;
                match inbox_store::map_again(&app.pool, *id, &inbound, app.intake().await?).await? {
                    true => println!("Delivery {id} is mapped: {}.", inbound.ticket),
                    false => println!("Delivery {id} was mapped before; nothing was changed."),
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    })
    .await
}

pub(super) async fn outbox(context: &Context, outbox: &OutboxCommand) -> anyhow::Result<ExitCode> {
    with(context, async |started| {
        let app = &started.app;
        match outbox {
            OutboxCommand::List { ticket } => {
                let id = match ticket {
                    Some(ticket) => {
                        let reference: TicketRef = ticket.parse()?;
                        let found = resolve(app, &reference).await?;
                        Some(found.with_context(|| format!("there is no ticket {reference} here"))?)
                    }
                    None => None,
                };
                let rows = outbox_store::list(&app.pool, id).await?;
                if context.json {
                    println!("{}", serde_json::to_string_pretty(&rows)?);
                } else if rows.is_empty() {
                    println!("Nothing is on its way, and nothing is in trouble.");
                } else {
                    let rows: Vec<Vec<String>> = rows
                        .iter()
                        .map(|row| {
                            let ticket = row.ticket_id.map(|id| TicketId(id).to_string()).unwrap_or_default();
                            vec![
                                row.id.to_string(),
                                ticket,
                                row.kind.clone(),
                                row.state.clone(),
                                row.attempts.to_string(),
                                clip(&row.why, 60),
                            ]
                        })
                        .collect();
                    println!("{}", table(&["id", "ticket", "what", "state", "tries", "why"], &rows));
                }
            }
            OutboxCommand::Redrive { id } => {
                let id: EffectId = id
                    .parse()
                    .map_err(|_| anyhow::anyhow!("\"{id}\" is no effect's id: see deskhand outbox list"))?;
                match outbox_store::redrive(&app.pool, id).await? {
                    true => println!("{id} is tried again; it is looked for before it is sent."),
                    false => anyhow::bail!("there is no effect {id} that is dead or unknown; nothing was changed"),
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    })
    .await
}

pub(super) async fn ledger(context: &Context, ledger: &LedgerCommand) -> anyhow::Result<ExitCode> {
    let LedgerCommand::Verify = ledger;
    with(context, async |started| {
        while ledger_store::seal(&started.app.pool, 500).await? == 500 {}
        let found = ledger_store::verify(&started.app.pool).await?;
        if context.json {
            let broken = found
                .broken
                .as_ref()
                .map(|broken| json!({ "number": broken.number, "why": broken.why }));
            println!(
                "{}",
                json!({ "sealed": found.sealed, "unsealed": found.unsealed, "broken": broken })
            );
        } else {
            match &found.broken {
                None => println!(
                    "The chain holds: {} rows sealed, {} not yet.",
                    found.sealed, found.unsealed
                ),
                Some(broken) => println!("The chain breaks at row {}: {}.", broken.number, broken.why),
            }
        }
        Ok(if found.broken.is_none() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    })
    .await
}

pub(super) async fn migrate(context: &Context) -> anyhow::Result<ExitCode> {
    with(context, async |_| {
        println!("The database has this version's shape.");
        Ok(ExitCode::SUCCESS)
    })
    .await
}
