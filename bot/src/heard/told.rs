//! Posts as comments, and a thread as its ticket: whose words they are is decided here, for every chat alike.

use deskhand_adapters::postgres::posts;
use deskhand_adapters::postgres::tickets;
use deskhand_core::command::Authority;
use deskhand_core::heard::Post;
use deskhand_core::id::TicketId;
use deskhand_core::inbound::NewComment;
use deskhand_core::port::{Desk, DeskTicket, PortError};
use deskhand_core::ticket::Author;

use crate::app::App;
use crate::people;

pub(super) fn comment(app: &App, post: &Post, author: Author) -> NewComment {
    let now = app.clock.now();
    NewComment {
        outside_id: Some(post.comment_id()),
        author,
        author_name: post.requester().name,
        public: true,
        body: post.body(),
        // A chat's clock may go before ours.
        created_at: post.at.map(|at| at.min(now)),
        marker: None,
    }
}

/// Reads a ticket at its desk. Where that is a chat, whoever wrote there is looked up: a colleague is not the customer, and
/// while the chat does not say who is one, the ticket counts as not read.
pub(crate) async fn read_desk(
    app: &App,
    desk: &dyn Desk,
    ticket: TicketId,
    outside_id: &str,
) -> anyhow::Result<Result<DeskTicket, PortError>> {
    let mut present = match desk.read(outside_id).await {
        Ok(present) => present,
        Err(error) => return Ok(Err(error)),
    };
    if present.posts.is_empty() {
        return Ok(Ok(present));
    }
    let stored = tickets::get(&app.pool, ticket)
        .await?
        .map(|whole| whole.ticket.requester);
    if let Some(stored) = stored.filter(|stored| !stored.address.is_empty()) {
        present.requester = stored;
    }
    let mut tx = app.pool.begin().await?;
    for post in &present.posts {
        posts::attach(&mut tx, ticket, post.source, &post.files).await?;
    }
    tx.commit().await?;
    for mut post in std::mem::take(&mut present.posts) {
        let Some(who) = author(app, &post, &present.requester.address).await? else {
            let why = "it is not known whether somebody in the thread is of the team; trying again";
            return Ok(Err(PortError::transient(why)));
        };
        if let Some(author) = &mut post.author {
            people::call_by_name(app, author).await?;
            if author.key() == present.requester.address && present.requester.name == author.id {
                present.requester.name.clone_from(&author.name);
            }
        }
        present.comments.push(comment(app, &post, who));
    }
    Ok(Ok(present))
}

/// `None` as long as the chat does not say.
async fn author(app: &App, post: &Post, requester: &str) -> anyhow::Result<Option<Author>> {
    let Some(author) = &post.author else {
        return Ok(Some(Author::Other));
    };
    if author.key() == requester {
        return Ok(Some(Author::Requester));
    }
    if post.outsider {
        return Ok(Some(Author::Other));
    }
    let mut team = people::may_command(app, Authority::Team, author).await?;
    if team.is_none() {
        people::look_up(app, &people::who_may_command(app, author), author).await?;
        team = people::may_command(app, Authority::Team, author).await?;
    }
    Ok(team.map(|team| if team { Author::Agent } else { Author::Other }))
}
