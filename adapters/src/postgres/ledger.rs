//! The ledger's rows. Appended in the transaction of what they tell; numbered and chained afterwards by one sealer.

use chrono::{DateTime, Utc};
use deskhand_core::id::TicketId;
use sqlx::{PgConnection, PgExecutor, PgPool};
use uuid::Uuid;

/// One line: ids and words, never a customer's or a supervisor's text.
#[derive(Clone, Debug, Default)]
pub struct Line<'a> {
    /// `proposed`, `shown`, `decision`, `refused`, `executed`, `receipt`, `withdrawn` …
    pub kind: &'a str,
    pub ticket: i64,
    pub approval: Option<i64>,
    pub effect: Option<Uuid>,
    /// `slack:U…`; empty for what nobody did.
    pub actor: &'a str,
    /// The digest it is about, unsalted: the row keeps it salted.
    pub digest: &'a str,
    pub detail: &'a str,
}

pub async fn append(tx: &mut PgConnection, line: &Line<'_>) -> sqlx::Result<()> {
    let salt = Uuid::new_v4().simple().to_string();
    let digest =
        if line.digest.is_empty() { String::new() } else { deskhand_core::ledger::salted(&salt, line.digest) };
    sqlx::query!(
        "INSERT INTO ledger (kind, ticket_id, approval_id, effect_id, actor, digest, salt, detail)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        line.kind,
        line.ticket,
        line.approval,
        line.effect,
        line.actor,
        digest,
        salt,
        line.detail,
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// A row as it is chained.
#[derive(Clone, Debug)]
pub struct Row {
    pub id: i64,
    pub at: DateTime<Utc>,
    pub kind: String,
    pub ticket_id: i64,
    pub approval_id: Option<i64>,
    pub effect_id: Option<Uuid>,
    pub actor: String,
    pub digest: String,
    pub salt: String,
    pub detail: String,
    pub number: Option<i64>,
    pub hash: Option<String>,
}

/// Takes the sealer's place for one transaction, if it is free; gives the last sealed number and hash, and what is to be
/// sealed, in the order of arrival.
pub async fn take_unsealed(tx: &mut PgConnection, most: i64) -> sqlx::Result<Option<(i64, String, Vec<Row>)>> {
    let mine = sqlx::query_scalar!(r#"SELECT pg_try_advisory_xact_lock(hashtext('deskhand ledger')) AS "mine!""#)
        .fetch_one(&mut *tx)
        .await?;
    if !mine {
        return Ok(None);
    }
    let last = sqlx::query!(
        r#"SELECT number AS "number!", hash AS "hash!" FROM ledger WHERE number IS NOT NULL ORDER BY number DESC LIMIT 1"#
    )
    .fetch_optional(&mut *tx)
    .await?;
    let (number, hash) = last.map_or((0, String::new()), |row| (row.number, row.hash));
    let rows = sqlx::query_as!(
        Row,
        "SELECT id, at, kind, ticket_id, approval_id, effect_id, actor, digest, salt, detail, number, hash
           FROM ledger WHERE number IS NULL ORDER BY id LIMIT $1",
        most
    )
    .fetch_all(tx)
    .await?;
    Ok(Some((number, hash, rows)))
}

pub async fn seal(tx: &mut PgConnection, sealed: &[(i64, i64, String)]) -> sqlx::Result<()> {
    let ids: Vec<i64> = sealed.iter().map(|(id, ..)| *id).collect();
    let numbers: Vec<i64> = sealed.iter().map(|(_, number, _)| *number).collect();
    let hashes: Vec<String> = sealed.iter().map(|(.., hash)| hash.clone()).collect();
    sqlx::query!(
        "UPDATE ledger SET number = s.number, hash = s.hash
           FROM UNNEST($1::bigint[], $2::bigint[], $3::text[]) AS s (id, number, hash)
          WHERE ledger.id = s.id AND ledger.number IS NULL",
        &ids,
        &numbers,
        &hashes,
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// Sealed rows after a number, in order.
pub async fn sealed(db: impl PgExecutor<'_>, after: i64, most: i64) -> sqlx::Result<Vec<Row>> {
    sqlx::query_as!(
        Row,
        "SELECT id, at, kind, ticket_id, approval_id, effect_id, actor, digest, salt, detail, number, hash
           FROM ledger WHERE number > $1 ORDER BY number LIMIT $2",
        after,
        most
    )
    .fetch_all(db)
    .await
}

pub async fn unsealed(pool: &PgPool) -> sqlx::Result<i64> {
    sqlx::query_scalar!(r#"SELECT count(*) AS "count!" FROM ledger WHERE number IS NULL"#).fetch_one(pool).await
}

/// A refused click is told to the ledger by itself.
pub async fn refused(pool: &PgPool, ticket: TicketId, approval: i64, actor: &str, why: &str) -> sqlx::Result<()> {
    let mut connection = pool.acquire().await?;
    let line =
        Line { kind: "refused", ticket: ticket.0, approval: Some(approval), actor, detail: why, ..Line::default() };
    append(&mut connection, &line).await
}
