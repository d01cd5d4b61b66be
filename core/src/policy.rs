//! What a call may do: the rules that judge it, and the inspectors that can only tighten.
//!
//! Precedence, from the strongest: deny (a draft on a ticket whose triage says human or ignore, on automatic mail, or
//! with a link that neither the ticket nor the knowledge base has) → tools that are asked every time → grants → mode
//! `auto` (a reply goes unasked only there, with action `auto_reply` and no mark by an inspector; so no grant covers a
//! reply) → the tool's rule → Ask. Mode `shadow` asks nobody and sends nothing: what would be asked or sent is recorded.
//!
//! The tool's own name is judged after exact matching, never a repaired spelling. Whatever cannot be judged is asked.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::card::Mark;
use crate::effect::{EditChange, Effect};
use crate::facts::Facts;
use crate::grant::Grant;
use crate::links;
use crate::ticket::{Action, Mode};
use crate::tool::outside::{Rule, ToolUse};
use crate::transcript::Transcript;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allow {
        why: String,
    },
    Ask {
        why: String,
        marks: Vec<Mark>,
    },
    /// One sentence that the model can act on.
    Deny {
        why: String,
    },
}

/// Judges an effect before it is asked for or sent. `args` are the call's own, as grants name them.
pub fn judge(effect: &Effect, args: &Value, transcript: &Transcript, facts: &Facts) -> Verdict {
    let marks = inspect(effect, transcript, facts);
    if let Some(why) = denied(effect, transcript, facts) {
        return Verdict::Deny { why };
    }
    // What a grant may cover: a reply, an edit and a question are asked every time, whatever was granted.
    let grantable = match effect {
        Effect::EscalateTicket(_) | Effect::UseTool(_) => marks.is_empty(),
        Effect::ReplyCustomer(_) | Effect::ProposeKnowledgeEdit(_) | Effect::AskQuestion(_) => false,
    };
    let covers = |grant: &&Grant| grant.covers(effect.tool(), args, facts.now);
    if grantable && let Some(grant) = facts.grants.iter().find(covers) {
        return Verdict::Allow {
            why: format!("grant {} by {}", grant.id, grant.by),
        };
    }
    let ask = |why: &str, marks| Verdict::Ask { why: why.into(), marks };
    match effect {
        Effect::ReplyCustomer(_) if facts.mode == Mode::Auto => match action(facts) {
            Some(Action::AutoReply) if marks.is_empty() => Verdict::Allow {
                why: "mode auto, and triage says auto_reply".into(),
            },
            Some(Action::AutoReply) => ask("an inspector marked it", marks),
            _ => ask("triage does not say auto_reply", marks),
        },
        Effect::ReplyCustomer(_) => ask("a reply leaves the house", marks),
        Effect::EscalateTicket(escalation) if escalation.level <= 1 => Verdict::Allow {
            why: "an escalation to the team's lead needs nobody's word".into(),
        },
        Effect::EscalateTicket(_) => ask("an escalation to the next line is asked", marks),
        Effect::ProposeKnowledgeEdit(_) => ask("a knowledge-base edit is asked every time", marks),
        Effect::UseTool(used) => outside(used, marks, facts),
        Effect::AskQuestion(_) => ask("the bot does not know it, and asks the team", marks),
    }
}

/// The team's rule for the tool; one that nobody offers any more is no reason to guess.
fn outside(used: &ToolUse, marks: Vec<Mark>, facts: &Facts) -> Verdict {
    let rule = facts
        .outside
        .iter()
        .find(|tool| tool.name == used.tool)
        .map_or(Rule::Deny, |tool| tool.rule);
    match rule {
        Rule::Allow => Verdict::Allow {
            why: "the settings allow this tool".into(),
        },
        Rule::Ask => Verdict::Ask {
            why: "a call outside is asked".into(),
            marks,
        },
        Rule::Deny => Verdict::Deny {
            why: format!("The settings do not allow {}. Go on without it.", used.tool),
        },
    }
}

fn action(facts: &Facts) -> Option<Action> {
    facts.ticket.triage.as_ref().map(|triage| triage.action)
}

fn denied(effect: &Effect, transcript: &Transcript, facts: &Facts) -> Option<String> {
    if let Some(why) = refuses(effect, facts) {
        return Some(why);
    }
    let Effect::ReplyCustomer(reply) = effect else {
        return None;
    };
    let theirs = customers_links(transcript, facts);
    let on_the_ticket: BTreeSet<String> = transcript.words().flat_map(links::links).collect();
    let foreign: Vec<String> = links::links(&reply.text)
        .into_iter()
        .filter(|link| !facts.known_links.contains(link) && !theirs.contains(link) && !on_the_ticket.contains(link))
        .collect();
    if foreign.is_empty() {
        return None;
    }
    Some(format!(
        "The draft has {}, which neither this ticket nor the knowledge base has. Write it without.",
        foreign.join(", ")
    ))
}

/// What no approval can make right: one sentence for the model. Asked before an effect is proposed, and again when its
/// approval is executed.
pub fn refuses(effect: &Effect, facts: &Facts) -> Option<String> {
    match effect {
        Effect::ReplyCustomer(_) => {
            if facts.automatic {
                return Some("The mail is automatic; robots are not answered. Add a note instead.".into());
            }
            match action(facts) {
                Some(Action::Human) => {
                    Some("The triage says that a person answers, so no draft is made. Add a note instead.".into())
                }
                Some(Action::Ignore) => {
                    Some("The triage says that there is nothing to answer, so no draft is made.".into())
                }
                Some(Action::AutoReply | Action::NeedsApproval) | None => None,
            }
        }
        // A rule that was tightened after the decision holds for what was decided before it.
        Effect::UseTool(used) => match outside(used, Vec::new(), facts) {
            Verdict::Deny { why } => Some(why),
            Verdict::Allow { .. } | Verdict::Ask { .. } => None,
        },
        Effect::EscalateTicket(_) | Effect::ProposeKnowledgeEdit(_) | Effect::AskQuestion(_) => None,
    }
}

fn customers_links(transcript: &Transcript, facts: &Facts) -> BTreeSet<String> {
    let mut all = links::links(&facts.ticket.subject);
    all.extend(links::links(&facts.ticket.requester.address));
    for words in transcript.customers_words() {
        all.extend(links::links(words));
    }
    all
}

/// Risks that a supervisor should see: values from the customer's text in risky places.
pub fn inspect(effect: &Effect, transcript: &Transcript, facts: &Facts) -> Vec<Mark> {
    let mut marks = Vec::new();
    let args;
    let text = match effect {
        Effect::ReplyCustomer(reply) => {
            marks.extend(facts.doubts.iter().map(|doubt| Mark { text: doubt.clone() }));
            reply.text.as_str()
        }
        Effect::UseTool(used) => {
            args = used.args.to_string();
            args.as_str()
        }
        // It stays in the house.
        Effect::EscalateTicket(_) | Effect::AskQuestion(_) => return marks,
        Effect::ProposeKnowledgeEdit(edit) => match &edit.change {
            EditChange::Replace { new_text, .. } => new_text.as_str(),
            EditChange::Create { body, .. } => body.as_str(),
            EditChange::Retire { .. } => return marks,
        },
    };
    let theirs = customers_links(transcript, facts);
    let others: BTreeSet<String> = transcript.words().flat_map(links::links).collect();
    for link in links::links(text) {
        if facts.known_links.contains(&link) {
            continue;
        }
        let text = if theirs.contains(&link) {
            format!("{link} comes from the customer's text.")
        } else if others.contains(&link) {
            format!("{link} comes from a comment on the ticket.")
        } else {
            format!("{link} is neither on the ticket nor in the knowledge base.")
        };
        marks.push(Mark { text });
    }
    let their_amounts: BTreeSet<String> = std::iter::once(facts.ticket.subject.as_str())
        .chain(transcript.customers_words())
        .flat_map(links::amounts)
        .map(|amount| links::worth(&amount))
        .collect();
    for amount in links::amounts(text) {
        if their_amounts.contains(&links::worth(&amount)) {
            marks.push(Mark {
                text: format!("The amount {amount} comes from the customer's text."),
            });
        }
    }
    marks
}

#[cfg(test)]
mod tests;
