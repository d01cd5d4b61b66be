//! What came of old calls after they had their outcome: each is told once, as a note.

use serde_json::json;

use super::{Execution, Next, Record, execute, words};
use crate::approval::ApprovalState;
use crate::effect::Effect;
use crate::facts::{ApprovalFact, EffectFact, Facts};
use crate::run::EffectState;
use crate::step::{About, StepKind};
use crate::transcript::Transcript;

/// The oldest decision or failed delivery that the model was not told of.
pub(super) fn of_old_calls(transcript: &Transcript, facts: &Facts) -> Option<Next> {
    let late = facts.approvals.iter().find(|approval| {
        approval.state != ApprovalState::Open
            && !transcript.noted(About::Approval(approval.id))
            && transcript
                .outcome(approval.call)
                .is_some_and(|outcome| outcome.details["undecided"] == json!(approval.id))
    });
    if let Some(approval) = late {
        return Some(decided(approval, transcript.last_heard(), facts));
    }
    facts
        .effects
        .iter()
        .find(|effect| effect.what == "reply_customer" && !transcript.noted(About::Effect(effect.id)) && failed(effect))
        .map(undelivered)
}

fn decided(approval: &ApprovalFact, heard: i64, facts: &Facts) -> Next {
    let mut record = Record::default();
    let text = match approval.state {
        ApprovalState::Approved | ApprovalState::Edited if approval.executed => words::carried_out(approval).text,
        ApprovalState::Approved | ApprovalState::Edited => match execute(approval, heard, facts) {
            Execution::Send(sending) => return Next::Send(sending.into_note(approval.id)),
            Execution::Start(_) => {
                let why = "its run had gone on before the decision, so nothing was called.";
                record.superseded.push((approval.id, why.into()));
                format!("{}: {why} Call it again if it is still right.", approval.id)
            }
            Execution::Drifted { why, .. } | Execution::Refused { why } => {
                record.superseded.push((approval.id, why.clone()));
                format!(
                    "{} was not carried out: {why} Propose it again if it is still right.",
                    approval.id
                )
            }
        },
        ApprovalState::Answered => {
            let asked = match &approval.effect {
                Effect::AskQuestion(question) => format!(" (you asked: {})", question.question),
                _ => String::new(),
            };
            format!("{}{asked}: {}", approval.id, words::answered(approval).text)
        }
        ApprovalState::Open
        | ApprovalState::Rejected
        | ApprovalState::Expired
        | ApprovalState::Withdrawn
        | ApprovalState::Superseded => format!("{}: {}", approval.id, words::refusal(approval).text),
    };
    record.steps.push(StepKind::Noted {
        text,
        about: About::Approval(approval.id),
    });
    Next::Record(record)
}

fn failed(effect: &EffectFact) -> bool {
    match effect.state {
        EffectState::Withdrawn | EffectState::Dead => true,
        EffectState::Pending
        | EffectState::Sending
        | EffectState::Delivered
        | EffectState::Recorded
        | EffectState::Unknown => false,
    }
}

fn undelivered(effect: &EffectFact) -> Next {
    let what = match effect.state {
        EffectState::Withdrawn => "The reply was not sent",
        _ => "The reply could not be delivered",
    };
    Next::Record(Record {
        steps: vec![StepKind::Noted {
            text: format!("{what}: {}", effect.why),
            about: About::Effect(effect.id),
        }],
        ..Record::default()
    })
}
