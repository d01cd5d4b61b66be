//! The runner: claims runs, and does what `next` says until it yields. It holds no state that is not in the database:
//! killed at any point, another runner goes on from the last step.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use deskhand_adapters::postgres::runs::{self, Lease, LeaseLost};
use deskhand_adapters::postgres::tickets;
use deskhand_core::id::RunId;
use deskhand_core::model::ModelRequest;
use deskhand_core::next::{Next, next};
use deskhand_core::port::{ModelError, PortError};
use deskhand_core::retry::{self, RetryPolicy};
use deskhand_core::step::StepKind;
use deskhand_core::transcript::Transcript;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{commit, facts, perform};
use crate::app::App;

/// How often a run may fail in a row before the fallback takes over, and then before it fails for good.
const PATIENCE: i32 = 4;
const GIVE_UP: i32 = 8;

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
    let most = i64::try_from(app.config.runners).unwrap_or(1);
    let lease = app.config.limits.lease.as_secs_f64();
    let (leases, _) = runs::claim(&app.pool, "tick", most, lease, 0, app.clock.moved()).await?;
    let count = leases.len();
    // A set, so that whoever gives up on the tick takes its work with it.
    let mut at_work = JoinSet::new();
    for lease in leases {
        let app = app.clone();
        at_work.spawn(async move { pursue_and_log(&app, &lease).await });
    }
    while at_work.join_next().await.is_some() {}
    Ok(count)
}

/// Leases of this process, renewed together.
type Held = Arc<Mutex<HashMap<RunId, (Lease, CancellationToken)>>>;

/// Works until it is cancelled; runs at work are then put back by their leases.
pub async fn work(app: App, cancel: CancellationToken) {
    let owner = uuid::Uuid::now_v7().to_string();
    let lease_seconds = app.config.limits.lease.as_secs_f64();
    let slots = Arc::new(Semaphore::new(app.config.runners));
    let held: Held = Held::default();
    let tracker = TaskTracker::new();
    tracker.spawn(renew(app.clone(), Arc::clone(&held), cancel.clone()));
    let mut mark = Mark::default();
    while !cancel.is_cancelled() {
        // Interest is registered before looking, so that nothing that becomes ready in between is missed.
        let woken = app.runs_ready.notified();
        let free = i64::try_from(slots.available_permits()).unwrap_or(1);
        let claimed = if free == 0 {
            Ok((Vec::new(), None))
        } else {
            runs::claim(&app.pool, &owner, free, lease_seconds, mark.above(), app.clock.moved()).await
        };
        let leases = match claimed {
            Ok((leases, lowest)) => {
                mark.saw(lowest, leases.is_empty());
                leases
            }
            Err(error) => {
                tracing::warn!(%error, "runs could not be claimed; trying again");
                tokio::time::sleep(Duration::from_secs(1)).await;
                Vec::new()
            }
        };
        let idle = leases.is_empty();
        for lease in leases {
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
                break;
            };
            let (app, held, stop) = (app.clone(), Arc::clone(&held), cancel.child_token());
            held.lock().await.insert(lease.run, (lease.clone(), stop.clone()));
            tracker.spawn(async move {
                app.at_work.fetch_add(1, Ordering::Relaxed);
                tokio::select! {
                    () = pursue_and_log(&app, &lease) => {}
                    // The lease is gone or the process ends: what was not appended never happened.
                    () = stop.cancelled() => {}
                }
                held.lock().await.remove(&lease.run);
                app.at_work.fetch_sub(1, Ordering::Relaxed);
                drop(slot);
                app.runs_ready.notify_one();
            });
        }
        if idle {
            tokio::select! {
                () = woken => {}
                () = tokio::time::sleep(Duration::from_secs(1)) => {}
                () = cancel.cancelled() => {}
            }
        }
    }
    tracker.close();
    tracker.wait().await;
}

/// The low-water mark on the queue's numbers, with a margin for transactions that commit late, forgotten every few
/// seconds so that nothing is passed over for long.
#[derive(Debug, Default)]
struct Mark {
    lowest: i64,
    since: Option<std::time::Instant>,
}

impl Mark {
    const MARGIN: i64 = 1_000;
    const FORGET: Duration = Duration::from_secs(3);

    fn above(&mut self) -> i64 {
        if self.since.is_none_or(|since| since.elapsed() > Self::FORGET) {
            self.lowest = 0;
            self.since = Some(std::time::Instant::now());
        }
        (self.lowest - Self::MARGIN).max(0)
    }

    fn saw(&mut self, lowest: Option<i64>, empty: bool) {
        match lowest {
            Some(lowest) => self.lowest = self.lowest.max(lowest),
            None if empty => self.lowest = 0,
            None => {}
        }
    }
}

async fn renew(app: App, held: Held, cancel: CancellationToken) {
    let every = app.config.limits.lease / 3;
    loop {
        tokio::select! {
            () = tokio::time::sleep(every) => {}
            () = cancel.cancelled() => return,
        }
        let leases: Vec<Lease> = held.lock().await.values().map(|(lease, _)| lease.clone()).collect();
        if leases.is_empty() {
            continue;
        }
        match runs::renew(&app.pool, &leases, app.config.limits.lease.as_secs_f64()).await {
            Ok(kept) => {
                let held = held.lock().await;
                for lease in leases.iter().filter(|lease| !kept.contains(&lease.run)) {
                    if let Some((_, stop)) = held.get(&lease.run).filter(|(now, _)| now == lease) {
                        stop.cancel();
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "leases could not be renewed; trying again"),
        }
    }
}

async fn pursue_and_log(app: &App, lease: &Lease) {
    match pursue(app, lease).await {
        Ok(left) => tracing::debug!(run.id = %lease.run, ticket = %lease.ticket, ?left, "run left"),
        Err(error) => {
            tracing::error!(run.id = %lease.run, ticket = %lease.ticket, error = format!("{error:#}"), "run failed");
            let delay = backoff(lease.failures, None, &RetryPolicy::MODEL);
            let why = "an internal error; see the log";
            let at = app.clock.moved();
            match runs::put_back(&app.pool, lease, why, delay.as_secs_f64(), GIVE_UP, at).await {
                Ok(Ok(true)) => commit::failed(app, lease.ticket, why).await,
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "a failed run could not be put back; its lease will run out"),
            }
        }
    }
    app.wake();
}

fn backoff(failures: i32, retry_after: Option<Duration>, policy: &RetryPolicy) -> Duration {
    let attempt = u32::try_from(failures).unwrap_or(0) + 1;
    retry::delay(attempt, fraction(), retry_after, policy).unwrap_or(policy.cap)
}

/// Jitter: an even fraction from 0 to 1.
pub(super) fn fraction() -> f64 {
    f64::from(u16::from_le_bytes(
        uuid::Uuid::new_v4().as_bytes()[..2].try_into().unwrap_or([0, 0]),
    )) / 65_535.0
}

/// Does what `next` says until the run yields.
pub async fn pursue(app: &App, lease: &Lease) -> anyhow::Result<Left> {
    let mut lease = lease.clone();
    if let Some(left) = read_from_desk(app, &mut lease).await? {
        return Ok(left);
    }
    let lease = &lease;
    if runs::has_no_news(&app.pool, lease.run).await? {
        return Ok(match commit::finish_idle(app, lease).await? {
            commit::Done::Yes | commit::Done::Moved => Left::Finished,
            commit::Done::Lost => Left::LeaseLost,
        });
    }
    let mut transcript = Transcript::new(runs::steps(&app.pool, lease.run, 0).await?);
    loop {
        let facts = facts::read(app, lease.into(), &transcript).await?;
        let done = match next(&transcript, &facts) {
            Next::AskModel(request) => match ask(app, lease, &request).await? {
                Asked::Steps(steps) => commit::append(app, lease, &mut transcript, steps).await?,
                Asked::Later(left) => return Ok(left),
            },
            Next::Look(looks) => {
                let steps = perform::looks(app, &facts, &looks).await;
                commit::append(app, lease, &mut transcript, steps).await?
            }
            Next::Record(record) => commit::record(app, lease, &mut transcript, record).await?,
            Next::Wait(wait) => match commit::wait(app, lease, &transcript, &facts, wait).await? {
                commit::Done::Yes => return Ok(Left::Waiting),
                other => other,
            },
            Next::Send(sending) => commit::send(app, lease, &mut transcript, &facts, sending).await?,
            Next::Finish(finish) => match commit::finish(app, lease, &transcript, &facts, finish).await? {
                commit::Done::Yes => return Ok(Left::Finished),
                other => other,
            },
        };
        match done {
            commit::Done::Yes => {}
            // Something was said or changed meanwhile, an instruction for one: all is read again.
            commit::Done::Moved => transcript = Transcript::new(runs::steps(&app.pool, lease.run, 0).await?),
            commit::Done::Lost => return Ok(Left::LeaseLost),
        }
    }
}

/// A payload named the ticket but not enough of it: the desk is read before the model is asked.
async fn read_from_desk(app: &App, lease: &mut Lease) -> anyhow::Result<Option<Left>> {
    let Some(whole) = tickets::get(&app.pool, lease.ticket).await? else {
        return Ok(Some(Left::LeaseLost));
    };
    if !whole.needs_read {
        return Ok(None);
    }
    let Some(desk) = app.desks.get(&whole.ticket.outside.source) else {
        return Ok(None);
    };
    match desk.read(&whole.ticket.outside.id).await {
        Ok(present) => {
            tickets::read_from_desk(&app.pool, lease.ticket, &present, app.intake().await?).await?;
            // The desk's trouble must not use up the patience with the model.
            if lease.failures > 0 {
                runs::reset_failures(&app.pool, lease).await?;
                lease.failures = 0;
            }
            Ok(None)
        }
        Err(PortError::Gone { why }) => {
            tracing::warn!(ticket = %lease.ticket, %why, "the desk does not know the ticket");
            commit::end_without_ticket(app, lease, &why).await?;
            Ok(Some(Left::Finished))
        }
        Err(error) => {
            let retry_after = match &error {
                PortError::Transient { retry_after, .. } => *retry_after,
                _ => None,
            };
            // As patient as a delivery: a desk that is down for an hour must not cost its tickets their runs.
            let policy = RetryPolicy::DELIVERY;
            let delay = backoff(lease.failures, retry_after, &policy);
            let why = format!("the desk could not be read: {error}");
            let most = i32::try_from(policy.attempts).unwrap_or(i32::MAX);
            let back = runs::put_back(&app.pool, lease, &why, delay.as_secs_f64(), most, app.clock.moved()).await?;
            if back == Ok(true) {
                commit::failed(app, lease.ticket, &why).await;
            }
            Ok(Some(Left::PutBack))
        }
    }
}

enum Asked {
    Steps(Vec<StepKind>),
    Later(Left),
}

/// Asks the model. A failure that may pass puts the run back for later; after the last attempt, and at once for one that
/// will not pass, the fallback takes over and the ticket says so.
async fn ask(app: &App, lease: &Lease, request: &ModelRequest) -> anyhow::Result<Asked> {
    let model = &app.model;
    let error = match model.reply(request, &mut ()).await {
        Ok(reply) => {
            if lease.failures > 0 {
                runs::reset_failures(&app.pool, lease).await?;
            }
            let step = StepKind::Replied {
                model: model.name().to_owned(),
                reply: Box::new(reply),
            };
            return Ok(Asked::Steps(vec![step]));
        }
        Err(error) => error,
    };
    let passing = match &error {
        ModelError::Transient { retry_after, .. } if lease.failures < PATIENCE => Some(*retry_after),
        ModelError::Transient { .. } | ModelError::TooLong { .. } | ModelError::Permanent { .. } => None,
        ModelError::Cancelled => Some(None),
    };
    tracing::warn!(run.id = %lease.run, model = model.name(), %error, "the model did not answer");
    if let Some(retry_after) = passing {
        let delay = backoff(lease.failures, retry_after, &RetryPolicy::MODEL);
        let why = format!("{} did not answer: {error}", model.name());
        return Ok(Asked::Later(
            match runs::put_back(&app.pool, lease, &why, delay.as_secs_f64(), GIVE_UP, app.clock.moved()).await? {
                Ok(true) => {
                    commit::failed(app, lease.ticket, &why).await;
                    Left::PutBack
                }
                Ok(false) => Left::PutBack,
                Err(LeaseLost) => Left::LeaseLost,
            },
        ));
    }
    let what = format!("{} did not answer ({error})", model.name());
    match &app.fallback {
        Some(fallback) => {
            let stumbled = StepKind::Stumbled {
                what: format!("{what}; {} took over.", fallback.name()),
            };
            let reply = fallback.reply(request, &mut ()).await?;
            let replied = StepKind::Replied {
                model: fallback.name().to_owned(),
                reply: Box::new(reply),
            };
            Ok(Asked::Steps(vec![stumbled, replied]))
        }
        None => {
            commit::hand_to_person(app, lease, &what).await?;
            Ok(Asked::Later(Left::Finished))
        }
    }
}
