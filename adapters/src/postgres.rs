//! The store: everything that Deskhand knows, in Postgres.
//!
//! Functions take the connection or the transaction first. Every update of a run, an approval or an effect is guarded by
//! its state (and, for a run, by the attempt), so a late worker changes nothing. Locks are taken in one order everywhere:
//! ticket, run, approval, outbox. Clocks of replicas are never used: time is the database's own, or an argument in tests.

pub mod embedded;

/// The schema, forward only: see `migrations/README.md`.
pub static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../migrations");
