//! The runner: claims runs, and does what `next` says until it yields. It holds no state that is not in the database:
//! killed at any point, another runner goes on from the last step.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use deskhand_adapters::postgres::runs::{self, Lease, Word};
use deskhand_adapters::postgres::tickets;
use deskhand_core::next::{Next, Starting, next};
use deskhand_core::port::PortError;
use deskhand_core::retry::{self, RetryPolicy};
use deskhand_core::step::StepKind;
use deskhand_core::transcript::Transcript;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::commit::{self, Done};
use super::control::{Hand, Reins};
use super::think::{self, Asked};
use super::{facts, perform};
use crate::app::App;

/// How often a run may fail in a row before it fails for good.
pub(super) const GIVE_UP: i32 = 8;
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
    let (leases, _) = runs::claim(&app.pool, "tick", most, lease, 0, app.clock.moved()).await?;
    let count = leases.len();
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

/// Works until it is cancelled; runs at work are then put back by their leases.
pub async fn work(app: App, cancel: CancellationToken) {
    let owner = uuid::Uuid::now_v7().to_string();
    let lease_seconds = app.config.limits.lease.as_secs_f64();
    let slots = Arc::new(Semaphore::new(app.config.runners));
    let hand = Hand::default();
    let tracker = TaskTracker::new();
    tracker.spawn(hand.clone().renew(app.clone(), cancel.clone()));
    let listening = tokio::spawn(hand.clone().listen(app.clone()));
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
            let (app, hand) = (app.clone(), hand.clone());
            let (reins, lost) = hand.take(&lease);
            tracker.spawn(async move {
                app.at_work.fetch_add(1, Ordering::Relaxed);
                let run = lease.run;
                tokio::select! {
                    () = pursue_and_log(&app, &lease, reins) => {}
                    // The lease is gone or the process ends: what was not appended never happened.
                    () = lost.let_go() => {}
                }
                hand.drop(run);
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
    hand.let_go_of_all();
    tracker.close();
    tracker.wait().await;
    listening.abort();
}

/// The low-water mark on the queue's numbers, with a margin for transactions that commit late, forgotten every few
/// seconds so that nothing is passed over for long.
#[derive(Debug, Default)]
struct Mark {
    lowest: i64,
    since: Option<Instant>,
}

impl Mark {
    const MARGIN: i64 = 1_000;
    const FORGET: Duration = Duration::from_secs(3);

    fn above(&mut self) -> i64 {
        if self.since.is_none_or(|since| since.elapsed() > Self::FORGET) {
            self.lowest = 0;
            self.since = Some(Instant::now());
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

async fn pursue_and_log(app: &App, lease: &Lease, reins: Reins) {
    match pursue(app, lease, reins).await {
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

/// Does what `next` says until the run yields, or until a person pauses or stops it.
pub async fn pursue(app: &App, lease: &Lease, mut reins: Reins) -> anyhow::Result<Left> {
    let mut lease = lease.clone();
    if let Some(left) = read_from_desk(app, &mut lease).await? {
        return Ok(left);
    }
    let lease = &lease;
    if runs::has_no_news(&app.pool, lease.run).await? {
        return Ok(match commit::finish_idle(app, lease).await? {
            Done::Yes | Done::Moved => Left::Finished,
            Done::Lost => Left::LeaseLost,
        });
    }
    let mut transcript = runs::transcript(&app.pool, lease.run).await?;
    loop {
        if let Some(word) = reins.word() {
            return heed(app, lease, &mut transcript, word, None).await;
        }
        let facts = facts::read(app, lease.into(), &transcript).await?;
        let done = match next(&transcript, &facts) {
            Next::AskModel(request) => match think::ask(app, lease, &mut reins, &transcript, &facts, &request).await? {
                Asked::Steps(steps) => commit::replied(app, lease, &mut transcript, &facts, steps).await?,
                Asked::Pulled(word, text) => return heed(app, lease, &mut transcript, word, Some(text)).await,
                Asked::Later(left) => return Ok(left),
            },
            Next::Compact(compacting) => {
                let step = think::compact(app, lease, &mut reins, *compacting).await;
                commit::replied(app, lease, &mut transcript, &facts, vec![step]).await?
            }
            Next::Look(looks) => {
                let steps = perform::looks(app, &facts, &looks).await;
                let steps = perform::shortened(app, lease, steps).await?;
                commit::append(app, lease, &mut transcript, steps).await?
            }
            Next::Record(record) => commit::record(app, lease, &mut transcript, record).await?,
            Next::Wait(wait) => match commit::wait(app, lease, &transcript, &facts, wait).await? {
                Done::Yes => return Ok(Left::Waiting),
                other => other,
            },
            Next::Start(starting) => start(app, lease, &mut transcript, &starting).await?,
            Next::Send(sending) => commit::send(app, lease, &mut transcript, &facts, sending).await?,
            Next::Finish(finish) => match commit::finish(app, lease, &transcript, &facts, finish).await? {
                Done::Yes => return Ok(Left::Finished),
                other => other,
            },
        };
        match done {
            Done::Yes => {}
            // Something was said or changed meanwhile, an instruction for one: all is read again.
            Done::Moved => transcript = runs::transcript(&app.pool, lease.run).await?,
            Done::Lost => return Ok(Left::LeaseLost),
        }
    }
}

/// A person's word ends the pursuit. What the model had written by then is kept and shown as partial; calls in it are not
/// run.
async fn heed(
    app: &App,
    lease: &Lease,
    transcript: &mut Transcript,
    word: Word,
    written: Option<String>,
) -> anyhow::Result<Left> {
    match word {
        Word::Pause => {
            let why = "paused by a person".to_owned();
            let step = written.map(|text| StepKind::Partial { text, why });
            Ok(match commit::rest(app, lease, transcript, step).await? {
                Done::Yes => Left::Waiting,
                // It was resumed before it had come to rest: whoever claims it next goes on.
                Done::Moved => Left::PutBack,
                Done::Lost => Left::LeaseLost,
            })
        }
        Word::Stop => {
            if let Some(text) = written {
                let why = runs::why_stopped(&app.pool, lease.run).await?;
                runs::append_to_stopped(&app.pool, lease, &StepKind::Partial { text, why }).await?;
            }
            Ok(Left::LeaseLost)
        }
    }
}

/// A call of a tool outside. Its started step stands before anything is called, so that whoever takes the run up after a
/// crash knows of it; its outcome is written even where an instruction came in between.
async fn start(app: &App, lease: &Lease, transcript: &mut Transcript, starting: &Starting) -> anyhow::Result<Done> {
    let begun = commit::start(app, lease, transcript, starting).await?;
    if begun != Done::Yes {
        return Ok(begun);
    }
    let outcome = perform::outside(app, &starting.used).await;
    let call = starting.call;
    let steps = perform::shortened(app, lease, vec![StepKind::Outcome { call, outcome }]).await?;
    loop {
        match commit::append(app, lease, transcript, steps.clone()).await? {
            Done::Moved => *transcript = runs::transcript(&app.pool, lease.run).await?,
            done => return Ok(done),
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
