//! Runs as the API and the commands show them.

use chrono::{DateTime, Utc};
use deskhand_core::id::{RunId, TicketId};
use sqlx::PgExecutor;
use uuid::Uuid;

/// A run as the API and the commands show it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Shown {
    pub id: Uuid,
    pub ticket_id: i64,
    pub state: String,
    /// A person holds it.
    pub paused: bool,
    pub ending: Option<String>,
    pub mode: String,
    pub attempt: i32,
    pub error: String,
    pub created_at: DateTime<Utc>,
    pub finished_at: Option<DateTime<Utc>>,
}

pub async fn get(db: impl PgExecutor<'_>, run: RunId) -> sqlx::Result<Option<Shown>> {
    sqlx::query_as!(
        Shown,
        "SELECT id, ticket_id, state, paused, ending, mode, attempt, error, created_at, finished_at FROM run WHERE id = $1",
        run.0
    )
    .fetch_optional(db)
    .await
}

/// Newest first; helpers aside.
pub async fn of_ticket(db: impl PgExecutor<'_>, ticket: TicketId) -> sqlx::Result<Vec<Shown>> {
    sqlx::query_as!(
        Shown,
        "SELECT id, ticket_id, state, paused, ending, mode, attempt, error, created_at, finished_at FROM run
          WHERE ticket_id = $1 AND parent IS NULL ORDER BY created_at DESC, id DESC LIMIT 50",
        ticket.0
    )
    .fetch_all(db)
    .await
}

/// How many runs are in which state.
pub async fn counts(db: impl PgExecutor<'_>) -> sqlx::Result<Vec<(String, i64)>> {
    let rows = sqlx::query!(r#"SELECT state, count(*) AS "count!" FROM run GROUP BY state ORDER BY state"#)
        .fetch_all(db)
        .await?;
    Ok(rows.into_iter().map(|row| (row.state, row.count)).collect())
}

/// A run as those who follow it look at it, again and again: one row by keys.
#[derive(Clone, Debug)]
pub struct Looked {
    pub ticket_id: i64,
    pub state: String,
    pub paused: bool,
    pub ending: Option<String>,
    pub attempt: i32,
    /// Whoever had it in hand when it was stopped has had three seconds to write down its last words.
    pub quiet: bool,
    /// The number of its last step.
    pub last: Option<i32>,
    /// The reply that is being written somewhere, where that was asked for.
    pub live_attempt: Option<i32>,
    pub live_after: Option<i32>,
    pub live_text: Option<String>,
}

/// Looks at a run; at what is written of a reply only where the caller has it not in memory.
pub async fn look(db: impl PgExecutor<'_>, run: RunId, at_reply: bool) -> sqlx::Result<Option<Looked>> {
    sqlx::query_file_as!(Looked, "src/postgres/sql/look_at_run.sql", run.0, at_reply)
        .fetch_optional(db)
        .await
}
