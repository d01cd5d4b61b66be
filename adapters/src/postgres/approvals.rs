//! Approvals: opened with their cards, decided under their lock, withdrawn in the transaction that makes them stale.

mod press;

use chrono::{DateTime, Utc};
use deskhand_core::approval::{ApprovalState, Decision};
use deskhand_core::card::Mark;
use deskhand_core::effect::Effect;
use deskhand_core::id::{ApprovalId, CallKey, RunId, TicketId};
use deskhand_core::ledger::EntryKind;
use sqlx::types::Json;
use sqlx::{PgConnection, PgExecutor};

use super::{ledger, outbox};
pub use press::{Pressed, Pressing, expire_due, press};

/// An approval to open.
#[derive(Clone, Debug)]
pub struct Opening<'a> {
    pub ticket: TicketId,
    pub run: RunId,
    pub call: CallKey,
    pub effect: &'a Effect,
    pub digest: &'a str,
    pub why: &'a str,
    pub marks: &'a [Mark],
    /// Seconds until nobody may decide it any more.
    pub expires_in: Option<f64>,
    /// Shadow mode: shown, never asked.
    pub recorded: bool,
    pub instructed_by: &'a str,
    pub replaces: Option<ApprovalId>,
}

pub async fn open(tx: &mut PgConnection, opening: &Opening<'_>, at: Option<DateTime<Utc>>) -> sqlx::Result<ApprovalId> {
    if let Some(replaced) = opening.replaces {
        supersede(tx, replaced, opening.why).await?;
    }
    let (salt, salted) = ledger::salt(opening.digest);
    let id = sqlx::query_file_scalar!(
        "src/postgres/sql/open_approval.sql",
        opening.ticket.0,
        opening.run.0,
        opening.call.step,
        opening.call.index,
        opening.effect.tool(),
        Json(opening.effect) as _,
        opening.digest,
        opening.why,
        Json(opening.marks) as _,
        opening.recorded,
        opening.instructed_by,
        opening.expires_in,
        at,
        EntryKind::Proposed.as_str(),
        salted,
        salt,
    )
    .fetch_one(tx)
    .await?;
    Ok(ApprovalId(id))
}

/// Ends approvals without a decision by a person, and settles their cards.
async fn end(tx: &mut PgConnection, ids: &[i64], state: ApprovalState) -> sqlx::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    outbox::settle_cards(tx, ids).await?;
    let tickets = sqlx::query!("SELECT id, ticket_id FROM approval WHERE id = ANY($1) ORDER BY id", ids)
        .fetch_all(&mut *tx)
        .await?;
    let lines: Vec<ledger::Line<'_>> = tickets
        .iter()
        .map(|row| ledger::Line {
            approval: Some(ApprovalId(row.id)),
            word: state.as_str(),
            ..ledger::Line::new(EntryKind::Decision, TicketId(row.ticket_id))
        })
        .collect();
    ledger::append_all(tx, &lines).await
}

/// Withdraws the open reply approvals of these tickets: somebody wrote, so the drafts are stale.
pub async fn withdraw_replies(tx: &mut PgConnection, tickets: &[TicketId], reason: &str) -> sqlx::Result<()> {
    if tickets.is_empty() {
        return Ok(());
    }
    let tickets: Vec<i64> = tickets.iter().map(|ticket| ticket.0).collect();
    let ids = sqlx::query_scalar!(
        "UPDATE approval SET state = 'withdrawn', reason = $2, decided_at = clock_timestamp()
          WHERE ticket_id = ANY($1) AND state = 'open' AND tool = 'reply_customer' RETURNING id",
        &tickets,
        reason,
    )
    .fetch_all(&mut *tx)
    .await?;
    end(tx, &ids, ApprovalState::Withdrawn).await
}

/// Withdraws every open approval of a ticket.
pub async fn withdraw_all(tx: &mut PgConnection, ticket: TicketId, reason: &str) -> sqlx::Result<()> {
    let ids = sqlx::query_scalar!(
        "UPDATE approval SET state = 'withdrawn', reason = $2, decided_at = clock_timestamp()
          WHERE ticket_id = $1 AND state = 'open' RETURNING id",
        ticket.0,
        reason,
    )
    .fetch_all(&mut *tx)
    .await?;
    end(tx, &ids, ApprovalState::Withdrawn).await
}

/// Another approval takes its place, or it cannot be executed any more.
pub async fn supersede(tx: &mut PgConnection, id: ApprovalId, reason: &str) -> sqlx::Result<()> {
    let ids = sqlx::query_scalar!(
        "UPDATE approval SET state = 'superseded', reason = $2
          WHERE id = $1 AND executed_at IS NULL AND state IN ('open', 'approved', 'edited') RETURNING id",
        id.0,
        reason,
    )
    .fetch_all(&mut *tx)
    .await?;
    end(tx, &ids, ApprovalState::Superseded).await
}

/// Marks an approval executed, with its line in the ledger; false when it was before, or is not decided. Guards its one
/// execution. `digest` is the approval's own.
pub async fn execute_once(tx: &mut PgConnection, id: ApprovalId, digest: &str) -> sqlx::Result<bool> {
    let (salt, salted) = ledger::salt(digest);
    let done = sqlx::query!(
        "WITH done AS (
             UPDATE approval SET executed_at = clock_timestamp()
              WHERE id = $1 AND executed_at IS NULL AND state IN ('approved', 'edited') RETURNING id, ticket_id)
         INSERT INTO ledger (kind, ticket_id, approval_id, digest, salt)
         SELECT $2, ticket_id, id, $3, $4 FROM done",
        id.0,
        EntryKind::Executed.as_str(),
        salted,
        salt,
    )
    .execute(tx)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// An approval as its row says.
#[derive(Clone, Debug)]
pub struct Row {
    pub id: ApprovalId,
    pub ticket: TicketId,
    pub run: RunId,
    pub call: CallKey,
    pub tool: String,
    pub effect: Effect,
    pub digest: String,
    pub why: String,
    pub marks: Vec<Mark>,
    pub state: ApprovalState,
    pub decision: Option<Decision>,
    pub recorded: bool,
    pub instructed_by: String,
    pub expires_at: Option<DateTime<Utc>>,
    pub executed: bool,
    pub created_at: DateTime<Utc>,
}

/// As the table has it.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Raw {
    id: i64,
    ticket_id: i64,
    run_id: uuid::Uuid,
    call_step: i32,
    call_index: i32,
    tool: String,
    effect: serde_json::Value,
    digest: String,
    why: String,
    marks: Json<Vec<Mark>>,
    state: String,
    decided_by: String,
    decided_by_name: String,
    decided_at: Option<DateTime<Utc>>,
    reason: String,
    edited: Option<String>,
    recorded: bool,
    instructed_by: String,
    expires_at: Option<DateTime<Utc>>,
    executed_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
}

impl Raw {
    /// `None` for an effect that this binary does not know: a newer one beside it sees to it.
    pub(super) fn known(self) -> Option<Row> {
        let raw = self;
        let effect = serde_json::from_value(raw.effect).ok()?;
        let state = raw.state.parse().unwrap_or(ApprovalState::Superseded);
        let decision = (state != ApprovalState::Open).then(|| Decision {
            state,
            by: raw.decided_by,
            by_name: raw.decided_by_name,
            at: raw.decided_at.unwrap_or(raw.created_at),
            reason: raw.reason,
            edited: raw.edited,
        });
        Some(Row {
            id: ApprovalId(raw.id),
            ticket: TicketId(raw.ticket_id),
            run: RunId(raw.run_id),
            call: CallKey {
                step: raw.call_step,
                index: raw.call_index,
            },
            tool: raw.tool,
            effect,
            digest: raw.digest,
            why: raw.why,
            marks: raw.marks.0,
            state,
            decision,
            recorded: raw.recorded,
            instructed_by: raw.instructed_by,
            expires_at: raw.expires_at,
            executed: raw.executed_at.is_some(),
            created_at: raw.created_at,
        })
    }
}

/// Which approvals to read.
#[derive(Clone, Copy, Debug)]
pub enum Which {
    One(ApprovalId),
    OfTicket(TicketId),
    /// All that wait for a decision, oldest first.
    Open,
    /// Decided and not executed, and no runner will come to it: their run has moved on or ended. While a run is paused
    /// nothing of it leaves the house.
    Unexecuted,
}

/// The approvals that a condition picks, oldest first.
macro_rules! select {
    ($where:literal $(, $value:expr)?) => {
        sqlx::query_as!(
            Raw,
            r#"SELECT id, ticket_id, run_id, call_step, call_index, tool, effect, digest, why,
                      marks AS "marks: Json<Vec<Mark>>", state, decided_by, decided_by_name, decided_at, reason, edited,
                      recorded, instructed_by, expires_at, executed_at, created_at
                 FROM approval WHERE "#
                + $where
                + " ORDER BY id LIMIT 1000"
            $(, $value)?
        )
    };
}

/// A statement for each, so that each goes by its index: a statement for all would be planned once, as a walk.
pub async fn read(db: impl PgExecutor<'_>, which: Which) -> sqlx::Result<Vec<Row>> {
    let rows = match which {
        Which::One(id) => select!("id = $1", id.0).fetch_all(db).await,
        Which::OfTicket(ticket) => select!("ticket_id = $1", ticket.0).fetch_all(db).await,
        Which::Open => select!("state = 'open' AND NOT recorded").fetch_all(db).await,
        Which::Unexecuted => {
            select!(
                "state IN ('approved', 'edited') AND executed_at IS NULL
                 AND NOT EXISTS (SELECT FROM run r WHERE r.id = run_id
                                 AND (r.state IN ('queued', 'running') OR r.paused AND r.finished_at IS NULL))"
            )
            .fetch_all(db)
            .await
        }
    };
    Ok(rows?.into_iter().filter_map(Raw::known).collect())
}

/// How many approvals of a run nobody has decided yet.
pub async fn count_open(tx: &mut PgConnection, run: RunId) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"SELECT count(*) AS "open!" FROM approval WHERE run_id = $1 AND NOT recorded AND state = 'open'"#,
        run.0
    )
    .fetch_one(tx)
    .await
}

/// What an approval is about: none of it ever changes.
#[derive(Clone, Debug)]
pub struct About {
    pub tool: String,
    pub ticket: TicketId,
    pub run: RunId,
}

/// `None` when there is no such approval.
pub async fn about(db: impl PgExecutor<'_>, id: ApprovalId) -> sqlx::Result<Option<About>> {
    let row = sqlx::query!("SELECT tool, ticket_id, run_id FROM approval WHERE id = $1", id.0)
        .fetch_optional(db)
        .await?;
    Ok(row.map(|row| About {
        tool: row.tool,
        ticket: TicketId(row.ticket_id),
        run: RunId(row.run_id),
    }))
}
