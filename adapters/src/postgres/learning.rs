//! What the offline model learns from: decided tickets and people's corrections; and what it learned, as bytes that all
//! replicas share.

use chrono::{DateTime, Utc};
use deskhand_core::id::TicketId;
use sha2::{Digest, Sha256};
use sqlx::{PgConnection, PgExecutor};

/// A past ticket of which a person has said, or let stand, what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub ticket: TicketId,
    pub subject: String,
    pub body: String,
    pub category: String,
    pub weight: f32,
    pub corrected: bool,
}

/// The newest artifact, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    pub version: i64,
    pub house: String,
    pub input: String,
    pub hash: String,
    pub tickets: i64,
    pub corrections: i64,
    pub built_at: DateTime<Utc>,
    pub checked_at: DateTime<Utc>,
}

/// An artifact to be kept.
#[derive(Clone, Copy, Debug)]
pub struct New<'a> {
    pub house: &'a str,
    pub input: &'a str,
    pub tickets: i64,
    pub corrections: i64,
    pub bytes: &'a [u8],
}

/// A person of the team said what a ticket is. The newest word counts.
pub async fn correct(
    tx: &mut PgConnection,
    ticket: TicketId,
    category: &str,
    by: &str,
    now: Option<DateTime<Utc>>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO correction (ticket_id, category, by, at) VALUES ($1, $2, $3, coalesce($4, clock_timestamp()))
         ON CONFLICT (ticket_id) DO UPDATE SET category = EXCLUDED.category, by = EXCLUDED.by, at = EXCLUDED.at",
        ticket.0,
        category,
        by,
        now,
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// Decided tickets, oldest first; the newest `most` of them.
pub async fn decided(db: impl PgExecutor<'_>, most: i64) -> sqlx::Result<Vec<Row>> {
    let rows = sqlx::query_file!("src/postgres/sql/decided_tickets.sql", most)
        .fetch_all(db)
        .await?;
    let mut rows: Vec<Row> = rows
        .into_iter()
        .map(|row| Row {
            ticket: TicketId(row.id),
            subject: row.subject,
            body: row.body,
            category: row.category,
            weight: row.weight,
            corrected: row.corrected,
        })
        .collect();
    rows.reverse();
    Ok(rows)
}

/// How many tickets were decided since a time in a way that may teach something; `None` counts all.
pub async fn news(db: impl PgExecutor<'_>, since: Option<DateTime<Utc>>) -> sqlx::Result<i64> {
    sqlx::query_file_scalar!("src/postgres/sql/count_decided.sql", since)
        .fetch_one(db)
        .await
}

pub async fn newest(db: impl PgExecutor<'_>) -> sqlx::Result<Option<Artifact>> {
    sqlx::query_as!(
        Artifact,
        "SELECT version, house, input, hash, tickets, corrections, built_at, checked_at
           FROM artifact WHERE kind = 'classifier' ORDER BY version DESC LIMIT 1"
    )
    .fetch_optional(db)
    .await
}

/// The number of the newest artifact: the cheap question of every replica, every few seconds.
pub async fn newest_version(db: impl PgExecutor<'_>) -> sqlx::Result<Option<i64>> {
    sqlx::query_scalar!("SELECT version FROM artifact WHERE kind = 'classifier' ORDER BY version DESC LIMIT 1")
        .fetch_optional(db)
        .await
}

/// The artifacts that are kept, with when each was made, oldest first.
pub async fn kept(db: impl PgExecutor<'_>) -> sqlx::Result<Vec<(i64, DateTime<Utc>)>> {
    let rows = sqlx::query!("SELECT version, built_at FROM artifact WHERE kind = 'classifier' ORDER BY version")
        .fetch_all(db)
        .await?;
    Ok(rows.into_iter().map(|row| (row.version, row.built_at)).collect())
}

/// The bytes of an artifact; `None` when a newer one has replaced it meanwhile.
pub async fn bytes(db: impl PgExecutor<'_>, version: i64) -> sqlx::Result<Option<Vec<u8>>> {
    sqlx::query_scalar!("SELECT bytes FROM artifact WHERE version = $1", version)
        .fetch_optional(db)
        .await
}

/// Keeps an artifact, and its predecessor for replicas that are about to read it. Gives its version.
pub async fn put(tx: &mut PgConnection, new: &New<'_>, now: Option<DateTime<Utc>>) -> sqlx::Result<i64> {
    let version = sqlx::query_scalar!(
        "INSERT INTO artifact (kind, house, input, hash, tickets, corrections, bytes, built_at, checked_at)
         VALUES ('classifier', $1, $2, $3, $4, $5, $6, coalesce($7, clock_timestamp()), coalesce($7, now()))
         RETURNING version",
        new.house,
        new.input,
        hex::encode(Sha256::digest(new.bytes)),
        new.tickets,
        new.corrections,
        new.bytes,
        now,
    )
    .fetch_one(&mut *tx)
    .await?;
    sqlx::query!(
        "DELETE FROM artifact WHERE kind = 'classifier' AND version NOT IN
            (SELECT version FROM artifact WHERE kind = 'classifier' ORDER BY version DESC LIMIT 2)"
    )
    .execute(tx)
    .await?;
    Ok(version)
}

/// Nothing else would be learned now: the next look is due later.
pub async fn still_good(tx: &mut PgConnection, version: i64, now: Option<DateTime<Utc>>) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE artifact SET checked_at = coalesce($2, now()) WHERE version = $1",
        version,
        now
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// Whether this transaction is the only one, among all replicas, that learns.
pub async fn only_learner(tx: &mut PgConnection) -> sqlx::Result<bool> {
    sqlx::query_scalar!(r#"SELECT pg_try_advisory_xact_lock(hashtext('deskhand learner')) AS "mine!""#)
        .fetch_one(tx)
        .await
}
