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
pub mod gateway;
pub mod helpers;
pub mod inbox;
pub mod learning;
pub mod ledger;
pub mod live;
pub mod lock;
pub mod mails;
pub mod outbox;
pub mod places;
pub mod posts;
pub mod roster;
pub mod runs;
pub mod search;
pub mod settings;
pub mod spend;
pub mod tickets;
pub mod wake;

use std::time::Duration;

use sqlx::postgres::PgPoolOptions;
use sqlx::{Connection, Executor};

/// The schema, forward only: see `migrations/README.md`.
pub static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../migrations");

/// A pool whose connections suit the bot's own statements, which all go by an index: each is planned once for whatever
/// values come, and never as a walk through a table, which a plan made while the table was empty would stay. So each
/// condition has a statement of its own: one with a choice of them would be planned as a walk through all rows. The
/// settings are made by a statement and not at the start of a connection, since poolers in between refuse the latter.
pub fn pool(most: u32) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(most)
        .test_before_acquire(false)
        .before_acquire(|connection, of| {
            Box::pin(async move { Ok(of.idle_for < QUIET || connection.ping().await.is_ok()) })
        })
        .after_connect(|connection, _| {
            Box::pin(async move {
                let settings = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off";
                connection.execute(settings).await?;
                Ok(())
            })
        })
}

/// A connection that was quiet for so long is asked whether it still lives before it is used.
const QUIET: Duration = Duration::from_secs(2);

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
