//! Clicks, forms and shortcuts: a form with one field, `payload`, which is JSON.

use deskhand_core::card::{Button, ButtonValue};
use deskhand_core::heard::Post;
use serde_json::Value;

use super::post::{self, Seen};
use super::{
    AnswerSubmitted, Click, DraftSubmitted, Malformed, RejectSubmitted, Shortcut, SlackInbound, Spot, Submission, pick,
};
use crate::slack::form::{self, Origin};

/// Parses the body of a request to the interactivity address.
pub fn interaction(body: &[u8]) -> Result<SlackInbound, Malformed> {
    let form = pick::form(body);
    let Some((_, payload)) = form.iter().find(|(key, _)| key == "payload") else {
        return match form.iter().any(|(key, value)| key == "ssl_check" && value == "1") {
            true => Ok(SlackInbound::SslCheck),
            false => Err(Malformed("the form has no payload".into())),
        };
    };
    let payload = pick::json(payload.as_bytes())?;
    Ok(match pick::text(&payload, "/type") {
        Some("block_actions") => click(&payload),
        Some("view_submission") => submission(&payload),
        Some("message_action") => shortcut(&payload),
        Some("view_closed") => SlackInbound::ignored("a form was closed"),
        Some("shortcut") => SlackInbound::ignored("a shortcut that is not ours"),
        Some(other) => SlackInbound::ignored(format!("an interaction of the type {other}")),
        None => SlackInbound::ignored("an interaction without a type"),
    })
}

fn click(payload: &Value) -> SlackInbound {
    let Some(by) = pick::person(payload) else {
        return SlackInbound::ignored("a click without a person");
    };
    let actions = payload
        .pointer("/actions")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let ours = actions.iter().find_map(|action| {
        let (kind, option) = Button::read_id(pick::text(action, "/action_id")?)?;
        let value = ButtonValue::decode(pick::text(action, "/value")?)?;
        Some((action, kind, option, value))
    });
    let Some((action, kind, option, value)) = ours else {
        return SlackInbound::ignored("a button or menu that is not ours");
    };
    let trigger_id = pick::owned(payload, "/trigger_id");
    SlackInbound::Click(Click {
        delivery: format!(
            "click:{}:{}:{trigger_id}",
            by.actor.id,
            pick::owned(action, "/action_ts")
        ),
        by,
        kind,
        option,
        value,
        spot: spot(payload),
        trigger_id,
        response_url: pick::text(payload, "/response_url").map(str::to_owned),
    })
}

/// Where the button was: by the container, since a click on an ephemeral post comes without the post.
fn spot(payload: &Value) -> Option<Spot> {
    let channel = pick::text(payload, "/container/channel_id").or_else(|| pick::text(payload, "/channel/id"))?;
    let ts = pick::text(payload, "/container/message_ts").or_else(|| pick::text(payload, "/message/ts"))?;
    let thread = pick::text(payload, "/container/thread_ts").or_else(|| pick::text(payload, "/message/thread_ts"));
    Some(Spot {
        channel: channel.to_owned(),
        ts: ts.to_owned(),
        thread_ts: thread.map(str::to_owned),
    })
}

fn submission(payload: &Value) -> SlackInbound {
    let callback = pick::text(payload, "/view/callback_id");
    if !matches!(callback, Some(form::EDIT | form::REJECT | form::ANSWER)) {
        return SlackInbound::ignored("a form that is not ours");
    }
    let Some(by) = pick::person(payload) else {
        return SlackInbound::ignored("a form without a person");
    };
    let Some(origin) = pick::text(payload, "/view/private_metadata").and_then(Origin::decode) else {
        return SlackInbound::ignored("a form of ours without its origin");
    };
    let view_id = pick::owned(payload, "/view/id");
    let values = payload.pointer("/view/state/values").unwrap_or(&Value::Null);
    let hash = pick::owned(payload, "/view/hash");
    let form = Submission {
        delivery: format!("form:{view_id}:{hash}:{}", pick::owned(payload, "/trigger_id")),
        by,
        value: origin.button.clone(),
        spot: origin.spot.clone(),
        view_id,
        hash,
    };
    match callback {
        Some(form::EDIT) => {
            let text = form::typed_draft(values, &origin);
            SlackInbound::DraftSubmitted(DraftSubmitted { form, text })
        }
        Some(form::ANSWER) => {
            let text = form::typed_answer(values);
            SlackInbound::AnswerSubmitted(AnswerSubmitted { form, text })
        }
        _ => {
            let reason = form::given_reason(values);
            SlackInbound::RejectSubmitted(RejectSubmitted { form, reason })
        }
    }
}

fn shortcut(payload: &Value) -> SlackInbound {
    if pick::text(payload, "/callback_id") != Some(form::SHORTCUT) {
        return SlackInbound::ignored("a shortcut that is not ours");
    }
    let (Some(by), Some(channel)) = (pick::person(payload), pick::text(payload, "/channel/id")) else {
        return SlackInbound::ignored("a shortcut without a person or a channel");
    };
    let Some(ts) = pick::text(payload, "/message_ts").or_else(|| pick::text(payload, "/message/ts")) else {
        return SlackInbound::ignored("a shortcut without a post");
    };
    let trigger_id = pick::owned(payload, "/trigger_id");
    let delivery = format!("shortcut:{}:{trigger_id}", by.actor.id);
    let seen = Seen {
        channel,
        team: pick::text(payload, "/team/id"),
        delivery: &delivery,
    };
    let message = payload.pointer("/message").unwrap_or(&Value::Null);
    let Some(post) = post::of(message, seen) else {
        return SlackInbound::ignored("a shortcut on a post of nobody");
    };
    SlackInbound::Shortcut(Shortcut {
        by,
        spot: Spot {
            channel: channel.to_owned(),
            ts: ts.to_owned(),
            thread_ts: pick::text(payload, "/message/thread_ts").map(str::to_owned),
        },
        post: Box::new(Post {
            id: ts.to_owned(),
            ..post
        }),
        trigger_id,
        response_url: pick::text(payload, "/response_url").map(str::to_owned),
        delivery,
    })
}
