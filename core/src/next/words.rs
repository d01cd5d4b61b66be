//! What the model hears of an approval that has come to an end.

use serde_json::json;

use crate::approval::ApprovalState;
use crate::effect::Effect;
use crate::facts::ApprovalFact;
use crate::step::Outcome;

pub(super) fn is_question(approval: &ApprovalFact) -> bool {
    matches!(approval.effect, Effect::AskQuestion(_))
}

/// The sweeper was faster: it executes approvals whose run is not at work.
pub(super) fn carried_out(approval: &ApprovalFact) -> Outcome {
    let by = approval.decision.as_ref().map_or("somebody", |d| d.by_name.as_str());
    Outcome::ok(format!(
        "{} was {} by {by} and carried out.",
        approval.id, approval.state
    ))
    .with(json!({ "queued": true, "approval": approval.id }))
}

/// What somebody of the team answered.
pub(super) fn answered(approval: &ApprovalFact) -> Outcome {
    let decision = approval.decision.as_ref();
    let by = decision.map_or("Somebody", |decision| decision.by_name.as_str());
    let text = decision
        .and_then(|decision| decision.edited.as_deref())
        .unwrap_or_default();
    Outcome::ok(format!("{by} of the team answered: {text}")).with(json!({ "approval": approval.id }))
}

/// What the model hears of an approval that was not given.
pub(super) fn refusal(approval: &ApprovalFact) -> Outcome {
    let decision = approval.decision.as_ref();
    let by = decision.map_or("somebody", |decision| decision.by_name.as_str());
    let reason = decision.map(|decision| decision.reason.trim()).unwrap_or_default();
    let text = match approval.state {
        ApprovalState::Rejected if is_question(approval) && reason.is_empty() => format!("{by} has no answer to it."),
        ApprovalState::Rejected if reason.is_empty() => format!("Rejected by {by}, without a reason."),
        ApprovalState::Rejected => format!("Rejected by {by}: {reason}"),
        ApprovalState::Expired if is_question(approval) => {
            "Nobody answered in time. Go on without an answer, or leave it to a person with a note.".into()
        }
        ApprovalState::Expired => "Nobody decided in time; it expired. Leave it to a person with a note.".into(),
        ApprovalState::Withdrawn if reason.is_empty() => "Withdrawn before anybody decided.".into(),
        ApprovalState::Withdrawn => format!("Withdrawn: {reason}"),
        ApprovalState::Superseded => "Superseded by a newer request.".into(),
        ApprovalState::Open | ApprovalState::Approved | ApprovalState::Edited | ApprovalState::Answered => {
            "Not decided.".into()
        }
    };
    Outcome::failed(text).with(json!({ "approval": approval.id, "state": approval.state }))
}
