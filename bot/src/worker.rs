//! The three workers: the runner works runs, the dispatcher sends effects, the sweeper does what time brings.
//!
//! Each has a `tick` that does what is ready now and says how much that was, and a `work` that ticks for ever.

pub mod commit;
pub mod control;
pub mod dispatcher;
pub mod facts;
pub mod perform;
pub mod runner;
pub mod sweeper;
pub mod wakes;

mod answer;
mod chat_out;
mod desk_out;
mod files;
mod mail_out;
mod show;
mod think;

pub use answer::AnswerTo;
pub(crate) use show::tried_again;

use deskhand_adapters::postgres::outbox::{self, Kind, New};
use deskhand_core::approval::Surface;
use deskhand_core::id::{ApprovalId, EffectId, TicketId};

use crate::app::App;

/// Puts an answer to one person into the outbox. Answers wait for nobody: each has a lane of its own.
pub async fn answer(app: &App, surface: Surface, to: AnswerTo) -> anyhow::Result<()> {
    let id = EffectId(uuid::Uuid::now_v7());
    let new = New {
        id,
        kind: Kind::Answer,
        ticket: None,
        run: None,
        approval: None,
        call: None,
        lane: format!("{surface}:answer-{id}"),
        payload: serde_json::to_value(to)?,
        recorded: false,
    };
    let mut tx = app.pool.begin().await?;
    outbox::enqueue(&mut tx, &[new]).await?;
    tx.commit().await?;
    app.effects_ready.notify_one();
    Ok(())
}

/// The ticket's header, where there is a channel for it.
pub(crate) fn header(app: &App, ticket: TicketId) -> Vec<New> {
    commit::header(app, ticket)
}

/// The card of an approval as it stands now.
pub async fn card(app: &App, id: ApprovalId) -> sqlx::Result<Option<deskhand_core::card::Card>> {
    Ok(show::card(app, id).await?.map(|(card, _)| card))
}

/// The same with the whole mail that the customer's last words are from; empty where it said no more.
pub async fn full(app: &App, id: ApprovalId) -> sqlx::Result<Option<(deskhand_core::card::Card, String)>> {
    show::full(app, id).await
}
