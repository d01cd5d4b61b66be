//! Runs held by a person: paused and resumed, and what their runners hear of it.

use deskhand_core::id::{RunId, TicketId};
use deskhand_core::step::StepKind;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::{Lease, LeaseLost, leave_queue, wake};

/// What pausing came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paused {
    /// It was queued or waited: it rests from now on.
    Rests(RunId),
    /// A runner has it, and lets go of it within a moment.
    AtWork(RunId),
    /// It was paused before.
    Already(RunId),
    /// The ticket has no run that could be paused.
    Nothing,
}

/// Pauses the open run of a ticket, and its helpers. Whatever would have queued one of them finds it paused.
pub async fn pause(tx: &mut PgConnection, ticket: TicketId) -> sqlx::Result<Paused> {
    let row = sqlx::query!(
        "SELECT id, paused FROM run
          WHERE ticket_id = $1 AND parent IS NULL AND state IN ('queued', 'running', 'waiting')",
        ticket.0
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(row) = row else { return Ok(Paused::Nothing) };
    if row.paused {
        return Ok(Paused::Already(RunId(row.id)));
    }
    leave_queue(tx, ticket).await?;
    let held = sqlx::query!(
        "UPDATE run SET paused = true, state = CASE WHEN state = 'queued' THEN 'waiting' ELSE state END
          WHERE id IN (SELECT id FROM run WHERE ticket_id = $1 AND state IN ('queued', 'running', 'waiting')
                        ORDER BY id FOR UPDATE)
            AND state IN ('queued', 'running', 'waiting') RETURNING id, state",
        ticket.0
    )
    .fetch_all(tx)
    .await?;
    Ok(match held.iter().find(|held| held.id == row.id) {
        Some(held) if held.state == "running" => Paused::AtWork(RunId(row.id)),
        Some(_) => Paused::Rests(RunId(row.id)),
        None => Paused::Nothing,
    })
}

/// Lets the paused run of a ticket and its helpers go on. `None` when none is paused.
pub async fn resume(tx: &mut PgConnection, ticket: TicketId) -> sqlx::Result<Option<RunId>> {
    let resumed = sqlx::query!(
        r#"UPDATE run SET paused = false
            WHERE id IN (SELECT id FROM run WHERE ticket_id = $1 AND paused AND state IN ('running', 'waiting')
                          ORDER BY id FOR UPDATE)
              AND paused AND state IN ('running', 'waiting') RETURNING id, parent IS NOT NULL AS "helper!""#,
        ticket.0
    )
    .fetch_all(&mut *tx)
    .await?;
    for run in &resumed {
        wake(tx, RunId(run.id)).await?;
    }
    Ok(resumed.iter().find(|run| !run.helper).map(|run| RunId(run.id)))
}

/// A runner lets go of a run that was paused under its hands.
pub async fn rest(tx: &mut PgConnection, lease: &Lease) -> sqlx::Result<Result<(), LeaseLost>> {
    let done = sqlx::query!(
        "UPDATE run SET state = 'waiting', failures = 0, lease_owner = NULL, lease_until = NULL
          WHERE id = $1 AND state = 'running' AND attempt = $2 AND paused",
        lease.run.0,
        lease.attempt,
    )
    .execute(tx)
    .await?;
    Ok(if done.rows_affected() == 1 {
        Ok(())
    } else {
        Err(LeaseLost)
    })
}

/// Puts a leased run back at once: it was paused and resumed before its runner had let go of it.
pub async fn requeue(tx: &mut PgConnection, lease: &Lease) -> sqlx::Result<()> {
    let done = sqlx::query!(
        "UPDATE run SET state = 'waiting', lease_owner = NULL, lease_until = NULL
          WHERE id = $1 AND state = 'running' AND attempt = $2",
        lease.run.0,
        lease.attempt,
    )
    .execute(&mut *tx)
    .await?;
    if done.rows_affected() == 1 {
        wake(tx, lease.run).await?;
    }
    Ok(())
}

/// What a person did to a run that is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Pause,
    Stop,
}

/// Which of these runs a person paused or stopped.
pub async fn words(pool: &PgPool, leases: &[Lease]) -> sqlx::Result<Vec<(RunId, Word)>> {
    let ids: Vec<Uuid> = leases.iter().map(|lease| lease.run.0).collect();
    let rows = sqlx::query!(
        "SELECT id, state FROM run WHERE id = ANY($1) AND (paused OR state = 'cancelled')",
        &ids
    )
    .fetch_all(pool)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| match row.state.as_str() {
            "cancelled" => (RunId(row.id), Word::Stop),
            _ => (RunId(row.id), Word::Pause),
        })
        .collect())
}

/// What a run that was stopped under its runner's hands had heard and said by then: nothing else may be appended to it any
/// more.
pub async fn append_to_stopped(pool: &PgPool, lease: &Lease, steps: &[StepKind]) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO step (run_id, seq, kind)
         SELECT r.id, coalesce((SELECT max(s.seq) FROM step s WHERE s.run_id = r.id), 0) + new.n::integer, new.kind
           FROM run r, UNNEST($3::jsonb[]) WITH ORDINALITY AS new (kind, n)
          WHERE r.id = $1 AND r.state = 'cancelled' AND r.attempt = $2",
        lease.run.0,
        lease.attempt,
        &super::log::values(steps),
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Why the run was stopped, as whoever stopped it said.
pub async fn why_stopped(pool: &PgPool, run: RunId) -> sqlx::Result<String> {
    let why = sqlx::query_scalar!("SELECT error FROM run WHERE id = $1", run.0)
        .fetch_optional(pool)
        .await?;
    Ok(why.unwrap_or_default())
}
