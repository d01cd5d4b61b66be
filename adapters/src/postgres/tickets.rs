//! Tickets and their comments.

mod comments;
mod list;

use std::collections::HashMap;

use deskhand_core::id::{RunId, TicketId};
use deskhand_core::inbound::{DeskStatus, Told};
use deskhand_core::port::DeskTicket;
use deskhand_core::ticket::{Author, OutsideId, Source, Ticket, TicketState, Triage};
use sqlx::types::Json;
use sqlx::{PgConnection, PgExecutor, PgPool};

use super::inbox::Intake;
use super::{approvals, outbox, runs};
pub(in crate::postgres) use comments::append_comments;
pub use comments::{add_own_comment, answered, comments, has_unheard, heard_ids, mark_indexed, unindexed};
pub use list::{Filter, Listed, find, find_outside, from_outside, list};

/// The id behind an upsert, after following the alias of a merged ticket.
#[derive(Clone, Debug)]
pub(super) struct Upserted {
    pub(super) id: TicketId,
    /// It was not here before: nothing waits on it, and no run is open.
    pub(super) fresh: bool,
}

/// Makes or updates tickets, in the given order, which must be sorted and without repeats. An empty field changes nothing.
pub(super) async fn upsert(tx: &mut PgConnection, told: &[(OutsideId, Told, bool)]) -> sqlx::Result<Vec<Upserted>> {
    let sources: Vec<&str> = told.iter().map(|(outside, ..)| outside.source.as_str()).collect();
    let ids: Vec<&str> = told.iter().map(|(outside, ..)| outside.id.as_str()).collect();
    let text = |pick: fn(&Told) -> Option<&String>| -> Vec<String> {
        told.iter()
            .map(|(_, told, _)| pick(told).map(|text| clean(text)).unwrap_or_default())
            .collect()
    };
    let subjects = text(|told| told.subject.as_ref());
    let names = text(|told| told.requester.as_ref().map(|requester| &requester.name));
    let addresses = text(|told| told.requester.as_ref().map(|requester| &requester.address));
    let urls = text(|told| told.url.as_ref());
    let assignees: Vec<Option<String>> = told
        .iter()
        .map(|(_, told, _)| {
            told.assignee
                .as_ref()
                .map(|assignee| clean(assignee.as_deref().unwrap_or_default()))
        })
        .collect();
    let statuses: Vec<Option<String>> = told
        .iter()
        .map(|(_, told, _)| told.status.map(|status| status_word(status).to_owned()))
        .collect();
    let automatic: Vec<bool> = told.iter().map(|(_, told, _)| told.automatic).collect();
    let needs_read: Vec<bool> = told.iter().map(|(.., needs_read)| *needs_read).collect();
    let versions: Vec<i64> = told
        .iter()
        .map(|(_, told, _)| i64::from(says_something(told)))
        .collect();
    let rows = sqlx::query_file!(
        "src/postgres/sql/upsert_tickets.sql",
        &sources as &[&str],
        &ids as &[&str],
        &subjects,
        &names,
        &addresses,
        &urls,
        &assignees as &[Option<String>],
        &statuses as &[Option<String>],
        &automatic,
        &needs_read,
        &versions,
    )
    .fetch_all(&mut *tx)
    .await?;
    // By itself, since here an empty text does change something: nobody has the ticket any more.
    let known = rows.iter().any(|row| !row.fresh);
    if known && assignees.iter().any(Option::is_some) {
        sqlx::query!(
            "UPDATE ticket t SET assignee = d.assignee
               FROM UNNEST($1::text[], $2::text[], $3::text[]) AS d (source, outside_id, assignee)
              WHERE t.source = d.source AND t.outside_id = d.outside_id AND t.assignee <> d.assignee",
            &sources as &[&str],
            &ids as &[&str],
            &assignees as &[Option<String>],
        )
        .execute(tx)
        .await?;
    }
    let mut by_key: HashMap<(String, String), Upserted> = rows
        .into_iter()
        .map(|row| {
            let id = TicketId(row.alias_of.unwrap_or(row.id));
            ((row.source, row.outside_id), Upserted { id, fresh: row.fresh })
        })
        .collect();
    told.iter()
        .map(|(outside, ..)| {
            let row = by_key.remove(&(outside.source.to_string(), outside.id.clone()));
            row.ok_or(sqlx::Error::RowNotFound)
        })
        .collect()
}

/// Somebody else than we says something for all to read: what raises a ticket's version.
fn says_something(told: &Told) -> bool {
    told.comments
        .iter()
        .any(|comment| comment.public && comment.author != Author::Bot)
}

/// Postgres' text knows no NUL.
fn clean(text: &str) -> String {
    if text.contains('\0') {
        text.replace('\0', "\u{fffd}")
    } else {
        text.to_owned()
    }
}

pub(super) fn status_word(status: DeskStatus) -> &'static str {
    match status {
        DeskStatus::Open => "open",
        DeskStatus::Pending => "pending",
        DeskStatus::Solved => "solved",
        DeskStatus::Closed => "closed",
    }
}

/// Solved or closed elsewhere: whatever waits on it is withdrawn.
pub(super) async fn solved(tx: &mut PgConnection, ticket: TicketId, why: &str) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE ticket SET state = 'solved', updated_at = clock_timestamp() WHERE id = $1 AND state <> 'solved'",
        ticket.0
    )
    .execute(&mut *tx)
    .await?;
    approvals::withdraw_all(tx, ticket, why).await?;
    outbox::withdraw_pending(tx, ticket, why).await?;
    outbox::refresh_header(tx, ticket).await?;
    runs::wake_waiting(tx, &[ticket]).await?;
    Ok(())
}

/// Merged into another ticket: from now on it is another name of that one.
pub(super) async fn merge(tx: &mut PgConnection, from: TicketId, into: &OutsideId, intake: Intake) -> sqlx::Result<()> {
    let target = upsert(tx, &[(into.clone(), Told::default(), true)]).await?;
    let Some(target) = target.first().map(|row| row.id).filter(|target| *target != from) else {
        return Ok(());
    };
    sqlx::query!(
        "UPDATE ticket SET alias_of = $2, state = 'solved', updated_at = clock_timestamp() WHERE id = $1",
        from.0,
        target.0
    )
    .execute(&mut *tx)
    .await?;
    // Aliases of the merged ticket follow it, so that one look is always enough.
    sqlx::query!(
        "UPDATE ticket SET alias_of = $2 WHERE alias_of = $1 AND id <> $2",
        from.0,
        target.0
    )
    .execute(&mut *tx)
    .await?;
    let why = format!("the ticket was merged into {target}");
    approvals::withdraw_all(tx, from, &why).await?;
    outbox::withdraw_pending(tx, from, &why).await?;
    outbox::refresh_header(tx, from).await?;
    runs::cancel(tx, from, &why).await?;
    runs::queue(tx, &[target], intake.mode, intake.quiet).await?;
    Ok(())
}

/// Takes over what the desk tells of a ticket when it was read. Gives whether anything new was said.
pub async fn read_from_desk(pool: &PgPool, ticket: TicketId, desk: &DeskTicket, intake: Intake) -> sqlx::Result<()> {
    let mut tx = pool.begin().await?;
    let row = sqlx::query!(
        "SELECT source, outside_id FROM ticket WHERE id = $1 FOR UPDATE",
        ticket.0
    )
    .fetch_one(&mut *tx)
    .await?;
    let source: Source = row.source.parse().unwrap_or(Source::Api);
    let outside = OutsideId {
        source,
        id: row.outside_id,
    };
    let told = Told {
        subject: Some(desk.subject.clone()),
        requester: Some(desk.requester.clone()),
        status: Some(desk.status),
        assignee: Some(desk.assignee.clone()),
        url: desk.url.clone(),
        ..Told::default()
    };
    upsert(&mut tx, &[(outside.clone(), told, false)]).await?;
    let comments: Vec<_> = desk
        .comments
        .iter()
        .map(|comment| (ticket, outside.clone(), comment.clone()))
        .collect();
    let news = append_comments(&mut tx, &comments, &[]).await?;
    if news.get(&ticket).is_some_and(|news| news.foreign_public) {
        approvals::withdraw_replies(&mut tx, &[ticket], "the customer wrote again").await?;
    }
    sqlx::query!("UPDATE ticket SET needs_read = false WHERE id = $1", ticket.0)
        .execute(&mut *tx)
        .await?;
    let over = match desk.status {
        DeskStatus::Solved => Some("the ticket was solved elsewhere"),
        DeskStatus::Closed => Some("the ticket was closed"),
        DeskStatus::Open | DeskStatus::Pending => None,
    };
    if let Some(into) = &desk.merged_into {
        merge(
            &mut tx,
            ticket,
            &OutsideId {
                source,
                id: into.clone(),
            },
            intake,
        )
        .await?;
    } else if let Some(why) = over
        && !news.get(&ticket).is_some_and(|news| news.by_requester)
    {
        solved(&mut tx, ticket, why).await?;
    }
    tx.commit().await
}

/// A ticket with what only the shell needs of it.
#[derive(Clone, Debug)]
pub struct Whole {
    pub ticket: Ticket,
    pub automatic: bool,
    pub needs_read: bool,
    pub url: Option<String>,
    pub trouble: String,
    pub alias_of: Option<TicketId>,
}

/// From a row with the ticket's columns: each checked query has a row type of its own.
macro_rules! whole {
    ($row:expr) => {
        $crate::postgres::tickets::Whole {
            ticket: deskhand_core::ticket::Ticket {
                id: deskhand_core::id::TicketId($row.id),
                outside: deskhand_core::ticket::OutsideId {
                    source: $row.source.parse().unwrap_or(deskhand_core::ticket::Source::Api),
                    id: $row.outside_id,
                },
                subject: $row.subject,
                requester: deskhand_core::ticket::Requester {
                    name: $row.requester_name,
                    address: $row.requester_address,
                },
                state: $row.state.parse().unwrap_or(deskhand_core::ticket::TicketState::New),
                version: $row.version,
                triage: $row.triage.map(|triage| triage.0),
                created_at: $row.created_at,
                updated_at: $row.updated_at,
            },
            automatic: $row.automatic,
            needs_read: $row.needs_read,
            url: Some($row.url).filter(|url| !url.is_empty()),
            trouble: $row.trouble,
            alias_of: $row.alias_of.map(deskhand_core::id::TicketId),
        }
    };
}
pub(super) use whole;

pub async fn get(db: impl PgExecutor<'_>, id: TicketId) -> sqlx::Result<Option<Whole>> {
    let row = sqlx::query!(
        r#"SELECT id, source, outside_id, subject, requester_name, requester_address, state, version,
                  triage AS "triage: Json<Triage>", automatic, needs_read, url, trouble, alias_of, created_at, updated_at
             FROM ticket WHERE id = $1"#,
        id.0
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| whole!(row)))
}

/// Locks the ticket, the first lock of every transaction that changes its runs, and gives its version.
pub async fn lock(tx: &mut PgConnection, ticket: TicketId) -> sqlx::Result<i64> {
    sqlx::query_scalar!("SELECT version FROM ticket WHERE id = $1 FOR UPDATE", ticket.0)
        .fetch_one(tx)
        .await
}

pub async fn set_triage(tx: &mut PgConnection, ticket: TicketId, triage: &Triage) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE ticket SET triage = $2, state = CASE WHEN state = 'new' THEN 'triaged' ELSE state END,
                updated_at = clock_timestamp()
          WHERE id = $1",
        ticket.0,
        Json(triage) as _,
    )
    .execute(tx)
    .await?;
    Ok(())
}

pub async fn set_state(tx: &mut PgConnection, ticket: TicketId, state: TicketState) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE ticket SET state = $2, updated_at = clock_timestamp() WHERE id = $1",
        ticket.0,
        state.as_str()
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// Why a person must look at the ticket; empty when nobody must.
pub async fn set_trouble(tx: &mut PgConnection, ticket: TicketId, trouble: &str) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE ticket SET trouble = $2 WHERE id = $1 AND trouble <> $2",
        ticket.0,
        clean(trouble)
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// `take`: a human takes over. Gives the runs that were cancelled.
pub async fn take(tx: &mut PgConnection, ticket: TicketId, by: &str) -> sqlx::Result<Vec<RunId>> {
    lock(tx, ticket).await?;
    sqlx::query!(
        "UPDATE ticket SET state = 'with_human', version = version + 1, updated_at = clock_timestamp() WHERE id = $1",
        ticket.0
    )
    .execute(&mut *tx)
    .await?;
    let why = format!("{by} took the ticket over");
    let runs = runs::cancel(tx, ticket, &why).await?;
    approvals::withdraw_all(tx, ticket, &why).await?;
    outbox::withdraw_pending(tx, ticket, &why).await?;
    Ok(runs)
}

/// Who has the ticket at its desk, as far as is known; empty for nobody.
pub async fn assignee(tx: &mut PgConnection, ticket: TicketId) -> sqlx::Result<String> {
    sqlx::query_scalar!("SELECT assignee FROM ticket WHERE id = $1", ticket.0)
        .fetch_one(tx)
        .await
}

/// `release`: the bot may work on it again. False when no human has it.
pub async fn release(tx: &mut PgConnection, ticket: TicketId) -> sqlx::Result<bool> {
    let done = sqlx::query!(
        "UPDATE ticket SET state = 'triaged', updated_at = clock_timestamp() WHERE id = $1 AND state = 'with_human'",
        ticket.0
    )
    .execute(tx)
    .await?;
    Ok(done.rows_affected() == 1)
}
