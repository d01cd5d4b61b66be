//! What a post means here, from what the store knows. Nobody outside is asked.

use deskhand_adapters::postgres::posts::{self, CHANGE, Known, Talk};
use deskhand_core::command::{self, Authority, CommandError};
use deskhand_core::digest;
use deskhand_core::heard::{self, Post, PostKind};
use deskhand_core::inbound::NewComment;
use deskhand_core::ticket::{Author, OutsideId};

use crate::app::App;
use crate::people;

pub(super) enum Meaning {
    /// It is nobody's business here.
    Nothing,
    /// The chat must be asked first whether its author is of the team.
    Unknown,
    /// Its thread is a ticket that was not read yet: who the customer is, is still to be found out.
    Unread,
    /// A command of the team's; `private` where customers read along.
    Command {
        private: bool,
    },
    /// It is not for them, and they are told so.
    Refuse {
        why: &'static str,
    },
    Comment {
        ticket: OutsideId,
        author: Author,
    },
    /// It opens a ticket.
    Open,
    /// Its thread becomes a ticket, and is read from its beginning.
    Read,
    /// Something that a ticket heard was changed or taken back.
    Changed {
        ticket: OutsideId,
        note: Box<NewComment>,
    },
}

impl Meaning {
    pub(super) fn stays_private(&self) -> bool {
        matches!(self, Self::Command { private: true })
    }
}

pub(super) async fn of(app: &App, post: &Post) -> sqlx::Result<Meaning> {
    if post.what != PostKind::New {
        let known = posts::known(&app.pool, post.source, &post.comment_id()).await?;
        return Ok(known.map_or(Meaning::Nothing, |known| changed(post, known)));
    }
    let Some(author) = &post.author else {
        return Ok(Meaning::Nothing);
    };
    let talk = talk(app, post).await?;
    let watched = app.config.watches(post.source, post.stands_in());
    if talk.is_none() && !watched && !post.mentions_us {
        return Ok(Meaning::Nothing);
    }
    if talk.as_ref().is_some_and(|talk| talk.unread) {
        return Ok(Meaning::Unread);
    }
    let is_requester = talk.as_ref().is_some_and(|talk| talk.requester == author.key());
    // Whether the customer is of the team matters only where they speak to the bot.
    if let (Some(talk), true, false) = (&talk, is_requester, post.mentions_us) {
        return Ok(comment(talk, Author::Requester));
    }
    let team = match post.outsider {
        true => Some(false),
        false => people::may_command(app, Authority::Team, author).await?,
    };
    let Some(team) = team else {
        return Ok(Meaning::Unknown);
    };
    let customers_read = watched || talk.is_some();
    if post.mentions_us && team && means_a_command(app, post, customers_read) {
        return Ok(Meaning::Command {
            private: customers_read,
        });
    }
    if let Some(talk) = &talk {
        let who = match (is_requester, team) {
            (true, _) => Author::Requester,
            (false, true) => Author::Agent,
            (false, false) => Author::Other,
        };
        return Ok(comment(talk, who));
    }
    if post.mentions_us && !team && !watched && command::parse(&post.text).is_ok() {
        return Ok(Meaning::Refuse {
            why: "This is for the support team; nothing was done.",
        });
    }
    Ok(match (post.mentions_us, post.begins()) {
        (true, true) => Meaning::Open,
        (true, false) => Meaning::Read,
        (false, true) if !team => Meaning::Open,
        (false, _) => Meaning::Nothing,
    })
}

/// The ticket of its thread, if there is one. Of a Discord thread it is not always told whether its first message stands in
/// it or above it.
pub(super) async fn talk(app: &App, post: &Post) -> sqlx::Result<Option<Talk>> {
    let mut ids = vec![post.ticket().id];
    if let Some(thread) = &post.thread {
        ids.push(format!("{}/{}", post.channel, thread.root));
    }
    posts::talk(&app.pool, post.source, &ids).await
}

fn comment(talk: &Talk, author: Author) -> Meaning {
    Meaning::Comment {
        ticket: talk.outside.clone(),
        author,
    }
}

/// Whether somebody of the team speaks to the bot as in a command. In their own room everything is one; elsewhere words
/// that only describe a customer's trouble are none, and a slip of the finger is one.
fn means_a_command(app: &App, post: &Post, customers_read: bool) -> bool {
    if !customers_read && app.config.is_the_teams(post.source, post.stands_in()) {
        return true;
    }
    match command::parse(&post.text) {
        // No words at all, below somebody's post: that post is meant.
        Ok(_) => !post.text.trim().is_empty() || post.begins(),
        Err(CommandError::Unknown { nearest, .. }) => {
            let words = post.text.split_whitespace().count();
            words < 2 || (nearest.is_some() && words < 4)
        }
        Err(CommandError::Missing { .. } | CommandError::Wrong { .. } | CommandError::NotATicket { .. }) => {
            post.text.split_whitespace().count() < 5
        }
    }
}

/// What a ticket is told of a change. One that leaves the words as they were, as a link's preview does, is none.
fn changed(post: &Post, known: Known) -> Meaning {
    let (which, body) = match post.what {
        PostKind::Deleted => (
            "deleted".to_owned(),
            heard::deleted(&known.author_name, known.created_at),
        ),
        PostKind::Edited | PostKind::New => {
            let now = post.body();
            if now == known.body {
                return Meaning::Nothing;
            }
            // The same change under another delivery is the same.
            let which = match post.at {
                Some(at) => at.timestamp_micros().to_string(),
                None => digest::of(&now)[..16].to_owned(),
            };
            (which, heard::edited(&known.author_name, known.created_at, &now))
        }
    };
    let note = NewComment {
        outside_id: Some(format!("{}{CHANGE}{which}", post.comment_id())),
        author: Author::Other,
        author_name: known.author_name,
        public: false,
        body,
        created_at: post.at,
        marker: None,
    };
    Meaning::Changed {
        ticket: known.ticket,
        note: Box::new(note),
    }
}
