//! Runs: queued, claimed with a lease, renewed, finished. Every change is guarded by state and attempt.

mod claim;
mod held;
mod idle;
pub(super) mod log;
mod lost;
mod shown;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use deskhand_core::id::{RunId, TicketId};
use deskhand_core::run::Ending;
use deskhand_core::step::StepKind;
use deskhand_core::ticket::Mode;
use deskhand_core::tool::plan::Plan;
use sqlx::types::Json;
use sqlx::{PgConnection, PgExecutor, PgPool};
use uuid::Uuid;

pub use claim::{Claimed, LEVELS, Levels, Taker, claim};
pub use held::{Paused, Word, append_to_stopped, pause, requeue, rest, resume, why_stopped, words};
pub use idle::{finish_idle, sweep_idle};
pub use log::{append, steps, transcript};
pub use lost::{Lost, postpone, put_back, reset_failures, sweep};
pub use shown::{Looked, Shown, counts, get, look, of_ticket};

/// A claim on a run. Whoever holds it may change the run; the attempt fences everybody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub run: RunId,
    pub ticket: TicketId,
    pub attempt: i32,
    pub mode: Mode,
    /// Claims in a row that ended without a step.
    pub failures: i32,
    /// Queued only to look: without news it ends at once.
    pub if_news: bool,
    /// It looks something up for another run of its ticket.
    pub helper: bool,
}

/// Somebody else has the run by now, or it is over. A value, not an error: the late worker just stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseLost;

/// Queues a run for each ticket, or wakes the one that waits. A ticket whose run is queued or at work keeps that one:
/// it will see what is new. Tickets with a human, and aliases, get none. The ids must be sorted.
pub async fn queue(
    tx: &mut PgConnection,
    tickets: &[TicketId],
    mode: Mode,
    delay: f64,
) -> sqlx::Result<BTreeMap<TicketId, RunId>> {
    if tickets.is_empty() {
        return Ok(BTreeMap::new());
    }
    let ids: Vec<i64> = tickets.iter().map(|ticket| ticket.0).collect();
    let runs: Vec<Uuid> = tickets.iter().map(|_| Uuid::now_v7()).collect();
    let rows = sqlx::query_file!("src/postgres/sql/queue_runs.sql", &ids, &runs, mode.as_str(), delay)
        .fetch_all(&mut *tx)
        .await?;
    let queued: BTreeMap<TicketId, RunId> = rows
        .into_iter()
        .map(|row| (TicketId(row.ticket_id), RunId(row.id)))
        .collect();
    let rest: Vec<TicketId> = tickets
        .iter()
        .filter(|ticket| !queued.contains_key(ticket))
        .copied()
        .collect();
    let mut all = wake_waiting(tx, &rest).await?;
    all.extend(queued);
    Ok(all)
}

/// Queues a run that first reads the ticket from its desk, and ends at once when nothing new was said there: so the echo
/// of our own update costs a read and no model request.
pub async fn queue_to_read(
    tx: &mut PgConnection,
    tickets: &[TicketId],
    mode: Mode,
    delay: f64,
) -> sqlx::Result<BTreeMap<TicketId, RunId>> {
    let runs = queue(tx, tickets, mode, delay).await?;
    if runs.is_empty() {
        return Ok(runs);
    }
    let ids: Vec<Uuid> = runs.values().map(|run| run.0).collect();
    sqlx::query!(
        "UPDATE run SET if_news = true WHERE id = ANY($1) AND attempt = 0 AND continues IS NOT NULL",
        &ids
    )
    .execute(tx)
    .await?;
    Ok(runs)
}

/// Queues the runs of these tickets that wait, and nothing else.
pub async fn wake_waiting(tx: &mut PgConnection, tickets: &[TicketId]) -> sqlx::Result<BTreeMap<TicketId, RunId>> {
    if tickets.is_empty() {
        return Ok(BTreeMap::new());
    }
    let ids: Vec<i64> = tickets.iter().map(|ticket| ticket.0).collect();
    let rows = sqlx::query!(
        "UPDATE run SET state = 'queued', ending = NULL WHERE ticket_id = ANY($1) AND state = 'waiting' AND parent IS NULL AND NOT paused
         RETURNING id, ticket_id",
        &ids
    )
    .fetch_all(&mut *tx)
    .await?;
    let woken: BTreeMap<TicketId, RunId> = rows
        .into_iter()
        .map(|row| (TicketId(row.ticket_id), RunId(row.id)))
        .collect();
    insert_ready(tx, &woken, 0.0, None).await?;
    Ok(woken)
}

/// Queues one run if it waits. False when it does not.
pub async fn wake(tx: &mut PgConnection, run: RunId) -> sqlx::Result<bool> {
    let row = sqlx::query!(
        "UPDATE run SET state = 'queued', ending = NULL WHERE id = $1 AND state = 'waiting' AND NOT paused
         RETURNING ticket_id",
        run.0
    )
    .fetch_optional(&mut *tx)
    .await?;
    match row {
        Some(row) => insert_ready(tx, &BTreeMap::from([(TicketId(row.ticket_id), run)]), 0.0, None)
            .await
            .map(|()| true),
        None => Ok(false),
    }
}

async fn insert_ready(
    tx: &mut PgConnection,
    runs: &BTreeMap<TicketId, RunId>,
    delay: f64,
    at: Option<DateTime<Utc>>,
) -> sqlx::Result<()> {
    if runs.is_empty() {
        return Ok(());
    }
    let ids: Vec<RunId> = runs.values().copied().collect();
    insert_all_ready(tx, &ids, delay, at).await
}

/// The same for runs of which several may be of one ticket: a run and its helpers.
async fn insert_all_ready(
    tx: &mut PgConnection,
    runs: &[RunId],
    delay: f64,
    at: Option<DateTime<Utc>>,
) -> sqlx::Result<()> {
    let ids: Vec<Uuid> = runs.iter().map(|run| run.0).collect();
    sqlx::query!(
        "INSERT INTO ready (run_id, priority, run_at)
         SELECT r.id, r.priority, coalesce($3, clock_timestamp()) + make_interval(secs => $2)
           FROM run r WHERE r.id = ANY($1)
         ON CONFLICT ON CONSTRAINT ready_run DO NOTHING",
        &ids,
        delay,
        at,
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// Renews leases in one statement; gives those that are still held.
pub async fn renew(pool: &PgPool, leases: &[Lease], seconds: f64) -> sqlx::Result<Vec<RunId>> {
    // In the order in which `cancel` locks a run and its helpers.
    let mut held: Vec<(Uuid, i32)> = leases.iter().map(|lease| (lease.run.0, lease.attempt)).collect();
    held.sort_unstable();
    let (ids, attempts): (Vec<Uuid>, Vec<i32>) = held.into_iter().unzip();
    let rows = sqlx::query_scalar!(
        "UPDATE run SET lease_until = clock_timestamp() + make_interval(secs => $3)
           FROM UNNEST($1::uuid[], $2::integer[]) AS held (id, attempt)
          WHERE run.id = held.id AND run.attempt = held.attempt AND run.state = 'running'
         RETURNING run.id",
        &ids,
        &attempts,
        seconds,
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(RunId).collect())
}

/// A ticket under its lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Goes up with everything public that somebody else says: where it is the one that facts were read with, nothing was
    /// said since.
    pub version: i64,
    /// Who has the ticket at its desk, as far as is known; empty for nobody.
    pub assignee: String,
    /// Why a person must look at it.
    pub trouble: String,
}

/// Locks the ticket, then the run for its holder: the first locks of every transaction of a runner, in one round trip.
/// What is asked after them, in statements of their own, sees whatever was committed before the locks were had.
pub async fn hold(tx: &mut PgConnection, lease: &Lease) -> sqlx::Result<Result<Held, LeaseLost>> {
    let held = sqlx::query_as!(
        Held,
        r#"WITH t AS MATERIALIZED (SELECT id, version, assignee, trouble FROM ticket WHERE id = $1 FOR UPDATE)
           SELECT t.version, t.assignee, t.trouble FROM t JOIN run ON run.ticket_id = t.id
            WHERE run.id = $2 AND run.state = 'running' AND run.attempt = $3
              FOR UPDATE OF run"#,
        lease.ticket.0,
        lease.run.0,
        lease.attempt,
    )
    .fetch_optional(tx)
    .await?;
    Ok(held.ok_or(LeaseLost))
}

/// Whether the lease is held, by what is committed.
pub async fn holds(db: impl PgExecutor<'_>, lease: &Lease) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM run WHERE id = $1 AND state = 'running' AND attempt = $2) AS "held!""#,
        lease.run.0,
        lease.attempt,
    )
    .fetch_one(db)
    .await
}

/// The run waits from here on, with its last steps: no task, no lease, no memory. With an ending, it only waits for its
/// receipts. Refused as [`append`] refuses.
pub async fn wait(
    tx: &mut PgConnection,
    lease: &Lease,
    first: i32,
    steps: &[StepKind],
    ending: Option<Ending>,
    at: Option<DateTime<Utc>>,
) -> sqlx::Result<Result<(), LeaseLost>> {
    let left = sqlx::query_scalar!(
        r#"WITH left_alone AS (
               UPDATE run SET state = 'waiting', ending = $3, failures = 0, lease_owner = NULL, lease_until = NULL
                WHERE id = $1 AND state = 'running' AND attempt = $2 RETURNING id
           ), written AS (
               INSERT INTO step (run_id, seq, at, kind)
               SELECT left_alone.id, $4 + s.n::integer - 1, coalesce($6, clock_timestamp()), s.kind
                 FROM left_alone, UNNEST($5::jsonb[]) WITH ORDINALITY AS s (kind, n)
           )
           SELECT count(*) AS "count!" FROM left_alone"#,
        lease.run.0,
        lease.attempt,
        ending.map(Ending::as_str),
        first,
        &log::values(steps),
        at,
    )
    .fetch_one(tx)
    .await;
    match left {
        Err(error) if log::is_taken(&error) => Ok(Err(LeaseLost)),
        Ok(0) => Ok(Err(LeaseLost)),
        left => left.map(|_| Ok(())),
    }
}

/// Ends a waiting run that has its ending and waits for no receipt any more. False when it still waits for one.
pub async fn complete_if_delivered(tx: &mut PgConnection, run: RunId) -> sqlx::Result<bool> {
    let done = sqlx::query!(
        "UPDATE run SET state = 'completed', finished_at = clock_timestamp()
          WHERE id = $1 AND state = 'waiting' AND ending IS NOT NULL
            AND NOT EXISTS (SELECT FROM outbox o WHERE o.run_id = $1 AND o.state IN ('pending', 'sending')
                                                   AND o.kind IN ('reply', 'escalation', 'bookkeeping', 'follow_up'))
            AND NOT EXISTS (SELECT FROM approval a WHERE a.run_id = $1 AND a.state = 'open' AND NOT a.recorded)",
        run.0
    )
    .execute(tx)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Takes the runs of a ticket out of the queue: before they are locked, since a claim takes a row of the queue first and
/// its run after it. The ticket's lock is held. What a failure puts back meanwhile is left to the claim, which finds the
/// run no longer queued.
async fn leave_queue(tx: &mut PgConnection, ticket: TicketId) -> sqlx::Result<()> {
    sqlx::query!(
        "DELETE FROM ready USING run WHERE run.id = ready.run_id AND run.ticket_id = $1 AND run.state = 'queued'",
        ticket.0
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// Cancels the open run of a ticket and its helpers, wherever they are. A runner at work finds its lease gone.
pub async fn cancel(tx: &mut PgConnection, ticket: TicketId, why: &str) -> sqlx::Result<Vec<RunId>> {
    leave_queue(tx, ticket).await?;
    let ids = sqlx::query_scalar!(
        "UPDATE run SET state = 'cancelled', error = $2, lease_owner = NULL, lease_until = NULL,
                finished_at = clock_timestamp()
          WHERE id IN (SELECT id FROM run WHERE ticket_id = $1 AND state IN ('queued', 'running', 'waiting')
                        ORDER BY id FOR UPDATE)
            AND state IN ('queued', 'running', 'waiting') RETURNING id",
        ticket.0,
        why,
    )
    .fetch_all(tx)
    .await?;
    Ok(ids.into_iter().map(RunId).collect())
}

/// What a run means to do, for its header.
pub async fn set_plan(tx: &mut PgConnection, run: RunId, plan: &Plan) -> sqlx::Result<()> {
    sqlx::query!("UPDATE run SET plan = $2 WHERE id = $1", run.0, Json(plan) as _)
        .execute(tx)
        .await?;
    Ok(())
}

/// The plan of the ticket's latest run as it stands, and whether that run is paused.
pub async fn for_header(db: impl PgExecutor<'_>, ticket: TicketId) -> sqlx::Result<(Option<Plan>, bool)> {
    let row = sqlx::query!(
        r#"SELECT plan AS "plan: Json<Plan>", finished_at IS NOT NULL AS "over!",
                  paused AND finished_at IS NULL AS "paused!" FROM run
            WHERE ticket_id = $1 AND parent IS NULL ORDER BY created_at DESC, id DESC LIMIT 1"#,
        ticket.0
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map_or((None, false), |row| {
        let plan = row.plan.map(|plan| plan.0);
        (
            plan.map(|plan| if row.over { plan.interrupted() } else { plan }),
            row.paused,
        )
    }))
}

/// `new`: the run has nothing to do with an earlier one.
pub async fn continue_nothing(tx: &mut PgConnection, run: RunId) -> sqlx::Result<()> {
    sqlx::query!("UPDATE run SET continues = NULL WHERE id = $1", run.0)
        .execute(tx)
        .await?;
    Ok(())
}

/// Starts a run for a ticket on somebody's word, with an instruction or without; joins the open one.
pub async fn instruct(
    tx: &mut PgConnection,
    ticket: TicketId,
    mode: Mode,
    instruction: Option<&StepKind>,
) -> sqlx::Result<Option<RunId>> {
    let runs = queue(tx, &[ticket], mode, 0.0).await?;
    let run = match runs.get(&ticket) {
        Some(run) => Some(*run),
        None => open_of(tx, ticket).await?,
    };
    if let (Some(run), Some(step)) = (run, instruction) {
        tell(tx, run, step).await?;
    }
    Ok(run)
}

/// Tells the open run of a ticket something, and wakes it if it waits. `None` when there is none.
pub async fn tell_open(tx: &mut PgConnection, ticket: TicketId, step: &StepKind) -> sqlx::Result<Option<RunId>> {
    let run = open_of(tx, ticket).await?;
    if let Some(run) = run {
        tell(tx, run, step).await?;
        wake(tx, run).await?;
    }
    Ok(run)
}

/// The run of a ticket that is not over, helpers aside.
async fn open_of(tx: &mut PgConnection, ticket: TicketId) -> sqlx::Result<Option<RunId>> {
    let run = sqlx::query_scalar!(
        "SELECT id FROM run WHERE ticket_id = $1 AND parent IS NULL AND state IN ('queued', 'running', 'waiting')",
        ticket.0
    )
    .fetch_optional(tx)
    .await?;
    Ok(run.map(RunId))
}

/// Appends a step by somebody who is not the run's runner.
async fn tell(tx: &mut PgConnection, run: RunId, step: &StepKind) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO step (run_id, seq, kind)
         SELECT $1, coalesce(max(seq), 0) + 1, $2 FROM step WHERE run_id = $1",
        run.0,
        log::value(step),
    )
    .execute(tx)
    .await?;
    Ok(())
}
