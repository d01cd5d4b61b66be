//! The runner: claims runs, and pursues each until it yields. It holds no state that is not in the database: killed at any
//! point, another runner goes on from the last step.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deskhand_adapters::postgres::runs::{self, Claimed, Lease, Levels};
use deskhand_core::retry::{self, RetryPolicy};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::commit;
use super::control::{Hand, Reins};
use crate::app::App;

mod crew;
mod mark;
mod pursuit;

use crew::Crew;
pub use crew::{Seat, Seats};
pub use mark::Mark;
pub use pursuit::pursue;

/// How often a run may fail, or lose its runner, in a row before it fails for good.
pub(super) const GIVE_UP: i32 = 8;
/// How many rows of the queue are looked at together for runs that have nothing to do.
const SWEEP: i64 = 500;
/// How long another replica's choice of a model may go unheard.
const LEARN: Duration = Duration::from_secs(2);

/// How a pursuit left its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    Waiting,
    Finished,
    /// Back in the queue, for later.
    PutBack,
    LeaseLost,
}

/// Claims what is ready, up to the runners' number, and works it to its next yield. Gives how many runs that were.
pub async fn tick(app: &App) -> anyhow::Result<usize> {
    app.learn_choices().await?;
    let most = i64::try_from(app.config.runners).unwrap_or(1);
    let lease = app.config.limits.lease.as_secs_f64();
    let claimed = runs::claim(&app.pool, "tick", most, lease, &[0; 3], app.clock.moved()).await?;
    let count = claimed.leases.len();
    let leases = end_idle(app, claimed.leases).await?;
    let hand = Hand::default();
    // Sets, so that whoever gives up on the tick takes its work with it.
    let (mut at_work, mut listening) = (JoinSet::new(), JoinSet::new());
    for lease in leases {
        let (app, (reins, _)) = (app.clone(), hand.take(&lease));
        at_work.spawn(async move { pursue_and_log(&app, &lease, reins).await });
    }
    listening.spawn(hand.listen(app.clone()));
    while at_work.join_next().await.is_some() {}
    Ok(count)
}

/// Ends runs that were queued only to look and have nothing to do, all at once; gives the others.
async fn end_idle(app: &App, mut leases: Vec<Lease>) -> sqlx::Result<Vec<Lease>> {
    let ended = runs::finish_idle(&app.pool, &leases).await?;
    leases.retain(|lease| !ended.contains(&lease.run));
    Ok(leases)
}

/// Where one run had nothing to do, the queue is looked through for more of them: they come in crowds.
async fn sweep_idle(app: &App, above: Levels) {
    for (priority, above) in runs::LEVELS.into_iter().zip(above) {
        if let Err(error) = runs::sweep_idle(&app.pool, priority, above, SWEEP, app.clock.moved()).await {
            tracing::warn!(%error, "idle runs could not be ended");
        }
    }
}

/// Works until it is cancelled; runs at work are then put back by their leases.
pub async fn work(app: App, cancel: CancellationToken) {
    let crew = Crew::new(app.config.runners);
    let lease_seconds = app.config.limits.lease.as_secs_f64();
    crew.tasks.spawn(crew.hand.clone().renew(app.clone(), cancel.clone()));
    let listening = tokio::spawn(crew.hand.clone().listen(app.clone()));
    // From here on a run that a click resumes is handed over at once, while there is a slot for it.
    app.seats.open(Arc::clone(&crew));
    let mut mark = Mark::default();
    let mut learned: Option<Instant> = None;
    while !cancel.is_cancelled() {
        if learned.is_none_or(|at| at.elapsed() > LEARN) {
            learned = Some(Instant::now());
            if let Err(error) = app.learn_choices().await {
                tracing::warn!(%error, "the chosen model could not be read; trying again");
            }
        }
        // Interest is registered before looking, so that nothing that becomes ready in between is missed.
        let woken = app.runs_ready.notified();
        let slots = crew.free_slots();
        let free = i64::try_from(slots.len()).unwrap_or(1);
        let claimed = if slots.is_empty() {
            Ok(Claimed::default())
        } else {
            let above = mark.above();
            runs::claim(&app.pool, &crew.owner, free, lease_seconds, &above, app.clock.moved()).await
        };
        let claimed = match claimed {
            Ok(claimed) => claimed,
            Err(error) => {
                tracing::warn!(%error, "runs could not be claimed; trying again");
                tokio::time::sleep(Duration::from_secs(1)).await;
                Claimed::default()
            }
        };
        let idle = claimed.leases.is_empty();
        mark.saw(&claimed.lowest, idle);
        let leases = match end_idle(&app, claimed.leases.clone()).await {
            Ok(leases) => leases,
            // Each looks again by itself, and fails by itself.
            Err(error) => {
                tracing::warn!(%error, "idle runs could not be ended");
                claimed.leases.clone()
            }
        };
        if leases.len() < claimed.leases.len() {
            sweep_idle(&app, mark.above()).await;
        }
        for (lease, slot) in leases.into_iter().zip(slots) {
            crew.start(&app, lease, slot);
        }
        if idle {
            tokio::select! {
                () = woken => {}
                () = tokio::time::sleep(Duration::from_secs(1)) => {}
                () = cancel.cancelled() => {}
            }
        }
    }
    app.seats.close();
    crew.hand.let_go_of_all();
    crew.tasks.close();
    crew.tasks.wait().await;
    listening.abort();
}

async fn pursue_and_log(app: &App, lease: &Lease, reins: Reins) {
    match pursue(app, lease, reins).await {
        Ok(left) => tracing::debug!(run.id = %lease.run, ticket = %lease.ticket, ?left, "run left"),
        Err(error) => {
            tracing::error!(run.id = %lease.run, ticket = %lease.ticket, error = format!("{error:#}"), "run failed");
            let delay = backoff(lease.failures, None, &RetryPolicy::MODEL);
            let why = "an internal error; see the log";
            let at = app.clock.moved();
            match runs::put_back(&app.pool, lease, why, delay.as_secs_f64(), GIVE_UP, at).await {
                Ok(Ok(true)) => commit::gave_up(app, lease, why).await,
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "a failed run could not be put back; its lease will run out"),
            }
        }
    }
    app.live.stir(lease.run);
    app.effects_ready.notify_one();
}

pub(super) fn backoff(failures: i32, retry_after: Option<Duration>, policy: &RetryPolicy) -> Duration {
    let attempt = u32::try_from(failures).unwrap_or(0) + 1;
    retry::delay(attempt, fraction(), retry_after, policy).unwrap_or(policy.cap)
}

/// Jitter: an even fraction from 0 to 1.
pub(super) fn fraction() -> f64 {
    f64::from(u16::from_le_bytes(
        uuid::Uuid::new_v4().as_bytes()[..2].try_into().unwrap_or([0, 0]),
    )) / 65_535.0
}
