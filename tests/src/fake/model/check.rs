//! What is wrong with a request: what providers refuse, and customers' words outside their own parts.

use deskhand_core::model::{ModelReply, ModelRequest, Part, Turn};
use deskhand_core::ticket::Author;

/// One sentence a fault; empty when the request is as it must be.
pub(super) fn faults(request: &ModelRequest) -> Vec<String> {
    let mut faults = pairs(&request.turns);
    faults.extend(shape(request));
    faults.extend(words_outside_their_parts(request));
    faults
}

/// Every call has its outcome in the very next turn, in order, and no outcome is without its call.
fn pairs(turns: &[Turn]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut owed: Option<&ModelReply> = None;
    for turn in turns {
        let asked = owed.take();
        match (turn, asked) {
            (Turn::Outcomes(answers), asked) => {
                let calls = asked.map(|reply| reply.calls.as_slice()).unwrap_or_default();
                let expected: Vec<_> = calls.iter().map(|call| (&call.id, &call.name)).collect();
                let given: Vec<_> = answers.iter().map(|answer| (&answer.call_id, &answer.name)).collect();
                if expected != given {
                    faults.push(format!("calls {expected:?} were answered by outcomes {given:?}"));
                }
                if let Some(silent) = answers.iter().find(|answer| answer.text.trim().is_empty()) {
                    faults.push(format!("the outcome of {} says nothing", silent.name));
                }
            }
            (Turn::Told(_) | Turn::Said(_), Some(reply)) => {
                faults.push(format!("{} calls have no outcome in the next turn", reply.calls.len()));
            }
            (Turn::Told(_) | Turn::Said(_), None) => {}
        }
        if let Turn::Said(reply) = turn {
            owed = Some(reply).filter(|reply| !reply.calls.is_empty());
        }
    }
    if let Some(reply) = owed {
        faults.push(format!("the last turn's {} calls have no outcome", reply.calls.len()));
    }
    faults
}

fn shape(request: &ModelRequest) -> Vec<String> {
    let mut faults = Vec::new();
    match request.turns.first() {
        None => faults.push("there is no turn at all".to_owned()),
        Some(Turn::Told(_)) => {}
        Some(Turn::Said(_) | Turn::Outcomes(_)) => faults.push("the first turn is not what was told".to_owned()),
    }
    if let Some(Turn::Said(_)) = request.turns.last() {
        faults.push("the last turn is the model's own: there is nothing to answer".to_owned());
    }
    for turn in &request.turns {
        match turn {
            Turn::Told(parts) if parts.is_empty() => faults.push("a turn tells nothing".to_owned()),
            Turn::Said(reply) if reply.text.is_empty() && reply.calls.is_empty() && reply.raw.is_none() => {
                faults.push("a turn of the model is empty".to_owned());
            }
            Turn::Told(_) | Turn::Said(_) | Turn::Outcomes(_) => {}
        }
    }
    let names: Vec<_> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    if !names.is_sorted() {
        faults.push(format!("tools are not sorted by name: {names:?}"));
    }
    for name in names {
        let plain = name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        // The smaller of the providers' limits.
        if !plain || name.is_empty() || name.len() > 64 {
            faults.push(format!("{name:?} is no name of a tool"));
        }
    }
    if request.max_tokens == 0 {
        faults.push("max_tokens is 0".to_owned());
    }
    faults
}

/// A customer's words may stand in comments and in the ticket's brief, and come back in outcomes of tools that read
/// tickets; never in the system prompt and never in a part that is ours.
fn words_outside_their_parts(request: &ModelRequest) -> Vec<String> {
    let told = request.turns.iter().filter_map(|turn| match turn {
        Turn::Told(parts) => Some(parts),
        Turn::Said(_) | Turn::Outcomes(_) => None,
    });
    let (mut theirs, mut ours) = (Vec::new(), vec![request.system.as_str()]);
    for part in told.flatten() {
        match part {
            Part::Text(text) => ours.push(text),
            Part::Ticket(brief) => theirs.push(brief.subject.as_str()),
            Part::Comment { author, body, .. } => match author {
                Author::Requester | Author::Other => theirs.push(body),
                Author::Agent | Author::Bot => {}
            },
        }
    }
    // Short words may stand anywhere by chance.
    let telling = theirs
        .into_iter()
        .map(str::trim)
        .filter(|words| words.chars().count() >= 16);
    telling
        .filter(|words| ours.iter().any(|text| text.contains(words)))
        .map(|words| format!("the customer's words stand outside their part: {words:?}"))
        .collect()
}
