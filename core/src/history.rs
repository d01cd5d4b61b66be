//! History repair before every model request.
//!
//! Providers refuse a request whose calls and outcomes do not pair, whose ids are in another provider's spelling, or
//! that holds an empty turn; a transcript may hold all of that after a crash, a change of provider or a cut. So a
//! transcript is never refused: [`repaired`] makes a valid request of any list of turns, and of a valid list the same
//! list. It depends on nothing but the turns before, so that a longer history begins with the same bytes and provider
//! caches hit.
//!
//! Deliberately not here: shortening and summaries (see context), and any provider's JSON.

mod ids;

use std::collections::HashSet;

use crate::history::ids::Ids;
use crate::model::{Answer, Call, ModelReply, Part, RawReply, Turn};

/// What stands for the outcome that a crash or a kill left out.
pub const GAP: &str = "interrupted: no outcome was recorded";

/// What is told where a provider wants a turn of ours and there is none.
const GO_ON: &str = "Go on.";

/// Whose rules the history has to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's chat completions and whatever speaks them.
    OpenAi,
}

impl Wire {
    pub const ALL: [Self; 2] = [Self::Anthropic, Self::OpenAi];

    /// As it stands in [`RawReply::provider`].
    pub const fn provider(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }

    /// Characters that a call's id may have: Anthropic documents the alphabet and takes 64, OpenAI answers 400 above 40.
    const fn longest_id(self) -> usize {
        match self {
            Self::Anthropic => 64,
            Self::OpenAi => 40,
        }
    }
}

/// The turns as a provider takes them.
///
/// Afterwards: the first and the last turn are not the model's; no two replies and no two tellings follow each other;
/// each reply with calls is followed by its outcomes, one for each call and in that order; ids are unique in the whole
/// request and in the provider's alphabet; nothing is empty; and `raw` is there only where it can be replayed as it is.
pub fn repaired(turns: &[Turn], wire: Wire) -> Vec<Turn> {
    let mut ids = Ids::new(wire);
    let mut out = Vec::with_capacity(turns.len() + 1);
    for (at, turn) in turns.iter().enumerate() {
        match turn {
            Turn::Told(parts) => tell(parts.iter().filter(|part| !is_blank(part)).cloned(), &mut out),
            Turn::Said(reply) if is_silent(reply) => {}
            Turn::Said(reply) => {
                if !matches!(out.last(), Some(Turn::Told(_) | Turn::Outcomes(_))) {
                    tell([Part::Text(GO_ON.to_owned())], &mut out);
                }
                let mut answers = answers_of(reply, &turns[at + 1..]);
                let reply = renamed(reply, wire, &mut ids);
                for (call, answer) in reply.calls.iter().zip(&mut answers) {
                    answer.call_id.clone_from(&call.id);
                    answer.name.clone_from(&call.name);
                }
                out.push(Turn::Said(reply));
                if !answers.is_empty() {
                    out.push(Turn::Outcomes(answers));
                }
            }
            // Taken by the reply whose calls they answer; what is left answers nothing.
            Turn::Outcomes(_) => {}
        }
    }
    if !matches!(out.last(), Some(Turn::Told(_) | Turn::Outcomes(_))) {
        tell([Part::Text(GO_ON.to_owned())], &mut out);
    }
    out
}

/// Appends parts, to the telling before them where there is one.
fn tell(parts: impl IntoIterator<Item = Part>, out: &mut Vec<Turn>) {
    let parts: Vec<Part> = parts.into_iter().collect();
    match out.last_mut() {
        _ if parts.is_empty() => {}
        Some(Turn::Told(before)) => before.extend(parts),
        _ => out.push(Turn::Told(parts)),
    }
}

fn is_blank(part: &Part) -> bool {
    match part {
        Part::Text(text) => text.trim().is_empty(),
        Part::Ticket(_) | Part::Comment { .. } => false,
    }
}

/// Neither text nor calls: thoughts alone, or nothing at all. No provider takes that back.
fn is_silent(reply: &ModelReply) -> bool {
    reply.text.trim().is_empty() && reply.calls.is_empty()
}

/// One outcome for each call of the reply, in their order. `later` are the turns after it.
///
/// Ids repeat across replies, so only outcomes that come before the next call of the same id can be meant; where one
/// reply uses an id twice, the outcomes are taken in their order.
fn answers_of(reply: &ModelReply, later: &[Turn]) -> Vec<Answer> {
    let mut taken: HashSet<(usize, usize)> = HashSet::new();
    let calls = reply.calls.iter();
    calls
        .map(|call| {
            let found = later
                .iter()
                .take_while(|turn| !calls_again(turn, &call.id))
                .enumerate()
                .flat_map(|(turn, answers)| outcomes(answers).iter().enumerate().map(move |(i, a)| ((turn, i), a)))
                .find(|(place, answer)| answer.call_id == call.id && !taken.contains(place));
            match found {
                Some((place, answer)) => {
                    taken.insert(place);
                    answer.clone()
                }
                None => gap(call),
            }
        })
        .collect()
}

fn outcomes(turn: &Turn) -> &[Answer] {
    match turn {
        Turn::Outcomes(answers) => answers,
        Turn::Told(_) | Turn::Said(_) => &[],
    }
}

fn calls_again(turn: &Turn, id: &str) -> bool {
    match turn {
        Turn::Said(reply) => reply.calls.iter().any(|call| call.id == id),
        Turn::Told(_) | Turn::Outcomes(_) => false,
    }
}

/// What stands for the outcome of a call that has none.
pub(crate) fn gap(call: &Call) -> Answer {
    Answer {
        call_id: call.id.clone(),
        name: call.name.clone(),
        text: GAP.to_owned(),
        failed: true,
    }
}

/// The reply with ids and names that the provider takes; its raw message only where nothing had to change.
fn renamed(reply: &ModelReply, wire: Wire, ids: &mut Ids) -> ModelReply {
    let calls: Vec<Call> = reply
        .calls
        .iter()
        .map(|call| Call {
            id: ids.next(&call.id),
            name: ids::name(&call.name),
            args: call.args.clone(),
        })
        .collect();
    let as_it_was = reply.raw.as_ref().filter(|raw| {
        raw.provider == wire.provider()
            && calls == reply.calls
            && calls.iter().map(|call| &*call.id).eq(raw_ids(raw, wire))
    });
    ModelReply {
        text: reply.text.clone(),
        calls,
        stop: reply.stop,
        usage: reply.usage,
        raw: as_it_was.cloned(),
    }
}

/// The ids of the calls in a provider's own message. A message that disagrees with the reply is not replayed: the
/// outcomes are made for the reply's calls.
fn raw_ids(raw: &RawReply, wire: Wire) -> impl Iterator<Item = &str> {
    let (list, kind) = match wire {
        Wire::Anthropic => ("content", Some("tool_use")),
        Wire::OpenAi => ("tool_calls", None),
    };
    let items = raw
        .message
        .get(list)
        .and_then(|items| items.as_array())
        .into_iter()
        .flatten();
    items
        .filter(move |item| kind.is_none_or(|kind| item.get("type").and_then(|t| t.as_str()) == Some(kind)))
        .map(|item| item.get("id").and_then(|id| id.as_str()).unwrap_or_default())
}

/// The first rule of a wire that a history breaks, in words; `None` for one that a provider takes. Fake models check
/// requests with it.
pub fn fault(turns: &[Turn], wire: Wire) -> Option<String> {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut due: Option<&ModelReply> = None;
    let mut before: Option<&Turn> = None;
    for (at, turn) in turns.iter().enumerate() {
        match (due, turn) {
            (Some(reply), Turn::Outcomes(answers)) => {
                let asked: Vec<&str> = reply.calls.iter().map(|call| &*call.id).collect();
                let answered: Vec<&str> = answers.iter().map(|answer| &*answer.call_id).collect();
                if asked != answered {
                    return Some(format!(
                        "turn {at}: calls {asked:?} are followed by outcomes of {answered:?}"
                    ));
                }
            }
            (Some(_), Turn::Told(_) | Turn::Said(_)) => {
                return Some(format!("turn {at}: the calls before it have no outcomes"));
            }
            (None, Turn::Outcomes(_)) => return Some(format!("turn {at}: outcomes without calls")),
            (None, Turn::Told(parts)) => {
                if parts.iter().all(is_blank) {
                    return Some(format!("turn {at}: nothing is told"));
                }
            }
            (None, Turn::Said(reply)) => {
                if is_silent(reply) {
                    return Some(format!("turn {at}: a reply without text and calls"));
                }
                if matches!(before, None | Some(Turn::Said(_))) {
                    return Some(format!("turn {at}: a reply to nothing"));
                }
                for call in &reply.calls {
                    if !ids::is_valid(&call.id, wire) || !seen.insert(&call.id) {
                        return Some(format!("turn {at}: id {:?} is malformed or used before", call.id));
                    }
                    if ids::name(&call.name) != call.name {
                        return Some(format!("turn {at}: name {:?} is malformed", call.name));
                    }
                }
            }
        }
        due = match turn {
            Turn::Said(reply) if !reply.calls.is_empty() => Some(reply),
            Turn::Said(_) | Turn::Told(_) | Turn::Outcomes(_) => None,
        };
        before = Some(turn);
    }
    match before {
        Some(Turn::Told(_) | Turn::Outcomes(_)) => None,
        Some(Turn::Said(_)) | None => Some("the last turn is not ours".to_owned()),
    }
}

#[cfg(test)]
mod tests;
