//! A click under its lock, and what time does to those that nobody clicked.

use chrono::{DateTime, Utc};
use deskhand_core::approval::{self, Actor, Answer, ApprovalState, Click, Decision, Standing, Wish};
use deskhand_core::card::Mark;
use deskhand_core::effect::Effect;
use deskhand_core::id::{ApprovalId, RunId, TicketId};
use deskhand_core::ledger::EntryKind;
use deskhand_core::ticket::Mode;
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};

use super::{About, Raw, Row, end};
use crate::postgres::runs::{Lease, Taker};
use crate::postgres::{ledger, runs};

/// A click with what is known of the person.
#[derive(Clone, Debug)]
pub struct Pressed<'a> {
    pub id: ApprovalId,
    pub about: &'a About,
    pub actor: &'a Actor,
    pub wish: &'a Wish,
    pub digest: Option<&'a str>,
    pub listed: bool,
    /// Who leases the run that the decision resumes; `None` queues it.
    pub taker: Option<Taker<'a>>,
}

/// What a click came to, and the lease of the run that it resumed for its taker.
#[derive(Clone, Debug)]
pub struct Pressing {
    pub answer: Answer,
    pub lease: Option<Lease>,
}

impl From<Answer> for Pressing {
    fn from(answer: Answer) -> Self {
        Self { answer, lease: None }
    }
}

/// Decides under the row's lock, in one transaction: decision, run, cards, ledger. Waits at most 1.5 s for a lock;
/// without one the answer is [`Answer::Checking`], and the caller keeps the click.
pub async fn press(pool: &PgPool, pressed: &Pressed<'_>, at: Option<DateTime<Utc>>) -> sqlx::Result<Pressing> {
    let mut tx = pool.begin_with("BEGIN; SET LOCAL lock_timeout = '1500ms'").await?;
    match press_in(&mut tx, pressed, at).await {
        Ok(pressing) => {
            tx.commit().await?;
            Ok(pressing)
        }
        Err(error) if is_lock_timeout(&error) => Ok(Answer::Checking.into()),
        Err(error) => Err(error),
    }
}

/// Postgres' lock_not_available.
fn is_lock_timeout(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .and_then(|error| error.code())
        .is_some_and(|code| code == "55P03")
}

async fn press_in(tx: &mut PgConnection, pressed: &Pressed<'_>, at: Option<DateTime<Utc>>) -> sqlx::Result<Pressing> {
    let Some((row, now)) = lock(tx, pressed, at).await? else {
        return Ok(Answer::Unknown.into());
    };
    let standing = Standing {
        id: row.id,
        tool: &row.tool,
        state: row.state,
        decision: row.decision.as_ref(),
        recorded: row.recorded,
        digest: &row.digest,
        expires_at: row.expires_at,
        instructed_by: Some(row.instructed_by.as_str()).filter(|by| !by.is_empty()),
        question: match &row.effect {
            Effect::AskQuestion(question) => Some(question),
            Effect::ReplyCustomer(_)
            | Effect::EscalateTicket(_)
            | Effect::ProposeKnowledgeEdit(_)
            | Effect::UseTool(_) => None,
        },
    };
    let click = Click {
        actor: pressed.actor,
        wish: pressed.wish,
        digest: pressed.digest,
        listed: pressed.listed,
        now,
    };
    let answer = approval::decide(&standing, &click);
    let mut lease = None;
    match &answer {
        Answer::Decided(decision) => {
            lease = record(tx, &row, decision, pressed.taker.as_ref(), at).await?;
            if pressed.taker.is_none() {
                runs::wake(tx, row.run).await?;
            }
        }
        Answer::Expired if row.state == ApprovalState::Open => expire(tx, &row, now).await?,
        Answer::NotAllowed { .. } => {
            let line = ledger::Line {
                approval: Some(row.id),
                actor: &pressed.actor.key(),
                word: "not_allowed",
                ..ledger::Line::new(EntryKind::Refused, row.ticket)
            };
            ledger::append(tx, &line).await?;
        }
        Answer::AlreadyDecided(_)
        | Answer::Expired
        | Answer::Withdrawn { .. }
        | Answer::Stale
        | Answer::Checking
        | Answer::Unknown => {}
    }
    Ok(Pressing { answer, lease })
}

/// The approval under its locks, and the time by then. `None` where there is none that this binary knows.
async fn lock(
    tx: &mut PgConnection,
    pressed: &Pressed<'_>,
    at: Option<DateTime<Utc>>,
) -> sqlx::Result<Option<(Row, DateTime<Utc>)>> {
    let locked = sqlx::query_file!(
        "src/postgres/sql/lock_approval.sql",
        pressed.id.0,
        pressed.about.run.0,
        pressed.about.ticket.0,
        at,
    )
    .fetch_optional(tx)
    .await?;
    Ok(locked.and_then(|row| {
        let raw = Raw {
            id: row.id,
            ticket_id: row.ticket_id,
            run_id: row.run_id,
            call_step: row.call_step,
            call_index: row.call_index,
            tool: row.tool,
            effect: row.effect,
            digest: row.digest,
            why: row.why,
            marks: row.marks,
            state: row.state,
            decided_by: row.decided_by,
            decided_by_name: row.decided_by_name,
            decided_at: row.decided_at,
            reason: row.reason,
            edited: row.edited,
            recorded: row.recorded,
            instructed_by: row.instructed_by,
            expires_at: row.expires_at,
            executed_at: row.executed_at,
            created_at: row.created_at,
        };
        raw.known().map(|known| (known, row.now))
    }))
}

/// Writes a decision down with everything that shows it. Gives the lease of the run that it resumed for its taker.
async fn record(
    tx: &mut PgConnection,
    row: &Row,
    decision: &Decision,
    taker: Option<&Taker<'_>>,
    at: Option<DateTime<Utc>>,
) -> sqlx::Result<Option<Lease>> {
    let (salt, salted) = ledger::salt(&row.digest);
    let resumed = sqlx::query_file!(
        "src/postgres/sql/decide_approval.sql",
        row.id.0,
        decision.state.as_str(),
        decision.by,
        decision.by_name,
        decision.at,
        decision.reason,
        decision.edited,
        EntryKind::Decision.as_str(),
        salted,
        salt,
        taker.map(|taker| taker.owner),
        taker.map(|taker| taker.seconds),
        at,
    )
    .fetch_optional(tx)
    .await?;
    Ok(resumed.map(|resumed| Lease {
        run: row.run,
        ticket: TicketId(resumed.ticket_id),
        attempt: resumed.attempt,
        mode: resumed.mode.parse().unwrap_or(Mode::Shadow),
        failures: resumed.failures,
        if_news: resumed.if_news,
        // Nobody decides anything for a helper.
        helper: false,
    }))
}

async fn expire(tx: &mut PgConnection, row: &Row, now: DateTime<Utc>) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE approval SET state = 'expired', decided_at = $2 WHERE id = $1 AND state = 'open'",
        row.id.0,
        now
    )
    .execute(&mut *tx)
    .await?;
    end(tx, &[row.id.0], ApprovalState::Expired).await?;
    runs::wake(tx, row.run).await?;
    Ok(())
}

/// Approvals whose time is over, each ended in its own transaction under the usual locks.
pub async fn expire_due(pool: &PgPool, at: Option<DateTime<Utc>>) -> sqlx::Result<u64> {
    let due = sqlx::query!(
        "SELECT id, ticket_id, run_id FROM approval
          WHERE state = 'open' AND expires_at <= coalesce($1, clock_timestamp()) ORDER BY id LIMIT 100",
        at
    )
    .fetch_all(pool)
    .await?;
    let mut expired = 0;
    for due in due {
        let mut tx = pool.begin().await?;
        sqlx::query!("SELECT id FROM ticket WHERE id = $1 FOR UPDATE", due.ticket_id)
            .fetch_one(&mut *tx)
            .await?;
        sqlx::query!("SELECT id FROM run WHERE id = $1 FOR UPDATE", due.run_id)
            .fetch_one(&mut *tx)
            .await?;
        let ids = sqlx::query_scalar!(
            "UPDATE approval SET state = 'expired', decided_at = coalesce($2, clock_timestamp())
              WHERE id = $1 AND state = 'open' RETURNING id",
            due.id,
            at,
        )
        .fetch_all(&mut *tx)
        .await?;
        if !ids.is_empty() {
            end(&mut tx, &ids, ApprovalState::Expired).await?;
            runs::wake(&mut tx, RunId(due.run_id)).await?;
            expired += 1;
        }
        tx.commit().await?;
    }
    Ok(expired)
}
