//! What only one process of all may do at a time: an advisory lock, held by a connection of its own.
//!
//! The lock ends with its connection. The server hangs up on a holder that has been silent for some seconds, because its
//! process was stopped or its machine is gone, so that another one may begin. A pooler that lends one connection to many in
//! turn (PgBouncer's transaction mode) breaks this: the lock then is nobody's.

use std::time::Duration;

use sqlx::{Connection, PgConnection, PgPool};

/// So often the holder says that it is there.
pub const BEAT: Duration = Duration::from_secs(2);
/// For so long its server may leave it without an answer.
const PATIENCE: Duration = Duration::from_secs(4);

/// A lock that is held until this is dropped, or its connection breaks.
pub struct Held {
    connection: PgConnection,
    key: i64,
}

/// Takes the lock; `None` where another process has it.
pub async fn take(pool: &PgPool, key: i64) -> sqlx::Result<Option<Held>> {
    let mut connection = PgConnection::connect_with(&pool.connect_options()).await?;
    // Longer than a beat and its patience, so that the holder is the first to know.
    sqlx::query!("SELECT set_config('idle_session_timeout', '8s', false)")
        .fetch_one(&mut connection)
        .await?;
    let ours = sqlx::query_scalar!(r#"SELECT pg_try_advisory_lock($1) AS "ours!""#, key)
        .fetch_one(&mut connection)
        .await?;
    Ok(ours.then_some(Held { connection, key }))
}

impl Held {
    /// Comes back when the lock is no longer certain.
    pub async fn lost(&mut self) {
        loop {
            tokio::time::sleep(BEAT).await;
            match tokio::time::timeout(PATIENCE, self.is_held()).await {
                Ok(Ok(true)) => {}
                Ok(Ok(false) | Err(_)) | Err(_) => return,
            }
        }
    }

    async fn is_held(&mut self) -> sqlx::Result<bool> {
        sqlx::query_scalar!(
            r#"SELECT EXISTS (
                   SELECT FROM pg_locks
                   WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid() AND objsubid = 1
                     AND (classid::bigint << 32) | objid::bigint = $1
               ) AS "held!""#,
            self.key
        )
        .fetch_one(&mut self.connection)
        .await
    }

    /// Lets another process have it at once.
    pub async fn release(self) {
        let _ = self.connection.close().await;
    }
}
