//! Writing to a ticket's desk: judged by the desk's present state first, found again after an ambiguous failure.

use deskhand_adapters::postgres::outbox::{self, Claimed, Kind};
use deskhand_adapters::postgres::tickets;
use deskhand_core::delivery::{Ground, Judgement, judge};
use deskhand_core::effect::{Effect, Escalation, Reply};
use deskhand_core::id::TicketId;
use deskhand_core::port::{Bookkeeping, Desk, DeskChange, DeskWrite, PortError, Receipt};
use deskhand_core::run::EffectState;
use deskhand_core::ticket::{Mode, OutsideId, Source, TicketState};
use serde::Deserialize;

use super::dispatcher::Tried;
use super::mail_out;
use crate::app::App;
use crate::heard;

/// How often a conflict is judged anew at once, before it is put off.
const CONFLICTS: u32 = 3;

/// What the outbox keeps of an effect for a desk.
#[derive(Deserialize)]
struct Acting {
    effect: Effect,
    #[serde(default)]
    ground: Ground,
}

#[derive(Deserialize)]
struct Booking {
    outside: OutsideId,
    books: Bookkeeping,
}

pub(super) async fn deliver(app: &App, claimed: &Claimed) -> anyhow::Result<Tried> {
    let Some(ticket) = claimed.ticket else {
        return Ok(Tried::Dead {
            why: "it names no ticket".into(),
        });
    };
    // The stricter of the run's pinned mode and the present one: what waits in the outbox is held back as well.
    if app.mode().await? == Mode::Shadow {
        return hold_back(app, claimed, ticket).await;
    }
    match claimed.kind {
        Kind::Bookkeeping => {
            let booking: Booking = serde_json::from_value(claimed.payload.clone())?;
            let Some(desk) = app.desks.get(&booking.outside.source) else {
                return Ok(no_desk(booking.outside.source));
            };
            write(
                app,
                desk.as_ref(),
                claimed,
                ticket,
                &booking.outside,
                DeskChange::Bookkeeping(booking.books),
            )
            .await
        }
        Kind::Reply | Kind::Escalation | Kind::FollowUp => {
            let acting: Acting = serde_json::from_value(claimed.payload.clone())?;
            match acting.effect {
                Effect::ReplyCustomer(reply) => answer(app, claimed, ticket, &reply, &acting.ground).await,
                Effect::EscalateTicket(escalation) => escalate(app, claimed, ticket, &escalation).await,
                Effect::ProposeKnowledgeEdit(_) | Effect::UseTool(_) | Effect::AskQuestion(_) => Ok(Tried::Dead {
                    why: format!("{} has no desk", acting.effect.tool()),
                }),
            }
        }
        Kind::Header | Kind::Card | Kind::Settle | Kind::Line | Kind::Answer => Ok(Tried::Dead {
            why: "it is not for a desk".into(),
        }),
    }
}

async fn hold_back(app: &App, claimed: &Claimed, ticket: TicketId) -> anyhow::Result<Tried> {
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    outbox::end(
        &mut tx,
        claimed,
        EffectState::Recorded,
        "",
        "the mode became shadow before it was sent",
    )
    .await?;
    outbox::refresh_header(&mut tx, ticket).await?;
    tx.commit().await?;
    Ok(Tried::Ended)
}

fn no_desk(source: Source) -> Tried {
    Tried::Dead {
        why: format!("no {source} is connected: set it up, then redrive this"),
    }
}

/// Tickets that came over the API or by mail have no desk but our own store.
fn is_local(source: Source) -> bool {
    match source {
        Source::Api | Source::Email => true,
        Source::Zendesk | Source::Slack | Source::Discord => false,
    }
}

async fn answer(
    app: &App,
    claimed: &Claimed,
    ticket: TicketId,
    reply: &Reply,
    ground: &Ground,
) -> anyhow::Result<Tried> {
    if reply.outside.source == Source::Email {
        return mail_out::answer(app, claimed, ticket, reply, ground).await;
    }
    if is_local(reply.outside.source) {
        return answer_locally(app, claimed, ticket, reply, ground).await;
    }
    let Some(desk) = app.desks.get(&reply.outside.source) else {
        return Ok(no_desk(reply.outside.source));
    };
    let marker = claimed.id.to_string();
    if claimed.ambiguous {
        match desk.find(&reply.outside.id, &marker).await {
            Ok(Some(receipt)) => return answered(app, claimed, ticket, &reply.text, &receipt).await,
            Ok(None) => {}
            Err(error) => return Ok(error.into()),
        }
    }
    for _ in 0..CONFLICTS {
        let present = match heard::read_desk(app, desk.as_ref(), ticket, &reply.outside.id).await? {
            Ok(present) => present,
            Err(error) => return Ok(error.into()),
        };
        let heard = tickets::heard_ids(&app.pool, ticket, ground.heard).await?;
        match judge(&present, ground, &heard) {
            Judgement::Go => {}
            Judgement::Withdraw { why } => {
                // What was said meanwhile is taken over at once: the run that wakes must hear it.
                tickets::read_from_desk(&app.pool, ticket, &present, app.intake().await?).await?;
                return withdraw(app, claimed, ticket, &why).await;
            }
            Judgement::Closed { why } => {
                tickets::read_from_desk(&app.pool, ticket, &present, app.intake().await?).await?;
                return Ok(Tried::Dead { why });
            }
        }
        let write = DeskWrite {
            outside_id: reply.outside.id.clone(),
            marker: marker.clone(),
            stamp: Some(present.stamp.clone()),
            change: DeskChange::Reply {
                text: reply.text.clone(),
            },
        };
        match desk.write(&write).await {
            Ok(receipt) => return answered(app, claimed, ticket, &reply.text, &receipt).await,
            Err(PortError::Conflict { .. }) => {}
            Err(error) => return Ok(error.into()),
        }
    }
    Ok(Tried::Again {
        why: "the ticket kept changing at its desk".into(),
        after: None,
        ambiguous: false,
    })
}

async fn answer_locally(
    app: &App,
    claimed: &Claimed,
    ticket: TicketId,
    reply: &Reply,
    ground: &Ground,
) -> anyhow::Result<Tried> {
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    let unheard = tickets::has_unheard(&mut tx, ticket, ground.heard).await?;
    drop(tx);
    if unheard {
        return withdraw(app, claimed, ticket, "the customer wrote again").await;
    }
    let receipt = Receipt {
        remote_id: format!("reply-{}", claimed.id),
        remark: None,
    };
    answered(app, claimed, ticket, &reply.text, &receipt).await
}

/// The receipt, our comment and the ticket's state, in one transaction. Only this makes a reply done.
pub(super) async fn answered(
    app: &App,
    claimed: &Claimed,
    ticket: TicketId,
    text: &str,
    receipt: &Receipt,
) -> anyhow::Result<Tried> {
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    let remark = receipt.remark.clone().unwrap_or_default();
    if outbox::end(&mut tx, claimed, EffectState::Delivered, &receipt.remote_id, &remark).await? {
        tickets::answered(&mut tx, ticket, &receipt.remote_id, text, &remark).await?;
        outbox::refresh_header(&mut tx, ticket).await?;
        tx.commit().await?;
    }
    Ok(Tried::Ended)
}

pub(super) async fn withdraw(app: &App, claimed: &Claimed, ticket: TicketId, why: &str) -> anyhow::Result<Tried> {
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    outbox::end(&mut tx, claimed, EffectState::Withdrawn, "", why).await?;
    outbox::refresh_header(&mut tx, ticket).await?;
    tx.commit().await?;
    // Its run was woken.
    app.runs_ready.notify_one();
    Ok(Tried::Ended)
}

/// One bundle: group, priority, tag and internal note at the desk, and a line in the team's channel.
async fn escalate(app: &App, claimed: &Claimed, ticket: TicketId, escalation: &Escalation) -> anyhow::Result<Tried> {
    let whole = tickets::get(&app.pool, ticket).await?.ok_or(sqlx::Error::RowNotFound)?;
    let books = Bookkeeping {
        priority: whole.ticket.triage.as_ref().map(|triage| triage.priority),
        group: Some(escalation.team.clone()).filter(|team| !team.is_empty()),
        tags: vec!["deskhand".into(), format!("escalated_l{}", escalation.level)],
        note: Some(format!(
            "Escalated to level {} ({}): {}",
            escalation.level, escalation.team, escalation.reason
        )),
    };
    let source = escalation.outside.source;
    if is_local(source) {
        return escalated(app, claimed, ticket, escalation, &format!("escalation-{}", claimed.id)).await;
    }
    let Some(desk) = app.desks.get(&source) else {
        return Ok(no_desk(source));
    };
    match put(
        desk.as_ref(),
        claimed,
        &escalation.outside,
        DeskChange::Bookkeeping(books),
    )
    .await
    {
        Ok(receipt) => escalated(app, claimed, ticket, escalation, &receipt.remote_id).await,
        Err(error) => Ok(error.into()),
    }
}

async fn escalated(
    app: &App,
    claimed: &Claimed,
    ticket: TicketId,
    escalation: &Escalation,
    remote_id: &str,
) -> anyhow::Result<Tried> {
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    if outbox::end(&mut tx, claimed, EffectState::Delivered, remote_id, "").await? {
        tickets::set_state(&mut tx, ticket, TicketState::Escalated).await?;
        let mut effects = super::commit::header(app, ticket);
        for lane in app.home_lanes() {
            let text = format!(
                "{ticket} was escalated to level {} ({}): {}",
                escalation.level, escalation.team, escalation.reason
            );
            let line = outbox::New {
                payload: serde_json::json!({ "text": text, "broadcast": true }),
                ..outbox::New::of(Kind::Line, ticket, lane)
            };
            effects.push(line);
        }
        outbox::enqueue(&mut tx, &effects).await?;
        outbox::refresh_header(&mut tx, ticket).await?;
        tx.commit().await?;
    }
    Ok(Tried::Ended)
}

/// Writes what needs no judgement, looking first where it may have arrived already.
async fn put(
    desk: &dyn Desk,
    claimed: &Claimed,
    outside: &OutsideId,
    change: DeskChange,
) -> Result<Receipt, PortError> {
    let marker = claimed.id.to_string();
    if claimed.ambiguous
        && let Some(receipt) = desk.find(&outside.id, &marker).await?
    {
        return Ok(receipt);
    }
    desk.write(&DeskWrite {
        outside_id: outside.id.clone(),
        marker,
        stamp: None,
        change,
    })
    .await
}

async fn write(
    app: &App,
    desk: &dyn Desk,
    claimed: &Claimed,
    ticket: TicketId,
    outside: &OutsideId,
    change: DeskChange,
) -> anyhow::Result<Tried> {
    match put(desk, claimed, outside, change).await {
        Ok(receipt) => {
            let mut tx = app.pool.begin().await?;
            tickets::lock(&mut tx, ticket).await?;
            outbox::end(&mut tx, claimed, EffectState::Delivered, &receipt.remote_id, "").await?;
            tx.commit().await?;
            Ok(Tried::Ended)
        }
        // Bookkeeping on a ticket that is closed or gone is no loss: nobody waits for it.
        Err(PortError::Closed { why } | PortError::Gone { why }) => withdraw(app, claimed, ticket, &why).await,
        Err(error) => Ok(error.into()),
    }
}
