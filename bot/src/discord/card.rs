//! Clicks on cards, and the forms that they open.

use deskhand_adapters::discord::inbound::{AnswerSubmitted, Click, DraftSubmitted, Origin, RejectSubmitted};
use deskhand_adapters::discord::{form, reply};
use deskhand_core::approval::{Answer, Wish};
use deskhand_core::card::{ButtonKind, ButtonValue};
use serde_json::Value;

use super::later;
use crate::app::App;
use crate::decisions::{self, Wanted};
use crate::{people, worker};

pub(super) async fn clicked(app: &App, click: Click) -> anyhow::Result<Value> {
    let Click {
        origin,
        kind,
        option,
        value,
    } = click;
    if value.deployment != app.config.deployment {
        // No other deployment is told of it: an application has one address.
        return Ok(reply::private(
            "This card belongs to another deployment; nothing was changed.",
        ));
    }
    match (kind, option) {
        (ButtonKind::Approve, _) => decide(app, origin, value, Wish::Approve).await,
        (ButtonKind::Choose, Some(option)) => decide(app, origin, value, Wish::Choose { option }).await,
        (ButtonKind::Choose, None)
        | (ButtonKind::Edit | ButtonKind::Reject | ButtonKind::View | ButtonKind::Answer, _) => {
            show(app, &origin, kind, &value).await
        }
    }
}

/// A form, which must be the answer itself; or the whole card, which follows as a file.
async fn show(app: &App, origin: &Origin, kind: ButtonKind, value: &ButtonValue) -> anyhow::Result<Value> {
    let id = value.approval;
    if people::is_of_ours(app, &origin.by) == Some(false) {
        return Ok(reply::private(&decisions::elsewhere().sentence(id)));
    }
    let Some(card) = worker::card(app, id).await? else {
        return Ok(reply::private(&Answer::Unknown.sentence(id)));
    };
    Ok(match (kind, &card.settled) {
        (ButtonKind::View, _) => {
            let answer = worker::AnswerTo {
                text: format!("{id}, with everything that the card had to cut:"),
                full: Some(id),
                ..later(origin)
            };
            worker::answer(app, origin.by.surface, answer).await?;
            reply::private_later()
        }
        (_, Some(settled)) => reply::private(&format!("{id}: {}. Your click changed nothing.", settled.line)),
        (ButtonKind::Edit, None) => match form::edit(value, card.body.editable()) {
            Some(form) => reply::form(form),
            None => reply::private("This draft is too long for a form here. Reject it and say what to change."),
        },
        (ButtonKind::Answer | ButtonKind::Choose, None) => reply::form(form::question(value, &card.will)),
        (ButtonKind::Reject | ButtonKind::Approve, None) => reply::form(form::reject(value)),
    })
}

pub(super) async fn draft_submitted(app: &App, sent: DraftSubmitted) -> anyhow::Result<Value> {
    decide(app, sent.origin, sent.value, Wish::Edit { text: sent.text }).await
}

pub(super) async fn reason_submitted(app: &App, sent: RejectSubmitted) -> anyhow::Result<Value> {
    decide(app, sent.origin, sent.value, Wish::Reject { reason: sent.reason }).await
}

pub(super) async fn answer_submitted(app: &App, sent: AnswerSubmitted) -> anyhow::Result<Value> {
    decide(app, sent.origin, sent.value, Wish::Answer { text: sent.text }).await
}

/// The card itself shows a decision; everything else is told to the person. A form is gone once it was sent, so what was
/// typed into one that was not taken is given back.
async fn decide(app: &App, origin: Origin, value: ButtonValue, wish: Wish) -> anyhow::Result<Value> {
    let wanted = Wanted {
        approval: value.approval,
        answer: later(&origin),
        actor: origin.by,
        wish,
        digest: Some(value.digest),
        delivery: origin.delivery,
    };
    let given = decisions::decide(app, &wanted).await?;
    let sentence = given.sentence(wanted.approval);
    Ok(match (given, &wanted.wish) {
        (Answer::Decided(_), _) => match worker::card(app, wanted.approval).await {
            Ok(Some(card)) => reply::card(&card),
            // It is decided all the same; the outbox redraws the card.
            Ok(None) | Err(_) => reply::nothing_yet(),
        },
        (Answer::Checking, _) => reply::private_later(),
        (_, Wish::Edit { text } | Wish::Answer { text }) if !text.trim().is_empty() => {
            reply::private_with(&sentence, text)
        }
        (_, Wish::Edit { .. } | Wish::Answer { .. } | Wish::Choose { .. } | Wish::Approve | Wish::Reject { .. }) => {
            reply::private(&sentence)
        }
    })
}
