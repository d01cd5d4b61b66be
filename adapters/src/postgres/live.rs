//! Replies that are being written, for readers on other replicas.

use deskhand_core::id::RunId;
use sqlx::PgExecutor;

/// As it was last put there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub attempt: i32,
    pub after: i32,
    pub text: String,
}

pub async fn put(db: impl PgExecutor<'_>, run: RunId, row: &Row) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO live (run_id, attempt, after, content) VALUES ($1, $2, $3, $4)
         ON CONFLICT (run_id) DO UPDATE
            SET attempt = EXCLUDED.attempt, after = EXCLUDED.after, content = EXCLUDED.content, at = clock_timestamp()",
        run.0,
        row.attempt,
        row.after,
        row.text.replace('\0', "\u{fffd}"),
    )
    .execute(db)
    .await?;
    Ok(())
}

pub async fn get(db: impl PgExecutor<'_>, run: RunId) -> sqlx::Result<Option<Row>> {
    sqlx::query_as!(
        Row,
        "SELECT attempt, after, content AS text FROM live WHERE run_id = $1",
        run.0
    )
    .fetch_optional(db)
    .await
}

/// Forgets what nobody writes any more.
pub async fn clear_old(db: impl PgExecutor<'_>) -> sqlx::Result<()> {
    sqlx::query!("DELETE FROM live WHERE at < clock_timestamp() - interval '10 minutes'")
        .execute(db)
        .await?;
    Ok(())
}
