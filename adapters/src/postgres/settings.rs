//! What commands change at run time, shared by all replicas.

use deskhand_core::grant::Grant;
use sqlx::PgExecutor;

pub async fn get(db: impl PgExecutor<'_>, name: &str) -> sqlx::Result<Option<String>> {
    sqlx::query_scalar!("SELECT value FROM setting WHERE name = $1", name)
        .fetch_optional(db)
        .await
}

pub async fn set(db: impl PgExecutor<'_>, name: &str, value: &str, by: &str) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO setting (name, value, set_by) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value, set_by = EXCLUDED.set_by, set_at = clock_timestamp()",
        name,
        value,
        by,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Grants that are not revoked; whether one still holds at a time is core's to say.
pub async fn grants(db: impl PgExecutor<'_>) -> sqlx::Result<Vec<Grant>> {
    let rows = sqlx::query!(
        "SELECT id, tool, args, granted_by, until FROM standing_grant WHERE revoked_at IS NULL ORDER BY id"
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Grant {
            id: row.id,
            tool: row.tool,
            args: row.args.as_object().cloned().unwrap_or_default(),
            by: row.granted_by,
            until: row.until,
        })
        .collect())
}

/// False when there is no such grant, or it is revoked already.
pub async fn revoke_grant(db: impl PgExecutor<'_>, id: i64) -> sqlx::Result<bool> {
    let done = sqlx::query!(
        "UPDATE standing_grant SET revoked_at = clock_timestamp() WHERE id = $1 AND revoked_at IS NULL",
        id
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}
