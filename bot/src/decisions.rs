//! From a click, a form or a command to a decision, the same for every surface.

use deskhand_adapters::postgres::approvals::{self, About, Pressed, Pressing};
use deskhand_adapters::postgres::inbox;
use deskhand_adapters::postgres::runs::Taker;
use deskhand_core::approval::{Actor, Answer, Wish};
use deskhand_core::id::ApprovalId;
use deskhand_core::roster::Membership;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::people;
use crate::worker::{AnswerTo, answer};

/// A wish about an approval, from wherever it came.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wanted {
    pub approval: ApprovalId,
    pub actor: Actor,
    pub wish: Wish,
    /// The digest or its beginning, as the card carried it.
    pub digest: Option<String>,
    /// Makes a repeat of the same click harmless while it is kept.
    pub delivery: String,
    pub answer: AnswerTo,
}

/// Decides in time, or keeps the click and says "checking": no click is ever only in memory.
pub async fn decide(app: &App, wanted: &Wanted) -> anyhow::Result<Answer> {
    match try_decide(app, wanted).await? {
        Some(answer) => Ok(answer),
        None => {
            let body = serde_json::to_vec(wanted)?;
            inbox::keep(
                &app.pool,
                wanted.actor.surface.as_str(),
                "click",
                &wanted.delivery,
                &body,
            )
            .await?;
            Ok(Answer::Checking)
        }
    }
}

/// `None` when it cannot be decided now: a lock was not had in time, or a group must be looked up first.
pub async fn try_decide(app: &App, wanted: &Wanted) -> anyhow::Result<Option<Answer>> {
    match people::is_of_ours(app, &wanted.actor) {
        Some(true) => {}
        Some(false) => return Ok(Some(elsewhere())),
        None => return Ok(None),
    }
    let Some(about) = approvals::about(&app.pool, wanted.approval).await? else {
        return Ok(Some(Answer::Unknown));
    };
    let listed = match people::on_list(app, app.config.route(&about.tool).approvers, &wanted.actor).await? {
        Membership::Yes => true,
        Membership::No => false,
        Membership::Unknown(_) => return Ok(None),
    };
    press(app, wanted, about, listed).await
}

/// Somebody in another server than ours.
pub fn elsewhere() -> Answer {
    let why = "This belongs to another server; nothing was changed.".into();
    Answer::NotAllowed { why }
}

/// Decides with what is known of the person by now.
pub async fn press(app: &App, wanted: &Wanted, about: About, listed: bool) -> anyhow::Result<Option<Answer>> {
    // A task of its own: whoever clicked may hang up, and the resumed run must not hang between two hands.
    let pressing = tokio::spawn(press_and_hand_over(app.clone(), wanted.clone(), about, listed)).await??;
    if pressing.answer == Answer::Checking {
        return Ok(None);
    }
    if let Answer::Decided(decision) = &pressing.answer {
        tracing::info!(approval = %wanted.approval, state = %decision.state, "an approval was decided");
    }
    Ok(Some(pressing.answer))
}

/// A run that is resumed is leased to this process's runner in the click's own transaction, if that has a slot for it;
/// else it is queued.
async fn press_and_hand_over(app: App, wanted: Wanted, about: About, listed: bool) -> sqlx::Result<Pressing> {
    let seat = app.seats.take();
    let pressed = Pressed {
        id: wanted.approval,
        about: &about,
        actor: &wanted.actor,
        wish: &wanted.wish,
        digest: wanted.digest.as_deref(),
        listed,
        taker: seat.as_ref().map(|seat| Taker {
            owner: seat.owner(),
            seconds: app.config.limits.lease.as_secs_f64(),
        }),
    };
    let mut pressing = approvals::press(&app.pool, &pressed, app.clock.moved()).await?;
    if let (Some(seat), Some(lease)) = (seat, pressing.lease.take()) {
        seat.fill(&app, lease);
    }
    // Also for a seat that was not taken: whoever looked meanwhile found it occupied.
    app.announce();
    Ok(pressing)
}

/// Every click gets exactly one visible answer: a decision is seen on the card, everything else is told to the person.
pub async fn tell(app: &App, wanted: &Wanted, given: &Answer) -> anyhow::Result<()> {
    match given {
        Answer::Decided(_) if !wanted.answer.awaited => Ok(()),
        Answer::Decided(_)
        | Answer::AlreadyDecided(_)
        | Answer::Expired
        | Answer::Withdrawn { .. }
        | Answer::NotAllowed { .. }
        | Answer::Stale
        | Answer::Checking
        | Answer::Unknown => {
            let text = given.sentence(wanted.approval);
            answer(
                app,
                wanted.actor.surface,
                AnswerTo {
                    text,
                    ..wanted.answer.clone()
                },
            )
            .await
        }
    }
}
