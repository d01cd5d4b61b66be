//! A ticket from a post: one that a customer wrote in a watched channel, or one that somebody of the team points at.

use deskhand_adapters::postgres::inbox::Delivery;
use deskhand_adapters::postgres::posts::{self, Doing};
use deskhand_adapters::postgres::{inbox, tickets};
use deskhand_core::command::Authority;
use deskhand_core::heard::{self, Post};
use deskhand_core::inbound::{Happening, Inbound, Told};
use deskhand_core::ticket::Author;
use serde_json::json;

use super::meaning::talk;
use super::{Kept, Served, Wanted, keep, told};
use crate::app::App;
use crate::http::intake;
use crate::people;
use crate::worker::{self, AnswerTo};

const NOT_YOURS: &str = "This is for the support team; nothing was done.";

/// "Triage this" on a post: one in the thread of a ticket is a comment on it, any other opens one. A repeat changes nothing.
/// Gives the sentence for whoever asked; where they must be looked up first, the answer follows.
pub async fn triage_this(app: &App, post: Post, wanted: Wanted) -> anyhow::Result<String> {
    if post.program || post.author.is_none() {
        return Ok("A bot wrote this; only what people wrote becomes a ticket.".into());
    }
    if post.body().is_empty() {
        return Ok("This message has no words; nothing was done.".into());
    }
    match people::may_command(app, Authority::Team, &wanted.by).await? {
        Some(true) => make(app, post).await,
        Some(false) => Ok(NOT_YOURS.into()),
        None => {
            let wanted = Some(wanted);
            keep(app, &Kept { post, wanted }).await?;
            Ok("Checking your rights; the answer follows in a moment.".into())
        }
    }
}

/// The same from the inbox, after the chat was asked about the person.
pub(super) async fn wanted(app: &App, row: i64, post: Post, wanted: Wanted) -> anyhow::Result<Served> {
    let lists = people::who_may_command(app, &wanted.by);
    people::look_up(app, &lists, &wanted.by).await?;
    let text = match people::may_command(app, Authority::Team, &wanted.by).await? {
        Some(true) => make(app, post).await?,
        Some(false) => NOT_YOURS.into(),
        // Somebody looks at "checking": an answer now is better than a ticket in an hour.
        None => "Your rights could not be checked just now. Try again in a minute.".into(),
    };
    let person = Some(wanted.by.id.clone());
    let answer = AnswerTo {
        text,
        person,
        ..wanted.answer
    };
    worker::answer(app, wanted.by.surface, answer).await?;
    inbox::end_kept(&app.pool, row, None).await?;
    Ok(Served::Done)
}

async fn make(app: &App, mut post: Post) -> anyhow::Result<String> {
    if let Some(author) = &mut post.author {
        people::call_by_name(app, author).await?;
    }
    let known = talk(app, &post).await?;
    let already = posts::known(&app.pool, post.source, &post.comment_id())
        .await?
        .is_some();
    let joins = known.as_ref().map(|known| known.id);
    let inbound = match known {
        Some(known) => {
            let who = match (&post.author, post.outsider) {
                (Some(author), _) if author.key() == known.requester => Author::Requester,
                (Some(author), false) if people::may_command(app, Authority::Team, author).await? == Some(true) => {
                    Author::Agent
                }
                _ => Author::Other,
            };
            let told = Told {
                comments: vec![told::comment(app, &post, who)],
                ..Told::default()
            };
            Inbound {
                ticket: known.outside,
                what: Happening::Told(Box::new(told)),
            }
        }
        None => opened(app, &post),
    };
    accept(app, &post, "message", inbound.clone()).await?;
    if joins.is_none() && post.thread.is_some() {
        // There was talk in its thread before anybody listened.
        let what = Happening::NeedsRead {
            why: "its thread is older than the ticket".into(),
        };
        let ticket = inbound.ticket.clone();
        accept(app, &post, "thread", Inbound { ticket, what }).await?;
    }
    let Some(ticket) = tickets::find_outside(&app.pool, &inbound.ticket).await? else {
        anyhow::bail!("the ticket of a message was not stored");
    };
    let mut tx = app.pool.begin().await?;
    posts::attach(&mut tx, ticket, post.source, &post.files).await?;
    tx.commit().await?;
    Ok(match (already, joins) {
        (true, _) => format!("This message is on {ticket} already."),
        (false, Some(_)) => format!("This message was added to {ticket}."),
        (false, None) => format!("This message is {ticket} now; its approved answer goes into the message's thread."),
    })
}

async fn accept(app: &App, post: &Post, part: &str, inbound: Inbound) -> anyhow::Result<()> {
    let delivery = Delivery {
        source: post.source,
        delivery_id: format!("{part}-{}", post.comment_id()),
        headers: json!({}),
        body: serde_json::to_vec(post)?,
        mapped: Ok(inbound),
    };
    intake::accept(app, delivery).await.map_err(anyhow::Error::msg)?;
    Ok(())
}

/// A customer's post in a watched channel, or a mention.
pub(super) async fn apply(app: &App, row: i64, post: &Post) -> anyhow::Result<()> {
    let inbound = opened(app, post);
    let doing = Doing {
        inbound: &inbound,
        files: &post.files,
        redraw: false,
    };
    posts::serve(&app.pool, row, &doing, app.intake().await?).await?;
    Ok(())
}

fn opened(app: &App, post: &Post) -> Inbound {
    let told = Told {
        subject: Some(heard::subject(&post.text)),
        requester: Some(post.requester()),
        url: post.url.clone(),
        comments: vec![told::comment(app, post, Author::Requester)],
        ..Told::default()
    };
    Inbound {
        ticket: post.ticket(),
        what: Happening::Told(Box::new(told)),
    }
}
