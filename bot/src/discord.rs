//! Interactions of Discord: each has exactly one answer, which is made here, whichever way the interaction came in.
//!
//! A decision answers with its result when it commits in time. Otherwise the click is kept first, and "thinking" is shown;
//! the answer follows through the outbox, as everything does that is not said at once.

mod card;
pub mod gateway;
mod typed;

use deskhand_adapters::discord::inbound::{DiscordInbound, Origin};
use deskhand_adapters::discord::reply;
use deskhand_adapters::postgres::inbox;
use serde_json::Value;

use crate::app::App;
use crate::worker::AnswerTo;

/// The same for what came in: what cannot be served is kept for the operator before it is answered.
pub async fn taken(app: &App, inbound: DiscordInbound, raw: &[u8]) -> sqlx::Result<Value> {
    if let DiscordInbound::Unknown { why } = &inbound {
        keep_unread(app, raw, why).await?;
    }
    Ok(answer(app, inbound).await)
}

/// Keeps what nobody here can read, for `deskhand inbox`.
pub async fn keep_unread(app: &App, raw: &[u8], why: &str) -> sqlx::Result<()> {
    let delivery = format!("unread-{}", deskhand_core::digest::of(&raw));
    inbox::keep_unmapped(&app.pool, "discord", &delivery, raw, why).await
}

/// The answer, as Discord takes it. Never fails: what goes wrong is logged, and the person is told to try again.
pub async fn answer(app: &App, inbound: DiscordInbound) -> Value {
    let answered = match inbound {
        DiscordInbound::Ping => Ok(reply::pong()),
        DiscordInbound::Click(click) => card::clicked(app, click).await,
        DiscordInbound::DraftSubmitted(sent) => card::draft_submitted(app, sent).await,
        DiscordInbound::RejectSubmitted(sent) => card::reason_submitted(app, sent).await,
        DiscordInbound::AnswerSubmitted(sent) => card::answer_submitted(app, sent).await,
        DiscordInbound::Command(command) => typed::command(app, command).await,
        DiscordInbound::Completing(completing) => Ok(typed::completing(app, completing).await),
        DiscordInbound::OnMessage(on) => typed::on_message(app, on).await,
        DiscordInbound::Unknown { why } => {
            tracing::warn!(%why, "Discord sent something that cannot be served; deskhand inbox shows it");
            Ok(reply::private(
                "I do not know what to do with this; whoever runs me can see it.",
            ))
        }
    };
    answered.unwrap_or_else(|error| {
        tracing::error!(error = format!("{error:#}"), "an interaction could not be served");
        reply::private("That failed on my side and nothing was changed; try again in a moment.")
    })
}

/// Whom to answer later: in the place of "thinking", which they look at.
fn later(origin: &Origin) -> AnswerTo {
    AnswerTo {
        response_url: origin.answer.clone(),
        channel: origin.channel.clone(),
        person: Some(origin.by.id.clone()),
        awaited: true,
        ..AnswerTo::default()
    }
}
