//! The harness: the bot in process, a throw-away Postgres, fakes of the outside.

pub mod db;
pub mod fake;
