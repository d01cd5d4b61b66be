//! Mail beyond the comments that it became: to which ticket one belongs, what it said in full, and who writes too often.
//!
//! Only tickets whose source is e-mail are found here: a mail never becomes a comment on another system's ticket.

use chrono::{DateTime, Utc};
use deskhand_core::id::TicketId;
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{PgConnection, PgExecutor, PgPool};
use uuid::Uuid;

/// The ticket that a mail belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub id: TicketId,
    pub outside_id: String,
    /// In lower case.
    pub requester: String,
    pub automatic: bool,
}

struct Row {
    id: i64,
    outside_id: String,
    requester_address: String,
    automatic: bool,
}

impl From<Row> for Found {
    fn from(row: Row) -> Self {
        Self {
            id: TicketId(row.id),
            outside_id: row.outside_id,
            requester: row.requester_address.to_lowercase(),
            automatic: row.automatic,
        }
    }
}

pub async fn by_number(db: impl PgExecutor<'_>, ticket: TicketId) -> sqlx::Result<Option<Found>> {
    let row = sqlx::query_as!(
        Row,
        "SELECT t.id, t.outside_id, t.requester_address, t.automatic
           FROM ticket x JOIN ticket t ON t.id = coalesce(x.alias_of, x.id)
          WHERE x.id = $1 AND t.source = 'email'",
        ticket.0
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(Found::from))
}

/// By the effects whose mail is answered.
pub async fn by_effects(db: impl PgExecutor<'_>, effects: &[Uuid]) -> sqlx::Result<Option<Found>> {
    let row = sqlx::query_as!(
        Row,
        "SELECT t.id, t.outside_id, t.requester_address, t.automatic
           FROM outbox o JOIN ticket x ON x.id = o.ticket_id JOIN ticket t ON t.id = coalesce(x.alias_of, x.id)
          WHERE o.id = ANY($1) AND t.source = 'email'
          ORDER BY array_position($1, o.id) LIMIT 1",
        effects
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(Found::from))
}

/// By the Message-IDs that a mail refers to, the nearest first: of mails that came in, then of conversations.
pub async fn by_ids(db: impl PgExecutor<'_>, ids: &[String]) -> sqlx::Result<Option<Found>> {
    let row = sqlx::query_as!(
        Row,
        r#"SELECT t.id AS "id!", t.outside_id AS "outside_id!", t.requester_address AS "requester_address!",
                  t.automatic AS "automatic!"
             FROM (SELECT c.ticket_id, array_position($1, c.outside_id) AS near
                     FROM comment c WHERE c.source = 'email' AND c.outside_id = ANY($1)
                   UNION ALL
                   SELECT k.id, 1000 + array_position($1, k.outside_id)
                     FROM ticket k WHERE k.source = 'email' AND k.outside_id = ANY($1)) f
             JOIN ticket x ON x.id = f.ticket_id JOIN ticket t ON t.id = coalesce(x.alias_of, x.id)
            WHERE t.source = 'email'
            ORDER BY f.near LIMIT 1"#,
        ids
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(Found::from))
}

/// What is kept of a mail.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The id of its comment.
    pub id: String,
    pub digest: String,
    pub sender: String,
    pub ticket: Option<TicketId>,
    pub label: &'static str,
    pub why: String,
    pub refs: Vec<String>,
    pub whole: String,
    pub attachments: Value,
    pub doubts: Vec<String>,
    pub received_at: DateTime<Utc>,
}

/// Keeps a mail. False where another one has its id already: then it needs another.
pub async fn keep(pool: &PgPool, mail: &Kept) -> sqlx::Result<bool> {
    let clean = |text: &str| text.replace('\0', "");
    let refs: Vec<String> = mail.refs.iter().map(|id| clean(id)).collect();
    let digest = sqlx::query_scalar!(
        "INSERT INTO mail (id, digest, sender, ticket_id, label, why, refs, whole, attachments, doubts, received_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         ON CONFLICT ON CONSTRAINT mail_id DO UPDATE SET id = mail.id
         RETURNING digest",
        clean(&mail.id),
        mail.digest,
        clean(&mail.sender),
        mail.ticket.map(|ticket| ticket.0),
        mail.label,
        clean(&mail.why),
        &refs,
        clean(&mail.whole),
        mail.attachments,
        Json(&mail.doubts) as _,
        mail.received_at,
    )
    .fetch_one(pool)
    .await?;
    Ok(digest == mail.digest)
}

/// How much came in lately: mails of one sender, and mails of anybody on one ticket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lately {
    pub from_sender: i64,
    pub on_ticket: i64,
}

pub async fn lately(
    db: impl PgExecutor<'_>,
    sender: &str,
    ticket: Option<TicketId>,
    since: DateTime<Utc>,
) -> sqlx::Result<Lately> {
    sqlx::query_as!(
        Lately,
        r#"SELECT (SELECT count(*) FROM mail WHERE sender = $1 AND received_at > $3) AS "from_sender!",
                  (SELECT count(*) FROM mail WHERE ticket_id = $2 AND received_at > $3) AS "on_ticket!""#,
        sender,
        ticket.map(|ticket| ticket.0),
        since,
    )
    .fetch_one(db)
    .await
}

/// A ticket that a program's mail opened, and that a person writes on, is a person's.
pub async fn is_a_persons(db: impl PgExecutor<'_>, ticket: TicketId) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE ticket SET automatic = false WHERE id = $1 AND automatic",
        ticket.0
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The last mail of a ticket, which an answer quotes and refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Last {
    /// Without brackets.
    pub id: String,
    pub refs: Vec<String>,
    pub whole: String,
    pub author: String,
    pub at: DateTime<Utc>,
}

/// The last mail that a person wrote to us on the ticket.
pub async fn last(db: impl PgExecutor<'_>, ticket: TicketId) -> sqlx::Result<Option<Last>> {
    sqlx::query_as!(
        Last,
        "SELECT m.id, m.refs, m.whole, c.author_name AS author, c.created_at AS at
           FROM comment c JOIN mail m ON m.id = c.outside_id
          WHERE c.ticket_id = $1 AND c.source = 'email' AND c.public AND c.author <> 'bot'
          ORDER BY c.id DESC LIMIT 1",
        ticket.0
    )
    .fetch_optional(db)
    .await
}

/// The mails of a ticket that said more than their comments do, as they came: by the comment, with the whole body.
pub async fn wholes(db: impl PgExecutor<'_>, ticket: TicketId) -> sqlx::Result<Vec<(i64, String)>> {
    let rows = sqlx::query!(
        "SELECT c.id, m.whole
           FROM comment c JOIN mail m ON m.id = c.outside_id
          WHERE c.ticket_id = $1 AND c.source = 'email' AND btrim(m.whole, E' \\n') <> btrim(c.body, E' \\n')
          ORDER BY c.id",
        ticket.0
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.whole)).collect())
}

/// The whole of the mail that a card shows the customer's last words of, where it said more than these.
pub async fn whole_of_last_words(db: impl PgExecutor<'_>, ticket: TicketId) -> sqlx::Result<Option<String>> {
    let row = sqlx::query!(
        r#"SELECT m.whole AS "whole?", c.body
           FROM comment c LEFT JOIN mail m ON m.id = c.outside_id AND c.source = 'email'
          WHERE c.ticket_id = $1 AND c.public AND c.author IN ('requester', 'other')
          ORDER BY c.created_at DESC, c.id DESC LIMIT 1"#,
        ticket.0
    )
    .fetch_optional(db)
    .await?;
    Ok(row.and_then(|row| row.whole.filter(|whole| whole.trim() != row.body.trim())))
}

/// Sentences of doubt about the mails of a ticket, each once.
pub async fn doubts(db: impl PgExecutor<'_>, ticket: TicketId) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar!(
        r#"SELECT DISTINCT d.value AS "doubt!"
             FROM comment c JOIN mail m ON m.id = c.outside_id, jsonb_array_elements_text(m.doubts) d
            WHERE c.ticket_id = $1 AND c.source = 'email' ORDER BY 1 LIMIT 10"#,
        ticket.0
    )
    .fetch_all(db)
    .await
}

/// A reply of ours came back: it is dead, with the reason. Gives whether it counted as delivered until now.
pub async fn undelivered(tx: &mut PgConnection, effects: &[Uuid], why: &str) -> sqlx::Result<bool> {
    let done = sqlx::query!(
        "UPDATE outbox SET state = 'dead', why = $2
          WHERE id = ANY($1) AND kind = 'reply' AND state = 'delivered'",
        effects,
        why,
    )
    .execute(tx)
    .await?;
    Ok(done.rows_affected() > 0)
}

/// How far a mailbox was read: its UIDVALIDITY and the last UID.
pub async fn seen(db: impl PgExecutor<'_>, mailbox: &str) -> sqlx::Result<Option<(i64, i64)>> {
    let row = sqlx::query!("SELECT validity, seen FROM mailbox WHERE name = $1", mailbox)
        .fetch_optional(db)
        .await?;
    Ok(row.map(|row| (row.validity, row.seen)))
}

pub async fn set_seen(db: impl PgExecutor<'_>, mailbox: &str, validity: i64, seen: i64) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO mailbox (name, validity, seen) VALUES ($1, $2, $3)
         ON CONFLICT ON CONSTRAINT mailbox_name DO UPDATE SET validity = EXCLUDED.validity, seen = EXCLUDED.seen",
        mailbox,
        validity,
        seen,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Locks something by a number for as long as the connection lives; false where somebody else has it.
pub async fn lock(connection: &mut PgConnection, number: i64) -> sqlx::Result<bool> {
    sqlx::query_scalar!(r#"SELECT pg_try_advisory_lock($1) AS "ours!""#, number)
        .fetch_one(connection)
        .await
}

/// Whether the connection, and with it what it locked, is still there.
pub async fn ping(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::Connection::ping(connection).await
}
