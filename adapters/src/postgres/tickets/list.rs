//! Finding and listing tickets.

use chrono::{DateTime, Utc};
use deskhand_core::id::TicketId;
use deskhand_core::ticket::{OutsideId, TicketState};
use serde_json::Value;
use sqlx::PgExecutor;

/// A row of the list, for people and for the model.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Listed {
    pub id: i64,
    pub source: String,
    pub outside_id: String,
    pub subject: String,
    pub requester: String,
    pub state: String,
    pub triage: Option<Value>,
    pub trouble: String,
    pub updated_at: DateTime<Utc>,
}

/// Tickets, newest first. Empty filters match everything.
pub async fn list(db: impl PgExecutor<'_>, filter: &Filter<'_>) -> sqlx::Result<Vec<Listed>> {
    sqlx::query_as!(
        Listed,
        r#"SELECT id, source, outside_id, subject, coalesce(nullif(requester_name, ''), requester_address) AS "requester!",
                  state, triage, trouble, updated_at
             FROM ticket
            WHERE alias_of IS NULL AND ($1::text IS NULL OR state = $1)
              AND ($2::text IS NULL OR triage ->> 'category' = $2)
              AND ($3::text IS NULL OR triage ->> 'priority' = $3)
            ORDER BY updated_at DESC, id DESC LIMIT $4"#,
        filter.state.map(TicketState::as_str),
        filter.category,
        filter.priority,
        filter.most,
    )
    .fetch_all(db)
    .await
}

#[derive(Clone, Copy, Debug)]
pub struct Filter<'a> {
    pub state: Option<TicketState>,
    pub category: Option<&'a str>,
    pub priority: Option<&'a str>,
    pub most: i64,
}

impl Default for Filter<'_> {
    fn default() -> Self {
        Self {
            state: None,
            category: None,
            priority: None,
            most: 50,
        }
    }
}

/// The ticket with that number, or the one that it was merged into.
pub async fn find(db: impl PgExecutor<'_>, id: TicketId) -> sqlx::Result<Option<TicketId>> {
    let row = sqlx::query_scalar!(
        r#"SELECT coalesce(alias_of, id) AS "id!" FROM ticket WHERE id = $1"#,
        id.0
    );
    Ok(row.fetch_optional(db).await?.map(TicketId))
}

pub async fn find_outside(db: impl PgExecutor<'_>, outside: &OutsideId) -> sqlx::Result<Option<TicketId>> {
    let row = sqlx::query_scalar!(
        r#"SELECT coalesce(alias_of, id) AS "id!" FROM ticket WHERE source = $1 AND outside_id = $2"#,
        outside.source.as_str(),
        outside.id,
    );
    Ok(row.fetch_optional(db).await?.map(TicketId))
}

/// How many tickets came from a connected desk or chat, not over the API.
pub async fn from_outside(db: impl PgExecutor<'_>) -> sqlx::Result<i64> {
    sqlx::query_scalar!(r#"SELECT count(*) AS "count!" FROM ticket WHERE source <> 'api'"#)
        .fetch_one(db)
        .await
}
