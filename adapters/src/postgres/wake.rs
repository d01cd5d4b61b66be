//! LISTEN and NOTIFY: they only wake. Polling is what guarantees, so a lost notification costs a second, not a ticket.

use sqlx::PgPool;
use sqlx::postgres::PgListener;

/// The one channel: something became ready somewhere.
const CHANNEL: &str = "deskhand_ready";

/// Tells other processes, after the commit. Never inside a hot transaction: it would serialise the commits. `from` tells
/// the sender's own notification from those of others.
pub async fn notify(pool: &PgPool, from: &str) -> sqlx::Result<()> {
    sqlx::query!("SELECT pg_notify($1, $2)", CHANNEL, from)
        .execute(pool)
        .await?;
    Ok(())
}

/// Listens with a connection of its own, which reconnects by itself.
pub async fn listen(pool: &PgPool) -> sqlx::Result<Wakes> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    Ok(Wakes { listener })
}

pub struct Wakes {
    listener: PgListener,
}

impl Wakes {
    /// Returns when something may have become ready, with who says so; `None` when the connection was lost: then one
    /// must look.
    pub async fn next(&mut self) -> sqlx::Result<Option<String>> {
        let notification = self.listener.try_recv().await?;
        Ok(notification.map(|notification| notification.payload().to_owned()))
    }
}
