//! How far Discord's gateway was heard.

use sqlx::PgExecutor;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    pub session: String,
    pub url: String,
    pub seq: i64,
    /// Discord's id of the newest message that was dealt with.
    pub newest: i64,
}

pub async fn heard(db: impl PgExecutor<'_>, name: &str) -> sqlx::Result<Option<Heard>> {
    sqlx::query_as!(
        Heard,
        "SELECT session, url, seq, newest FROM gateway WHERE name = $1",
        name
    )
    .fetch_optional(db)
    .await
}

/// A new session took the place of the old one, and what was missed between them was dealt with.
pub async fn begin(db: impl PgExecutor<'_>, name: &str, heard: &Heard) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO gateway (name, session, url, seq, newest) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT ON CONSTRAINT gateway_name DO UPDATE
         SET session = EXCLUDED.session, url = EXCLUDED.url, seq = EXCLUDED.seq,
             newest = greatest(gateway.newest, EXCLUDED.newest), updated_at = clock_timestamp()",
        name,
        heard.session,
        heard.url,
        heard.seq,
        heard.newest,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The session was heard further. Whoever still speaks of an older session changes nothing.
pub async fn advance_in_session(db: impl PgExecutor<'_>, name: &str, heard: &Heard) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE gateway
         SET seq = greatest(seq, $3), newest = greatest(newest, $4), updated_at = clock_timestamp()
         WHERE name = $1 AND session = $2",
        name,
        heard.session,
        heard.seq,
        heard.newest,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Outside ids of the newest tickets from Discord that are not solved: `<channel>/<message>`.
pub async fn open_talks(db: impl PgExecutor<'_>, most: i64) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar!(
        r#"SELECT outside_id AS "id!" FROM ticket
           WHERE source = 'discord' AND outside_id IS NOT NULL AND state <> 'solved'
           ORDER BY id DESC LIMIT $1"#,
        most
    )
    .fetch_all(db)
    .await
}
