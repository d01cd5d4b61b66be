//! Runs whose attempt failed or whose runner was lost: back in the queue, or failed for good.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use deskhand_core::id::{RunId, TicketId};
use sqlx::{PgExecutor, PgPool};

use super::{Lease, LeaseLost, insert_all_ready, insert_ready};

/// Puts a run back with a later time, after a failure that may pass. After `most` such failures in a row it fails.
/// Gives whether it failed for good.
pub async fn put_back(
    pool: &PgPool,
    lease: &Lease,
    error: &str,
    delay: f64,
    most: i32,
    at: Option<DateTime<Utc>>,
) -> sqlx::Result<Result<bool, LeaseLost>> {
    let mut tx = pool.begin().await?;
    let row = sqlx::query!(
        "UPDATE run SET failures = failures + 1, error = $3, lease_owner = NULL, lease_until = NULL,
                state = CASE WHEN failures + 1 >= $4 THEN 'failed' ELSE 'queued' END,
                finished_at = CASE WHEN failures + 1 >= $4 THEN clock_timestamp() END
          WHERE id = $1 AND state = 'running' AND attempt = $2 RETURNING state, ticket_id",
        lease.run.0,
        lease.attempt,
        error,
        most,
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(row) = row else { return Ok(Err(LeaseLost)) };
    let failed = row.state == "failed";
    if !failed {
        insert_ready(&mut tx, &BTreeMap::from([(lease.ticket, lease.run)]), delay, at).await?;
    }
    tx.commit().await?;
    Ok(Ok(failed))
}

/// Puts a run back with a later time though nothing failed: what it needs is left alone for a moment.
pub async fn postpone(
    pool: &PgPool,
    lease: &Lease,
    why: &str,
    delay: f64,
    at: Option<DateTime<Utc>>,
) -> sqlx::Result<Result<bool, LeaseLost>> {
    let mut tx = pool.begin().await?;
    let done = sqlx::query!(
        "UPDATE run SET state = 'queued', error = $3, lease_owner = NULL, lease_until = NULL
          WHERE id = $1 AND state = 'running' AND attempt = $2",
        lease.run.0,
        lease.attempt,
        why,
    )
    .execute(&mut *tx)
    .await?;
    if done.rows_affected() == 0 {
        return Ok(Err(LeaseLost));
    }
    insert_ready(&mut tx, &BTreeMap::from([(lease.ticket, lease.run)]), delay, at).await?;
    tx.commit().await?;
    Ok(Ok(false))
}

/// A step was taken: failures are counted anew.
pub async fn reset_failures(db: impl PgExecutor<'_>, lease: &Lease) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE run SET failures = 0 WHERE id = $1 AND attempt = $2 AND failures > 0",
        lease.run.0,
        lease.attempt
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Returns runs whose lease ran out to the queue; those that failed too often fail for good. Gives both.
pub async fn sweep(pool: &PgPool, most: i32, at: Option<DateTime<Utc>>) -> sqlx::Result<(Vec<RunId>, Vec<Lost>)> {
    let mut tx = pool.begin().await?;
    let rows = sqlx::query!(
        "UPDATE run SET failures = failures + 1, lease_owner = NULL, lease_until = NULL,
                error = 'the runner that worked it was lost',
                state = CASE WHEN failures + 1 >= $1 THEN 'failed' ELSE 'queued' END,
                finished_at = CASE WHEN failures + 1 >= $1 THEN clock_timestamp() END
          WHERE id IN (SELECT id FROM run WHERE state = 'running' AND lease_until < coalesce($2, clock_timestamp())
                        ORDER BY id FOR UPDATE SKIP LOCKED)
            AND state = 'running' AND lease_until < coalesce($2, clock_timestamp())
         RETURNING id, ticket_id, state, error, parent IS NOT NULL AS \"helper!\"",
        most,
        at,
    )
    .fetch_all(&mut *tx)
    .await?;
    // A list: several runs of one ticket may have had the same runner.
    let mut back = Vec::new();
    let mut lost = Vec::new();
    for row in rows {
        if row.state == "failed" {
            lost.push(Lost {
                run: RunId(row.id),
                ticket: TicketId(row.ticket_id),
                error: row.error,
                helper: row.helper,
            });
        } else {
            back.push(RunId(row.id));
        }
    }
    insert_all_ready(&mut tx, &back, 0.0, None).await?;
    tx.commit().await?;
    Ok((back, lost))
}

/// A run that failed for good.
#[derive(Clone, Debug)]
pub struct Lost {
    pub run: RunId,
    pub ticket: TicketId,
    pub error: String,
    /// Its parent hears of it, and goes on.
    pub helper: bool,
}
