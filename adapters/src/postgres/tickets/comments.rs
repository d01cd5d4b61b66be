//! What was said on a ticket.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use deskhand_core::id::TicketId;
use deskhand_core::inbound::NewComment;
use deskhand_core::ticket::{Author, Comment, OutsideId};
use sha2::{Digest, Sha256};
use sqlx::{PgConnection, PgExecutor};

use super::clean;
use crate::postgres::inbox::News;

/// Appends comments that were not here before, and says what they changed. Our own never count as news. The `fresh` tickets
/// had their first version when they were made.
pub(in crate::postgres) async fn append_comments(
    tx: &mut PgConnection,
    comments: &[(TicketId, OutsideId, NewComment)],
    fresh: &[TicketId],
) -> sqlx::Result<BTreeMap<TicketId, News>> {
    if comments.is_empty() {
        return Ok(BTreeMap::new());
    }
    let tickets: Vec<i64> = comments.iter().map(|(ticket, ..)| ticket.0).collect();
    let sources: Vec<&str> = comments.iter().map(|(_, outside, _)| outside.source.as_str()).collect();
    let ids: Vec<String> = comments
        .iter()
        .map(|(_, outside, comment)| comment_key(outside, comment))
        .collect();
    let authors: Vec<&str> = comments.iter().map(|(.., comment)| comment.author.as_str()).collect();
    let names: Vec<String> = comments
        .iter()
        .map(|(.., comment)| clean(&comment.author_name))
        .collect();
    let public: Vec<bool> = comments.iter().map(|(.., comment)| comment.public).collect();
    let bodies: Vec<String> = comments.iter().map(|(.., comment)| clean(&comment.body)).collect();
    let times: Vec<Option<DateTime<Utc>>> = comments.iter().map(|(.., comment)| comment.created_at).collect();
    let rows = sqlx::query_file!(
        "src/postgres/sql/append_comments.sql",
        &tickets,
        &sources as &[&str],
        &ids,
        &authors as &[&str],
        &names,
        &public,
        &bodies,
        &times as &[Option<DateTime<Utc>>],
    )
    .fetch_all(&mut *tx)
    .await?;
    let mut news: BTreeMap<TicketId, News> = BTreeMap::new();
    for row in rows {
        let author: Author = row.author.parse().unwrap_or(Author::Other);
        news.entry(TicketId(row.ticket_id)).or_default().add(author, row.public);
    }
    let changed: Vec<i64> = news
        .iter()
        .filter(|(ticket, news)| news.foreign_public && !fresh.contains(ticket))
        .map(|(ticket, _)| ticket.0)
        .collect();
    if !changed.is_empty() {
        sqlx::query!(
            "UPDATE ticket SET version = version + 1, updated_at = clock_timestamp(),
                    state = CASE WHEN state IN ('new', 'with_human') THEN state ELSE 'triaged' END
              WHERE id = ANY($1)",
            &changed,
        )
        .execute(&mut *tx)
        .await?;
    }
    Ok(news)
}

/// The source's id of a comment, or one derived from its ticket, author and words where the payload has none.
fn comment_key(outside: &OutsideId, comment: &NewComment) -> String {
    match &comment.outside_id {
        Some(id) => clean(id),
        None => {
            let words = format!("{outside}\n{}\n{}", comment.author, comment.body.trim());
            format!("derived-{}", &hex::encode(Sha256::digest(words))[..32])
        }
    }
}

/// Comments, oldest first; those after `after` only.
pub async fn comments(db: impl PgExecutor<'_>, ticket: TicketId, after: i64) -> sqlx::Result<Vec<Comment>> {
    let rows = sqlx::query!(
        "SELECT id, author, author_name, public, body, created_at FROM comment
          WHERE ticket_id = $1 AND id > $2 ORDER BY id",
        ticket.0,
        after,
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Comment {
            id: row.id,
            author: row.author.parse().unwrap_or(Author::Other),
            author_name: row.author_name,
            public: row.public,
            body: row.body,
            created_at: row.created_at,
        })
        .collect())
}

/// An internal note of ours, or our reply at its delivery. `outside_id` makes it one with its echo.
pub async fn add_own_comment(
    tx: &mut PgConnection,
    ticket: TicketId,
    outside_id: &str,
    public: bool,
    body: &str,
) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO comment (ticket_id, source, outside_id, author, author_name, public, body)
         SELECT id, source, $2, 'bot', 'Deskhand', $3, $4 FROM ticket WHERE id = $1
         ON CONFLICT ON CONSTRAINT comment_outside DO UPDATE SET author = 'bot'",
        ticket.0,
        outside_id,
        public,
        clean(body),
    )
    .execute(&mut *tx)
    .await?;
    if public {
        sqlx::query!("UPDATE ticket SET version = version + 1 WHERE id = $1", ticket.0)
            .execute(tx)
            .await?;
    }
    Ok(())
}

/// Our reply, at its delivery: the comment, and the ticket as it is from then on. `outside_id` makes it one with its echo.
pub async fn answered(
    tx: &mut PgConnection,
    ticket: TicketId,
    outside_id: &str,
    body: &str,
    trouble: &str,
) -> sqlx::Result<()> {
    sqlx::query!(
        "WITH said AS (
             INSERT INTO comment (ticket_id, source, outside_id, author, author_name, public, body)
             SELECT id, source, $2, 'bot', 'Deskhand', true, $3 FROM ticket WHERE id = $1
             ON CONFLICT ON CONSTRAINT comment_outside DO UPDATE SET author = 'bot')
         UPDATE ticket SET version = version + 1, state = 'waiting_on_customer', trouble = $4, updated_at = clock_timestamp()
          WHERE id = $1",
        ticket.0,
        outside_id,
        clean(body),
        clean(trouble),
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// Whether somebody said something public that the model has not heard. Asked under the ticket's lock.
pub async fn has_unheard(tx: &mut PgConnection, ticket: TicketId, heard: i64) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM comment WHERE ticket_id = $1 AND id > $2 AND public AND author <> 'bot') AS "x!""#,
        ticket.0,
        heard,
    )
    .fetch_one(tx)
    .await
}

/// The source's ids of the comments up to one of ours, and of everything that we wrote.
pub async fn heard_ids(
    db: impl PgExecutor<'_>,
    ticket: TicketId,
    heard: i64,
) -> sqlx::Result<std::collections::BTreeSet<String>> {
    let ids = sqlx::query_scalar!(
        "SELECT outside_id FROM comment WHERE ticket_id = $1 AND (id <= $2 OR author = 'bot')",
        ticket.0,
        heard,
    )
    .fetch_all(db)
    .await?;
    Ok(ids.into_iter().collect())
}

/// Tickets whose words are not in the search yet, or changed since; for the one indexer.
pub async fn unindexed(tx: &mut PgConnection, most: i64) -> sqlx::Result<Vec<(TicketId, String, String)>> {
    let rows = sqlx::query!(
        r#"SELECT t.id, t.subject, coalesce(string_agg(c.body, E'\n' ORDER BY c.id) FILTER (WHERE c.public), '') AS "body!"
             FROM (SELECT id, subject FROM ticket
                    WHERE (indexed_at IS NULL OR indexed_at < updated_at) AND alias_of IS NULL
                    ORDER BY updated_at LIMIT $1) t
             LEFT JOIN comment c ON c.ticket_id = t.id
            GROUP BY t.id, t.subject ORDER BY t.id"#,
        most
    )
    .fetch_all(tx)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| (TicketId(row.id), row.subject, row.body))
        .collect())
}

pub async fn mark_indexed(tx: &mut PgConnection, tickets: &[TicketId]) -> sqlx::Result<()> {
    let ids: Vec<i64> = tickets.iter().map(|ticket| ticket.0).collect();
    sqlx::query!(
        "UPDATE ticket SET indexed_at = clock_timestamp() WHERE id = ANY($1)",
        &ids
    )
    .execute(tx)
    .await?;
    Ok(())
}
