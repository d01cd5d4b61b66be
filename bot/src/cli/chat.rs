//! `deskhand chat [T-1001]`: a conversation with the bot about tickets, at a terminal or through a pipe.
//!
//! A line is a command of the grammar that every surface shares, or an instruction for the ticket at hand. The workers
//! run beside the conversation, as in the service, so nothing depends on another process; where one is at work, the two
//! share it. What a run does is read from its events, as everybody who looks on reads it.

mod complete;
mod own;
mod serve;
mod typed;
mod waiting;
mod watch;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use deskhand_adapters::postgres::tickets::{self, Filter};
use deskhand_core::approval::Actor;
use deskhand_core::command::{Command, TicketRef};
use deskhand_core::id::{ApprovalId, TicketId};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::ask::local_actor;
use super::seen::{self, Seen};
use super::start::{self, Context};
use super::table::styled;
use crate::app::App;
use crate::worker::perform::resolve;
use typed::{Heard, Kept, Typed};
use work::Work;

/// As shells have it for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

#[derive(Args, Debug)]
pub(super) struct Chat {
    /// The ticket to begin with: T-1001, or its number in its source, zendesk:35436
    ticket: Option<String>,
    /// Take up the ticket of the last conversation.
    #[arg(long = "continue", conflicts_with = "ticket")]
    last: bool,
}

/// The conversation as it stands.
struct Talk<'a> {
    app: &'a App,
    actor: Actor,
    /// The ticket at hand.
    ticket: Option<TicketId>,
    typed: Typed,
    kept: Kept,
    /// Approvals that the person wants to leave for now, or has seen where nothing is asked.
    left: BTreeSet<ApprovalId>,
    /// How much of each ticket's newest run was told.
    seen: BTreeMap<TicketId, Seen>,
    /// Ctrl-C, where the line editor does not have the terminal.
    interrupts: Signal,
    /// One came while something was under way.
    interrupted: bool,
    /// Something was not understood, refused or failed: a pipe's exit code.
    failed: bool,
}

pub(super) async fn run(context: &Context, chat: &Chat) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        !context.json,
        "chat has no JSON; deskhand triage and deskhand do have it"
    );
    let config = context.settings()?;
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if terminal {
        // What workers warn of would stand in the middle of what is typed; runs tell of their troubles themselves.
        start::logs(&config, "error");
    }
    let kept = Kept::under(&config.data);
    let started = context.start_with(config).await?;
    let work = Work::begin(&started.app);
    let done = talk(&started.app, chat, terminal, kept).await;
    work.end().await;
    started.stop().await;
    done
}

async fn talk(app: &App, chat: &Chat, terminal: bool, kept: Kept) -> anyhow::Result<ExitCode> {
    let mut talk = Talk {
        app,
        actor: local_actor(),
        ticket: None,
        typed: if terminal {
            Typed::terminal(&kept)?
        } else {
            Typed::pipe()
        },
        kept,
        left: BTreeSet::new(),
        seen: BTreeMap::new(),
        interrupts: signal(SignalKind::interrupt())?,
        interrupted: false,
        failed: false,
    };
    talk.greet().await?;
    if let Some(text) = &chat.ticket {
        let reference: TicketRef = text.parse()?;
        let id = resolve(app, &reference)
            .await?
            .with_context(|| format!("there is no ticket {reference} here: deskhand list shows what there is"))?;
        talk.take_up(id).await?;
    } else if chat.last {
        match talk.kept.last_ticket() {
            Some(id) if tickets::find(&app.pool, id).await? == Some(id) => talk.take_up(id).await?,
            Some(_) | None => talk.complain("There is no earlier conversation here: type a ticket's number, or /list."),
        }
    }
    loop {
        talk.offer_completions().await;
        let prompt = talk.ticket.map_or_else(|| "deskhand".to_owned(), |id| id.to_string());
        match talk.typed.next(&prompt, &mut talk.interrupts).await? {
            Heard::Line(line) => {
                let served = talk.serve(line.trim()).await;
                match served {
                    Ok(true) if talk.interrupted && !terminal => return Ok(ExitCode::from(INTERRUPTED)),
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) => talk.complain(&format!("{error:#}")),
                }
            }
            Heard::Interrupted if terminal => println!("{}", styled("/exit or Ctrl-D leaves.", "2")),
            Heard::Interrupted => return Ok(ExitCode::from(INTERRUPTED)),
            Heard::End => break,
        }
    }
    if terminal {
        if let Some(id) = talk.ticket {
            println!(
                "{}",
                styled(&format!("deskhand chat --continue goes on with {id}."), "2")
            );
        }
        return Ok(ExitCode::SUCCESS);
    }
    Ok(if talk.failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

impl Talk<'_> {
    async fn greet(&self) -> anyhow::Result<()> {
        if !self.typed.is_terminal() {
            return Ok(());
        }
        self.app.learn_choices().await?;
        let (mode, model) = (self.app.mode().await?, self.app.models.first());
        println!("{} mode {mode}, model {}", styled("Deskhand", "1"), model.name());
        let any = tickets::list(
            &self.app.pool,
            &Filter {
                most: 1,
                ..Filter::default()
            },
        )
        .await?;
        if any.is_empty() {
            println!(
                "There are no tickets here yet: deskhand demo loads samples; the README says how to connect a desk."
            );
        }
        println!(
            "{}",
            styled(
                "Type a ticket's number, then what to do in your words. /list shows tickets, /help all commands.",
                "2"
            )
        );
        Ok(())
    }

    /// Makes a ticket the one at hand, shows it, and looks on where something is under way.
    async fn take_up(&mut self, id: TicketId) -> anyhow::Result<()> {
        self.choose(id);
        self.tell(&Command::Show(TicketRef::Number(id))).await?;
        self.begin(id).await?;
        match seen::newest(self.app, id).await? {
            Some(run) if run.finished_at.is_none() => self.look_on(id).await,
            Some(_) => Ok(()),
            None => {
                println!(
                    "{}",
                    styled(&format!("No run has worked on it yet: {id} starts one."), "2")
                );
                Ok(())
            }
        }
    }

    fn choose(&mut self, id: TicketId) {
        if self.ticket != Some(id) {
            self.ticket = Some(id);
            self.kept.remember(id);
        }
    }

    fn complain(&mut self, sentence: &str) {
        self.failed = true;
        println!("{} {sentence}", styled("✗", "31"));
    }

    async fn offer_completions(&mut self) {
        if !self.typed.is_terminal() {
            return;
        }
        let filter = Filter {
            most: 200,
            ..Filter::default()
        };
        // Without them a number is typed in full.
        let tickets = tickets::list(&self.app.pool, &filter).await.unwrap_or_default();
        let tickets = tickets
            .iter()
            .map(|row| (TicketId(row.id).to_string(), row.subject.clone()));
        self.typed.offer(tickets.collect(), self.ticket.is_some());
    }
}
