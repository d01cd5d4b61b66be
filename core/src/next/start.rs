//! Calls of tools outside: started once, and after a crash not repeated unless the tool says that it may be.

use serde_json::{Value, json};

use super::Starting;
use crate::facts::Facts;
use crate::id::CallKey;
use crate::step::Outcome;
use crate::tool::outside::{OutsideTool, ToolUse};
use crate::transcript::Transcript;

pub(super) fn used(tool: &OutsideTool, args: Value, facts: &Facts) -> ToolUse {
    ToolUse {
        ticket: facts.ticket.id,
        tool: tool.name.clone(),
        args,
    }
}

pub(super) fn interrupted() -> Outcome {
    let text = "Interrupted, result unknown: the call may or may not have taken effect. It was not repeated. \
                Look whether it did before you call it again, or leave it to a person with a note.";
    Outcome::failed(text).with(json!({ "interrupted": true }))
}

/// A call that was started and has no outcome: the process died in between, and nobody knows what the server did.
pub(super) fn again(
    call: CallKey,
    tool: &OutsideTool,
    used: ToolUse,
    transcript: &Transcript,
) -> Result<Starting, Outcome> {
    if !tool.repeatable {
        return Err(interrupted());
    }
    Ok(Starting {
        call,
        approval: None,
        used,
        again: true,
        heard: transcript.last_heard(),
    })
}
