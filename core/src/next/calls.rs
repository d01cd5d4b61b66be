//! The calls of the latest reply: each is brought to its outcome, in as few steps as can be.

use serde_json::json;

use super::{Ask, Execution, Looking, Next, Record, Wait, books, execute, helpers, resolve, start, words};
use crate::approval::ApprovalState;
use crate::card::Mark;
use crate::digest;
use crate::effect::Effect;
use crate::facts::{ApprovalFact, Facts, Role};
use crate::id::CallKey;
use crate::model::{Call, Stop};
use crate::policy::{self, Verdict};
use crate::step::{Outcome, StepKind};
use crate::ticket::{Mode, Triage};
use crate::tool::helper::{HelperUse, WaitHelper};
use crate::tool::{self, Use, lookup::Look};
use crate::transcript::Transcript;

/// Brings every call of the latest reply to its outcome; `None` when all have one.
pub(super) fn settle(transcript: &Transcript, facts: &Facts) -> Option<Next> {
    let open = transcript.open_calls();
    let (_, reply) = transcript.last_reply()?;
    if open.is_empty() {
        return None;
    }
    if reply.stop == Stop::Length {
        let mut record = Record::default();
        for (key, _) in open {
            let text = "The reply was cut off by its length limit, so none of its calls was run.";
            record.outcome(key, Outcome::failed(text));
        }
        return Some(Next::Record(record));
    }

    let mut looks = Vec::new();
    let mut record = Record::default();
    let mut acts = Vec::new();
    let mut waits = Vec::new();
    let mut triage = facts.ticket.triage.clone();
    let mut plan = transcript.plan();
    for (key, call) in open {
        match tool::read(call, &facts.outside) {
            // Its server or its rule went away after it was started.
            Err(_) if transcript.started(key) => record.outcome(key, start::interrupted()),
            Err(why) => record.outcome(key, Outcome::failed(why)),
            Ok(used) if facts.role == Role::Helper && !used.looks() => {
                let text = format!(
                    "A helper only looks: {} is not for it. Report what you found.",
                    call.name
                );
                record.outcome(key, Outcome::failed(text));
            }
            Ok(Use::Look(look)) => looks.push(Looking { call: key, look }),
            Ok(Use::Classify(args)) => {
                let after = args.after(triage.as_ref());
                record.outcome(key, classified(&after, args.action != after.action));
                triage = Some(after.clone());
                record.triage = Some(after);
            }
            Ok(Use::Route(args)) => record.route(key, args.team.trim(), &mut triage),
            Ok(Use::Plan(used)) => {
                let (outcome, after) = used.on(plan.as_ref());
                record.outcome(key, outcome);
                if after.is_some() {
                    plan.clone_from(&after);
                    record.plan = after;
                }
            }
            Ok(Use::Helper(HelperUse::Spawn(args))) => record.spawn(key, &args, facts),
            Ok(Use::Helper(HelperUse::List(_))) => record.list_helpers(key, facts),
            Ok(Use::Helper(HelperUse::Close(args))) => record.close_helper(key, &args, facts),
            Ok(Use::Helper(HelperUse::Wait(args))) => waits.push((key, args)),
            Ok(Use::Note(args)) => {
                let details = json!({ "note": args.text });
                record.outcome(key, Outcome::ok("The note is on the ticket.").with(details));
                record.notes.push(args.text);
            }
            Ok(Use::Reply(args)) => acts.push((key, call, resolve::reply(&args, facts))),
            Ok(Use::Escalate(args)) => acts.push((key, call, resolve::escalation(&args, facts))),
            Ok(Use::Question(args)) => acts.push((key, call, resolve::question(&args, facts))),
            Ok(Use::Edit(args)) => acts.push((key, call, resolve::edit(&args, transcript, facts))),
            Ok(Use::Outside(tool, args)) => {
                let used = start::used(&tool, args, facts);
                if tool.looks() {
                    let look = Look::Outside(used);
                    looks.push(Looking { call: key, look });
                } else if transcript.started(key) {
                    match start::again(key, &tool, used, transcript) {
                        Ok(starting) => return Some(Next::Start(starting)),
                        Err(interrupted) => record.outcome(key, interrupted),
                    }
                } else {
                    acts.push((key, call, Ok(Effect::UseTool(used))));
                }
            }
        }
    }
    if !record.steps.is_empty() {
        return Some(Next::Record(record));
    }
    if !looks.is_empty() {
        return Some(Next::Look(looks));
    }
    act(acts, &waits, transcript, facts)
}

impl Record {
    pub(super) fn outcome(&mut self, call: CallKey, outcome: Outcome) {
        self.steps.push(StepKind::Outcome { call, outcome });
    }

    fn route(&mut self, call: CallKey, team: &str, triage: &mut Option<Triage>) {
        let outcome = match triage {
            _ if team.is_empty() => Outcome::failed("Name the team that should have the ticket."),
            None => Outcome::failed("Classify the ticket first, then route it."),
            Some(triage) => {
                team.clone_into(&mut triage.team);
                self.triage = Some(triage.clone());
                Outcome::ok(format!("Routed to {team}.")).with(json!({ "team": team }))
            }
        };
        self.outcome(call, outcome);
    }
}

pub(super) fn just(call: CallKey, outcome: Outcome) -> Next {
    let mut record = Record::default();
    record.outcome(call, outcome);
    Next::Record(record)
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

/// What the model has not heard yet and its run goes on with at once, whatever waits. Nothing new is begun before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meanwhile {
    Instruction,
    /// While it is unheard, nothing can be asked or sent either.
    Comment,
}

impl Meanwhile {
    fn of(transcript: &Transcript, facts: &Facts) -> Option<Self> {
        if super::said_something_new(facts) {
            Some(Self::Comment)
        } else if transcript.instructed_since_reply() {
            Some(Self::Instruction)
        } else {
            None
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Comment => "there is a new comment on the ticket",
            Self::Instruction => "there is a new instruction by the team",
        }
    }
}

/// Calls that leave the house: decided ones are executed one by one, new ones are asked together.
fn act(
    acts: Vec<(CallKey, &Call, Result<Effect, Outcome>)>,
    waits: &[(CallKey, WaitHelper)],
    transcript: &Transcript,
    facts: &Facts,
) -> Option<Next> {
    let mut awaits = Vec::new();
    for (key, args) in waits {
        match helpers::wait(*key, args, facts) {
            Ok(outcome) => return Some(just(*key, outcome)),
            Err(awaited) => awaits.push(awaited),
        }
    }
    let meanwhile = Meanwhile::of(transcript, facts);
    let heard = transcript.last_heard();
    let mut asks = Vec::new();
    let mut undecided = Vec::new();
    // Allowed ones that were made without what was said meanwhile.
    let mut stale = Vec::new();
    for (key, call, resolved) in acts {
        if let Some(approval) = latest_approval(facts, key) {
            match after_decision(approval, heard, meanwhile, facts) {
                Decided::Now(next) => return Some(*next),
                Decided::Ask(ask) => asks.push(*ask),
                Decided::NotYet => undecided.push(approval),
            }
            continue;
        }
        let effect = match resolved {
            Ok(effect) => effect,
            Err(outcome) => return Some(just(key, outcome)),
        };
        let unasked = |effect, why: &str| Some(execute::unasked(key, effect, why, heard, facts));
        match policy::judge(&effect, &call.args, transcript, facts) {
            Verdict::Deny { why } => {
                let details = json!({ "denied": true });
                return Some(just(key, Outcome::failed(why).with(details)));
            }
            Verdict::Allow { .. } if meanwhile.is_some() => stale.push(key),
            Verdict::Ask { .. } if facts.mode == Mode::Shadow && meanwhile.is_some() => stale.push(key),
            Verdict::Allow { why } => return unasked(effect, &why),
            Verdict::Ask { why, .. } if facts.mode == Mode::Shadow => return unasked(effect, &why),
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
    // What was said meanwhile does not wait for old questions: the run goes on with it.
    let mut record = Record::default();
    if let Some(meanwhile) = meanwhile {
        record.drop_stale(asks.drain(..), stale, meanwhile);
        record.leave_undecided(&undecided, meanwhile);
        for awaited in awaits.drain(..) {
            record.outcome(awaited.call, helpers::not_yet(&awaited, meanwhile.what()));
        }
    }
    if !record.steps.is_empty() {
        return Some(Next::Record(record));
    }
    if asks.is_empty() && undecided.is_empty() && awaits.is_empty() {
        return None;
    }
    Some(Next::Wait(Wait {
        asks,
        awaits,
        bookkeeping: books::due(transcript, facts, ""),
        heard,
    }))
}

impl Record {
    /// Calls that were made without what was said meanwhile and are neither asked nor sent yet.
    fn drop_stale(&mut self, asks: impl Iterator<Item = Ask>, allowed: Vec<CallKey>, meanwhile: Meanwhile) {
        let told = |not: &str| Outcome::failed(format!("Not {not}: {}. Read it, then decide anew.", meanwhile.what()));
        for ask in asks {
            self.superseded
                .extend(ask.replaces.map(|id| (id, meanwhile.what().into())));
            self.outcome(ask.call, told("asked"));
        }
        for key in allowed {
            self.outcome(key, told("done"));
        }
    }

    /// Approvals that nobody has decided yet: the run goes on without them, and a decision comes later as a note. What
    /// lapses is taken back instead: two open drafts might both be approved.
    fn leave_undecided(&mut self, undecided: &[&ApprovalFact], meanwhile: Meanwhile) {
        for approval in undecided {
            let (id, what) = (approval.id, meanwhile.what());
            let outcome = if approval.effect.lapses() {
                self.superseded.push((id, what.into()));
                let again = match approval.effect.answers_the_customer() {
                    true => "Draft anew",
                    false => "Call it again",
                };
                Outcome::failed(format!(
                    "{id} is taken back undecided: {what}. {again} if it is still needed."
                ))
            } else {
                let text = match words::is_question(approval) {
                    true => format!("{id} is not answered yet; its answer will come as a note."),
                    false => format!("{id} is still undecided; its decision will come as a note."),
                };
                Outcome::ok(text).with(json!({ "undecided": id }))
            };
            self.outcome(approval.call, outcome);
        }
    }
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

fn after_decision(approval: &ApprovalFact, heard: i64, meanwhile: Option<Meanwhile>, facts: &Facts) -> Decided {
    let key = approval.call;
    let now = |next| Decided::Now(Box::new(next));
    match approval.state {
        ApprovalState::Open => Decided::NotYet,
        ApprovalState::Approved | ApprovalState::Edited if approval.executed => {
            now(just(key, words::carried_out(approval)))
        }
        ApprovalState::Approved | ApprovalState::Edited => match execute(approval, heard, facts) {
            Execution::Start(_) if meanwhile.is_some() => {
                let what = meanwhile.map_or("", Meanwhile::what);
                let text = format!(
                    "{} was approved, but nothing was called: {what}. Call it again if it is still right.",
                    approval.id
                );
                let mut record = Record::default();
                record.superseded.push((approval.id, what.into()));
                record.outcome(key, Outcome::failed(text));
                now(Next::Record(record))
            }
            Execution::Start(starting) => now(Next::Start(*starting)),
            // Nothing is sent while a public comment is unheard. It is sent once that was heard, if it still holds.
            Execution::Send(_) if meanwhile == Some(Meanwhile::Comment) => {
                let text = format!("{} is decided; what came of it will come as a note.", approval.id);
                now(just(key, Outcome::ok(text).with(json!({ "undecided": approval.id }))))
            }
            Execution::Send(sending) => now(Next::Send(*sending)),
            Execution::Drifted { effect, why } if facts.mode == Mode::Shadow => {
                now(execute::unasked(key, effect, &why, heard, facts))
            }
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
                record.superseded.push((approval.id, why.clone()));
                record.outcome(key, Outcome::failed(why));
                now(Next::Record(record))
            }
        },
        ApprovalState::Answered => now(just(key, words::answered(approval))),
        ApprovalState::Rejected | ApprovalState::Expired | ApprovalState::Withdrawn | ApprovalState::Superseded => {
            now(just(key, words::refusal(approval)))
        }
    }
}
