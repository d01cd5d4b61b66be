//! What a decision rests on, read in one statement.

use deskhand_core::facts::EffectFact;
use deskhand_core::grant::Grant;
use deskhand_core::id::{RunId, TicketId};
use deskhand_core::step::Step;
use deskhand_core::ticket::{Comment, Triage};
use sqlx::PgPool;
use sqlx::types::Json;

use super::runs::log;
use super::tickets::{self, Whole};
use super::{approvals, outbox};

/// The state of a run's world at one moment.
#[derive(Clone, Debug)]
pub struct Read {
    pub ticket: Whole,
    /// After the one that was asked for, by their ids; our own are left out.
    pub comments: Vec<Comment>,
    /// Those that ask; what shadow mode only shows is left out.
    pub approvals: Vec<approvals::Row>,
    pub effects: Vec<EffectFact>,
    /// Not revoked; whether one still holds at a time is core's to say.
    pub grants: Vec<Grant>,
    /// What an admin set at run time.
    pub mode: Option<String>,
    /// Whose turn it is: the attempt under which the run is at work; `None` while nobody works it.
    pub attempt: Option<i32>,
    /// Whether the run continues an earlier one.
    pub continues: bool,
    /// Where they were asked for; one that this binary does not know is left out.
    pub steps: Vec<Step>,
}

/// `heard`: comments up to this one are left out. `None` where there is no such ticket.
pub async fn read(
    pool: &PgPool,
    run: RunId,
    ticket: TicketId,
    heard: i64,
    with_steps: bool,
) -> sqlx::Result<Option<Read>> {
    let row = sqlx::query_file!("src/postgres/sql/read_facts.sql", run.0, ticket.0, heard, with_steps)
        .fetch_optional(pool)
        .await?;
    Ok(row.map(|row| Read {
        ticket: tickets::whole!(row),
        comments: all(row.comments),
        approvals: all(row.approvals)
            .into_iter()
            .filter_map(approvals::Raw::known)
            .collect(),
        effects: all(row.effects).into_iter().map(EffectFact::from).collect(),
        grants: all(row.grants),
        mode: row.mode,
        attempt: row.attempt,
        continues: row.continues.unwrap_or(false),
        steps: all(row.steps).into_iter().filter_map(log::Raw::known).collect(),
    }))
}

/// An empty aggregate is NULL.
fn all<T>(some: Option<Json<Vec<T>>>) -> Vec<T> {
    some.map(|json| json.0).unwrap_or_default()
}
