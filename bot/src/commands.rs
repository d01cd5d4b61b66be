//! What the commands of `/triage` do, the same for every surface. They answer in text; a surface only shows it.

use std::fmt::Write;

use deskhand_adapters::postgres::search::{self, Kind};
use deskhand_adapters::postgres::tickets::{self, Filter};
use deskhand_adapters::postgres::{approvals, inbox, ledger, outbox, runs, settings};
use deskhand_core::approval::{Actor, ApprovalState};
use deskhand_core::command::{self, Command, Grants, TicketRef, Which};
use deskhand_core::id::TicketId;
use deskhand_core::ledger::EntryKind;
use deskhand_core::roster::Membership;
use deskhand_core::show;
use deskhand_core::step::StepKind;
use deskhand_core::ticket::{Mode, TicketState};
use deskhand_core::transcript::{self, Transcript};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::people;
use crate::worker::AnswerTo;
use crate::worker::perform::resolve;

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
        Command::Resume(ticket) => on(app, ticket, async |id| triage(app, actor, id, None).await).await,
        Command::Stop(ticket) => on(app, ticket, async |id| stop(app, actor, id).await).await,
        Command::Take(ticket) => on(app, ticket, async |id| take(app, actor, id).await).await,
        Command::Release(ticket) => on(app, ticket, async |id| release(app, id).await).await,
        Command::Show(ticket) => on(app, ticket, async |id| show_ticket(app, id).await).await,
        Command::Runs(ticket) => on(app, ticket, async |id| list_runs(app, id).await).await,
        Command::List(filter) => list(app, filter).await,
        Command::Status => status(app).await,
        Command::Approvals(which) => list_approvals(app, actor, *which).await,
        Command::Kb(query) => kb(app, query).await,
        Command::Model(None) => Ok(format!("The model is {}.", app.model.name())),
        Command::Model(Some(_)) => Ok("The model is set by DESKHAND_MODEL and a restart.".into()),
        Command::Skills => Ok(skills(app)),
        Command::Mcp => Ok("No tool servers are connected.".into()),
        Command::Grants(Grants::List) => grants(app).await,
        Command::Grants(Grants::Revoke(id)) => Ok(match settings::revoke_grant(&app.pool, *id).await? {
            true => format!("Grant {id} is revoked."),
            false => format!("There is no grant {id}, or it is revoked already."),
        }),
        Command::Mode(None) => Ok(format!("The mode is {}.", app.mode().await?)),
        Command::Mode(Some(mode)) => set_mode(app, actor, *mode).await,
        Command::Pause(_) | Command::Compact(_) | Command::Helpers(_) => {
            Ok("This version cannot do that yet. Use stop, new or take.".into())
        }
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

async fn triage(app: &App, actor: &Actor, ticket: TicketId, instruction: Option<&str>) -> anyhow::Result<String> {
    let open = runs::of_ticket(&app.pool, ticket)
        .await?
        .into_iter()
        .find(|run| matches!(run.state.as_str(), "queued" | "running" | "waiting"));
    if let (Some(run), None) = (&open, instruction) {
        let waits = waits(app, ticket).await?;
        let waits = if waits.is_empty() {
            String::new()
        } else {
            format!(" It waits for {}.", waits.join(", "))
        };
        return Ok(format!("{ticket} is at work: its run is {}.{waits}", run.state));
    }
    let step = instruction.map(|text| StepKind::Instructed {
        text: text.to_owned(),
        by: actor.key(),
        by_name: actor.name.clone(),
    });
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    if step.is_some() {
        // The draft that waits was made without it.
        let why = format!("{} gave a new instruction", actor.name);
        approvals::withdraw_replies(&mut tx, &[ticket], &why).await?;
    }
    let run = runs::instruct(&mut tx, ticket, app.mode().await?, step.as_ref()).await?;
    tx.commit().await?;
    app.wake();
    Ok(match (run, instruction) {
        (None, _) => format!("{ticket} is with a person; release it first."),
        (Some(_), None) => format!("Working on {ticket}."),
        (Some(_), Some(_)) => format!("Working on {ticket} with your instruction."),
    })
}

async fn waits(app: &App, ticket: TicketId) -> anyhow::Result<Vec<String>> {
    let rows = approvals::read(&app.pool, approvals::Which::OfTicket(ticket)).await?;
    Ok(rows
        .iter()
        .filter(|row| row.state == ApprovalState::Open && !row.recorded)
        .map(|row| show::title(row.id, row.ticket, &row.effect))
        .collect())
}

async fn fresh(app: &App, ticket: TicketId) -> anyhow::Result<String> {
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    runs::cancel(&mut tx, ticket, "a new run was asked for").await?;
    approvals::withdraw_all(&mut tx, ticket, "a new run was asked for").await?;
    let run = runs::instruct(&mut tx, ticket, app.mode().await?, None).await?;
    if let Some(run) = run {
        runs::continue_nothing(&mut tx, run).await?;
    }
    tx.commit().await?;
    app.wake();
    Ok(match run {
        Some(_) => format!("{ticket} starts afresh."),
        None => format!("{ticket} is with a person; release it first."),
    })
}

async fn stop(app: &App, actor: &Actor, ticket: TicketId) -> anyhow::Result<String> {
    let why = format!("stopped by {}", actor.name);
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    let runs = runs::cancel(&mut tx, ticket, &why).await?;
    approvals::withdraw_all(&mut tx, ticket, &why).await?;
    outbox::withdraw_pending(&mut tx, ticket, &why).await?;
    outbox::refresh_header(&mut tx, ticket).await?;
    let late = outbox::being_sent(&mut tx, ticket).await?;
    tx.commit().await?;
    app.wake();
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

async fn take(app: &App, actor: &Actor, ticket: TicketId) -> anyhow::Result<String> {
    let mut tx = app.pool.begin().await?;
    tickets::take(&mut tx, ticket, &actor.name).await?;
    outbox::refresh_header(&mut tx, ticket).await?;
    let late = outbox::being_sent(&mut tx, ticket).await?;
    tx.commit().await?;
    app.wake();
    let late = if late {
        " A reply was on its way already: too late for that one."
    } else {
        ""
    };
    Ok(format!(
        "{ticket} is yours; I keep my hands off it until release {ticket}.{late}"
    ))
}

async fn release(app: &App, ticket: TicketId) -> anyhow::Result<String> {
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

async fn show_ticket(app: &App, ticket: TicketId) -> anyhow::Result<String> {
    let Some(whole) = tickets::get(&app.pool, ticket).await? else {
        return Ok(format!("There is no ticket {ticket}."));
    };
    let t = &whole.ticket;
    let mut text = format!(
        "{} · {} · {} · from {} · {}",
        t.id, t.subject, t.state, t.requester, t.outside
    );
    if let Some(triage) = &t.triage {
        let team = if triage.team.is_empty() {
            "no team"
        } else {
            &triage.team
        };
        let _ = write!(
            text,
            "\n{} · {} · {} · {} · {} ({:.0} % sure): {}",
            triage.category,
            triage.priority,
            team,
            triage.language,
            triage.action,
            triage.confidence * 100.0,
            triage.reason
        );
    }
    if !whole.trouble.is_empty() {
        let _ = write!(text, "\nNeeds a look: {}", whole.trouble);
    }
    for waiting in waits(app, ticket).await? {
        let _ = write!(text, "\nWaits: {waiting}");
    }
    for comment in tickets::comments(&app.pool, ticket, 0)
        .await?
        .iter()
        .rev()
        .take(3)
        .rev()
    {
        let body: String = comment
            .body
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(300)
            .collect();
        let inside = if comment.public { "" } else { ", internal" };
        let _ = write!(text, "\n— {} ({}{inside}): {body}", comment.author_name, comment.author);
    }
    Ok(text)
}

async fn list_runs(app: &App, ticket: TicketId) -> anyhow::Result<String> {
    let runs = runs::of_ticket(&app.pool, ticket).await?;
    if runs.is_empty() {
        return Ok(format!("{ticket} has no runs yet. Type {ticket} to start one."));
    }
    let mut text = format!("Runs of {ticket}, newest first:");
    for (n, run) in runs.iter().enumerate() {
        let ending = run
            .ending
            .as_deref()
            .map(|ending| format!(", {ending}"))
            .unwrap_or_default();
        let error = if run.error.is_empty() {
            String::new()
        } else {
            format!(" ({})", run.error)
        };
        let _ = write!(
            text,
            "\n• {} · {}{ending} · {}{error}",
            run.id,
            run.state,
            run.created_at.format("%F %H:%M UTC")
        );
        if n == 0 {
            let transcript = Transcript::new(runs::steps(&app.pool, deskhand_core::id::RunId(run.id), 0).await?);
            for step in transcript.steps() {
                if let Some(line) = transcript::line(&transcript, step) {
                    let _ = write!(text, "\n    {} {line}", step.seq);
                }
            }
        }
    }
    Ok(text)
}

async fn list(app: &App, filter: &command::Filter) -> anyhow::Result<String> {
    let rows = tickets::list(
        &app.pool,
        &Filter {
            state: filter.state,
            priority: filter.priority.map(|p| p.as_str()),
            most: 200,
            ..Filter::default()
        },
    )
    .await?;
    let words = filter.words.to_lowercase();
    let shown: Vec<_> = rows
        .iter()
        .filter(|row| filter.solved_too || filter.state.is_some() || row.state != TicketState::Solved.as_str())
        .filter(|row| {
            let triage = row.triage.as_ref().map(ToString::to_string).unwrap_or_default();
            words.is_empty() || format!("{} {triage}", row.subject).to_lowercase().contains(&words)
        })
        .take(20)
        .collect();
    if shown.is_empty() {
        return Ok("No tickets match. New ones come in by webhook or over the API.".into());
    }
    let mut text = String::new();
    for row in shown {
        let triage = row.triage.as_ref();
        let part = |name: &str| triage.and_then(|t| t[name].as_str()).unwrap_or("–").to_owned();
        let _ = writeln!(
            text,
            "{} · {} · {} · {} · {} · {}",
            TicketId(row.id),
            row.state,
            part("category"),
            part("priority"),
            row.requester,
            row.subject
        );
    }
    Ok(text.trim_end().to_owned())
}

async fn status(app: &App) -> anyhow::Result<String> {
    let mut text = format!("Mode {}, model {}.", app.mode().await?, app.model.name());
    let counts = runs::counts(&app.pool).await?;
    let counts: Vec<String> = counts.into_iter().map(|(state, n)| format!("{n} {state}")).collect();
    let _ = write!(
        text,
        "\nRuns: {}.",
        if counts.is_empty() {
            "none yet".into()
        } else {
            counts.join(", ")
        }
    );
    let open = approvals::read(&app.pool, approvals::Which::Open).await?.len();
    let _ = write!(text, "\nApprovals that wait: {open}.");
    let effects = outbox::list(&app.pool, None).await?;
    let troubled = effects
        .iter()
        .filter(|effect| matches!(effect.state.as_str(), "dead" | "unknown"))
        .count();
    let _ = write!(
        text,
        "\nEffects on their way: {}; in trouble: {troubled}.",
        effects.len() - troubled
    );
    let unmapped = inbox::unmapped(&app.pool).await?.len();
    if unmapped > 0 {
        let _ = write!(
            text,
            "\nDeliveries that could not be mapped: {unmapped} (see deskhand inbox)."
        );
    }
    Ok(text)
}

async fn list_approvals(app: &App, actor: &Actor, which: Which) -> anyhow::Result<String> {
    let now = app.clock.now();
    let mut lines = Vec::new();
    for row in approvals::read(&app.pool, approvals::Which::Open).await? {
        let wanted = match which {
            Which::AllOpen => true,
            Which::Overdue => row.expires_at.is_some_and(|at| at - now < chrono::TimeDelta::hours(1)),
            Which::Mine => people::on_list(app, app.config.route(&row.tool).approvers, actor).await? == Membership::Yes,
        };
        if wanted {
            let age = now - row.created_at;
            let age = if age.num_hours() > 0 {
                format!("{} h", age.num_hours())
            } else {
                format!("{} min", age.num_minutes())
            };
            lines.push(format!("{} · for {age}", show::title(row.id, row.ticket, &row.effect)));
        }
    }
    Ok(if lines.is_empty() {
        "Nothing waits for a decision.".into()
    } else {
        lines.join("\n")
    })
}

async fn kb(app: &App, query: &str) -> anyhow::Result<String> {
    let found = search::search(&app.pool, Kind::Article, query, None, 5).await?;
    if found.is_empty() {
        return Ok("No article has these words.".into());
    }
    let lines: Vec<String> = found
        .iter()
        .map(|hit| {
            format!(
                "{} · {} ({})\n    {}",
                hit.id,
                hit.title,
                hit.language,
                hit.snippet.replace('\n', " ")
            )
        })
        .collect();
    Ok(lines.join("\n"))
}

fn skills(app: &App) -> String {
    let mut lines: Vec<String> = app
        .skills
        .skills
        .iter()
        .map(|skill| format!("• {}: {}", skill.name, skill.description))
        .collect();
    lines.extend(app.skills.problems.iter().map(|problem| format!("✗ {problem}")));
    if lines.is_empty() {
        "No skills are loaded.".into()
    } else {
        lines.join("\n")
    }
}

async fn grants(app: &App) -> anyhow::Result<String> {
    let grants = settings::grants(&app.pool).await?;
    if grants.is_empty() {
        return Ok("There are no grants: everything that must be asked is asked.".into());
    }
    let lines: Vec<String> = grants
        .iter()
        .map(|grant| {
            let until = grant
                .until
                .map(|at| format!(" until {}", at.format("%F %H:%M UTC")))
                .unwrap_or_default();
            let args = serde_json::Value::Object(grant.args.clone());
            format!("{} · {} {args} by {}{until}", grant.id, grant.tool, grant.by)
        })
        .collect();
    Ok(lines.join("\n"))
}

async fn set_mode(app: &App, actor: &Actor, mode: Mode) -> anyhow::Result<String> {
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
