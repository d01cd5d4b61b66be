//! The runner: claims runs, and does what `next` says until it yields. It holds no state that is not in the database:
//! killed at any point, another runner goes on from the last step.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deskhand_adapters::postgres::runs::{self, Claimed, Lease, Levels, Word};
use deskhand_adapters::postgres::tickets;
use deskhand_core::facts::Facts;
use deskhand_core::next::{Next, Starting, next, report};
use deskhand_core::port::PortError;
use deskhand_core::retry::{self, RetryPolicy};
use deskhand_core::step::StepKind;
use deskhand_core::ticket::OutsideId;
use deskhand_core::transcript::Transcript;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::commit::{self, Done};
use super::control::{Hand, Reins};
use super::think::{self, Asked};
use super::{facts, perform};
use crate::app::App;

mod crew;
mod mark;

use crew::Crew;
pub use crew::{Seat, Seats};
pub use mark::Mark;

/// How often a run may fail in a row before it fails for good.
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

/// Does what `next` says until the run yields, or until a person pauses or stops it.
///
/// What was heard and what the model said is not written down by itself but together with what comes of it, in one
/// commit: a runner that is killed in between asks again, as it does when it is killed while the model thinks.
pub async fn pursue(app: &App, lease: &Lease, mut reins: Reins) -> anyhow::Result<Left> {
    let mut lease = lease.clone();
    if let Some(tools) = &app.tools {
        // Else the first runs of a process would be offered fewer tools than later ones.
        tools.ready().await;
    }
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
        if let Some(word) = reins.word() {
            return heed(app, lease, &transcript, word, None).await;
        }
        let done = match next(&transcript, &facts) {
            Next::AskModel(request) => {
                // A reply cost money: it is kept before another one is asked for.
                let kept = match transcript.holds_a_reply() {
                    true => commit::append(app, lease, &mut transcript, Vec::new()).await?,
                    false => Done::Yes,
                };
                if kept == Done::Yes {
                    match think::ask(app, lease, &mut reins, &transcript, &facts, &request).await? {
                        Asked::Steps(steps) => {
                            commit::spent(app, lease, &facts, &steps).await?;
                            transcript.hold(steps, app.clock.now());
                        }
                        Asked::Pulled(word, text) => return heed(app, lease, &transcript, word, Some(text)).await,
                        Asked::Later(left) => return Ok(left),
                        Asked::Nobody { what } => {
                            // What was heard is heard, also by a run that ends here.
                            commit::append(app, lease, &mut transcript, Vec::new()).await?;
                            match lease.helper {
                                true => commit::report(app, lease, &transcript, &what).await.map(|_| ())?,
                                false => commit::hand_to_person(app, lease, &what).await?,
                            }
                            return Ok(Left::Finished);
                        }
                    }
                }
                kept
            }
            Next::Compact(compacting) => {
                let steps = vec![think::compact(app, lease, &mut reins, *compacting).await];
                commit::spent(app, lease, &facts, &steps).await?;
                commit::append(app, lease, &mut transcript, steps).await?
            }
            Next::Look(looks) => {
                // A look that nobody waits for any more is given up, and made anew when the run goes on.
                let steps = tokio::select! {
                    steps = perform::looks(app, &facts, &looks) => steps,
                    word = reins.pulled() => return heed(app, lease, &transcript, word, None).await,
                };
                let steps = perform::shortened(app, lease, steps).await?;
                commit::append(app, lease, &mut transcript, steps).await?
            }
            Next::Record(record) if record.only_hears() => {
                transcript.hold(record.steps, app.clock.now());
                facts.unheard.clear();
                continue;
            }
            Next::Record(record) => commit::record(app, lease, &mut transcript, record).await?,
            Next::Wait(wait) => match commit::wait(app, lease, &transcript, &facts, wait).await? {
                Done::Yes => return Ok(Left::Waiting),
                other => other,
            },
            Next::Start(starting) => match start(app, lease, &mut reins, &mut transcript, &facts, &starting).await? {
                Ok(done) => done,
                Err(word) => return heed(app, lease, &transcript, word, None).await,
            },
            Next::Send(sending) => commit::send(app, lease, &mut transcript, &facts, sending).await?,
            Next::Finish(finish) if lease.helper => {
                let text = report(&transcript, finish.ending);
                match commit::report(app, lease, &transcript, &text).await? {
                    Done::Yes => return Ok(Left::Finished),
                    other => other,
                }
            }
            Next::Finish(finish) => match commit::finish(app, lease, &transcript, &facts, finish).await? {
                Done::Yes => return Ok(Left::Finished),
                other => other,
            },
        };
        match done {
            Done::Yes => facts = facts::read(app, lease.into(), &transcript).await?,
            // Something was said or changed meanwhile, an instruction for one: all is read again, and what is held is
            // kept if it still fits.
            Done::Moved => match commit::append(app, lease, &mut transcript, Vec::new()).await? {
                Done::Lost => return Ok(Left::LeaseLost),
                Done::Yes | Done::Moved => match facts::take_up(app, lease).await? {
                    Some(again) => (transcript, facts) = (again.transcript, again.facts),
                    None => return Ok(Left::LeaseLost),
                },
            },
            Done::Lost => return Ok(Left::LeaseLost),
        }
    }
}

/// A person's word ends the pursuit. What the model had written by then is kept and shown as partial; calls in it are not
/// run.
async fn heed(
    app: &App,
    lease: &Lease,
    transcript: &Transcript,
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
            let mut steps: Vec<StepKind> = transcript.held().iter().map(|step| step.kind.clone()).collect();
            if let Some(text) = written {
                let why = runs::why_stopped(&app.pool, lease.run).await?;
                steps.push(StepKind::Partial { text, why });
            }
            runs::append_to_stopped(&app.pool, lease, &steps).await?;
            Ok(Left::LeaseLost)
        }
    }
}

/// A call of a tool outside. Its started step stands before anything is called, so that whoever takes the run up after a
/// crash knows of it; its outcome is written even where an instruction came in between. The inner error is a person's
/// word: the call is given up at its server, and stands as one that was started and has no outcome.
async fn start(
    app: &App,
    lease: &Lease,
    reins: &mut Reins,
    transcript: &mut Transcript,
    facts: &Facts,
    starting: &Starting,
) -> anyhow::Result<Result<Done, Word>> {
    let begun = commit::start(app, lease, transcript, facts, starting).await?;
    if begun != Done::Yes {
        return Ok(Ok(begun));
    }
    let outcome = tokio::select! {
        outcome = perform::outside(app, &starting.used) => outcome,
        word = reins.pulled() => return Ok(Err(word)),
    };
    let call = starting.call;
    let steps = perform::shortened(app, lease, vec![StepKind::Outcome { call, outcome }]).await?;
    loop {
        match commit::append(app, lease, transcript, steps.clone()).await? {
            Done::Moved => *transcript = runs::transcript(&app.pool, lease.run).await?,
            done => return Ok(Ok(done)),
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
                commit::gave_up(app, lease, &why).await;
            }
            Ok(Some(Left::PutBack))
        }
    }
}
