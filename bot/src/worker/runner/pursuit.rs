//! The pursuit of one run: what `next` says is done, until the run yields or a person pauses or stops it.

use std::slice;
use std::sync::Arc;

use deskhand_adapters::postgres::runs::{self, Lease, Word};
use deskhand_adapters::postgres::tickets;
use deskhand_core::facts::Facts;
use deskhand_core::next::{Next, Starting, next, report};
use deskhand_core::port::PortError;
use deskhand_core::retry::RetryPolicy;
use deskhand_core::step::StepKind;
use deskhand_core::ticket::OutsideId;
use deskhand_core::transcript::Transcript;

use super::{Left, backoff};
use crate::app::App;
use crate::heard;
use crate::worker::commit::{self, Done};
use crate::worker::control::Reins;
use crate::worker::think::{self, Asked};
use crate::worker::{facts, perform};

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
        if lease.if_news && !runs::finish_idle(&app.pool, slice::from_ref(&lease)).await?.is_empty() {
            return Ok(Left::Finished);
        }
        match facts::take_up(app, &lease).await? {
            Some(again) => taken = again,
            None => return Ok(Left::LeaseLost),
        }
    }
    let lease = &mut lease;
    let (mut transcript, mut facts) = (taken.transcript, taken.facts);
    // A server that changes its list meanwhile must not change the head of this run's requests.
    let offered = Arc::clone(&facts.outside);
    loop {
        facts.outside = Arc::clone(&offered);
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
            Next::Send(sending) => {
                let approval = sending.approval;
                let done = commit::send(app, lease, &mut transcript, &facts, sending).await?;
                if done == Done::Yes {
                    // Nothing else changed by it. What others changed meanwhile is found under the next locks.
                    if let Some(id) = approval {
                        facts.executed(id);
                    }
                    continue;
                }
                done
            }
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
            Done::Yes => facts = facts::read(app, (&*lease).into(), &transcript).await?,
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
    match heard::read_desk(app, desk.as_ref(), lease.ticket, &outside.id).await? {
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
