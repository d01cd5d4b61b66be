//! `/triage …`, its completion, and "Triage this" on a message.

use deskhand_adapters::discord::inbound::{Command, Completing, OnMessage, Origin};
use deskhand_adapters::discord::{desk, reply};
use deskhand_adapters::postgres::inbox;
use deskhand_adapters::postgres::tickets::{self, Filter};
use deskhand_core::command::{self, Authority};
use deskhand_core::id::TicketId;
use serde_json::Value;

use super::later;
use crate::app::App;
use crate::commands::{self, Asked};
use crate::heard::{self, Wanted};
use crate::people;

pub(super) async fn command(app: &App, command: Command) -> anyhow::Result<Value> {
    serve(app, command.origin, command.text).await
}

/// Discord signs no time that it promises to be one, so a command that was seen before is known by its id.
async fn serve(app: &App, origin: Origin, text: String) -> anyhow::Result<Value> {
    let once = format!("once-{}", origin.delivery);
    if !inbox::first_time(&app.pool, "discord", &once, text.as_bytes()).await? {
        return Ok(reply::private("This command was served before."));
    }
    let asked = Asked {
        text,
        answer: later(&origin),
        actor: origin.by,
        delivery: origin.delivery,
    };
    Ok(reply::private(&commands::serve(app, &asked).await?.into_text()))
}

/// Choices for what is being typed. Whoever may not give commands is offered nothing, since subjects are the customers'.
pub(super) async fn completing(app: &App, completing: Completing) -> Value {
    let allowed = people::may_command(app, Authority::Team, &completing.origin.by).await;
    let choices = match allowed {
        Ok(Some(true)) if completing.option == "ticket" => known_tickets(app, &completing.begun).await,
        Ok(Some(true)) => words(&completing.command, &completing.begun),
        Ok(Some(false) | None) | Err(_) => Vec::new(),
    };
    reply::choices(&choices)
}

/// The newest tickets whose number or subject begins or holds what was typed.
async fn known_tickets(app: &App, begun: &str) -> Vec<(String, String)> {
    let filter = Filter {
        most: 200,
        ..Filter::default()
    };
    let listed = tickets::list(&app.pool, &filter).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "tickets could not be listed for a completion");
        Vec::new()
    });
    let begun = begun.trim().to_lowercase();
    let number = begun.trim_start_matches("t-").trim_start_matches('#');
    let fits = |id: &str, subject: &str| {
        id.to_lowercase().starts_with(&begun) || id[2..].starts_with(number) || subject.to_lowercase().contains(&begun)
    };
    let choices = listed
        .into_iter()
        .map(|ticket| (TicketId(ticket.id).to_string(), ticket.subject));
    choices
        .filter(|(id, subject)| begun.is_empty() || fits(id, subject))
        .take(25)
        .map(|(id, subject)| (format!("{id} · {subject}"), id))
        .collect()
}

/// The words that a subcommand takes, from core's grammar.
fn words(command: &str, begun: &str) -> Vec<(String, String)> {
    let lead = format!("{command} ");
    command::suggest(&format!("{lead}{begun}"))
        .into_iter()
        .filter_map(|suggestion| suggestion.text.strip_prefix(&lead).map(str::to_owned))
        .map(|word| (word.clone(), word))
        .collect()
}

/// "Triage this": a message that names a ticket is about that one; any other becomes a ticket.
pub(super) async fn on_message(app: &App, on: OnMessage) -> anyhow::Result<Value> {
    match heard::ticket_in(&on.message.text) {
        Some(ticket) => serve(app, on.origin, ticket.to_string()).await,
        None => {
            let guild = app.discord.as_ref().and_then(|discord| discord.known_guild());
            let post = desk::post(&on.message, guild);
            let wanted = Wanted {
                answer: later(&on.origin),
                by: on.origin.by,
            };
            Ok(reply::private(&heard::triage_this(app, post, wanted).await?))
        }
    }
}
