//! Clicks on cards, and forms that were sent.

use deskhand_core::card::{Button, ButtonKind, ButtonValue};
use serde_json::Value;

use super::{AnswerSubmitted, Click, DiscordInbound, DraftSubmitted, Origin, RejectSubmitted, pick, unknown};
use crate::discord::form;

/// What a button and the form that it opens carry: at most 100 characters, of which a value has 80 at most.
/// `id` tells the button from the card's others: `approve`, `choose-2`.
pub(crate) fn custom_id(id: &str, value: &ButtonValue) -> String {
    format!("{id}:{}", value.encode())
}

fn carried(payload: &Value) -> Option<(ButtonKind, Option<usize>, ButtonValue)> {
    let (id, value) = pick::text(payload, "/data/custom_id")?.split_once(':')?;
    let (kind, option) = Button::read_id(id)?;
    Some((kind, option, ButtonValue::decode(value)?))
}

pub(super) fn click(payload: &Value, origin: Origin) -> DiscordInbound {
    match carried(payload) {
        Some((kind, option, value)) => DiscordInbound::Click(Click {
            origin,
            kind,
            option,
            value,
        }),
        None => unknown("a button or menu that is not ours"),
    }
}

pub(super) fn submission(payload: &Value, origin: Origin) -> DiscordInbound {
    let fields = fields(payload);
    match carried(payload) {
        Some((ButtonKind::Edit, _, value)) => {
            let text = form::typed_draft(&fields);
            DiscordInbound::DraftSubmitted(DraftSubmitted { origin, value, text })
        }
        Some((ButtonKind::Reject, _, value)) => {
            let reason = form::given_reason(&fields);
            DiscordInbound::RejectSubmitted(RejectSubmitted { origin, value, reason })
        }
        Some((ButtonKind::Answer, _, value)) => {
            let text = form::typed_answer(&fields);
            DiscordInbound::AnswerSubmitted(AnswerSubmitted { origin, value, text })
        }
        Some((ButtonKind::Approve | ButtonKind::View | ButtonKind::Choose, ..)) | None => {
            unknown("a form that is not ours")
        }
    }
}

/// What was typed or chosen, by `custom_id`, in order: from labels (one component each) and from rows (several).
fn fields(payload: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for component in pick::list(payload, "/data/components") {
        let inner = component.get("component").into_iter();
        for field in inner.chain(pick::list(component, "/components")) {
            let value = pick::text(field, "/value")
                .or_else(|| pick::list(field, "/values").first().and_then(Value::as_str))
                .unwrap_or_default();
            found.push((pick::owned(field, "/custom_id"), value.to_owned()));
        }
    }
    found
}
