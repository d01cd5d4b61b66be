//! Runs that were queued only to look, and have nothing to do.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use deskhand_core::id::RunId;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::Lease;

/// Ends those of the leased runs that were queued only to look and have nothing to do: no public comment since what
/// earlier runs heard, no instruction, and nothing to be read from the desk. All in one transaction. Gives those that
/// ended; the others go on.
///
/// It looks under the tickets' locks: a delivery that came in between found the run at work and joined it, and its
/// comment must not end with it.
pub async fn finish_idle(pool: &PgPool, leases: &[Lease]) -> sqlx::Result<BTreeSet<RunId>> {
    let leases: Vec<&Lease> = leases.iter().filter(|lease| lease.if_news).collect();
    if leases.is_empty() {
        return Ok(BTreeSet::new());
    }
    let tickets: Vec<i64> = leases.iter().map(|lease| lease.ticket.0).collect();
    let ids: Vec<Uuid> = leases.iter().map(|lease| lease.run.0).collect();
    let attempts: Vec<Option<i32>> = leases.iter().map(|lease| Some(lease.attempt)).collect();
    let mut tx = pool.begin().await?;
    sqlx::query!(
        "SELECT id FROM ticket WHERE id = ANY($1) ORDER BY id FOR UPDATE",
        &tickets
    )
    .fetch_all(&mut *tx)
    .await?;
    let ended = finish(&mut tx, &ids, &attempts).await?;
    tx.commit().await?;
    Ok(ended.into_iter().map(RunId).collect())
}

/// Ends what [`finish_idle`] would end, straight from the queue and many at a time, without leases: echoes of one's own
/// updates come in crowds. It looks at up to `most` rows of one priority, above a mark as [`claim`](super::claim) does,
/// and waits for nobody: rows and tickets that somebody else holds are left to the claim, and so is the mark, since what
/// has something to do stays in the queue below what was ended.
pub async fn sweep_idle(
    pool: &PgPool,
    priority: i16,
    above: i64,
    most: i64,
    at: Option<DateTime<Utc>>,
) -> sqlx::Result<()> {
    let mut tx = pool.begin().await?;
    let ids: Vec<Uuid> = sqlx::query_scalar!(
        "WITH found AS (
             SELECT run_id FROM ready
              WHERE priority = $1 AND ready_seq > $2 AND run_at <= coalesce($4, clock_timestamp())
              ORDER BY ready_seq LIMIT $3 FOR UPDATE SKIP LOCKED)
         SELECT found.run_id FROM found
           JOIN run r ON r.id = found.run_id AND r.state = 'queued' AND r.if_news
           JOIN ticket t ON t.id = r.ticket_id
            FOR UPDATE OF t SKIP LOCKED",
        priority,
        above,
        most,
        at,
    )
    .fetch_all(&mut *tx)
    .await?;
    if !ids.is_empty() {
        finish(&mut tx, &ids, &vec![None; ids.len()]).await?;
    }
    tx.commit().await
}

async fn finish(tx: &mut PgConnection, ids: &[Uuid], attempts: &[Option<i32>]) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_file_scalar!("src/postgres/sql/finish_idle_runs.sql", ids, attempts as &[Option<i32>])
        .fetch_all(tx)
        .await
}
