//! Intended writes to the outside. A row exists before anything is sent; only a receipt makes it done.
//!
//! Effects of one lane go out one at a time, in order. A claim fences like a run's: `attempts` goes up with each, and
//! whoever reports a result must still hold that attempt.

use chrono::{DateTime, Utc};
use deskhand_core::facts::EffectFact;
use deskhand_core::id::{ApprovalId, CallKey, EffectId, RunId, TicketId};
use deskhand_core::ledger::EntryKind;
pub use deskhand_core::run::EffectKind as Kind;
use deskhand_core::run::EffectState;
use serde_json::Value;
use sqlx::{PgConnection, PgExecutor, PgPool};
use uuid::Uuid;

use super::{ledger, runs};

mod shown;

pub use shown::{Shown, list};

/// The lane of a ticket's desk.
pub fn desk_lane(ticket: TicketId) -> String {
    format!("desk:{}", ticket.0)
}

/// An effect to put into the outbox.
#[derive(Clone, Debug)]
pub struct New {
    pub id: EffectId,
    pub kind: Kind,
    pub ticket: Option<TicketId>,
    pub run: Option<RunId>,
    pub approval: Option<ApprovalId>,
    pub call: Option<CallKey>,
    pub lane: String,
    pub payload: Value,
    /// Shadow mode: kept and shown, never sent.
    pub recorded: bool,
}

impl New {
    /// For a ticket; of no run and no approval.
    pub fn of(kind: Kind, ticket: TicketId, lane: impl Into<String>) -> Self {
        Self {
            id: EffectId(Uuid::now_v7()),
            kind,
            ticket: Some(ticket),
            run: None,
            approval: None,
            call: None,
            lane: lane.into(),
            payload: Value::Null,
            recorded: false,
        }
    }
}

/// Puts effects into the outbox, in their order. A header or a settling that is pending already serves for the new one.
pub async fn enqueue(tx: &mut PgConnection, effects: &[New]) -> sqlx::Result<()> {
    match effects.is_empty() {
        true => Ok(()),
        false => enqueue_with(tx, effects, None, None).await.map(|_| ()),
    }
}

/// The same; and the ticket's headers are drawn anew, where they stand.
pub async fn enqueue_and_refresh(tx: &mut PgConnection, ticket: TicketId, effects: &[New]) -> sqlx::Result<()> {
    enqueue_with(tx, effects, Some(ticket), None).await.map(|_| ())
}

/// The same, in execution of an approval of which this is the digest. False, and nothing is put, when it was executed
/// before or is not decided.
pub async fn enqueue_once(
    tx: &mut PgConnection,
    ticket: TicketId,
    effects: &[New],
    (approval, digest): (ApprovalId, &str),
) -> sqlx::Result<bool> {
    enqueue_with(tx, effects, Some(ticket), Some((approval, digest))).await
}

async fn enqueue_with(
    tx: &mut PgConnection,
    effects: &[New],
    refreshed: Option<TicketId>,
    execution: Option<(ApprovalId, &str)>,
) -> sqlx::Result<bool> {
    let (salt, salted) = ledger::salt(execution.map_or("", |(_, digest)| digest));
    let ids: Vec<Uuid> = effects.iter().map(|effect| effect.id.0).collect();
    let kinds: Vec<&str> = effects.iter().map(|effect| effect.kind.as_str()).collect();
    let tickets: Vec<Option<i64>> = effects.iter().map(|effect| effect.ticket.map(|id| id.0)).collect();
    let run_ids: Vec<Option<Uuid>> = effects.iter().map(|effect| effect.run.map(|run| run.0)).collect();
    let approvals: Vec<Option<i64>> = effects.iter().map(|effect| effect.approval.map(|id| id.0)).collect();
    let call_steps: Vec<Option<i32>> = effects.iter().map(|effect| effect.call.map(|call| call.step)).collect();
    let indexes: Vec<Option<i32>> = effects
        .iter()
        .map(|effect| effect.call.map(|call| call.index))
        .collect();
    let lanes: Vec<&str> = effects.iter().map(|effect| effect.lane.as_str()).collect();
    let payloads: Vec<Value> = effects.iter().map(|effect| effect.payload.clone()).collect();
    let states: Vec<&str> = effects
        .iter()
        .map(|effect| if effect.recorded { "recorded" } else { "pending" })
        .collect();
    let executed = sqlx::query_file_scalar!(
        "src/postgres/sql/enqueue_effects.sql",
        &ids,
        &kinds as &[&str],
        &tickets as &[Option<i64>],
        &run_ids as &[Option<Uuid>],
        &approvals as &[Option<i64>],
        &call_steps as &[Option<i32>],
        &indexes as &[Option<i32>],
        &lanes as &[&str],
        &payloads,
        &states as &[&str],
        refreshed.map(|ticket| ticket.0),
        execution.map(|(approval, _)| approval.0),
        EntryKind::Executed.as_str(),
        salted,
        salt,
    )
    .fetch_one(tx)
    .await?;
    Ok(executed == 1)
}

/// Every card of these approvals, and the headers of their tickets, are drawn anew, whatever ended them.
pub async fn settle_cards(tx: &mut PgConnection, approvals: &[i64]) -> sqlx::Result<()> {
    sqlx::query_file!("src/postgres/sql/settle_cards.sql", approvals)
        .execute(tx)
        .await?;
    Ok(())
}

/// The ticket's headers are drawn anew, where they stand.
pub async fn refresh_header(tx: &mut PgConnection, ticket: TicketId) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO outbox (id, kind, ticket_id, lane)
         SELECT gen_random_uuid(), 'header', ticket_id, chat || ':' || channel FROM place
          WHERE ticket_id = $1 AND approval_id IS NULL
         ON CONFLICT DO NOTHING",
        ticket.0
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// Withdraws what has not been sent to the ticket's desk yet. What is being sent cannot be called back.
pub async fn withdraw_pending(tx: &mut PgConnection, ticket: TicketId, why: &str) -> sqlx::Result<u64> {
    let done = sqlx::query!(
        "UPDATE outbox SET state = 'withdrawn', why = $2, done_at = clock_timestamp()
          WHERE ticket_id = $1 AND state = 'pending' AND kind IN ('reply', 'escalation')",
        ticket.0,
        why,
    )
    .execute(tx)
    .await?;
    Ok(done.rows_affected())
}

/// Withdraws replies that have not been sent yet: somebody wrote, so they are stale. Their runs hear of it together with
/// the new words.
pub async fn withdraw_replies(tx: &mut PgConnection, tickets: &[TicketId], why: &str) -> sqlx::Result<()> {
    let tickets: Vec<i64> = tickets.iter().map(|ticket| ticket.0).collect();
    if tickets.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "UPDATE outbox SET state = 'withdrawn', why = $2, done_at = clock_timestamp()
          WHERE ticket_id = ANY($1) AND state = 'pending' AND kind = 'reply'",
        &tickets,
        why,
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// A claimed effect.
#[derive(Clone, Debug)]
pub struct Claimed {
    pub id: EffectId,
    pub kind: Kind,
    pub ticket: Option<TicketId>,
    pub run: Option<RunId>,
    pub approval: Option<ApprovalId>,
    pub call: Option<CallKey>,
    pub lane: String,
    pub payload: Value,
    /// How often it was claimed, this time included.
    pub attempts: i32,
    /// It may have gone out already: look before sending again.
    pub ambiguous: bool,
}

/// Claims the first open effect of each lane that is due. One whose sender was lost is claimed again as ambiguous.
pub async fn claim(pool: &PgPool, most: i64, seconds: f64, at: Option<DateTime<Utc>>) -> sqlx::Result<Vec<Claimed>> {
    let rows = sqlx::query_file!("src/postgres/sql/claim_effects.sql", most, seconds, at)
        .fetch_all(pool)
        .await?;
    let mut claimed: Vec<(i64, Claimed)> = rows
        .into_iter()
        .filter_map(|row| {
            let call = row
                .call_step
                .zip(row.call_index)
                .map(|(step, index)| CallKey { step, index });
            let claimed = Claimed {
                id: EffectId(row.id),
                kind: row.kind.parse().ok()?,
                ticket: row.ticket_id.map(TicketId),
                run: row.run_id.map(RunId),
                approval: row.approval_id.map(ApprovalId),
                call,
                lane: row.lane,
                payload: row.payload,
                attempts: row.attempts,
                ambiguous: row.ambiguous,
            };
            Some((row.seq, claimed))
        })
        .collect();
    claimed.sort_by_key(|(seq, _)| *seq);
    Ok(claimed.into_iter().map(|(_, claimed)| claimed).collect())
}

/// Ends an effect for good. False when the claim was lost meanwhile: then nothing is changed. A run that waited only for
/// this receipt ends in the same transaction; a reply that was withdrawn or is dead wakes its run.
pub async fn end(
    tx: &mut PgConnection,
    claimed: &Claimed,
    state: EffectState,
    remote_id: &str,
    why: &str,
) -> sqlx::Result<bool> {
    let ended = sqlx::query_file_scalar!(
        "src/postgres/sql/end_effect.sql",
        claimed.id.0,
        claimed.attempts,
        state.as_str(),
        remote_id,
        why,
        claimed.kind.is_desk(),
        EntryKind::Receipt.as_str(),
        Uuid::new_v4().simple().to_string(),
    )
    .fetch_optional(&mut *tx)
    .await?;
    if ended.is_none() {
        return Ok(false);
    }
    if let Some(run) = claimed.run
        && claimed.kind.is_desk()
    {
        let failed = matches!(state, EffectState::Withdrawn | EffectState::Dead);
        if failed && claimed.kind == Kind::Reply {
            runs::wake(tx, run).await?;
        } else {
            runs::complete_if_delivered(tx, run).await?;
        }
    }
    Ok(true)
}

/// Puts an effect back for later. `ambiguous` remembers that it may have gone out.
pub async fn put_back(
    db: impl PgExecutor<'_>,
    claimed: &Claimed,
    why: &str,
    delay: f64,
    ambiguous: bool,
    at: Option<DateTime<Utc>>,
) -> sqlx::Result<bool> {
    let done = sqlx::query!(
        "UPDATE outbox SET state = 'pending', why = $3, lease_until = NULL, ambiguous = ambiguous OR $5,
                next_at = coalesce($6, clock_timestamp()) + make_interval(secs => $4)
          WHERE id = $1 AND state = 'sending' AND attempts = $2
            AND NOT (kind IN ('header', 'settle') AND EXISTS (
                    SELECT FROM outbox o WHERE o.id <> outbox.id AND o.kind = outbox.kind AND o.lane = outbox.lane
                       AND o.ticket_id = outbox.ticket_id AND o.approval_id IS NOT DISTINCT FROM outbox.approval_id
                       AND o.state = 'pending'))",
        claimed.id.0,
        claimed.attempts,
        why,
        delay,
        ambiguous,
        at,
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Nothing of this lane goes out before then.
pub async fn pace(db: impl PgExecutor<'_>, lane: &str, delay: f64, at: Option<DateTime<Utc>>) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO lane (name, next_at) VALUES ($1, coalesce($3, clock_timestamp()) + make_interval(secs => $2))
         ON CONFLICT (name) DO UPDATE SET next_at = greatest(lane.next_at, EXCLUDED.next_at)",
        lane,
        delay,
        at,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The earliest time at which something becomes due.
pub async fn next_due(pool: &PgPool) -> sqlx::Result<Option<DateTime<Utc>>> {
    sqlx::query_scalar!("SELECT min(next_at) FROM outbox WHERE state = 'pending'")
        .fetch_one(pool)
        .await
}

/// Sends a dead or unknown effect again, on an operator's word. It looks before it sends.
pub async fn redrive(db: impl PgExecutor<'_>, id: EffectId) -> sqlx::Result<bool> {
    let done = sqlx::query!(
        "UPDATE outbox SET state = 'pending', attempts = 0, ambiguous = true, next_at = clock_timestamp(), done_at = NULL
          WHERE id = $1 AND state IN ('dead', 'unknown')",
        id.0
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// An effect of a run's call as the table has it, for the facts.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Raw {
    id: Uuid,
    kind: String,
    call_step: Option<i32>,
    call_index: Option<i32>,
    state: String,
    why: String,
}

impl From<Raw> for EffectFact {
    fn from(raw: Raw) -> Self {
        Self {
            id: EffectId(raw.id),
            call: raw
                .call_step
                .zip(raw.call_index)
                .map(|(step, index)| CallKey { step, index }),
            state: raw.state.parse().unwrap_or(EffectState::Unknown),
            what: if raw.kind == "reply" {
                "reply_customer".into()
            } else {
                raw.kind
            },
            why: raw.why,
        }
    }
}

/// Settles the cards of an approval that ended while one of them was on its way.
pub async fn settle_if_ended(tx: &mut PgConnection, id: ApprovalId) -> sqlx::Result<()> {
    let ended = sqlx::query_scalar!(
        r#"SELECT state <> 'open' AND NOT recorded AS "ended!" FROM approval WHERE id = $1"#,
        id.0
    )
    .fetch_one(&mut *tx)
    .await?;
    if ended { settle_cards(tx, &[id.0]).await } else { Ok(()) }
}

/// Whether something for the ticket's desk is being sent at this moment: too late to call back.
pub async fn being_sent(tx: &mut PgConnection, ticket: TicketId) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM outbox WHERE ticket_id = $1 AND state = 'sending'
                                               AND kind IN ('reply', 'escalation')) AS "x!""#,
        ticket.0
    )
    .fetch_one(tx)
    .await
}

/// How many effects of which kind are open or in trouble; each of the two has its index.
pub async fn counts(db: impl PgExecutor<'_>) -> sqlx::Result<Vec<(String, String, i64)>> {
    let rows = sqlx::query!(
        r#"SELECT kind, state, count(*) AS "count!" FROM outbox
            WHERE state IN ('pending', 'sending') OR state IN ('unknown', 'dead')
            GROUP BY kind, state ORDER BY kind, state"#
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|row| (row.kind, row.state, row.count)).collect())
}
