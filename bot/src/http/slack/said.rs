//! What people write and say in channels: commands, answers to questions, and what may be a customer's.

use deskhand_adapters::postgres::{inbox, places};
use deskhand_adapters::slack::inbound::{Said, Shortcut};
use deskhand_core::approval::Wish;
use deskhand_core::command;
use deskhand_core::heard::Post;
use deskhand_core::ticket::Source;

use super::{answer_to, outsider};
use crate::app::App;
use crate::commands::{self, Asked};
use crate::decisions::{self, Wanted};
use crate::heard;
use crate::people;
use crate::questions::{self, Meant};
use crate::worker::{self, AnswerTo};

/// Something that people wrote among themselves, perhaps a customer's.
pub(super) async fn written(app: &App, mut post: Post) -> anyhow::Result<()> {
    post.url = app.slack.as_ref().and_then(|slack| slack.known_url(&post));
    heard::heard(app, post).await
}

/// A mention or `!triage`. In the team's own channels and in direct conversations it is a command; elsewhere it may be a
/// customer who asks for help.
pub(super) async fn spoken_to(app: &App, raw: &[u8], said: Said) -> anyhow::Result<()> {
    let channel = said.spot.channel.as_str();
    let among_us = app.config.is_the_teams(Source::Slack, [channel, channel]);
    match among_us || said.direct {
        true => commanded(app, raw, said).await,
        false => written(app, *said.post).await,
    }
}

/// A command, answered in the thread where it was given. It is kept and served from there, since Slack tells of it again
/// only as long as nobody has acknowledged it.
async fn commanded(app: &App, raw: &[u8], mut said: Said) -> anyhow::Result<()> {
    people::call_by_known_name(app, &mut said.by.actor).await?;
    let thread = said.spot.thread_ts.clone().unwrap_or_else(|| said.spot.ts.clone());
    let answer = AnswerTo {
        channel: Some(said.spot.channel.clone()),
        thread: Some(thread.clone()),
        ..AnswerTo::default()
    };
    let surface = said.by.actor.surface;
    if let Some(text) = outsider(&said.by) {
        if !inbox::first_time(&app.pool, "slack", &said.delivery, raw).await? {
            return Ok(());
        }
        let person = Some(said.by.actor.id);
        return worker::answer(app, surface, AnswerTo { text, person, ..answer }).await;
    }
    let in_card = places::at(&app.pool, "slack", &said.spot.channel, &thread).await?;
    if let (Some((ticket, card)), Err(_)) = (in_card, command::parse(&said.text)) {
        if let Some(meant) = questions::meant(app, ticket, card, &said.text).await? {
            return answer_question(app, raw, said, meant, answer).await;
        }
        if !inbox::first_time(&app.pool, "slack", &said.delivery, raw).await? {
            return Ok(());
        }
        let text = format!(
            "I cannot redraft from the thread yet: use Edit or Reject on the card, or type !triage {ticket} and what to do."
        );
        return worker::answer(app, surface, AnswerTo { text, ..answer }).await;
    }
    let asked = Asked {
        text: said.text,
        actor: said.by.actor,
        delivery: said.delivery,
        answer,
    };
    commands::keep(app, &asked).await
}

/// What was said to the bot in the thread of a ticket with an open question answers it. Decided before the delivery is
/// remembered: one that comes again, since Slack was not told that it had arrived, changes nothing and is not answered
/// twice.
async fn answer_question(app: &App, raw: &[u8], said: Said, meant: Meant, answer: AnswerTo) -> anyhow::Result<()> {
    let surface = said.by.actor.surface;
    let answer = AnswerTo {
        person: Some(said.by.actor.id.clone()),
        ..answer
    };
    match meant {
        Meant::One { question, digest, text } => {
            let wanted = Wanted {
                approval: question,
                actor: said.by.actor,
                wish: Wish::Answer { text },
                digest: Some(digest),
                delivery: format!("answer:{}", said.delivery),
                answer,
            };
            let given = decisions::decide(app, &wanted).await?;
            match inbox::first_time(&app.pool, "slack", &said.delivery, raw).await? {
                true => decisions::tell(app, &wanted, &given).await,
                false => Ok(()),
            }
        }
        Meant::Unclear(text) => match inbox::first_time(&app.pool, "slack", &said.delivery, raw).await? {
            true => worker::answer(app, surface, AnswerTo { text, ..answer }).await,
            false => Ok(()),
        },
    }
}

/// "Triage this": a post that names a ticket is about that one; any other becomes a ticket.
pub(super) async fn shortcut_used(app: &App, shortcut: Shortcut) -> anyhow::Result<()> {
    let answer = answer_to(Some(&shortcut.spot), shortcut.response_url.clone(), &shortcut.by);
    let surface = shortcut.by.actor.surface;
    if let Some(text) = outsider(&shortcut.by) {
        return worker::answer(app, surface, AnswerTo { text, ..answer }).await;
    }
    let mut post = *shortcut.post;
    let text = match heard::ticket_in(&post.text) {
        Some(ticket) => {
            let asked = Asked {
                text: ticket.to_string(),
                actor: shortcut.by.actor,
                delivery: shortcut.delivery,
                answer: answer.clone(),
            };
            commands::serve(app, &asked).await?.into_text()
        }
        None => {
            post.url = app.slack.as_ref().and_then(|slack| slack.known_url(&post));
            let wanted = heard::Wanted {
                by: shortcut.by.actor,
                answer: answer.clone(),
            };
            heard::triage_this(app, post, wanted).await?
        }
    };
    worker::answer(app, surface, AnswerTo { text, ..answer }).await
}
