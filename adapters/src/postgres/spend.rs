//! What model requests cost: a row for each that cost anything, so that nothing is updated and a day can be summed.

use chrono::{DateTime, Utc};
use deskhand_core::budget::Spent;
use deskhand_core::id::{RunId, TicketId};
use deskhand_core::model::Usage;
use sqlx::PgExecutor;

/// One request that was answered.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    pub ticket: TicketId,
    pub run: RunId,
    pub model: &'a str,
    pub usage: Usage,
    /// Millionths of the price table's currency.
    pub micros: u64,
}

/// Writes a line, unless there is nothing to write: the offline model uses no tokens. It is not waited for until it is on
/// the disk: a server that loses its power loses the costs of its last moment, and nothing that depends on them.
pub async fn add(db: impl PgExecutor<'_>, line: &Line<'_>, at: Option<DateTime<Utc>>) -> sqlx::Result<()> {
    if line.usage.total() == 0 {
        return Ok(());
    }
    let whole = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    sqlx::query!(
        "WITH soon AS (SELECT set_config('synchronous_commit', 'off', true))
         INSERT INTO spend (at, ticket_id, run_id, model, input, output, cache_read, cache_write, micros)
         SELECT coalesce($1, clock_timestamp()), $2, $3, $4, $5, $6, $7, $8, $9 FROM soon",
        at,
        line.ticket.0,
        line.run.0,
        line.model,
        whole(line.usage.input),
        whole(line.usage.output),
        whole(line.usage.cache_read),
        whole(line.usage.cache_write),
        whole(line.micros),
    )
    .execute(db)
    .await?;
    Ok(())
}

/// What was spent since a moment by all runs.
pub async fn since(db: impl PgExecutor<'_>, from: DateTime<Utc>) -> sqlx::Result<Spent> {
    let row = sqlx::query!(
        r#"SELECT coalesce(sum(input + output + cache_read + cache_write), 0)::bigint AS "tokens!",
                  coalesce(sum(micros), 0)::bigint AS "micros!"
             FROM spend WHERE at >= $1"#,
        from
    )
    .fetch_one(db)
    .await?;
    Ok(spent(row.tokens, row.micros))
}

/// What was spent on a ticket, by all its runs.
pub async fn on_ticket(db: impl PgExecutor<'_>, ticket: TicketId) -> sqlx::Result<Spent> {
    let row = sqlx::query!(
        r#"SELECT coalesce(sum(input + output + cache_read + cache_write), 0)::bigint AS "tokens!",
                  coalesce(sum(micros), 0)::bigint AS "micros!"
             FROM spend WHERE ticket_id = $1"#,
        ticket.0
    )
    .fetch_one(db)
    .await?;
    Ok(spent(row.tokens, row.micros))
}

fn spent(tokens: i64, micros: i64) -> Spent {
    Spent {
        tokens: tokens.try_into().unwrap_or(0),
        micros: micros.try_into().unwrap_or(0),
    }
}
