//! Claiming: rows of the queue are deleted, and their runs get a lease, in one statement.

use chrono::{DateTime, Utc};
use deskhand_core::id::{RunId, TicketId};
use deskhand_core::ticket::Mode;
use sqlx::PgPool;

use super::Lease;

/// The priorities of runs, the first served first: urgent, high, everything else.
pub const LEVELS: [i16; 3] = [2, 1, 0];

/// One number of the queue for each of [`LEVELS`].
pub type Levels = [i64; 3];

#[derive(Clone, Debug, Default)]
pub struct Claimed {
    pub leases: Vec<Lease>,
    /// The lowest number that was taken at each level; `None` where none was.
    pub lowest: [Option<i64>; 3],
}

/// Claims up to `most` runs, each with a lease of `seconds`. `above` is a low-water mark on the queue's numbers: rows at
/// or below it were gone at the last look and are not visited again, which keeps a claim cheap while dead rows pile up
/// behind an old snapshot.
pub async fn claim(
    pool: &PgPool,
    owner: &str,
    most: i64,
    seconds: f64,
    above: &Levels,
    at: Option<DateTime<Utc>>,
) -> sqlx::Result<Claimed> {
    let rows = sqlx::query_file!(
        "src/postgres/sql/claim_runs.sql",
        owner,
        most,
        seconds,
        &LEVELS as &[i16],
        above as &[i64],
        at
    )
    .fetch_all(pool)
    .await?;
    let mut claimed = Claimed::default();
    for row in rows {
        if let Some(level) = LEVELS.iter().position(|level| *level == row.priority) {
            let lowest = claimed.lowest[level].get_or_insert(row.ready_seq);
            *lowest = row.ready_seq.min(*lowest);
        }
        claimed.leases.push(Lease {
            run: RunId(row.id),
            ticket: TicketId(row.ticket_id),
            attempt: row.attempt,
            mode: row.mode.parse().unwrap_or(Mode::Shadow),
            failures: row.failures,
            if_news: row.if_news,
            helper: row.helper,
        });
    }
    Ok(claimed)
}

/// Who leases a run without a way through the queue, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Taker<'a> {
    pub owner: &'a str,
    pub seconds: f64,
}
