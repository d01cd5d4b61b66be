//! Answers to one person: by the address that came with their click or command, or in the thread where they asked.
//!
//! Whom an answer reaches is all that is decided here; what it says was decided before it came into the outbox.

use deskhand_adapters::discord::{DiscordChat, form};
use deskhand_adapters::postgres::outbox::{self, Claimed};
use deskhand_adapters::slack::SlackChat;
use deskhand_core::id::ApprovalId;
use deskhand_core::port::{Chat, Content, PortError, Post};
use deskhand_core::run::EffectState;
use serde::{Deserialize, Serialize};

use super::dispatcher::Tried;
use super::show;
use crate::app::App;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AnswerTo {
    pub text: String,
    /// Slack's response address, or Discord's `webhooks/<application>/<token>`.
    #[serde(default)]
    pub response_url: Option<String>,
    #[serde(default)]
    pub channel: Option<String>,
    #[serde(default)]
    pub thread: Option<String>,
    /// Who alone sees it, where there is no response address.
    #[serde(default)]
    pub person: Option<String>,
    /// The person looks at "thinking": even a decision that their card shows must be told them.
    #[serde(default)]
    pub awaited: bool,
    /// The whole of this approval's card goes with it, as a file.
    #[serde(default)]
    pub full: Option<ApprovalId>,
}

pub(super) async fn deliver(app: &App, claimed: &Claimed, chat: &str) -> anyhow::Result<Tried> {
    let answer: AnswerTo = serde_json::from_value(claimed.payload.clone())?;
    let key = claimed.id.to_string();
    let done = match (chat, &app.slack, &app.discord) {
        ("slack", Some(slack), _) => in_slack(slack, &answer, key).await,
        ("discord", _, Some(discord)) => {
            let full = match answer.full {
                Some(id) => show::full(app, id).await?.map(|(card, mail)| form::full(&card, &mail)),
                None => None,
            };
            in_discord(discord, &answer, full.as_deref(), key).await
        }
        (other, _, _) => Err(PortError::permanent(format!("no {other} is connected"))),
    };
    if let Err(error) = done {
        return Ok(error.into());
    }
    let mut tx = app.pool.begin().await?;
    outbox::end(&mut tx, claimed, EffectState::Delivered, "", "").await?;
    tx.commit().await?;
    Ok(Tried::Ended)
}

async fn in_slack(slack: &SlackChat, answer: &AnswerTo, key: String) -> Result<(), PortError> {
    match (&answer.response_url, &answer.channel, &answer.person) {
        (Some(url), ..) => slack.respond(url, &answer.text, true).await,
        (None, Some(channel), Some(person)) => {
            let thread = answer.thread.as_deref();
            slack.post_ephemeral(channel, thread, person, &answer.text).await
        }
        (None, Some(channel), None) => slack.post(&line(answer, channel, key)).await.map(drop),
        (None, None, _) => Err(PortError::permanent("it says not whom to answer")),
    }
}

/// In the place of "thinking" for fifteen minutes; then as the bot: to the person directly, or where they clicked if they
/// take no direct messages.
async fn in_discord(
    discord: &DiscordChat,
    answer: &AnswerTo,
    full: Option<&str>,
    key: String,
) -> Result<(), PortError> {
    if let Some(url) = &answer.response_url {
        let answered = match full {
            Some(full) => discord.respond_with_file(url, &answer.text, "card.txt", full).await,
            None => discord.respond(url, &answer.text).await,
        };
        match answered {
            Err(PortError::Gone { .. }) => {}
            answered => return answered,
        }
    }
    if let Some(person) = &answer.person {
        match (discord.write_to(person, &key, &answer.text).await, &answer.channel) {
            // Whoever clicked did so where the team is; what somebody wrote may stand before customers.
            (Err(PortError::Permanent { .. } | PortError::Gone { .. }), Some(_)) if answer.awaited => {}
            (written, _) => return written,
        }
    }
    match &answer.channel {
        Some(channel) => discord.post(&line(answer, channel, key)).await.map(drop),
        None => Err(PortError::permanent("it says not whom to answer")),
    }
}

fn line(answer: &AnswerTo, channel: &str, key: String) -> Post {
    Post {
        channel: channel.to_owned(),
        thread: answer.thread.clone(),
        broadcast: false,
        key,
        content: Content::Line(answer.text.clone()),
    }
}
