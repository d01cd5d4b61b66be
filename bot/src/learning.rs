//! The offline model's schooling: one replica learns from the decided tickets, and all go by what it learned.
//!
//! The artifact in the store is the truth. Who finds a newer one takes it up at once, without a restart; a reply under
//! way finishes with the old one.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chrono::TimeDelta;
use deskhand_adapters::postgres::learning::{self, Artifact, New, Row};
use deskhand_core::digest;
use deskhand_core::offline::{Category, Decided, Learned};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::outside::categories;

/// The first lesson needs so many decisions; each further one a fiftieth of what is known, five at least.
pub const FIRST: i64 = 10;
/// Training takes seconds of a core, so it is not done more often.
const AT_MOST_EVERY: TimeDelta = TimeDelta::minutes(10);
/// Older tickets than these are forgotten.
const MOST: i64 = 20_000;
const LOOK_EVERY: Duration = Duration::from_secs(5);
const TEACH_EVERY: Duration = Duration::from_secs(60);

/// Learns when it is due, on one replica among all. True when there is a new artifact.
pub async fn learn(app: &App) -> anyhow::Result<bool> {
    let categories = categories(&app.config);
    // What another version of the program learned may not be read by this one: it counts as another house.
    let house = digest::of(&(env!("CARGO_PKG_VERSION"), &categories));
    let newest = learning::newest(&app.pool).await?;
    if !is_due(app, newest.as_ref(), &house).await? {
        return Ok(false);
    }
    let mut tx = app.pool.begin().await?;
    if !learning::only_learner(&mut tx).await? {
        return Ok(false);
    }
    // Another replica may have finished just before the lock was had.
    let newest = learning::newest(&mut *tx).await?;
    let rows = learning::decided(&mut *tx, MOST).await?;
    let input = input_digest(&house, &rows);
    if let Some(newest) = newest.filter(|newest| newest.input == input) {
        learning::still_good(&mut tx, newest.version, app.clock.moved()).await?;
        tx.commit().await?;
        return Ok(false);
    }
    let corrections = i64::try_from(rows.iter().filter(|row| row.corrected).count())?;
    // Seconds of work: not on a thread that serves others.
    let trained = tokio::task::spawn_blocking(move || train(&categories, rows)).await??;
    let Some((learned, bytes)) = trained else {
        return Ok(false);
    };
    let new = New {
        house: &house,
        input: &input,
        tickets: i64::try_from(learned.decided())?,
        corrections,
        bytes: &bytes,
    };
    let version = learning::put(&mut tx, &new, app.clock.moved()).await?;
    tx.commit().await?;
    tracing::info!(
        artifact = version,
        tickets = new.tickets,
        corrections,
        "learned from decided tickets"
    );
    hand_out(app, version, learned);
    Ok(true)
}

async fn is_due(app: &App, newest: Option<&Artifact>, house: &str) -> sqlx::Result<bool> {
    let Some(newest) = newest else {
        return Ok(learning::news(&app.pool, None).await? >= FIRST);
    };
    if app.clock.now() - newest.checked_at < AT_MOST_EVERY {
        return Ok(false);
    }
    let enough = (newest.tickets / 50).max(5);
    Ok(newest.house != house || learning::news(&app.pool, Some(newest.checked_at)).await? >= enough)
}

fn input_digest(house: &str, rows: &[Row]) -> String {
    let lines: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row.ticket.0,
                &row.subject,
                &row.body,
                &row.category,
                row.corrected,
                row.weight > 0.5,
            )
        })
        .collect();
    digest::of(&(house, lines))
}

fn train(categories: &[Category], rows: Vec<Row>) -> anyhow::Result<Option<(Learned, Vec<u8>)>> {
    let decided: Vec<Decided> = rows
        .into_iter()
        .map(|row| Decided {
            subject: row.subject,
            body: row.body,
            category: row.category,
            weight: row.weight,
        })
        .collect();
    let Some(learned) = Learned::train(categories, &decided) else {
        return Ok(None);
    };
    let bytes = serde_json::to_vec(&learned)?;
    Ok(Some((learned, bytes)))
}

/// Goes by the newest artifact if it is not known yet. True when it was new.
pub async fn take_up(app: &App) -> anyhow::Result<bool> {
    let Some(version) = learning::newest_version(&app.pool).await? else {
        return Ok(false);
    };
    if app.learned.load(Ordering::Relaxed) == version {
        return Ok(false);
    }
    let Some(bytes) = learning::bytes(&app.pool, version).await? else {
        return Ok(false);
    };
    let read = tokio::task::spawn_blocking(move || serde_json::from_slice::<Learned>(&bytes)).await?;
    match read {
        Ok(learned) => hand_out(app, version, learned),
        Err(error) => {
            // An artifact of another version of the program: the next lesson replaces it.
            app.learned.store(version, Ordering::Relaxed);
            tracing::warn!(%error, artifact = version, "what was learned cannot be read; going on without");
        }
    }
    Ok(true)
}

fn hand_out(app: &App, version: i64, learned: Learned) {
    let learned = Arc::new(learned);
    for model in app.models.in_order() {
        model.takes_up(&learned);
    }
    app.learned.store(version, Ordering::Relaxed);
}

/// Learns whenever it is due, until it is cancelled. Beside the sweeper, which must not wait for the seconds that it takes.
pub async fn teach(app: App, cancel: CancellationToken) {
    while !cancel.is_cancelled() {
        if let Err(error) = learn(&app).await {
            tracing::warn!(error = format!("{error:#}"), "nothing could be learned; trying again");
        }
        tokio::select! {
            () = tokio::time::sleep(TEACH_EVERY) => {}
            () = cancel.cancelled() => {}
        }
    }
}

/// Looks for a newer artifact every few seconds, until it is cancelled.
pub async fn follow(app: App, cancel: CancellationToken) {
    while !cancel.is_cancelled() {
        if let Err(error) = take_up(&app).await {
            tracing::warn!(
                error = format!("{error:#}"),
                "what was learned could not be read; trying again"
            );
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = cancel.cancelled() => {}
        }
    }
}

/// For people: from how many tickets it learned, and when.
pub async fn told(app: &App) -> sqlx::Result<String> {
    Ok(match learning::newest(&app.pool).await? {
        Some(newest) => format!(
            "learned from {} decided tickets, {} of them corrected by people, on {}",
            newest.tickets,
            newest.corrections,
            newest.built_at.format("%F %H:%M UTC")
        ),
        None => format!(
            "nothing learned yet: {} of the {FIRST} decisions that the first lesson needs",
            learning::news(&app.pool, None).await?.min(FIRST)
        ),
    })
}
