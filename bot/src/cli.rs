//! The command line. Each command is a short function over the same parts that the service uses.

mod ask;
mod chat;
mod demo;
mod doctor;
mod eval;
mod kb;
mod mail;
mod operate;
mod replay;
mod seen;
mod serve;
mod start;
mod table;
mod told;
mod triage;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A hand for the help desk: triages support tickets, and asks before anything leaves the house.
#[derive(Parser, Debug)]
#[command(name = "deskhand", version, about, max_term_width = 100)]
struct Args {
    /// The settings file; deskhand.toml in this folder when it is there.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON for programs instead of text for people.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Try it: everything embedded, sample tickets and articles, no accounts needed.
    Demo(demo::Demo),
    /// Run the bot.
    Serve(serve::Serve),
    /// Work on a ticket now and follow it: deskhand triage T-1001
    Triage(triage::Triage),
    /// Talk with the bot about tickets: deskhand chat [T-1001]
    Chat(chat::Chat),
    /// Any command of /triage: deskhand do "list high"
    #[command(name = "do")]
    Do { words: Vec<String> },
    /// List tickets: deskhand list [filter]
    List { filter: Vec<String> },
    /// Show a ticket: deskhand show T-1001
    Show {
        ticket: String,
        /// Also what was split off from its mails: quotes and signatures.
        #[arg(long)]
        whole: bool,
    },
    /// How the bot is: mode, runs, what waits.
    Status,
    /// What waits for a decision.
    Approvals,
    /// Approve: deskhand approve A-1
    Approve { approval: String },
    /// Reject: deskhand reject A-1 --reason "too long"
    Reject {
        approval: String,
        /// Reaches the model, which may draft anew.
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Answer a question of the bot: deskhand answer A-1 "Yes, within 30 days"
    Answer { approval: String, words: Vec<String> },
    /// Work recorded tickets again in memory, with another model or other playbooks: deskhand replay T-1001 [--model NAME]
    Replay(replay::Replay),
    /// Measure a model on labelled tickets: deskhand eval FILE [--history FILE]
    Eval(eval::Eval),
    /// The knowledge base: import, export, search, eval, history, restore.
    #[command(subcommand)]
    Kb(kb::Kb),
    /// What is understood of a mail: deskhand mail read FILE.eml
    #[command(subcommand)]
    Mail(mail::Mail),
    /// Deliveries that could not be mapped.
    #[command(subcommand)]
    Inbox(operate::InboxCommand),
    /// Writes to the outside, and what became of them.
    #[command(subcommand)]
    Outbox(operate::OutboxCommand),
    /// The record of what was proposed, decided and done.
    #[command(subcommand)]
    Ledger(operate::LedgerCommand),
    /// Check every setting and every service, a line each.
    Doctor,
    /// Bring the database to this version's shape.
    Migrate,
}

pub async fn main() -> ExitCode {
    let args = Args::parse();
    let context = start::Context {
        config: args.config,
        json: args.json,
        service: matches!(args.command, Command::Serve(_)),
    };
    let done = match args.command {
        Command::Demo(demo) => demo::run(&context, &demo).await,
        Command::Serve(serve) => serve::run(&context, &serve).await,
        Command::Triage(triage) => triage::run(&context, &triage).await,
        Command::Chat(chat) => chat::run(&context, &chat).await,
        Command::Do { words } => operate::command(&context, &words.join(" ")).await,
        Command::List { filter } => operate::list(&context, &filter.join(" ")).await,
        Command::Show { ticket, whole } => operate::show(&context, &ticket, whole).await,
        Command::Status => operate::command(&context, "status").await,
        Command::Approvals => operate::approvals(&context).await,
        Command::Approve { approval } => operate::approve(&context, &approval).await,
        Command::Reject { approval, reason } => operate::reject(&context, &approval, &reason).await,
        Command::Answer { approval, words } => operate::answer(&context, &approval, &words.join(" ")).await,
        Command::Replay(replay) => replay::run(&context, &replay).await,
        Command::Eval(eval) => eval::run(&context, &eval).await,
        Command::Kb(kb) => kb::run(&context, &kb).await,
        Command::Mail(mail) => mail::run(&context, &mail),
        Command::Inbox(inbox) => operate::inbox(&context, &inbox).await,
        Command::Outbox(outbox) => operate::outbox(&context, &outbox).await,
        Command::Ledger(ledger) => operate::ledger(&context, &ledger).await,
        Command::Doctor => doctor::run(&context).await,
        Command::Migrate => operate::migrate(&context).await,
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("deskhand: {error:#}");
            ExitCode::FAILURE
        }
    }
}
