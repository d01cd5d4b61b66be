//! Effects as the operator sees them.

use chrono::{DateTime, Utc};
use deskhand_core::id::TicketId;
use serde_json::Value;
use sqlx::PgExecutor;
use uuid::Uuid;

/// An effect as the operator sees it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Shown {
    pub id: Uuid,
    pub kind: String,
    pub ticket_id: Option<i64>,
    pub approval_id: Option<i64>,
    pub lane: String,
    pub payload: Value,
    pub state: String,
    pub attempts: i32,
    pub remote_id: String,
    pub why: String,
    pub created_at: DateTime<Utc>,
    pub done_at: Option<DateTime<Utc>>,
}

/// The effects that a condition picks, oldest first.
macro_rules! select {
    ($where:literal $(, $value:expr)?) => {
        sqlx::query_as!(
            Shown,
            "SELECT id, kind, ticket_id, approval_id, lane, payload, state, attempts, remote_id, why, created_at, done_at
               FROM outbox WHERE "
                + $where
                + " ORDER BY seq LIMIT 500"
            $(, $value)?
        )
    };
}

/// Effects of a ticket, or those that are in trouble or open where no ticket is given; oldest first. A statement for
/// each, so that each goes by its index: the open ones and those in trouble have one each.
pub async fn list(db: impl PgExecutor<'_>, ticket: Option<TicketId>) -> sqlx::Result<Vec<Shown>> {
    match ticket {
        Some(ticket) => select!("ticket_id = $1", ticket.0).fetch_all(db).await,
        None => {
            select!("(state IN ('pending', 'sending') OR state IN ('unknown', 'dead'))")
                .fetch_all(db)
                .await
        }
    }
}
