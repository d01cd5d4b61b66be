//! What the commands of `/triage` do, the same for every surface. They answer in text; a surface only shows it.

pub(crate) mod look;
mod steer;
mod work;

use std::fmt::Write;

use deskhand_adapters::postgres::{inbox, settings};
use deskhand_core::approval::Actor;
use deskhand_core::command::{self, Command, Grants, TicketRef};
use deskhand_core::id::TicketId;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::people;
use crate::worker::AnswerTo;
use crate::worker::perform::resolve;
use look::{grants, helpers, kb, list, list_approvals, list_runs, show_ticket, skills, status, tool_servers};
use steer::{compact, model, pause, resume, set_model};
use work::{fresh, release, set_mode, stop, take, triage};

/// A command in somebody's words.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Asked {
    pub text: String,
    pub actor: Actor,
    /// Makes a repeat harmless while it is kept.
    pub delivery: String,
    pub answer: AnswerTo,
}

/// What a command came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Served {
    /// Where the command was given.
    Answer(String),
    /// For nobody but the person who gave it: a refusal, or that they are being looked up.
    Private(String),
}

impl Served {
    /// The answer, on its way to whoever may read it.
    pub fn to(self, actor: &Actor, answer: AnswerTo) -> AnswerTo {
        match self {
            Self::Answer(text) => AnswerTo { text, ..answer },
            Self::Private(text) => AnswerTo {
                text,
                person: Some(actor.id.clone()),
                ..answer
            },
        }
    }

    pub fn into_text(self) -> String {
        match self {
            Self::Answer(text) | Self::Private(text) => text,
        }
    }
}

/// Runs a command, or keeps it when the chat must be asked about the person first.
pub async fn serve(app: &App, asked: &Asked) -> anyhow::Result<Served> {
    match run(app, asked).await? {
        Some(served) => Ok(served),
        None => {
            keep(app, asked).await?;
            Ok(Served::Private(
                "Checking your rights; the answer follows in a moment.".into(),
            ))
        }
    }
}

/// Keeps a command: the sweeper serves it in a moment. A repeat is kept once.
pub async fn keep(app: &App, asked: &Asked) -> anyhow::Result<()> {
    let body = serde_json::to_vec(asked)?;
    let source = asked.actor.surface.as_str();
    inbox::keep(&app.pool, source, "command", &asked.delivery, &body).await?;
    app.wake();
    Ok(())
}

/// `None`: the person must be looked up first.
pub async fn run(app: &App, asked: &Asked) -> anyhow::Result<Option<Served>> {
    let parsed = command::parse(&asked.text);
    let authority = match &parsed {
        Ok(command) => command.authority(),
        Err(_) => command::Authority::Team,
    };
    match people::may_command(app, authority, &asked.actor).await? {
        Some(true) => {}
        Some(false) => {
            let circle = match authority {
                command::Authority::Team => "the support team",
                command::Authority::Admin => "Deskhand's admins",
            };
            let text = format!("This is for {circle}; nothing was done.");
            return Ok(Some(Served::Private(text)));
        }
        None => return Ok(None),
    }
    Ok(Some(Served::Answer(match parsed {
        Ok(command) => execute(app, &asked.actor, &command).await?,
        Err(error) => error.to_string(),
    })))
}

/// Does what a command says. Authority was checked before.
pub async fn execute(app: &App, actor: &Actor, command: &Command) -> anyhow::Result<String> {
    match command {
        Command::Help => Ok(help()),
        Command::Triage { ticket, instruction } => {
            on(app, ticket, async |id| {
                triage(app, actor, id, instruction.as_deref()).await
            })
            .await
        }
        Command::New(ticket) => on(app, ticket, async |id| fresh(app, id).await).await,
        Command::Resume(ticket) => on(app, ticket, async |id| resume(app, actor, id).await).await,
        Command::Pause(ticket) => on(app, ticket, async |id| pause(app, actor, id).await).await,
        Command::Compact(ticket) => on(app, ticket, async |id| compact(app, actor, id).await).await,
        Command::Stop(ticket) => on(app, ticket, async |id| stop(app, actor, id).await).await,
        Command::Take(ticket) => on(app, ticket, async |id| take(app, actor, id).await).await,
        Command::Release(ticket) => on(app, ticket, async |id| release(app, id).await).await,
        Command::Show(ticket) => on(app, ticket, async |id| show_ticket(app, id).await).await,
        Command::Runs(ticket) => on(app, ticket, async |id| list_runs(app, id).await).await,
        Command::List(filter) => list(app, filter).await,
        Command::Status => status(app).await,
        Command::Approvals(which) => list_approvals(app, actor, *which).await,
        Command::Kb(query) => kb(app, query).await,
        Command::Model(None) => Ok(model(app)),
        Command::Model(Some(name)) => set_model(app, actor, name).await,
        Command::Skills => Ok(skills(app)),
        Command::Mcp => Ok(tool_servers(app).await),
        Command::Grants(Grants::List) => grants(app).await,
        Command::Grants(Grants::Revoke(id)) => Ok(match settings::revoke_grant(&app.pool, *id).await? {
            true => format!("Grant {id} is revoked."),
            false => format!("There is no grant {id}, or it is revoked already."),
        }),
        Command::Mode(None) => Ok(format!("The mode is {}.", app.mode().await?)),
        Command::Mode(Some(mode)) => set_mode(app, actor, *mode).await,
        Command::Helpers(ticket) => on(app, ticket, async |id| helpers(app, id).await).await,
    }
}

fn help() -> String {
    let mut text = String::from("What you can type:");
    for line in command::help() {
        let words = [line.name, line.argument].join(" ");
        let _ = write!(text, "\n• {}: {}", words.trim(), line.sentence);
    }
    text
}

/// The ticket that a command is about.
pub fn ticket_of(command: &Command) -> Option<&TicketRef> {
    match command {
        Command::Triage { ticket, .. }
        | Command::Show(ticket)
        | Command::Runs(ticket)
        | Command::Resume(ticket)
        | Command::Pause(ticket)
        | Command::New(ticket)
        | Command::Stop(ticket)
        | Command::Take(ticket)
        | Command::Release(ticket)
        | Command::Compact(ticket)
        | Command::Helpers(ticket) => Some(ticket),
        Command::Help
        | Command::List(_)
        | Command::Status
        | Command::Approvals(_)
        | Command::Kb(_)
        | Command::Model(_)
        | Command::Skills
        | Command::Mcp
        | Command::Grants(_)
        | Command::Mode(_) => None,
    }
}

/// Finds the ticket, or says in a friendly sentence that there is none.
async fn on<F>(app: &App, reference: &TicketRef, act: F) -> anyhow::Result<String>
where
    F: AsyncFnOnce(TicketId) -> anyhow::Result<String>,
{
    match resolve(app, reference).await? {
        Some(id) => act(id).await,
        None => Ok(format!(
            "There is no ticket {reference} here. Type list to see what there is."
        )),
    }
}
