//! What a line does: the terminal's own commands, those of the grammar, and looking on at what comes of them.

use std::io::Write;

use deskhand_core::command::{self, Command, CommandError, TicketRef};
use deskhand_core::id::TicketId;
use futures_util::FutureExt as _;

use super::Talk;
use super::own::{self, Own};
use super::watch::Watch;
use crate::cli::ask::clean_lines;
use crate::cli::seen::{self, Seen};
use crate::commands;
use crate::worker::perform::resolve;

impl Talk<'_> {
    /// Does what a line says. False when the conversation is over.
    pub(super) async fn serve(&mut self, line: &str) -> anyhow::Result<bool> {
        // One that came before this line was typed is not about it.
        while self.interrupts.recv().now_or_never().flatten().is_some() {}
        if line.is_empty() {
            if let Some(id) = self.ticket.filter(|_| self.typed.is_terminal()) {
                self.left.clear();
                self.look_on(id).await?;
            }
            return Ok(true);
        }
        match own::parse(line) {
            Some(Ok(Own::Exit)) => return Ok(false),
            Some(Ok(own)) => return self.serve_own(own).await.map(|()| true),
            Some(Err(sentence)) => {
                self.complain(&sentence);
                return Ok(true);
            }
            None => {}
        }
        let about = self.ticket.map(TicketRef::Number);
        match command::parse_line(line, about.as_ref()) {
            Ok(command) => self.command(&command).await?,
            Err(CommandError::Unknown { .. }) if about.is_none() && line.contains(char::is_whitespace) => {
                self.complain("No ticket is at hand: type its number first, like T-1001, or /list.");
            }
            Err(error) => self.complain(&error.to_string()),
        }
        Ok(true)
    }

    async fn serve_own(&mut self, own: Own) -> anyhow::Result<()> {
        match own {
            Own::Exit => {}
            Own::Clear => {
                if self.typed.is_terminal() {
                    // Erase the screen and what was scrolled off it, then go home: ECMA-48, and xterm's own 3J.
                    print!("\u{1b}[H\u{1b}[2J\u{1b}[3J");
                    std::io::stdout().flush()?;
                }
            }
            Own::Decide { approval, wish } => {
                let decided = self.decide(approval, wish).await?;
                if let Some(id) = decided.filter(|id| self.ticket == Some(*id)) {
                    self.look_on(id).await?;
                }
            }
        }
        Ok(())
    }

    async fn command(&mut self, command: &Command) -> anyhow::Result<()> {
        let Some(reference) = commands::ticket_of(command) else {
            self.tell(command).await?;
            if *command == Command::Help {
                println!("{}", own::HELP);
            }
            return Ok(());
        };
        let Some(id) = resolve(self.app, reference).await? else {
            self.complain(&format!(
                "There is no ticket {reference} here. /list shows what there is."
            ));
            return Ok(());
        };
        match command {
            Command::Triage { instruction, .. } => {
                self.choose(id);
                self.begin(id).await?;
                self.left.clear();
                let run = seen::newest(self.app, id).await?;
                if run.is_some_and(|run| run.paused && run.finished_at.is_none()) && instruction.is_some() {
                    // Whoever interrupts and then says what to do wants it done.
                    commands::execute(self.app, &self.actor, command).await?;
                    self.tell(&Command::Resume(TicketRef::Number(id))).await?;
                } else {
                    self.tell(command).await?;
                }
                self.look_on(id).await
            }
            Command::New(_) | Command::Resume(_) | Command::Compact(_) => {
                self.choose(id);
                self.begin(id).await?;
                self.tell(command).await?;
                self.look_on(id).await
            }
            Command::Show(_) => {
                self.choose(id);
                self.begin(id).await?;
                self.tell(command).await
            }
            Command::Stop(_)
            | Command::Pause(_)
            | Command::Take(_)
            | Command::Release(_)
            | Command::Runs(_)
            | Command::Helpers(_)
            | Command::Help
            | Command::List(_)
            | Command::Status
            | Command::Approvals(_)
            | Command::Kb(_)
            | Command::Model(_)
            | Command::Skills
            | Command::Mcp
            | Command::Grants(_)
            | Command::Mode(_) => self.tell(command).await,
        }
    }

    /// Gives a command and shows its answer.
    pub(super) async fn tell(&self, command: &Command) -> anyhow::Result<()> {
        let answer = commands::execute(self.app, &self.actor, command).await?;
        println!("{}", clean_lines(&answer));
        Ok(())
    }

    /// What is under way on a ticket counts as told from here on; what was told before stays so.
    pub(super) async fn begin(&mut self, id: TicketId) -> anyhow::Result<()> {
        if !self.seen.contains_key(&id) {
            self.seen.insert(id, Seen::all(self.app, id).await?);
        }
        Ok(())
    }

    /// Looks on, asks about what waits, and goes on for as long as something is decided.
    pub(super) async fn look_on(&mut self, id: TicketId) -> anyhow::Result<()> {
        loop {
            let from = self.seen.get(&id).copied().unwrap_or_default();
            let watch = Watch {
                app: self.app,
                actor: &self.actor,
                ticket: id,
                interrupts: &mut self.interrupts,
            };
            let rest = watch.look_on(from).await?;
            self.seen.insert(id, rest.seen);
            self.failed |= rest.failed;
            self.interrupted |= rest.interrupted;
            if rest.interrupted || !self.ask_what_waits(id).await? {
                return Ok(());
            }
        }
    }
}
