//! Long texts that a run keeps whole while its model sees a part of them: outcomes, attachments.

use deskhand_core::id::{CallKey, RunId, TicketId};
use sqlx::PgExecutor;

/// The id under which the whole of a call's outcome is kept: the run's last twelve hex digits, and the call.
pub fn id(run: RunId, call: CallKey) -> String {
    let run = run.0.simple().to_string();
    format!("{}-{}-{}", &run[20..], call.step, call.index)
}

/// Keeps a text. The same call again keeps the newer one: its run was taken up after a crash.
pub async fn put(db: impl PgExecutor<'_>, id: &str, ticket: TicketId, run: RunId, text: &str) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO run_artifact (id, ticket_id, run_id, content) VALUES ($1, $2, $3, $4)
         ON CONFLICT ON CONSTRAINT run_artifact_id DO UPDATE SET content = EXCLUDED.content",
        id,
        ticket.0,
        run.0,
        text.replace('\0', "\u{fffd}"),
    )
    .execute(db)
    .await?;
    Ok(())
}

/// A text of this ticket; other tickets' are not found.
pub async fn get(db: impl PgExecutor<'_>, ticket: TicketId, id: &str) -> sqlx::Result<Option<String>> {
    sqlx::query_scalar!(
        "SELECT content FROM run_artifact WHERE ticket_id = $1 AND id = $2",
        ticket.0,
        id
    )
    .fetch_optional(db)
    .await
}
