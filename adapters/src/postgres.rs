//! The store: everything that Deskhand knows, in Postgres.
//!
//! Functions take the connection or the transaction first. Every update of a run, an approval or an effect is guarded by
//! its state (and, for a run, by the attempt), so a late worker changes nothing. Locks are taken in one order everywhere:
//! ticket, run, approval, outbox. Clocks of replicas are never used: time is the database's own, or an argument in tests.

pub mod approvals;
pub mod articles;
pub mod embedded;
pub mod inbox;
pub mod ledger;
pub mod outbox;
pub mod places;
pub mod roster;
pub mod runs;
pub mod search;
pub mod settings;
pub mod tickets;
pub mod wake;

/// The schema, forward only: see `migrations/README.md`.
pub static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../migrations");
