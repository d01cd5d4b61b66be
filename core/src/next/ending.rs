//! How a run ends whose model has nothing more to do.

use serde_json::json;

use crate::facts::Facts;
use crate::id::CallKey;
use crate::run::{EffectState, Ending};
use crate::ticket::Action;
use crate::transcript::Transcript;

/// Judged when the run stops; what is still on its way by then counts as sent, since a delivery that fails wakes the
/// run again.
pub(super) fn of(transcript: &Transcript, facts: &Facts) -> Ending {
    let mut recorded = false;
    let mut answered = false;
    let mut to_a_person = facts
        .ticket
        .triage
        .as_ref()
        .is_some_and(|triage| triage.action == Action::Human);
    for (key, outcome) in transcript.outcomes() {
        let Some(call) = transcript.call(key) else { continue };
        recorded |= outcome.details["recorded"] == json!(true) || came_to(facts, key, EffectState::Recorded);
        // One that was decided only after its outcome left with its approval.
        let left = outcome.details["queued"] == json!(true)
            || (outcome.details["undecided"].is_i64() && was_executed(facts, key));
        let sent = left
            && ![
                EffectState::Withdrawn,
                EffectState::Dead,
                EffectState::Unknown,
                EffectState::Recorded,
            ]
            .into_iter()
            .any(|state| came_to(facts, key, state));
        match call.name.as_str() {
            "reply_customer" if sent => answered = true,
            // A draft that was made and not sent, or a note that takes its place: somebody must look.
            "reply_customer" | "add_note" => to_a_person = true,
            // An escalation hands over when it leaves, and leaves somebody a decision when it is undecided.
            "escalate_ticket" => to_a_person |= sent || outcome.details["undecided"].is_i64(),
            _ => {}
        }
    }
    if answered {
        Ending::Answered
    } else if recorded {
        Ending::Recorded
    } else if to_a_person {
        Ending::HandedOver
    } else {
        Ending::Triaged
    }
}

fn came_to(facts: &Facts, call: CallKey, state: EffectState) -> bool {
    facts
        .effects
        .iter()
        .any(|effect| effect.call == Some(call) && effect.state == state)
}

fn was_executed(facts: &Facts, call: CallKey) -> bool {
    facts
        .approvals
        .iter()
        .any(|approval| approval.call == call && approval.executed)
}
