//! The store: everything Deskhand knows, in Postgres.

pub mod embedded;
