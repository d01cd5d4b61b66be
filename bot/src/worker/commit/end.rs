//! How a run ends: finished, handed to a person, or failed.

use deskhand_adapters::postgres::runs::{self, Lease};
use deskhand_adapters::postgres::{helpers, outbox, tickets};
use deskhand_core::facts::Facts;
use deskhand_core::id::TicketId;
use deskhand_core::next::Finish;
use deskhand_core::run::{EffectState, Ending};
use deskhand_core::ticket::Action;
use deskhand_core::transcript::Transcript;

use super::{Done, begin, book, header, leave, lost_or_moved};
use crate::app::App;

/// The end of the run, once its receipts are there.
pub async fn finish(
    app: &App,
    lease: &Lease,
    transcript: &Transcript,
    facts: &Facts,
    finish: Finish,
) -> anyhow::Result<Done> {
    let (mut tx, held) = match begin(app, lease, facts, finish.heard).await? {
        Ok(begun) => begun,
        Err(done) => return Ok(done),
    };
    let mut steps = Vec::new();
    let ignored = facts
        .ticket
        .triage
        .as_ref()
        .is_some_and(|triage| triage.action == Action::Ignore);
    let mut effects = if ignored { Vec::new() } else { header(app, lease.ticket) };
    if let Some(books) = &finish.bookkeeping {
        let (effect, step) = book(lease, facts, books);
        effects.extend(effect);
        steps.push(step);
    }
    if leave(app, &mut tx, lease, transcript, steps, Some(finish.ending))
        .await?
        .is_err()
    {
        drop(tx);
        return lost_or_moved(app, lease).await;
    }
    if transcript.has_helpers() {
        helpers::close(&mut tx, lease.run, None, "the run that it helped is over").await?;
    }
    let trouble = finish.trouble.as_str();
    // What could not be delivered stays on the ticket until a person has seen to it.
    let undelivered = facts
        .effects
        .iter()
        .any(|effect| matches!(effect.state, EffectState::Dead | EffectState::Unknown));
    if (!undelivered || !trouble.is_empty()) && held.trouble != trouble {
        tickets::set_trouble(&mut tx, lease.ticket, trouble).await?;
    }
    outbox::enqueue_and_refresh(&mut tx, lease.ticket, &effects).await?;
    runs::complete_if_delivered(&mut tx, lease.run).await?;
    tx.commit().await?;
    if transcript.has_helpers() {
        app.pass_word();
    }
    app.effects_ready.notify_one();
    Ok(Done::Yes)
}

/// The desk does not know the ticket (any more): the run ends, and a person is told.
pub async fn end_without_ticket(app: &App, lease: &Lease, why: &str) -> anyhow::Result<()> {
    hand_to_person(app, lease, &format!("the desk does not know the ticket: {why}")).await
}

/// The run cannot go on by itself: it ends as handed over, and the ticket says why.
pub async fn hand_to_person(app: &App, lease: &Lease, why: &str) -> anyhow::Result<()> {
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, lease.ticket).await?;
    tickets::set_trouble(&mut tx, lease.ticket, why).await?;
    if runs::wait(&mut tx, lease, 1, &[], Some(Ending::HandedOver), None)
        .await?
        .is_err()
    {
        return Ok(());
    }
    runs::complete_if_delivered(&mut tx, lease.run).await?;
    outbox::enqueue_and_refresh(&mut tx, lease.ticket, &header(app, lease.ticket)).await?;
    tx.commit().await?;
    app.effects_ready.notify_one();
    Ok(())
}

/// The same for a run that its runner gave up. A helper's failure is no trouble of the ticket: its parent hears of it.
pub async fn gave_up(app: &App, lease: &Lease, why: &str) {
    if !lease.helper {
        failed(app, lease.ticket, why).await;
    }
}

/// A run is tried again later, and not for the first time: its ticket's header says why, where there is a channel. A
/// failure to say it is logged; the run's row says it as well.
pub async fn tried_again(app: &App, ticket: TicketId) {
    let said = async {
        let mut tx = app.pool.begin().await?;
        outbox::enqueue_and_refresh(&mut tx, ticket, &header(app, ticket)).await?;
        tx.commit().await
    };
    if let Err(error) = said.await {
        tracing::warn!(%ticket, %error, "a run that is tried again could not be shown on its ticket");
    }
}

/// A run failed for good: the ticket says so. A failure to say it is logged; the run's row says it as well.
pub async fn failed(app: &App, ticket: TicketId, why: &str) {
    let said = async {
        let mut tx = app.pool.begin().await?;
        tickets::set_trouble(&mut tx, ticket, &format!("The run failed: {why}")).await?;
        outbox::enqueue_and_refresh(&mut tx, ticket, &header(app, ticket)).await?;
        tx.commit().await
    };
    if let Err(error) = said.await {
        tracing::warn!(%ticket, %error, "a failed run could not be shown on its ticket");
    }
}
