//! Helpers: runs with a parent, which look things up for it. Whatever changes how one stands holds the ticket's lock, so
//! that a parent which lies down to wait and the last helper's end never miss each other.

use chrono::{DateTime, Utc};
use deskhand_core::budget::Spent;
use deskhand_core::facts::HelperFact;
use deskhand_core::id::{CallKey, RunId, TicketId};
use deskhand_core::next::Spawn;
use deskhand_core::run::RunState;
use deskhand_core::step::StepKind;
use sqlx::{PgConnection, PgExecutor, PgPool};
use uuid::Uuid;

use super::runs::{self, Lease, log};
use super::tickets;

/// Starts a helper of a leased run, with its task as its first step. It pins its parent's mode and has its priority.
pub async fn spawn(
    tx: &mut PgConnection,
    lease: &Lease,
    spawn: &Spawn,
    at: Option<DateTime<Utc>>,
) -> sqlx::Result<RunId> {
    let id = Uuid::now_v7();
    let task = StepKind::Tasked {
        text: spawn.task.clone(),
    };
    sqlx::query!(
        "WITH born AS (
             INSERT INTO run (id, ticket_id, parent, state, mode, priority)
             SELECT $2, ticket_id, id, 'queued', mode, priority FROM run WHERE id = $1 RETURNING id, priority
         ), listed AS (
             INSERT INTO helper (run_id, parent, number, call_step, call_index, task)
             SELECT id, $1, $3, $4, $5, $6 FROM born
         ), told AS (
             INSERT INTO step (run_id, seq, at, kind) SELECT id, 1, coalesce($8, clock_timestamp()), $7 FROM born
         )
         INSERT INTO ready (run_id, priority, run_at) SELECT id, priority, coalesce($8, clock_timestamp()) FROM born",
        lease.run.0,
        id,
        spawn.number,
        spawn.call.step,
        spawn.call.index,
        spawn.task.replace('\0', "\u{fffd}"),
        log::value(&task),
        at,
    )
    .execute(tx)
    .await?;
    Ok(RunId(id))
}

/// A helper as people are told of it.
#[derive(Clone, Debug)]
pub struct Row {
    pub run: RunId,
    pub fact: HelperFact,
    /// What it has used so far.
    pub spent: Spent,
}

/// The helpers of a run, in the order in which they were started.
pub async fn facts(db: impl PgExecutor<'_>, parent: RunId) -> sqlx::Result<Vec<HelperFact>> {
    Ok(rows(db, parent).await?.into_iter().map(|row| row.fact).collect())
}

pub async fn rows(db: impl PgExecutor<'_>, parent: RunId) -> sqlx::Result<Vec<Row>> {
    let rows = sqlx::query!(
        r#"SELECT h.run_id, h.number, h.call_step, h.call_index, h.task, h.report, r.state, r.error,
                  coalesce(s.tokens, 0)::bigint AS "tokens!", coalesce(s.micros, 0)::bigint AS "micros!"
             FROM helper h
             JOIN run r ON r.id = h.run_id
             LEFT JOIN LATERAL (SELECT sum(input + output + cache_read + cache_write) AS tokens, sum(micros) AS micros
                                  FROM spend WHERE ticket_id = r.ticket_id AND run_id = r.id) s ON true
            WHERE h.parent = $1 ORDER BY h.number"#,
        parent.0
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            // A state that this binary does not know is no end.
            let state = row.state.parse().unwrap_or(RunState::Waiting);
            Row {
                run: RunId(row.run_id),
                fact: HelperFact {
                    number: row.number,
                    call: CallKey {
                        step: row.call_step,
                        index: row.call_index,
                    },
                    task: row.task,
                    state,
                    report: if state == RunState::Failed {
                        row.error
                    } else {
                        row.report
                    },
                },
                spent: spent(row.tokens, row.micros),
            }
        })
        .collect())
}

/// The helpers that are at work on a ticket, by number, with their tasks.
pub async fn at_work(db: impl PgExecutor<'_>, ticket: TicketId) -> sqlx::Result<Vec<(i32, String)>> {
    let rows = sqlx::query!(
        "SELECT h.number, h.task FROM helper h JOIN run r ON r.id = h.run_id
          WHERE r.ticket_id = $1 AND r.state IN ('queued', 'running', 'waiting') ORDER BY h.number",
        ticket.0
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|row| (row.number, row.task)).collect())
}

/// What the others of a run's family used: its parent, or its helpers, or both.
pub async fn spent_by_others(db: impl PgExecutor<'_>, ticket: TicketId, run: RunId) -> sqlx::Result<Spent> {
    let row = sqlx::query!(
        r#"WITH root AS (SELECT coalesce(parent, id) AS id FROM run WHERE id = $2)
           SELECT coalesce(sum(s.input + s.output + s.cache_read + s.cache_write), 0)::bigint AS "tokens!",
                  coalesce(sum(s.micros), 0)::bigint AS "micros!"
             FROM spend s
            WHERE s.ticket_id = $1 AND s.run_id <> $2
              AND s.run_id IN (SELECT id FROM root UNION ALL SELECT h.run_id FROM helper h JOIN root ON h.parent = root.id)"#,
        ticket.0,
        run.0,
    )
    .fetch_one(db)
    .await?;
    Ok(spent(row.tokens, row.micros))
}

fn spent(tokens: i64, micros: i64) -> Spent {
    Spent {
        tokens: tokens.try_into().unwrap_or(0),
        micros: micros.try_into().unwrap_or(0),
    }
}

/// Whom a run waits for from here on; nobody, where the list is empty. False when none of them is at work by now: then
/// nobody would wake it.
pub async fn set_awaited(tx: &mut PgConnection, parent: RunId, numbers: &[i32]) -> sqlx::Result<bool> {
    sqlx::query!(
        "UPDATE helper SET awaited = number = ANY($2) WHERE parent = $1 AND awaited <> (number = ANY($2))",
        parent.0,
        numbers,
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM helper h JOIN run r ON r.id = h.run_id
                           WHERE h.parent = $1 AND h.number = ANY($2) AND r.finished_at IS NULL) AS "x!""#,
        parent.0,
        numbers,
    )
    .fetch_one(tx)
    .await
}

/// Writes down what a helper reports, and queues its parent again where that waited for this one last.
pub async fn reported(tx: &mut PgConnection, helper: RunId, report: &str) -> sqlx::Result<()> {
    let parent = sqlx::query_scalar!(
        "UPDATE helper SET report = $2 WHERE run_id = $1 RETURNING parent",
        helper.0,
        report.replace('\0', "\u{fffd}"),
    )
    .fetch_optional(&mut *tx)
    .await?;
    if let Some(parent) = parent {
        wake_parent(tx, RunId(parent)).await?;
    }
    Ok(())
}

/// Queues a run that waits for helpers of which none is at work any more. One that has its ending only waits for receipts.
async fn wake_parent(tx: &mut PgConnection, parent: RunId) -> sqlx::Result<bool> {
    let due = sqlx::query_scalar!(
        r#"SELECT count(*) > 0 AND bool_and(r.finished_at IS NOT NULL) AS "due!"
             FROM helper h JOIN run r ON r.id = h.run_id JOIN run p ON p.id = h.parent
            WHERE h.parent = $1 AND h.awaited AND p.ending IS NULL"#,
        parent.0
    )
    .fetch_one(&mut *tx)
    .await?;
    if due { runs::wake(tx, parent).await } else { Ok(false) }
}

/// Closes helpers of a run that are at work: those of these numbers, or all. A runner that has one in hand is told.
pub async fn close(tx: &mut PgConnection, parent: RunId, numbers: Option<&[i32]>, why: &str) -> sqlx::Result<()> {
    // Before the runs are locked, as a claim does.
    sqlx::query!(
        "DELETE FROM ready USING helper h
          WHERE h.run_id = ready.run_id AND h.parent = $1 AND ($2::integer[] IS NULL OR h.number = ANY($2))",
        parent.0,
        numbers,
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "UPDATE run SET state = 'cancelled', error = $3, lease_owner = NULL, lease_until = NULL,
                finished_at = clock_timestamp()
          WHERE id IN (SELECT r.id FROM helper h JOIN run r ON r.id = h.run_id
                        WHERE h.parent = $1 AND ($2::integer[] IS NULL OR h.number = ANY($2))
                          AND r.state IN ('queued', 'running', 'waiting')
                        ORDER BY r.id FOR UPDATE OF r)
            AND state IN ('queued', 'running', 'waiting')",
        parent.0,
        numbers,
        why,
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// What a crash or a failure left: helpers whose parent is over are closed, and parents whose helpers have all ended are
/// queued. Gives how many that were.
pub async fn sweep(pool: &PgPool) -> sqlx::Result<usize> {
    let left = sqlx::query!(
        r#"SELECT p.id AS "parent!", p.ticket_id AS "ticket!", true AS "over!"
             FROM run r JOIN run p ON p.id = r.parent
            WHERE r.parent IS NOT NULL AND r.state IN ('queued', 'running', 'waiting') AND p.finished_at IS NOT NULL
            UNION
           SELECT p.id, p.ticket_id, false
             FROM helper h JOIN run p ON p.id = h.parent
            WHERE h.awaited AND p.state = 'waiting' AND p.ending IS NULL AND NOT p.paused
              AND NOT EXISTS (SELECT FROM helper o JOIN run r ON r.id = o.run_id
                               WHERE o.parent = p.id AND o.awaited AND r.finished_at IS NULL)
            LIMIT 100"#
    )
    .fetch_all(pool)
    .await?;
    let mut done = 0;
    for left in left {
        let mut tx = pool.begin().await?;
        tickets::lock(&mut tx, TicketId(left.ticket)).await?;
        let parent = RunId(left.parent);
        done += match left.over {
            true => {
                close(&mut tx, parent, None, "its run is over").await?;
                1
            }
            false => usize::from(wake_parent(&mut tx, parent).await?),
        };
        tx.commit().await?;
    }
    Ok(done)
}
