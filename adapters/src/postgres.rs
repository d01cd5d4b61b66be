//! The store: everything that Deskhand knows, in Postgres.
//!
//! Functions take the connection or the transaction first. Every update of a run, an approval or an effect is guarded by
//! its state (and, for a run, by the attempt), so a late worker changes nothing. Locks are taken in one order everywhere:
//! ticket, run, approval, outbox. Clocks of replicas are never used: time is the database's own, or an argument in tests.

pub mod approvals;
pub mod articles;
pub mod artifacts;
pub mod embedded;
pub mod facts;
pub mod inbox;
pub mod learning;
pub mod ledger;
pub mod live;
pub mod outbox;
pub mod places;
pub mod roster;
pub mod runs;
pub mod search;
pub mod settings;
pub mod spend;
pub mod tickets;
pub mod wake;

/// The schema, forward only: see `migrations/README.md`.
pub static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../migrations");

/// Forgets everything: for the demo's own embedded database only.
pub async fn empty(pool: &sqlx::PgPool) -> sqlx::Result<()> {
    let mut tx = pool.begin().await?;
    sqlx::query("DROP SCHEMA public CASCADE").execute(&mut *tx).await?;
    sqlx::query("CREATE SCHEMA public").execute(&mut *tx).await?;
    tx.commit().await?;
    // Prepared statements of this pool's connections name tables that are gone.
    for _ in 0..pool.size() {
        if let Some(connection) = pool.try_acquire() {
            connection.close().await?;
        }
    }
    Ok(())
}
