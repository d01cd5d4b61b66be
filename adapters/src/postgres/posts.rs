//! What was written where the bot listens: kept until it is known whose words they are, then given to its ticket.
//!
//! Posts of one talk are served in the order in which they came: only the first of those that wait is ever taken, and it
//! waits until it was served. Serving one is a single transaction, so a crash serves it again and nothing twice.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use deskhand_core::heard::Attached;
use deskhand_core::id::TicketId;
use deskhand_core::inbound::Inbound;
use deskhand_core::ticket::{OutsideId, Source};
use sqlx::{PgConnection, PgExecutor, PgPool};

use super::inbox::{self, Intake, Kept};
use super::{outbox, tickets};

/// Keeps a post. False when its delivery was here before.
pub async fn keep(pool: &PgPool, source: Source, talk: &str, delivery_id: &str, body: &[u8]) -> sqlx::Result<bool> {
    let kept = sqlx::query!(
        "INSERT INTO inbox (source, kind, talk, delivery_id, body, state) VALUES ($1, 'post', $2, $3, $4, 'kept')
         ON CONFLICT ON CONSTRAINT inbox_delivery DO NOTHING",
        source.as_str(),
        talk,
        delivery_id,
        body,
    )
    .execute(pool)
    .await?;
    Ok(kept.rows_affected() == 1)
}

/// Whether posts of this talk wait to be served: one that comes now must not overtake them.
pub async fn wait(db: impl PgExecutor<'_>, source: Source, talk: &str) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM inbox WHERE source = $1 AND talk = $2 AND state = 'kept' AND kind = 'post') AS "x!""#,
        source.as_str(),
        talk,
    )
    .fetch_one(db)
    .await
}

/// Takes the first post of each talk whose time has come. Each is put off, longer every time: a crash serves it again, and
/// a chat that does not answer is not asked in a loop.
pub async fn take(pool: &PgPool, most: i64, at: Option<DateTime<Utc>>) -> sqlx::Result<Vec<Kept>> {
    sqlx::query_file_as!(Kept, "src/postgres/sql/take_posts.sql", most, at)
        .fetch_all(pool)
        .await
}

/// A post that was given up is served again. False when it is none.
pub async fn retry(pool: &PgPool, id: i64) -> sqlx::Result<bool> {
    let done = sqlx::query!(
        "UPDATE inbox SET state = 'kept', error = '', attempts = 0, next_at = clock_timestamp()
          WHERE id = $1 AND kind = 'post' AND state = 'failed'",
        id
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// What a post does to its ticket.
#[derive(Clone, Debug)]
pub struct Doing<'a> {
    pub inbound: &'a Inbound,
    /// Files of it whose text can be read later.
    pub files: &'a [Attached],
    /// Drafts that wait are shown anew: something was changed under them.
    pub redraw: bool,
}

/// Gives a kept post to its ticket. `None` when somebody else did.
pub async fn serve(pool: &PgPool, id: i64, doing: &Doing<'_>, intake: Intake) -> sqlx::Result<Option<TicketId>> {
    let mut tx = pool.begin().await?;
    let taken = sqlx::query!(
        "UPDATE inbox SET state = 'mapped', error = '' WHERE id = $1 AND state = 'kept'",
        id
    )
    .execute(&mut *tx)
    .await?;
    if taken.rows_affected() == 0 {
        return Ok(None);
    }
    let outside = &doing.inbound.ticket;
    let by_ticket = BTreeMap::from([(outside.clone(), vec![(0, doing.inbound)])]);
    inbox::apply(&mut tx, &by_ticket, intake).await?;
    let ticket = tickets::find_outside(&mut *tx, outside).await?;
    if let Some(ticket) = ticket {
        attach(&mut tx, ticket, outside.source, doing.files).await?;
        if doing.redraw {
            redraw(&mut tx, ticket).await?;
        }
    }
    tx.commit().await?;
    Ok(ticket)
}

/// Remembers the files whose text can be read.
pub async fn attach(tx: &mut PgConnection, ticket: TicketId, source: Source, files: &[Attached]) -> sqlx::Result<()> {
    for file in files.iter().filter(|file| file.is_text()) {
        sqlx::query!(
            "INSERT INTO attachment (source, id, ticket_id, name, size, url) VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT ON CONSTRAINT attachment_id DO NOTHING",
            source.as_str(),
            file.id,
            ticket.0,
            file.name.replace('\0', ""),
            i64::try_from(file.size).unwrap_or(i64::MAX),
            file.url.as_deref().unwrap_or_default(),
        )
        .execute(&mut *tx)
        .await?;
    }
    Ok(())
}

/// The cards of the drafts that wait on a ticket are drawn anew.
async fn redraw(tx: &mut PgConnection, ticket: TicketId) -> sqlx::Result<()> {
    let open = sqlx::query_scalar!(
        "SELECT id FROM approval WHERE ticket_id = $1 AND state = 'open' AND tool = 'reply_customer'",
        ticket.0
    )
    .fetch_all(&mut *tx)
    .await?;
    match open.is_empty() {
        true => Ok(()),
        false => outbox::settle_cards(tx, &open).await,
    }
}

/// A file on a ticket.
#[derive(Clone, Debug)]
pub struct File {
    pub source: String,
    pub url: String,
    pub size: i64,
    /// Its text, once somebody read it.
    pub content: Option<String>,
}

/// A file of this ticket; other tickets' are not found.
pub async fn file(db: impl PgExecutor<'_>, ticket: TicketId, id: &str) -> sqlx::Result<Option<File>> {
    sqlx::query_as!(
        File,
        "SELECT source, url, size, content FROM attachment WHERE ticket_id = $1 AND id = $2",
        ticket.0,
        id
    )
    .fetch_optional(db)
    .await
}

/// Keeps what a file says.
pub async fn keep_content(db: impl PgExecutor<'_>, ticket: TicketId, id: &str, content: &str) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE attachment SET content = $3 WHERE ticket_id = $1 AND id = $2",
        ticket.0,
        id,
        content.replace('\0', "\u{fffd}"),
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The ticket of a talk.
#[derive(Clone, Debug)]
pub struct Talk {
    pub id: TicketId,
    pub outside: OutsideId,
    /// Of whoever is answered: `slack:U024BE7LH`.
    pub requester: String,
    /// It is still to be read, so perhaps nobody knows yet who that is.
    pub unread: bool,
}

/// The first of these outside ids that is a ticket.
pub async fn talk(db: impl PgExecutor<'_>, source: Source, ids: &[String]) -> sqlx::Result<Option<Talk>> {
    let row = sqlx::query!(
        "SELECT id, outside_id, requester_address, needs_read FROM ticket
          WHERE source = $1 AND outside_id = ANY($2) ORDER BY array_position($2, outside_id) LIMIT 1",
        source.as_str(),
        ids,
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| Talk {
        id: TicketId(row.id),
        outside: OutsideId {
            source,
            id: row.outside_id,
        },
        unread: row.needs_read && row.requester_address.is_empty(),
        requester: row.requester_address,
    }))
}

/// A post that is a comment already.
#[derive(Clone, Debug)]
pub struct Known {
    pub ticket: OutsideId,
    pub author_name: String,
    pub body: String,
    pub created_at: DateTime<Utc>,
}

/// The comment that a post became; none for what we wrote ourselves.
pub async fn known(db: impl PgExecutor<'_>, source: Source, comment: &str) -> sqlx::Result<Option<Known>> {
    let row = sqlx::query!(
        "SELECT t.outside_id, c.author_name, c.body, c.created_at
           FROM comment c JOIN ticket t ON t.id = c.ticket_id
          WHERE c.source = $1 AND c.outside_id = $2 AND t.source = $1 AND c.author <> 'bot'",
        source.as_str(),
        comment,
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| Known {
        ticket: OutsideId {
            source,
            id: row.outside_id,
        },
        author_name: row.author_name,
        body: row.body,
        created_at: row.created_at,
    }))
}

/// Sets apart, in a comment's id, what tells of an edit or a deletion of another one.
pub const CHANGE: &str = "#changed-";

/// First lines of what was changed on a ticket after one of its comments, oldest first: "Ada deleted their message of
/// 10:02 UTC."
pub async fn changes(db: impl PgExecutor<'_>, ticket: TicketId, after: i64) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar!(
        r#"SELECT split_part(body, E'\n', 1) AS "line!" FROM comment
            WHERE ticket_id = $1 AND id > $2 AND NOT public AND strpos(outside_id, $3) > 0 ORDER BY id LIMIT 10"#,
        ticket.0,
        after,
        CHANGE,
    )
    .fetch_all(db)
    .await
}
