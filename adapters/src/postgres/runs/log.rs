//! The steps of a run: appended by whoever holds the lease, read by anybody.

use chrono::{DateTime, Utc};
use deskhand_core::id::RunId;
use deskhand_core::step::{Step, StepKind};
use deskhand_core::transcript::Transcript;
use sqlx::PgExecutor;

use super::{Lease, LeaseLost};

/// Appends steps if the lease is still held: all of them or none. A step's number is unique within the run, so of two
/// workers that both believe to hold the lease at most one can append. The other learns that it lost it, and so does a
/// worker whose run was given an instruction meanwhile; [`holds`] tells the two apart. In a transaction nothing else can
/// be done after that.
pub async fn append(
    db: impl PgExecutor<'_>,
    lease: &Lease,
    first: i32,
    steps: Vec<StepKind>,
    at: Option<DateTime<Utc>>,
) -> sqlx::Result<Result<Vec<Step>, LeaseLost>> {
    let rows = sqlx::query!(
        r#"WITH held AS (SELECT id FROM run WHERE id = $1 AND state = 'running' AND attempt = $2)
           INSERT INTO step (run_id, seq, at, kind)
           SELECT held.id, $3 + s.n::integer - 1, coalesce($5, clock_timestamp()), s.kind
             FROM held, UNNEST($4::jsonb[]) WITH ORDINALITY AS s (kind, n)
           RETURNING seq, at"#,
        lease.run.0,
        lease.attempt,
        first,
        &values(&steps),
        at,
    )
    .fetch_all(db)
    .await;
    let rows = match rows {
        Err(error) if is_taken(&error) => return Ok(Err(LeaseLost)),
        rows => rows?,
    };
    if rows.len() != steps.len() {
        return Ok(Err(LeaseLost));
    }
    let mut appended: Vec<Step> = rows
        .into_iter()
        .zip(steps)
        .map(|(row, kind)| Step {
            seq: row.seq,
            at: row.at,
            kind,
        })
        .collect();
    appended.sort_by_key(|step| step.seq);
    Ok(Ok(appended))
}

pub(super) fn values(steps: &[StepKind]) -> Vec<serde_json::Value> {
    steps.iter().map(value).collect()
}

pub(in crate::postgres) fn value(step: &StepKind) -> serde_json::Value {
    no_nul(serde_json::to_value(step).unwrap_or_default())
}

/// jsonb knows no NUL.
fn no_nul(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::String(text) if text.contains('\0') => Value::String(text.replace('\0', "\u{fffd}")),
        Value::Array(items) => Value::Array(items.into_iter().map(no_nul).collect()),
        Value::Object(map) => Value::Object(
            map.into_iter()
                .map(|(key, value)| (key.replace('\0', "\u{fffd}"), no_nul(value)))
                .collect(),
        ),
        other => other,
    }
}

/// The steps of a run, in order. One that this binary does not know is left out, so that a transcript always loads.
pub async fn steps(db: impl PgExecutor<'_>, run: RunId, after: i32) -> sqlx::Result<Vec<Step>> {
    let rows = sqlx::query!(
        "SELECT seq, at, kind FROM step WHERE run_id = $1 AND seq > $2 ORDER BY seq",
        run.0,
        after
    )
    .fetch_all(db)
    .await?;
    let raw = rows.into_iter().map(|row| Raw {
        seq: row.seq,
        at: row.at,
        kind: row.kind,
    });
    Ok(raw.filter_map(Raw::known).collect())
}

/// A run's transcript, with those of the runs that it continues: as far back as the last summary, which holds what was
/// before it.
pub async fn transcript(db: impl PgExecutor<'_>, run: RunId) -> sqlx::Result<Transcript> {
    let rows = sqlx::query_file!("src/postgres/sql/read_transcript.sql", run.0)
        .fetch_all(db)
        .await?;
    let mut runs: Vec<(i32, Vec<Step>)> = Vec::new();
    for row in rows {
        let raw = Raw {
            seq: row.seq,
            at: row.at,
            kind: row.kind,
        };
        let Some(step) = raw.known() else { continue };
        match runs.last_mut() {
            Some((depth, steps)) if *depth == row.depth => steps.push(step),
            _ => runs.push((row.depth, vec![step])),
        }
    }
    let (own, earlier): (Vec<_>, Vec<_>) = runs.into_iter().partition(|(depth, _)| *depth == 0);
    let mut whole: Option<Transcript> = None;
    for (_, steps) in earlier.into_iter().rev() {
        let transcript = Transcript::new(steps);
        whole = Some(match whole {
            Some(before) => transcript.continuing(before),
            None => transcript,
        });
    }
    let own = Transcript::new(own.into_iter().flat_map(|(_, steps)| steps).collect());
    Ok(match whole {
        Some(before) => own.continuing(before),
        None => own,
    })
}

/// A step as the table has it.
#[derive(Debug, serde::Deserialize)]
pub(in crate::postgres) struct Raw {
    seq: i32,
    at: DateTime<Utc>,
    kind: serde_json::Value,
}

impl Raw {
    /// `None` for a kind that this binary does not know.
    pub(in crate::postgres) fn known(self) -> Option<Step> {
        let kind = serde_json::from_value(self.kind).ok()?;
        Some(Step {
            seq: self.seq,
            at: self.at,
            kind,
        })
    }
}

/// Somebody else has written a step of this number.
pub(super) fn is_taken(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.constraint()) == Some("step_seq")
}
