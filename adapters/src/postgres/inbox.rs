//! Accepting what happens outside: one transaction for all deliveries that wait at the same moment.
//!
//! A batch costs a handful of statements however many deliveries it holds, and one commit. Each delivery is answered only
//! after that commit. A batch that fails is done again one by one by the caller, so one bad delivery does not fail its
//! neighbours. No NOTIFY in here: it would serialise the commits.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use deskhand_core::id::{RunId, TicketId};
use deskhand_core::inbound::{DeskStatus, Happening, Inbound, NewComment, Told};
use deskhand_core::ticket::{Author, Mode, OutsideId, Source};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};

use super::{approvals, outbox, runs, tickets};

/// A verified delivery, mapped or not. Nothing verified is ever lost: what could not be mapped is kept with its error.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub source: Source,
    /// The sender's own id of the delivery: a repeat changes nothing.
    pub delivery_id: String,
    pub headers: Value,
    pub body: Vec<u8>,
    pub mapped: Result<Inbound, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    /// This delivery id was here before.
    pub repeat: bool,
    pub ticket: Option<TicketId>,
    /// The run that was queued or woken for it.
    pub run: Option<RunId>,
}

/// How intake starts runs.
#[derive(Clone, Copy, Debug)]
pub struct Intake {
    pub mode: Mode,
    /// Seconds of quiet before a run starts, so that a burst of comments becomes one run.
    pub quiet: f64,
}

/// Writes a batch down. The answers stand in the order of the deliveries.
pub async fn accept(pool: &PgPool, batch: &[Delivery], intake: Intake) -> sqlx::Result<Vec<Accepted>> {
    let mut tx = pool.begin().await?;
    let fresh = store(&mut tx, batch).await?;
    let mut accepted: Vec<Accepted> = fresh
        .iter()
        .map(|fresh| Accepted {
            repeat: !fresh,
            ..Accepted::default()
        })
        .collect();

    let mut by_ticket: BTreeMap<OutsideId, Vec<(usize, &Inbound)>> = BTreeMap::new();
    for (at, delivery) in batch.iter().enumerate().filter(|(at, _)| fresh[*at]) {
        if let Ok(inbound) = &delivery.mapped
            && !matches!(inbound.what, Happening::Nothing { .. })
        {
            by_ticket.entry(inbound.ticket.clone()).or_default().push((at, inbound));
        }
    }
    let applied = apply(&mut tx, &by_ticket, intake).await?;
    for (outside, entries) in &by_ticket {
        for (at, _) in entries {
            accepted[*at].ticket = applied.tickets.get(outside).copied();
            accepted[*at].run = accepted[*at]
                .ticket
                .and_then(|ticket| applied.runs.get(&ticket).copied());
        }
    }
    tx.commit().await?;
    Ok(accepted)
}

/// Which of the deliveries were not here before.
async fn store(tx: &mut PgConnection, batch: &[Delivery]) -> sqlx::Result<Vec<bool>> {
    let sources: Vec<&str> = batch.iter().map(|delivery| delivery.source.as_str()).collect();
    let ids: Vec<&str> = batch.iter().map(|delivery| delivery.delivery_id.as_str()).collect();
    let headers: Vec<Value> = batch.iter().map(|delivery| delivery.headers.clone()).collect();
    let bodies: Vec<&[u8]> = batch.iter().map(|delivery| delivery.body.as_slice()).collect();
    let errors: Vec<&str> = batch
        .iter()
        .map(|d| d.mapped.as_ref().err().map_or("", String::as_str))
        .collect();
    let stored = sqlx::query!(
        r#"INSERT INTO inbox (source, kind, delivery_id, headers, body, state, error)
           SELECT DISTINCT ON (source, delivery_id) source, 'delivery', delivery_id, headers, body,
                  CASE WHEN error = '' THEN 'mapped' ELSE 'unmapped' END, error
             FROM UNNEST($1::text[], $2::text[], $3::jsonb[], $4::bytea[], $5::text[])
                  WITH ORDINALITY AS d (source, delivery_id, headers, body, error, n)
            ORDER BY source, delivery_id, n
           ON CONFLICT ON CONSTRAINT inbox_delivery DO NOTHING
           RETURNING source, delivery_id"#,
        &sources as &[&str],
        &ids as &[&str],
        &headers,
        &bodies as &[&[u8]],
        &errors as &[&str],
    )
    .fetch_all(tx)
    .await?;
    let mut stored: std::collections::HashSet<(String, String)> =
        stored.into_iter().map(|row| (row.source, row.delivery_id)).collect();
    // Of two equal ids within the batch, the first is the fresh one.
    Ok(batch
        .iter()
        .map(|d| stored.remove(&(d.source.to_string(), d.delivery_id.clone())))
        .collect())
}

#[derive(Debug, Default)]
pub(super) struct Applied {
    tickets: BTreeMap<OutsideId, TicketId>,
    runs: BTreeMap<TicketId, RunId>,
}

pub(super) async fn apply(
    tx: &mut PgConnection,
    by_ticket: &BTreeMap<OutsideId, Vec<(usize, &Inbound)>>,
    intake: Intake,
) -> sqlx::Result<Applied> {
    let mut applied = Applied::default();
    if by_ticket.is_empty() {
        return Ok(applied);
    }
    let told: Vec<(OutsideId, Told, bool)> = by_ticket
        .iter()
        .map(|(outside, entries)| {
            let needs_read = entries
                .iter()
                .any(|(_, i)| matches!(i.what, Happening::NeedsRead { .. }));
            (
                outside.clone(),
                merged(entries.iter().map(|(_, inbound)| &inbound.what)),
                needs_read,
            )
        })
        .collect();
    let rows = tickets::upsert(tx, &told).await?;
    let mut comments: Vec<(TicketId, OutsideId, NewComment)> = Vec::new();
    let mut wanted = Vec::new();
    let mut to_read = Vec::new();
    let mut fresh = Vec::new();
    for ((outside, told, needs_read), row) in told.iter().zip(&rows) {
        applied.tickets.insert(outside.clone(), row.id);
        if row.fresh {
            fresh.push(row.id);
        }
        comments.extend(
            told.comments
                .iter()
                .map(|comment| (row.id, outside.clone(), comment.clone())),
        );
        if *needs_read {
            to_read.push(row.id);
        }
    }

    let news = tickets::append_comments(tx, &comments, &fresh).await?;
    let mut stale = Vec::new();
    // A colleague who answers is not the customer, also in what is told of it.
    let mut by_colleagues = Vec::new();
    for (ticket, news) in &news {
        // Nothing can wait on a ticket that was not here before.
        match (news.foreign_public && !fresh.contains(ticket), news.by_requester) {
            (true, true) => stale.push(*ticket),
            (true, false) => by_colleagues.push(*ticket),
            (false, _) => {}
        }
        if news.by_requester {
            wanted.push(*ticket);
        }
    }
    for (tickets, why) in [
        (stale, "the customer wrote again"),
        (by_colleagues, "a colleague answered meanwhile"),
    ] {
        if !tickets.is_empty() {
            approvals::withdraw_replies(tx, &tickets, why).await?;
            outbox::withdraw_replies(tx, &tickets, why).await?;
            applied.runs.extend(runs::wake_waiting(tx, &tickets).await?);
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    applied
        .runs
        .extend(runs::queue(tx, &wanted, intake.mode, intake.quiet).await?);
    to_read.sort_unstable();
    to_read.dedup();
    applied
        .runs
        .extend(runs::queue_to_read(tx, &to_read, intake.mode, intake.quiet).await?);

    for ((outside, told, _), row) in told.iter().zip(&rows) {
        let over = matches!(told.status, Some(DeskStatus::Solved | DeskStatus::Closed));
        if over && !news.get(&row.id).is_some_and(|news| news.by_requester) {
            tickets::solved(tx, row.id, "the ticket was solved elsewhere").await?;
        }
        for (_, inbound) in &by_ticket[outside] {
            match &inbound.what {
                Happening::Merged { into } => {
                    let target = OutsideId {
                        source: outside.source,
                        id: into.clone(),
                    };
                    tickets::merge(tx, row.id, &target, intake).await?;
                }
                Happening::Closed => tickets::solved(tx, row.id, "the ticket was closed").await?,
                Happening::Told(_) | Happening::NeedsRead { .. } | Happening::Nothing { .. } => {}
            }
        }
    }
    Ok(applied)
}

/// Several deliveries on one ticket, as one: later facts win, comments add up.
fn merged<'a>(whats: impl Iterator<Item = &'a Happening>) -> Told {
    let mut all = Told::default();
    for what in whats {
        let Happening::Told(told) = what else { continue };
        let told = (**told).clone();
        all.subject = told.subject.or(all.subject);
        all.requester = told.requester.or(all.requester);
        all.priority = told.priority.or(all.priority);
        all.status = told.status.or(all.status);
        all.assignee = told.assignee.or(all.assignee);
        all.url = told.url.or(all.url);
        all.automatic |= told.automatic;
        all.updated_at = told.updated_at.max(all.updated_at);
        all.comments.extend(told.comments);
    }
    all
}

/// What a comment changed on its ticket.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    /// A public comment that is not ours: open reply approvals are stale.
    pub(super) foreign_public: bool,
    /// One by the customer, or by somebody else on the ticket: a run must look.
    pub(super) by_requester: bool,
}

impl News {
    pub(super) fn add(&mut self, author: Author, public: bool) {
        match author {
            Author::Requester | Author::Other => {
                self.foreign_public |= public;
                self.by_requester |= public;
            }
            Author::Agent => self.foreign_public |= public,
            Author::Bot => {}
        }
    }
}

/// A click or a command that could not be served at once, kept to be served from here.
#[derive(Clone, Debug)]
pub struct Kept {
    pub id: i64,
    pub source: String,
    pub kind: String,
    pub body: Vec<u8>,
    pub attempts: i32,
    pub received_at: DateTime<Utc>,
}

/// Keeps a click or a command. `delivery_id` makes a repeat harmless.
pub async fn keep(pool: &PgPool, source: &str, kind: &str, delivery_id: &str, body: &[u8]) -> sqlx::Result<bool> {
    let kept = sqlx::query!(
        "INSERT INTO inbox (source, kind, delivery_id, body, state) VALUES ($1, $2, $3, $4, 'kept')
         ON CONFLICT ON CONSTRAINT inbox_delivery DO NOTHING",
        source,
        kind,
        delivery_id,
        body,
    )
    .execute(pool)
    .await?;
    Ok(kept.rows_affected() == 1)
}

/// Remembers a delivery id that needs no more than that; false when it was here before.
pub async fn first_time(pool: &PgPool, source: &str, delivery_id: &str, body: &[u8]) -> sqlx::Result<bool> {
    let stored = sqlx::query!(
        "INSERT INTO inbox (source, kind, delivery_id, body, state) VALUES ($1, 'delivery', $2, $3, 'done')
         ON CONFLICT ON CONSTRAINT inbox_delivery DO NOTHING",
        source,
        delivery_id,
        body,
    )
    .execute(pool)
    .await?;
    Ok(stored.rows_affected() == 1)
}

/// Takes kept clicks and commands whose time has come; each is put off by ten seconds, so that a crash serves it again.
pub async fn take_kept(pool: &PgPool, most: i64, at: Option<DateTime<Utc>>) -> sqlx::Result<Vec<Kept>> {
    sqlx::query_as!(
        Kept,
        "UPDATE inbox SET attempts = attempts + 1, next_at = coalesce($2, clock_timestamp()) + interval '10 seconds'
          WHERE id IN (SELECT id FROM inbox WHERE state = 'kept' AND kind <> 'post' AND next_at <= coalesce($2, clock_timestamp())
                        ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)
         RETURNING id, source, kind, body, attempts, received_at",
        most,
        at,
    )
    .fetch_all(pool)
    .await
}

/// Ends a kept row: `done`, or `failed` with its reason for the operator.
pub async fn end_kept(pool: &PgPool, id: i64, error: Option<&str>) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE inbox SET state = CASE WHEN $2::text IS NULL THEN 'done' ELSE 'failed' END, error = coalesce($2, '')
          WHERE id = $1 AND state = 'kept'",
        id,
        error,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// A delivery that was verified and could not be mapped, for the operator.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Unmapped {
    pub id: i64,
    pub source: String,
    pub kind: String,
    pub delivery_id: String,
    pub error: String,
    pub received_at: DateTime<Utc>,
}

pub async fn unmapped(pool: &PgPool) -> sqlx::Result<Vec<Unmapped>> {
    sqlx::query_as!(
        Unmapped,
        "SELECT id, source, kind, delivery_id, error, received_at FROM inbox
          WHERE state IN ('unmapped', 'failed') ORDER BY id LIMIT 500"
    )
    .fetch_all(pool)
    .await
}

/// The raw bytes and headers of one delivery, to map it again.
pub async fn raw(pool: &PgPool, id: i64) -> sqlx::Result<Option<(String, String, Value, Vec<u8>)>> {
    let row = sqlx::query!("SELECT source, delivery_id, headers, body FROM inbox WHERE id = $1", id)
        .fetch_optional(pool)
        .await?;
    Ok(row.map(|row| (row.source, row.delivery_id, row.headers, row.body)))
}

/// Applies a delivery that was kept unmapped and can be mapped by now. False when somebody else did.
pub async fn map_again(pool: &PgPool, id: i64, inbound: &Inbound, intake: Intake) -> sqlx::Result<bool> {
    let mut tx = pool.begin().await?;
    let taken = sqlx::query!(
        "UPDATE inbox SET state = 'mapped', error = '' WHERE id = $1 AND state = 'unmapped'",
        id
    )
    .execute(&mut *tx)
    .await?;
    if taken.rows_affected() == 0 {
        return Ok(false);
    }
    let by_ticket = BTreeMap::from([(inbound.ticket.clone(), vec![(0, inbound)])]);
    apply(&mut tx, &by_ticket, intake).await?;
    tx.commit().await?;
    Ok(true)
}

/// Keeps verified bytes that could not be read, with why.
pub async fn keep_unmapped(
    pool: &PgPool,
    source: &str,
    delivery_id: &str,
    body: &[u8],
    error: &str,
) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO inbox (source, kind, delivery_id, body, state, error) VALUES ($1, 'delivery', $2, $3, 'unmapped', $4)
         ON CONFLICT ON CONSTRAINT inbox_delivery DO NOTHING",
        source,
        delivery_id,
        body,
        error,
    )
    .execute(pool)
    .await?;
    Ok(())
}
