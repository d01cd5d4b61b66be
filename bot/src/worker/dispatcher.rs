//! The dispatcher: the only one who writes to the outside, from the outbox, one effect of a lane at a time.

use std::time::Duration;

use deskhand_adapters::postgres::outbox::{self, Claimed};
use deskhand_core::port::PortError;
use deskhand_core::retry::{self, RetryPolicy};
use deskhand_core::run::EffectState;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{chat_out, desk_out};
use crate::app::App;

/// How many lanes are served at the same time.
const LANES: i64 = 16;

/// How long a claim lasts: longer than the longest call of any client, so that nobody repeats what is still under way.
const LEASE_SECONDS: f64 = 180.0;

/// What became of one try.
#[derive(Debug)]
pub(super) enum Tried {
    /// The effect is ended and committed.
    Ended,
    /// Not now: again after a while. A conflict or an error that passes.
    Again {
        why: String,
        after: Option<Duration>,
        ambiguous: bool,
    },
    /// It will never work as it is: a person must look.
    Dead { why: String },
    /// It may have happened, and nobody can be asked: a person must look.
    Unknown { why: String },
}

impl From<PortError> for Tried {
    fn from(error: PortError) -> Self {
        match error {
            PortError::Transient { why, retry_after } => Self::Again {
                why,
                after: retry_after,
                ambiguous: false,
            },
            PortError::Ambiguous { why } => Self::Again {
                why,
                after: None,
                ambiguous: true,
            },
            PortError::Conflict { why } => Self::Again {
                why,
                after: None,
                ambiguous: false,
            },
            PortError::Gone { why } | PortError::Closed { why } | PortError::Permanent { why } => Self::Dead { why },
        }
    }
}

/// Sends what is due now. Gives how many effects were tried.
pub async fn tick(app: &App) -> anyhow::Result<usize> {
    let claimed = outbox::claim(&app.pool, LANES, LEASE_SECONDS, app.clock.moved()).await?;
    let count = claimed.len();
    // A set, so that whoever gives up on the tick takes its work with it.
    let mut under_way = JoinSet::new();
    for effect in claimed {
        let app = app.clone();
        under_way.spawn(async move { deliver_and_log(&app, &effect).await });
    }
    while under_way.join_next().await.is_some() {}
    Ok(count)
}

/// Sends until it is cancelled; what is under way is finished first. Each effect has a slot of its own, so that a slow
/// chat does not keep replies to customers waiting.
pub async fn work(app: App, cancel: CancellationToken) {
    let most = usize::try_from(LANES).unwrap_or(1);
    let mut under_way = JoinSet::new();
    while !cancel.is_cancelled() {
        let woken = app.effects_ready.notified();
        while under_way.try_join_next().is_some() {}
        let free = i64::try_from(most - under_way.len().min(most)).unwrap_or(0);
        let claimed = match free {
            0 => Ok(Vec::new()),
            free => outbox::claim(&app.pool, free, LEASE_SECONDS, app.clock.moved()).await,
        };
        let claimed = claimed.unwrap_or_else(|error| {
            tracing::warn!(%error, "effects could not be claimed; trying again");
            Vec::new()
        });
        let idle = claimed.is_empty();
        for effect in claimed {
            let app = app.clone();
            under_way.spawn(async move { deliver_and_log(&app, &effect).await });
        }
        if idle {
            tokio::select! {
                () = woken => {}
                () = tokio::time::sleep(Duration::from_millis(500)) => {}
                () = cancel.cancelled() => {}
            }
        }
    }
    while under_way.join_next().await.is_some() {}
}

async fn deliver_and_log(app: &App, effect: &Claimed) {
    let tried = if effect.kind.is_desk() {
        desk_out::deliver(app, effect).await
    } else {
        chat_out::deliver(app, effect).await
    };
    let settled = match tried {
        Ok(tried) => settle(app, effect, tried).await,
        Err(error) => {
            tracing::error!(effect.id = %effect.id, effect.kind = %effect.kind, error = format!("{error:#}"), "an effect failed");
            let why = "an internal error; see the log".to_owned();
            settle(
                app,
                effect,
                Tried::Again {
                    why,
                    after: None,
                    ambiguous: true,
                },
            )
            .await
        }
    };
    if let Err(error) = settled {
        tracing::warn!(effect.id = %effect.id, %error, "an effect could not be put back; its claim will run out");
    }
    // Its lane goes on.
    app.effects_ready.notify_one();
}

async fn settle(app: &App, effect: &Claimed, tried: Tried) -> sqlx::Result<()> {
    let (why, after, ambiguous) = match tried {
        Tried::Ended => return Ok(()),
        Tried::Dead { why } => return give_up(app, effect, EffectState::Dead, &why).await,
        Tried::Unknown { why } => return give_up(app, effect, EffectState::Unknown, &why).await,
        Tried::Again { why, after, ambiguous } => (why, after, ambiguous),
    };
    let attempt = u32::try_from(effect.attempts).unwrap_or(u32::MAX);
    match retry::delay(attempt, super::runner::fraction(), after, &RetryPolicy::DELIVERY) {
        Some(delay) => {
            tracing::info!(effect.id = %effect.id, effect.kind = %effect.kind, %why, "an effect is tried again later");
            if let Some(after) = after {
                outbox::pace(&app.pool, &effect.lane, after.as_secs_f64(), app.clock.moved()).await?;
            }
            let seconds = delay.as_secs_f64();
            outbox::put_back(&app.pool, effect, &why, seconds, ambiguous, app.clock.moved()).await?;
            Ok(())
        }
        // An effect that may have happened is never called dead: a person must look before it is sent again.
        None if ambiguous || effect.ambiguous => give_up(app, effect, EffectState::Unknown, &why).await,
        None => give_up(app, effect, EffectState::Dead, &why).await,
    }
}

async fn give_up(app: &App, effect: &Claimed, state: EffectState, why: &str) -> sqlx::Result<()> {
    tracing::error!(effect.id = %effect.id, effect.kind = %effect.kind, %state, %why, "an effect needs a person");
    let mut tx = app.pool.begin().await?;
    if let Some(ticket) = effect.ticket {
        deskhand_adapters::postgres::tickets::lock(&mut tx, ticket).await?;
    }
    if outbox::end(&mut tx, effect, state, "", why).await?
        && let Some(ticket) = effect.ticket
        && effect.kind.is_desk()
    {
        let what = match state {
            EffectState::Unknown => "may or may not have arrived",
            _ => "could not be delivered",
        };
        let trouble = format!("The {} {what}: {why}", effect.kind.as_str().replace('_', " "));
        deskhand_adapters::postgres::tickets::set_trouble(&mut tx, ticket, &trouble).await?;
        outbox::enqueue_and_refresh(&mut tx, ticket, &super::commit::header(app, ticket)).await?;
    }
    tx.commit().await?;
    // A reply that could not be delivered has woken its run.
    app.runs_ready.notify_one();
    Ok(())
}
