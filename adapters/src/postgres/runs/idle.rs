//! Runs that were queued only to look, and have nothing to do.

use std::collections::BTreeSet;

use deskhand_core::id::RunId;
use sqlx::PgPool;
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
    let attempts: Vec<i32> = leases.iter().map(|lease| lease.attempt).collect();
    let mut tx = pool.begin().await?;
    sqlx::query!(
        "SELECT id FROM ticket WHERE id = ANY($1) ORDER BY id FOR UPDATE",
        &tickets
    )
    .fetch_all(&mut *tx)
    .await?;
    let ended = sqlx::query_file_scalar!("src/postgres/sql/finish_idle_runs.sql", &ids, &attempts)
        .fetch_all(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(ended.into_iter().map(RunId).collect())
}
