//! Commands that only show something.

use std::fmt::Write;

use deskhand_adapters::postgres::helpers as helper_rows;
use deskhand_adapters::postgres::search::{self, Kind};
use deskhand_adapters::postgres::tickets::{self, Filter};
use deskhand_adapters::postgres::{approvals, inbox, outbox, runs, settings, spend};
use deskhand_core::approval::{Actor, ApprovalState};
use deskhand_core::budget;
use deskhand_core::command::{self, Which};
use deskhand_core::id::{RunId, TicketId};
use deskhand_core::port::ToolServer;
use deskhand_core::roster::Membership;
use deskhand_core::show;
use deskhand_core::ticket::TicketState;
use deskhand_core::transcript::{self, Transcript};

use crate::app::App;
use crate::people;

pub(super) async fn waits(app: &App, ticket: TicketId) -> anyhow::Result<Vec<String>> {
    let rows = approvals::read(&app.pool, approvals::Which::OfTicket(ticket)).await?;
    let at_work = helper_rows::at_work(&app.pool, ticket).await?;
    Ok(rows
        .iter()
        .filter(|row| row.state == ApprovalState::Open && !row.recorded)
        .map(|row| show::title(row.id, row.ticket, &row.effect))
        .chain(at_work.iter().map(|(number, task)| show::helper(*number, task)))
        .collect())
}

pub(super) async fn show_ticket(app: &App, ticket: TicketId) -> anyhow::Result<String> {
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
    if let Some(why) = crate::worker::tried_again(app, ticket).await? {
        let _ = write!(text, "\nWaits: {why}");
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

pub(super) async fn list_runs(app: &App, ticket: TicketId) -> anyhow::Result<String> {
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
        let error = match (run.error.as_str(), run.state.as_str()) {
            ("", _) => String::new(),
            (error, "queued") => format!(" (tried again later: {error})"),
            (error, "failed" | "cancelled") => format!(" ({error})"),
            // It was got over; the steps tell of it.
            _ => String::new(),
        };
        let _ = write!(
            text,
            "\n• {} · {}{ending} · {}{error}",
            run.id,
            if run.paused && run.finished_at.is_none() {
                "paused"
            } else {
                &run.state
            },
            run.created_at.format("%F %H:%M UTC")
        );
        if n == 0 {
            let transcript = Transcript::new(runs::steps(&app.pool, RunId(run.id), 0).await?);
            for step in transcript.steps() {
                if let Some(line) = transcript::line(&transcript, step) {
                    let _ = write!(text, "\n    {} {line}", step.seq);
                }
            }
        }
    }
    Ok(text)
}

/// The helpers of a ticket's latest run.
pub(super) async fn helpers(app: &App, ticket: TicketId) -> anyhow::Result<String> {
    let Some(run) = runs::of_ticket(&app.pool, ticket).await?.into_iter().next() else {
        return Ok(format!("{ticket} has no runs yet. Type {ticket} to start one."));
    };
    let rows = helper_rows::rows(&app.pool, RunId(run.id)).await?;
    if rows.is_empty() {
        return Ok(format!("The run of {ticket} has no helpers."));
    }
    let mut text = format!("Helpers of {ticket}:");
    for row in &rows {
        let helper = &row.fact;
        let _ = write!(
            text,
            "\n• {} · {} · {} tokens · {}",
            helper.number,
            helper.state,
            row.spent.tokens,
            one_line(&helper.task)
        );
        if !helper.report.is_empty() {
            let _ = write!(text, "\n    {}", one_line(&helper.report));
        }
    }
    Ok(text)
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

pub(super) async fn list(app: &App, filter: &command::Filter) -> anyhow::Result<String> {
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

pub(super) async fn status(app: &App) -> anyhow::Result<String> {
    let mut text = format!("Mode {}, model {}.", app.mode().await?, app.models.first().name());
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
    let substitute = app.models.in_order().get(1).map_or_else(
        || "a person takes over".to_owned(),
        |model| format!("{} takes over", model.name()),
    );
    for (provider, until) in app.models.resting(app.clock.now()) {
        let _ = write!(
            text,
            "\n{provider} does not answer and is left alone until {}; where that lasts, {substitute}.",
            until.format("%H:%M:%S UTC")
        );
    }
    let today = spend::since(&app.pool, app.clock.midnight()).await?;
    if today.tokens > 0 {
        let cost = if today.micros > 0 {
            format!(" for {}", budget::money(today.micros))
        } else {
            String::new()
        };
        let _ = write!(text, "\nToday: {} tokens{cost}.", today.tokens);
    }
    let limits = &app.config.limits;
    let day = budget::Ceiling {
        tokens: limits.day_tokens,
        micros: limits.day_cost,
    };
    if day.is_reached(today) {
        text.push_str(" The budget of the day is used up: no run asks a model before midnight (UTC).");
    }
    let _ = write!(text, "\nOffline model: {}.", crate::learning::told(app).await?);
    let open = approvals::read(&app.pool, approvals::Which::Open).await?.len();
    let _ = write!(text, "\nApprovals that wait: {open}.");
    let (mut under_way, mut troubled) = (0, 0);
    for (_, state, count) in outbox::counts(&app.pool).await? {
        match state.as_str() {
            "dead" | "unknown" => troubled += count,
            _ => under_way += count,
        }
    }
    let _ = write!(text, "\nEffects on their way: {under_way}; in trouble: {troubled}.");
    let unmapped = inbox::unmapped(&app.pool).await?.len();
    if unmapped > 0 {
        let _ = write!(
            text,
            "\nDeliveries that could not be mapped: {unmapped} (see deskhand inbox)."
        );
    }
    Ok(text)
}

pub(super) async fn list_approvals(app: &App, actor: &Actor, which: Which) -> anyhow::Result<String> {
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

pub(super) async fn kb(app: &App, query: &str) -> anyhow::Result<String> {
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

pub(super) fn skills(app: &App) -> String {
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

/// How the tool servers stand. Here they are started if nothing did so before, and waited for but a moment.
pub(super) async fn tool_servers(app: &App) -> String {
    let Some(tools) = &app.tools else {
        return "No tool servers are set up ([mcp.NAME] in deskhand.toml).".into();
    };
    let _ = tokio::time::timeout(std::time::Duration::from_secs(2), tools.ready()).await;
    let servers = tools.servers();
    if servers.is_empty() {
        return "No tool servers are set up ([mcp.NAME] in deskhand.toml).".into();
    }
    let lines: Vec<String> = servers
        .iter()
        .map(|server| format!("• {}", tool_server(server)))
        .collect();
    lines.join("\n")
}

/// `shop: connected, 12 tools`
pub(crate) fn tool_server(server: &ToolServer) -> String {
    let tools = match server.tools {
        1 => "1 tool".to_owned(),
        n => format!("{n} tools"),
    };
    let mut line = format!("{}: {}, {tools}", server.name, server.state);
    for more in server.error.iter().chain(&server.remarks) {
        let _ = write!(line, "; {more}");
    }
    line
}

pub(super) async fn grants(app: &App) -> anyhow::Result<String> {
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
