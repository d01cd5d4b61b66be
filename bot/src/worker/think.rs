//! Asking the model: the chosen one, its substitutes, and what becomes of a run when none answers.

use std::time::Duration;

use deskhand_adapters::postgres::live::{self, Row};
use deskhand_adapters::postgres::runs::{self, Lease, LeaseLost, Word};
use deskhand_core::context::{self, Compacting};
use deskhand_core::facts::Facts;
use deskhand_core::model::{ModelReply, ModelRequest, Usage};
use deskhand_core::port::{Model, ModelError};
use deskhand_core::retry::RetryPolicy;
use deskhand_core::step::StepKind;
use deskhand_core::transcript::Transcript;

use super::commit;
use super::control::Reins;
use super::runner::{GIVE_UP, Left, backoff};
use crate::app::App;
use crate::live::Reading;

/// How often a run may fail in a row before a substitute takes over.
const PATIENCE: i32 = 4;
/// How long a provider that is down is waited for before a substitute takes over.
const OUTAGE: Duration = Duration::from_secs(2 * 60);
/// How often a reply that is being written is put where other replicas see it.
const SHOW: Duration = Duration::from_secs(1);

pub(super) enum Asked {
    Steps(Vec<StepKind>),
    /// A person paused or stopped the run while the model wrote; the text so far.
    Pulled(Word, String),
    Later(Left),
    /// Nobody answers, and nobody is left to take over.
    Nobody {
        what: String,
    },
}

/// Asks for the next reply. A failure that may pass puts the run back for later; after the last attempt, and at once for
/// one that will not pass, a substitute takes over and the ticket says so.
pub(super) async fn ask(
    app: &App,
    lease: &mut Lease,
    reins: &mut Reins,
    transcript: &Transcript,
    facts: &Facts,
    request: &ModelRequest,
) -> anyhow::Result<Asked> {
    let mut stumbles = Vec::new();
    for model in app.models.in_order() {
        let substitute = !stumbles.is_empty();
        if let Err(resting) = app.models.admit(model.as_ref(), app.clock.now()) {
            let why = format!(
                "{} does not answer just now and is left alone for a moment",
                model.name()
            );
            if !substitute && lease.failures < PATIENCE && resting.down_for < OUTAGE {
                return later(app, lease, &why, Wait::Rest(resting.rest)).await;
            }
            stumbles.push(why);
            continue;
        }
        let error = match reply(app, lease, reins, model.as_ref(), transcript, request).await {
            Ok(Ok(reply)) => {
                app.models.succeeded(model.as_ref());
                if lease.failures > 0 {
                    runs::reset_failures(&app.pool, lease).await?;
                    lease.failures = 0;
                }
                let mut steps = Vec::new();
                if substitute {
                    let what = format!("{}; {} took over.", stumbles.join("; "), model.name());
                    steps.push(StepKind::Stumbled { what });
                }
                steps.push(StepKind::Replied {
                    model: model.name().to_owned(),
                    reply: Box::new(reply),
                });
                return Ok(Asked::Steps(steps));
            }
            Ok(Err(error)) => error,
            Err((word, text)) => return Ok(Asked::Pulled(word, text)),
        };
        tracing::warn!(run.id = %lease.run, model = model.name(), %error, "the model did not answer");
        let why = format!("{} did not answer ({error})", model.name());
        match &error {
            ModelError::Transient { retry_after, .. } => {
                app.models.failed(model.as_ref(), app.clock.now(), *retry_after);
                if !substitute && lease.failures < PATIENCE {
                    return later(app, lease, &why, Wait::Failure(*retry_after)).await;
                }
            }
            ModelError::Cancelled if !substitute => return later(app, lease, &why, Wait::Failure(None)).await,
            ModelError::TooLong { .. } if context::can_shorten(transcript, facts) => {
                let by_name = format!("{}, which takes no longer request", model.name());
                return Ok(Asked::Steps(vec![StepKind::CompactAsked { by_name }]));
            }
            ModelError::TooLong { .. } | ModelError::Permanent { .. } | ModelError::Cancelled => {}
        }
        stumbles.push(why);
    }
    Ok(Asked::Nobody {
        what: stumbles.join("; "),
    })
}

/// One request, listened to while it is answered. The outer error is a person's word with the text so far.
async fn reply(
    app: &App,
    lease: &Lease,
    reins: &mut Reins,
    model: &dyn Model,
    transcript: &Transcript,
    request: &ModelRequest,
) -> Result<Result<ModelReply, ModelError>, (Word, String)> {
    let mut writing = app.live.begin(lease.run, lease.attempt, transcript.next_seq() - 1);
    let reading = writing.reading();
    let replying = model.reply(request, &mut writing);
    tokio::pin!(replying);
    let mut shown = 0;
    loop {
        tokio::select! {
            reply = &mut replying => return Ok(reply),
            word = reins.pulled() => return Err((word, reading.written().text)),
            () = tokio::time::sleep(SHOW) => shown = show(app, lease, &reading, shown).await,
        }
    }
}

/// Puts what was written so far where other replicas see it, if it has grown. Gives how long it was.
async fn show(app: &App, lease: &Lease, reading: &Reading, shown: usize) -> usize {
    let written = reading.written();
    let length = written.text.len();
    if length > shown {
        let row = Row {
            attempt: written.attempt,
            after: written.after,
            text: written.text,
        };
        if let Err(error) = live::put(&app.pool, lease.run, &row).await {
            tracing::warn!(%error, "a reply could not be shown while it is written");
        }
    }
    length
}

enum Wait {
    /// The run's attempt failed.
    Failure(Option<Duration>),
    /// Nothing was tried: the provider rests for this long.
    Rest(Duration),
}

async fn later(app: &App, lease: &Lease, why: &str, wait: Wait) -> anyhow::Result<Asked> {
    // A single hiccup is nobody's concern.
    let again = matches!(wait, Wait::Failure(_)) && lease.failures == 1;
    let back = match wait {
        Wait::Rest(rest) => {
            let rest = rest + RetryPolicy::MODEL.base.mul_f64(super::runner::fraction());
            runs::postpone(&app.pool, lease, why, rest.as_secs_f64(), app.clock.moved()).await?
        }
        Wait::Failure(retry_after) => {
            let delay = backoff(lease.failures, retry_after, &RetryPolicy::MODEL);
            runs::put_back(&app.pool, lease, why, delay.as_secs_f64(), GIVE_UP, app.clock.moved()).await?
        }
    };
    Ok(Asked::Later(match back {
        Ok(true) => {
            commit::gave_up(app, lease, why).await;
            Left::PutBack
        }
        Ok(false) => {
            if again {
                commit::tried_again(app, lease.ticket).await;
            }
            Left::PutBack
        }
        Err(LeaseLost) => Left::LeaseLost,
    }))
}

/// The summary of older turns: the model's, else the one that core made of the same steps. Never a reason to fail.
pub(super) async fn compact(app: &App, lease: &Lease, reins: &mut Reins, compacting: Compacting) -> StepKind {
    let model = app.models.first();
    let mut by = String::new();
    let mut usage = Usage::default();
    let mut summary = compacting.digest;
    if model.name() != "offline" && app.models.admit(model.as_ref(), app.clock.now()).is_ok() {
        let mut nowhere = ();
        let reply = tokio::select! {
            reply = model.reply(&compacting.request, &mut nowhere) => reply,
            _ = reins.pulled() => Err(ModelError::Cancelled),
        };
        match reply {
            Ok(reply) if !reply.text.trim().is_empty() => {
                by = model.name().to_owned();
                usage = reply.usage;
                summary = context::model_summary(&reply.text);
            }
            Ok(_) => tracing::warn!(run.id = %lease.run, "the model gave an empty summary"),
            Err(error) => tracing::warn!(run.id = %lease.run, %error, "the model gave no summary"),
        }
    }
    StepKind::Compacted {
        cut: compacting.cut,
        brief: Box::new(compacting.brief),
        summary,
        model: by,
        usage,
    }
}
