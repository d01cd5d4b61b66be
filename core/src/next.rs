//! The loop's brain: from what a run has seen and what is true now to what must be done now.
//!
//! [`next`] is pure: the same transcript and the same facts always give the same [`Next`], so a run can be taken up by
//! any runner, after any crash, at any step. It decides; the runner does it, appends what came of it, and asks again.

use serde_json::json;

use crate::approval::ApprovalState;
use crate::card::Mark;
use crate::digest;
use crate::effect::{EditChange, Effect};
use crate::facts::{ApprovalFact, Facts, Standing};
use crate::id::{ApprovalId, CallKey};
use crate::model::{Call, ModelRequest, Stop};
use crate::policy::{self, Verdict};
use crate::port::Bookkeeping;
use crate::run::{EffectState, Ending};
use crate::step::{About, Outcome, StepKind};
use crate::ticket::{Mode, Triage};
use crate::tool::{self, Use, lookup::Look};
use crate::transcript::Transcript;

mod books;
mod execute;
mod resolve;

pub use execute::{Execution, execute, final_effect};

#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    AskModel(ModelRequest),
    /// Read-only calls, side by side.
    Look(Vec<Looking>),
    Record(Record),
    /// Nothing can be done before somebody outside does something.
    Wait(Wait),
    Send(Sending),
    Finish(Finish),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Looking {
    pub call: CallKey,
    pub look: Look,
}

/// A local change: steps to append, and what goes with them in the same transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    pub steps: Vec<StepKind>,
    pub triage: Option<Triage>,
    /// Internal notes on the ticket.
    pub notes: Vec<String>,
    /// Approvals that are over without having been executed.
    pub superseded: Vec<ApprovalId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// Approvals to open, in the order of their calls. Empty when those that wait are open already.
    pub asks: Vec<Ask>,
    /// The desk's bookkeeping up to here.
    pub bookkeeping: Option<Bookkeeping>,
    /// The newest comment that the transcript has heard: there must be no newer public one.
    pub heard: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub call: CallKey,
    pub effect: Effect,
    /// Hex SHA-256 of the effect.
    pub digest: String,
    /// Why it is asked, for the card.
    pub why: String,
    pub marks: Vec<Mark>,
    /// The approval that this one replaces.
    pub replaces: Option<ApprovalId>,
}

/// An effect on its way out: outbox row, outcome and state in one transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Sending {
    pub call: CallKey,
    /// The approval that it executes; `None` where policy allowed it unasked.
    pub approval: Option<ApprovalId>,
    pub effect: Effect,
    /// Shadow mode: kept and shown, never sent.
    pub recorded: bool,
    pub outcome: Outcome,
    /// The article's whole text after an edit; the store checks that its revision is still the one it was made from.
    pub article: Option<NewText>,
    pub heard: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewText {
    /// `None` for a new article.
    pub base_revision: Option<i64>,
    pub title: String,
    pub body: String,
    pub language: String,
    pub retired: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    pub ending: Ending,
    pub bookkeeping: Option<Bookkeeping>,
    pub heard: i64,
}

/// What must be done now.
pub fn next(transcript: &Transcript, facts: &Facts) -> Next {
    let heard = transcript.last_heard();
    if let Some(settled) = settle_calls(transcript, facts) {
        return settled;
    }
    if transcript.version().is_none() || said_something_new(facts) {
        return hear(facts);
    }
    if let Some(note) = news_of_old_calls(transcript, facts) {
        return note;
    }
    let finish = |ending| {
        Next::Finish(Finish {
            ending,
            bookkeeping: books::due(transcript, facts, Some(ending)),
            heard,
        })
    };
    if let Some((_, reply)) = transcript.last_reply()
        && !transcript.has_news()
    {
        let empty = reply.calls.is_empty() && reply.text.trim().is_empty();
        if empty && !transcript.nudged() {
            return Next::Record(Record {
                steps: vec![StepKind::Nudged],
                ..Record::default()
            });
        }
        return finish(if empty {
            Ending::EmptyReply
        } else {
            ending(transcript, facts)
        });
    }
    if transcript.replies() >= facts.limits.max_steps {
        return finish(Ending::MaxSteps);
    }
    if transcript.usage().total() >= facts.limits.max_tokens {
        return finish(Ending::Budget);
    }
    if !facts.unheard.is_empty() {
        // Internal notes are no reason to ask the model; where it is asked anyway, it hears them first.
        return hear(facts);
    }
    Next::AskModel(ModelRequest {
        system: facts.prompt.system.clone(),
        tools: tool::specs(),
        turns: transcript.turns(),
        max_tokens: facts.prompt.max_tokens,
    })
}

fn hear(facts: &Facts) -> Next {
    let heard = StepKind::Heard {
        brief: Box::new(facts.brief()),
        comments: facts.unheard.clone(),
        version: facts.ticket.version,
    };
    Next::Record(Record {
        steps: vec![heard],
        ..Record::default()
    })
}

/// Only what is public makes a draft stale: people's notes among themselves start nothing.
fn said_something_new(facts: &Facts) -> bool {
    facts.unheard.iter().any(|comment| comment.public)
}

/// Brings every call of the latest reply to its outcome; `None` when all have one.
fn settle_calls(transcript: &Transcript, facts: &Facts) -> Option<Next> {
    let open = transcript.open_calls();
    let (_, reply) = transcript.last_reply()?;
    if open.is_empty() {
        return None;
    }
    if reply.stop == Stop::Length {
        let outcome = Outcome::failed("The reply was cut off by its length limit, so none of its calls was run.");
        let steps = open
            .iter()
            .map(|(call, _)| StepKind::Outcome {
                call: *call,
                outcome: outcome.clone(),
            })
            .collect();
        return Some(Next::Record(Record {
            steps,
            ..Record::default()
        }));
    }

    let mut looks = Vec::new();
    let mut record = Record::default();
    let mut acts = Vec::new();
    let mut triage = facts.ticket.triage.clone();
    for (key, call) in open {
        match tool::read(call) {
            Err(why) => record.outcome(key, Outcome::failed(why)),
            Ok((_, Use::Look(look))) => looks.push(Looking { call: key, look }),
            Ok((_, Use::Classify(args))) => {
                let after = args.after(triage.as_ref());
                record.outcome(key, classified(&after, args.action != after.action));
                triage = Some(after.clone());
                record.triage = Some(after);
            }
            Ok((_, Use::Route(args))) => match &mut triage {
                Some(triage) => {
                    triage.team.clone_from(&args.team);
                    record.triage = Some(triage.clone());
                    let details = json!({ "team": args.team });
                    record.outcome(key, Outcome::ok(format!("Routed to {}.", args.team)).with(details));
                }
                None => record.outcome(key, Outcome::failed("Classify the ticket first, then route it.")),
            },
            Ok((_, Use::Note(args))) => {
                record.outcome(
                    key,
                    Outcome::ok("The note is on the ticket.").with(json!({ "note": args.text })),
                );
                record.notes.push(args.text);
            }
            Ok((_, Use::Reply(args))) => acts.push((key, call, resolve::reply(&args, facts))),
            Ok((_, Use::Escalate(args))) => acts.push((key, call, Ok(resolve::escalation(&args, facts)))),
            Ok((_, Use::Edit(args))) => acts.push((key, call, resolve::edit(&args, transcript, facts))),
        }
    }
    if !record.steps.is_empty() {
        return Some(Next::Record(record));
    }
    if !looks.is_empty() {
        return Some(Next::Look(looks));
    }
    act(acts, transcript, facts)
}

impl Record {
    fn outcome(&mut self, call: CallKey, outcome: Outcome) {
        self.steps.push(StepKind::Outcome { call, outcome });
    }
}

fn classified(triage: &Triage, tightened: bool) -> Outcome {
    let mut text = format!(
        "Recorded: {} · {} · {}.",
        triage.category, triage.priority, triage.action
    );
    if tightened {
        text.push_str(" The action stays as tight as it was: it can only become tighter.");
    }
    Outcome::ok(text).with(json!({ "triage": triage }))
}

/// Calls that leave the house: decided ones are executed one by one, new ones are asked together.
fn act(acts: Vec<(CallKey, &Call, Result<Effect, Outcome>)>, transcript: &Transcript, facts: &Facts) -> Option<Next> {
    let mut asks = Vec::new();
    let mut undecided = Vec::new();
    for (key, call, resolved) in acts {
        if let Some(approval) = latest_approval(facts, key) {
            match after_decision(approval, transcript.last_heard(), facts) {
                Decided::Now(next) => return Some(*next),
                Decided::Ask(ask) => asks.push(*ask),
                Decided::NotYet => undecided.push((key, approval.id)),
            }
            continue;
        }
        let effect = match resolved {
            Ok(effect) => effect,
            Err(outcome) => return Some(just(key, outcome)),
        };
        match policy::judge(&effect, &call.args, transcript, facts) {
            Verdict::Deny { why } => {
                let details = json!({ "denied": true });
                return Some(just(key, Outcome::failed(why).with(details)));
            }
            Verdict::Allow { why } => {
                return Some(execute::unasked(key, effect, &why, transcript.last_heard(), facts));
            }
            Verdict::Ask { why, .. } if facts.mode == Mode::Shadow => {
                return Some(execute::unasked(key, effect, &why, transcript.last_heard(), facts));
            }
            Verdict::Ask { why, marks } => {
                let digest = digest::of(&effect);
                asks.push(Ask {
                    call: key,
                    effect,
                    digest,
                    why,
                    marks,
                    replaces: None,
                });
            }
        }
    }
    if asks.is_empty() && undecided.is_empty() {
        return None;
    }
    // A new comment does not wait for old questions: the run goes on with it, and a decision comes later as a note.
    if said_something_new(facts) || transcript.instructed_since_reply() {
        let mut record = Record::default();
        for (key, id) in undecided {
            let text = format!("{id} is still undecided; its decision will come as a note.");
            record.outcome(key, Outcome::ok(text).with(json!({ "undecided": id })));
        }
        for ask in asks {
            record.superseded.extend(ask.replaces);
            let text = match said_something_new(facts) {
                true => "Not asked: there is a new comment on the ticket. Read it, then decide anew.",
                false => "Not asked: there is a new instruction. Heed it, then decide anew.",
            };
            record.outcome(ask.call, Outcome::failed(text));
        }
        return Some(Next::Record(record));
    }
    Some(Next::Wait(Wait {
        asks,
        bookkeeping: books::due(transcript, facts, None),
        heard: transcript.last_heard(),
    }))
}

fn just(call: CallKey, outcome: Outcome) -> Next {
    Next::Record(Record {
        steps: vec![StepKind::Outcome { call, outcome }],
        ..Record::default()
    })
}

fn latest_approval(facts: &Facts, call: CallKey) -> Option<&ApprovalFact> {
    facts
        .approvals
        .iter()
        .filter(|approval| approval.call == call)
        .max_by_key(|approval| approval.id)
}

enum Decided {
    Now(Box<Next>),
    Ask(Box<Ask>),
    NotYet,
}

fn after_decision(approval: &ApprovalFact, heard: i64, facts: &Facts) -> Decided {
    let key = approval.call;
    match approval.state {
        ApprovalState::Open => Decided::NotYet,
        ApprovalState::Approved | ApprovalState::Edited => match execute(approval, heard, facts) {
            Execution::Send(sending) => Decided::Now(Box::new(Next::Send(*sending))),
            Execution::Drifted { effect, why } => {
                let digest = digest::of(&effect);
                let marks = vec![Mark { text: why.clone() }];
                Decided::Ask(Box::new(Ask {
                    call: key,
                    effect,
                    digest,
                    why,
                    marks,
                    replaces: Some(approval.id),
                }))
            }
            Execution::Refused { why } => {
                let mut record = Record::default();
                record.outcome(key, Outcome::failed(why));
                record.superseded.push(approval.id);
                Decided::Now(Box::new(Next::Record(record)))
            }
        },
        ApprovalState::Rejected | ApprovalState::Expired | ApprovalState::Withdrawn | ApprovalState::Superseded => {
            Decided::Now(Box::new(just(key, refusal(approval))))
        }
    }
}

/// What the model hears of an approval that was not given.
fn refusal(approval: &ApprovalFact) -> Outcome {
    let decision = approval.decision.as_ref();
    let by = decision.map_or("somebody", |decision| decision.by_name.as_str());
    let reason = decision.map(|decision| decision.reason.trim()).unwrap_or_default();
    let text = match approval.state {
        ApprovalState::Rejected if reason.is_empty() => format!("Rejected by {by}, without a reason."),
        ApprovalState::Rejected => format!("Rejected by {by}: {reason}"),
        ApprovalState::Expired => "Nobody decided in time; it expired. Leave it to a person with a note.".into(),
        ApprovalState::Withdrawn if reason.is_empty() => "Withdrawn before anybody decided.".into(),
        ApprovalState::Withdrawn => format!("Withdrawn: {reason}"),
        ApprovalState::Superseded => "Superseded by a newer request.".into(),
        ApprovalState::Open | ApprovalState::Approved | ApprovalState::Edited => "Not decided.".into(),
    };
    Outcome::failed(text).with(json!({ "approval": approval.id, "state": approval.state }))
}

/// Decisions and deliveries that came after their call already had an outcome: each is told once, as a note.
fn news_of_old_calls(transcript: &Transcript, facts: &Facts) -> Option<Next> {
    let heard = transcript.last_heard();
    for approval in &facts.approvals {
        let told_undecided = transcript
            .outcome(approval.call)
            .is_some_and(|outcome| outcome.details["undecided"] == json!(approval.id));
        if !told_undecided || approval.state == ApprovalState::Open || transcript.noted(About::Approval(approval.id)) {
            continue;
        }
        let note = |text: String| {
            let step = StepKind::Noted {
                text,
                about: About::Approval(approval.id),
            };
            Some(Next::Record(Record {
                steps: vec![step],
                ..Record::default()
            }))
        };
        return match approval.state {
            ApprovalState::Approved | ApprovalState::Edited => match execute(approval, heard, facts) {
                Execution::Send(sending) => Some(Next::Send(*sending)),
                Execution::Drifted { why, .. } | Execution::Refused { why } => {
                    let step = StepKind::Noted {
                        text: format!("{}: {why}", approval.id),
                        about: About::Approval(approval.id),
                    };
                    Some(Next::Record(Record {
                        steps: vec![step],
                        superseded: vec![approval.id],
                        ..Record::default()
                    }))
                }
            },
            _ => note(format!("{}: {}", approval.id, refusal(approval).text)),
        };
    }
    for effect in &facts.effects {
        let failed = matches!(effect.state, EffectState::Withdrawn | EffectState::Dead);
        if !failed || effect.what != "reply_customer" || transcript.noted(About::Effect(effect.id)) {
            continue;
        }
        let what = match effect.state {
            EffectState::Withdrawn => "The reply was not sent",
            _ => "The reply could not be delivered",
        };
        let step = StepKind::Noted {
            text: format!("{what}: {}", effect.why),
            about: About::Effect(effect.id),
        };
        return Some(Next::Record(Record {
            steps: vec![step],
            ..Record::default()
        }));
    }
    None
}

/// How a run ends whose model had nothing more to do.
fn ending(transcript: &Transcript, facts: &Facts) -> Ending {
    let sent = |tool: &str| {
        transcript.outcomes().any(|(key, outcome)| {
            !outcome.failed
                && outcome.details["queued"] == json!(true)
                && transcript.call(key).is_some_and(|call| call.name == tool)
                && !facts.effects.iter().any(|effect| {
                    effect.call == Some(key) && matches!(effect.state, EffectState::Withdrawn | EffectState::Dead)
                })
        })
    };
    let recorded = transcript
        .outcomes()
        .any(|(_, outcome)| outcome.details["recorded"] == json!(true));
    let human = facts
        .ticket
        .triage
        .as_ref()
        .is_some_and(|triage| triage.action == crate::ticket::Action::Human);
    if sent("reply_customer") {
        Ending::Answered
    } else if recorded {
        Ending::Recorded
    } else if human
        || sent("escalate_ticket")
        || transcript.outcomes().any(|(key, outcome)| {
            // A draft that was made and not sent, or a note that takes its place: somebody must look.
            let name = transcript.call(key).map_or("", |call| call.name.as_str());
            (name == "reply_customer" && outcome.failed) || name == "add_note"
        })
    {
        Ending::HandedOver
    } else {
        Ending::Triaged
    }
}

/// Whether a person's standing still carries the decision that they made.
fn holds(approval: &ApprovalFact) -> bool {
    match approval.standing {
        Standing::Holds => true,
        Standing::Lost | Standing::Unknown => false,
    }
}

/// What an edit becomes when its decision was to change the words.
fn edited(effect: &Effect, text: &str) -> Effect {
    let mut effect = effect.clone();
    match &mut effect {
        Effect::ReplyCustomer(reply) => reply.text = text.to_owned(),
        Effect::EscalateTicket(escalation) => escalation.reason = text.to_owned(),
        Effect::ProposeKnowledgeEdit(edit) => match &mut edit.change {
            EditChange::Replace { new_text, .. } => *new_text = text.to_owned(),
            EditChange::Create { body, .. } => *body = text.to_owned(),
            EditChange::Retire { .. } => {}
        },
    }
    effect
}

#[cfg(test)]
mod tests;
