//! What people write where the bot listens, the same for every chat.
//!
//! A handler hands a [`Post`] over and is done: it is kept, unless nobody here needs to know of it, and served from there.
//! Serving may ask the chat who wrote it. As long as the chat does not say whether that is a colleague, the post waits, and
//! with it what comes later in its thread: a colleague must not become the customer, and nothing is lost or overtaken.

mod meaning;
mod open;
mod told;

use deskhand_adapters::postgres::inbox;
use deskhand_adapters::postgres::posts::{self, Doing};
use deskhand_core::approval::{Actor, Surface};
pub use deskhand_core::heard::{Attached, Post, PostKind, Thread};
use deskhand_core::id::TicketId;
use deskhand_core::inbound::{Happening, Inbound, NewComment, Told};
use deskhand_core::ticket::{OutsideId, Source};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::commands::{self, Asked};
use crate::people;
use crate::worker::{self, AnswerTo};
use meaning::Meaning;
pub use open::triage_this;
pub(crate) use told::read_desk;

/// After so many tries, more than an hour, a post is given up: `deskhand inbox` shows it and serves it again.
const TRIES: i32 = 20;

/// What the inbox keeps.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    post: Post,
    /// Somebody wants a ticket of it.
    #[serde(default)]
    wanted: Option<Wanted>,
}

/// Who wants a ticket of a post, and where they are answered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wanted {
    pub by: Actor,
    pub answer: AnswerTo,
}

/// Takes over something that was written. What is of no interest leaves no trace.
pub async fn heard(app: &App, mut post: Post) -> anyhow::Result<()> {
    if post.program {
        return Ok(());
    }
    if post.delivery.is_empty() {
        post.delivery = format!("{:?}:{}", post.what, post.comment_id());
    }
    // Something may wait in front of it that makes it matter: the post that opens its ticket.
    if matches!(meaning::of(app, &post).await?, Meaning::Nothing) && !waits(app, &post).await? {
        return Ok(());
    }
    keep(app, &Kept { post, wanted: None }).await
}

async fn waits(app: &App, post: &Post) -> sqlx::Result<bool> {
    posts::wait(&app.pool, post.source, &post.ticket().id).await
}

async fn keep(app: &App, kept: &Kept) -> anyhow::Result<()> {
    let post = &kept.post;
    let body = serde_json::to_vec(kept)?;
    posts::keep(&app.pool, post.source, &post.ticket().id, &post.delivery, &body).await?;
    app.wake();
    Ok(())
}

/// Serves the posts that are due. Gives how many that were.
pub async fn serve(app: &App) -> anyhow::Result<usize> {
    let mut count = 0;
    loop {
        let rows = posts::take(&app.pool, 20, app.clock.moved()).await?;
        if rows.is_empty() {
            return Ok(count);
        }
        count += rows.len();
        for row in rows {
            let why = match one(app, &row).await {
                Ok(Served::Done) => continue,
                Ok(Served::Later { why }) => why,
                Err(error) => {
                    tracing::error!(
                        inbox.id = row.id,
                        error = format!("{error:#}"),
                        "a post could not be served"
                    );
                    format!("{error:#}")
                }
            };
            if row.attempts >= TRIES {
                inbox::end_kept(&app.pool, row.id, Some(&why)).await?;
            }
        }
    }
}

enum Served {
    Done,
    Later { why: String },
}

async fn one(app: &App, row: &inbox::Kept) -> anyhow::Result<Served> {
    let Kept { mut post, wanted } = serde_json::from_slice(&row.body)?;
    if let Some(wanted) = wanted {
        return open::wanted(app, row.id, post, wanted).await;
    }
    let mut meaning = meaning::of(app, &post).await?;
    if let (Meaning::Unknown, Some(author)) = (&meaning, &post.author) {
        people::look_up(app, &people::who_may_command(app, author), author).await?;
        meaning = meaning::of(app, &post).await?;
    }
    if let Some(author) = &mut post.author {
        people::call_by_name(app, author).await?;
    }
    let ticket = post.ticket();
    let private = meaning.stays_private();
    match meaning {
        Meaning::Nothing => inbox::end_kept(&app.pool, row.id, None).await?,
        Meaning::Unread => {
            return Ok(Served::Later {
                why: "its thread was not read yet".into(),
            });
        }
        Meaning::Unknown => {
            return Ok(Served::Later {
                why: "the chat does not say whether its author is of the team".into(),
            });
        }
        Meaning::Command { .. } => {
            command(app, post, private).await?;
            inbox::end_kept(&app.pool, row.id, None).await?;
        }
        Meaning::Refuse { why } => {
            refuse(app, &post, why).await?;
            inbox::end_kept(&app.pool, row.id, None).await?;
        }
        Meaning::Comment { ticket, author } => {
            let comments = vec![told::comment(app, &post, author)];
            give(app, row.id, &post, ticket, comments).await?;
        }
        Meaning::Open => {
            link(app, &mut post).await;
            open::apply(app, row.id, &post).await?;
        }
        Meaning::Read => {
            let inbound = Inbound {
                ticket,
                what: Happening::NeedsRead {
                    why: "somebody asks for help in a thread that was not listened to".into(),
                },
            };
            let doing = Doing {
                inbound: &inbound,
                files: &post.files,
                redraw: false,
            };
            posts::serve(&app.pool, row.id, &doing, app.intake().await?).await?;
        }
        Meaning::Changed { ticket, note } => give(app, row.id, &post, ticket, vec![*note]).await?,
    }
    Ok(Served::Done)
}

/// Where people find a post in Slack, which is known once Slack was asked how the workspace is called. Without it the ticket
/// has no link.
async fn link(app: &App, post: &mut Post) {
    if let (Source::Slack, None, Some(slack)) = (post.source, &post.url, &app.slack)
        && slack.own().await.is_ok()
    {
        post.url = slack.known_url(post);
    }
}

/// Comments on a ticket that is there.
async fn give(app: &App, row: i64, post: &Post, ticket: OutsideId, comments: Vec<NewComment>) -> anyhow::Result<()> {
    let told = Told {
        comments,
        ..Told::default()
    };
    let inbound = Inbound {
        ticket,
        what: Happening::Told(Box::new(told)),
    };
    let doing = Doing {
        inbound: &inbound,
        files: &post.files,
        redraw: post.what != PostKind::New,
    };
    posts::serve(&app.pool, row, &doing, app.intake().await?).await?;
    Ok(())
}

/// Where somebody is answered about what they wrote: in its thread, which they alone see where customers read along.
fn answer_to(post: &Post, private: bool) -> AnswerTo {
    let root = post.thread.as_ref().map_or(&post.id, |thread| &thread.root);
    let person = post.author.as_ref().map(|author| author.id.clone());
    AnswerTo {
        channel: Some(post.channel.clone()),
        // Discord's threads are channels of their own.
        thread: (surface(post) == Surface::Slack).then(|| root.clone()),
        person: person.filter(|_| private),
        ..AnswerTo::default()
    }
}

fn surface(post: &Post) -> Surface {
    post.author.as_ref().map_or(Surface::Api, |author| author.surface)
}

async fn command(app: &App, post: Post, private: bool) -> anyhow::Result<()> {
    let answer = answer_to(&post, private);
    let Some(actor) = post.author else { return Ok(()) };
    let asked = Asked {
        text: post.text,
        actor,
        delivery: format!("said:{}", post.delivery),
        answer,
    };
    commands::keep(app, &asked).await
}

async fn refuse(app: &App, post: &Post, text: &str) -> anyhow::Result<()> {
    let answer = AnswerTo {
        text: text.to_owned(),
        ..answer_to(post, true)
    };
    worker::answer(app, surface(post), answer).await
}

/// The ticket that a text names: `T-1001`.
pub fn ticket_in(text: &str) -> Option<TicketId> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '-'))
        .filter(|word| word.len() > 2 && word.starts_with(['T', 't']))
        .find_map(|word| word.parse().ok())
}
