//! The runner: claims runs, and does what `next` says until it yields. It holds no state that is not in the database:
//! killed at any point, another runner goes on from the last step.

use std::sync::Arc;
use std::time::Duration;

use deskhand_adapters::postgres::runs::{self, Claimed, Lease, LeaseLost};
use deskhand_adapters::postgres::tickets;
use deskhand_core::model::ModelRequest;
use deskhand_core::next::{Next, next};
use deskhand_core::port::{ModelError, PortError};
use deskhand_core::retry::{self, RetryPolicy};
use deskhand_core::step::StepKind;
use deskhand_core::ticket::OutsideId;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{commit, facts, perform};
use crate::app::App;

mod crew;
mod mark;

use crew::{Crew, Held};
pub use crew::{Seat, Seats};
pub use mark::Mark;

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
    let claimed = runs::claim(&app.pool, "tick", most, lease, &[0; 3], app.clock.moved()).await?;
    let count = claimed.leases.len();
    let leases = end_idle(app, claimed.leases).await?;
    // A set, so that whoever gives up on the tick takes its work with it.
    let mut at_work = JoinSet::new();
    for lease in leases {
        let app = app.clone();
        at_work.spawn(async move { pursue_and_log(&app, &lease).await });
    }
    while at_work.join_next().await.is_some() {}
    Ok(count)
}

/// Ends runs that were queued only to look and have nothing to do, all at once; gives the others.
async fn end_idle(app: &App, mut leases: Vec<Lease>) -> sqlx::Result<Vec<Lease>> {
    let ended = runs::finish_idle(&app.pool, &leases).await?;
    leases.retain(|lease| !ended.contains(&lease.run));
    Ok(leases)
}

/// Works until it is cancelled; runs at work are then put back by their leases.
pub async fn work(app: App, cancel: CancellationToken) {
    let crew = Crew::new(app.config.runners, cancel.clone());
    let lease_seconds = app.config.limits.lease.as_secs_f64();
    crew.tasks
        .spawn(renew(app.clone(), Arc::clone(&crew.held), cancel.clone()));
    // From here on a run that a click resumes is handed over at once, while there is a slot for it.
    app.seats.open(Arc::clone(&crew));
    let mut mark = Mark::default();
    while !cancel.is_cancelled() {
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
                claimed.leases
            }
        };
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
    crew.tasks.close();
    crew.tasks.wait().await;
}

async fn renew(app: App, held: Arc<Held>, cancel: CancellationToken) {
    let every = app.config.limits.lease / 3;
    loop {
        tokio::select! {
            () = tokio::time::sleep(every) => {}
            () = cancel.cancelled() => return,
        }
        let leases = held.leases();
        if leases.is_empty() {
            continue;
        }
        match runs::renew(&app.pool, &leases, app.config.limits.lease.as_secs_f64()).await {
            Ok(kept) => {
                let lost = leases.iter().filter(|lease| !kept.contains(&lease.run));
                lost.for_each(|lease| held.give_up(lease));
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
///
/// What was heard and what the model said is not written down by itself but together with what comes of it, in one
/// commit: a runner that is killed in between asks again, as it does when it is killed while the model thinks.
pub async fn pursue(app: &App, lease: &Lease) -> anyhow::Result<Left> {
    let mut lease = lease.clone();
    let Some(mut taken) = facts::take_up(app, &lease).await? else {
        return Ok(Left::LeaseLost);
    };
    if taken.needs_read {
        if let Some(left) = read_from_desk(app, &mut lease, &taken.facts.ticket.outside).await? {
            return Ok(left);
        }
        if lease.if_news
            && !runs::finish_idle(&app.pool, std::slice::from_ref(&lease))
                .await?
                .is_empty()
        {
            return Ok(Left::Finished);
        }
        match facts::take_up(app, &lease).await? {
            Some(again) => taken = again,
            None => return Ok(Left::LeaseLost),
        }
    }
    let lease = &lease;
    let (mut transcript, mut facts) = (taken.transcript, taken.facts);
    loop {
        let done = match next(&transcript, &facts) {
            Next::AskModel(request) => {
                // A reply cost money: it is kept before another one is asked for.
                let kept = match transcript.holds_a_reply() {
                    true => commit::append(app, lease, &mut transcript, Vec::new()).await?,
                    false => commit::Done::Yes,
                };
                if kept == commit::Done::Yes {
                    match ask(app, lease, &request).await? {
                        Asked::Steps(steps) => transcript.hold(steps, app.clock.now()),
                        Asked::Later(left) => return Ok(left),
                        Asked::Nobody { what } => {
                            // What was heard is heard, also by a run that ends here.
                            commit::append(app, lease, &mut transcript, Vec::new()).await?;
                            commit::hand_to_person(app, lease, &what).await?;
                            return Ok(Left::Finished);
                        }
                    }
                }
                kept
            }
            Next::Look(looks) => {
                let steps = perform::looks(app, &facts, &looks).await;
                commit::append(app, lease, &mut transcript, steps).await?
            }
            Next::Record(record) if record.only_hears() => {
                transcript.hold(record.steps, app.clock.now());
                facts.unheard.clear();
                continue;
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
            commit::Done::Yes => facts = facts::read(app, lease.into(), &transcript).await?,
            // Something was said or changed meanwhile, an instruction for one: all is read again, and what is held is
            // kept if it still fits.
            commit::Done::Moved => match commit::append(app, lease, &mut transcript, Vec::new()).await? {
                commit::Done::Lost => return Ok(Left::LeaseLost),
                commit::Done::Yes | commit::Done::Moved => match facts::take_up(app, lease).await? {
                    Some(again) => (transcript, facts) = (again.transcript, again.facts),
                    None => return Ok(Left::LeaseLost),
                },
            },
            commit::Done::Lost => return Ok(Left::LeaseLost),
        }
    }
}

/// A payload named the ticket but not enough of it: the desk is read before the model is asked.
async fn read_from_desk(app: &App, lease: &mut Lease, outside: &OutsideId) -> anyhow::Result<Option<Left>> {
    let Some(desk) = app.desks.get(&outside.source) else {
        return Ok(None);
    };
    match desk.read(&outside.id).await {
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
    /// It will not answer, and nobody takes its place.
    Nobody {
        what: String,
    },
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
        None => Ok(Asked::Nobody { what }),
    }
}
