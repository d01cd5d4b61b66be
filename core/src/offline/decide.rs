//! The deterministic model behind the Model port: it reads the request, sees what was done, and says the next step.

mod choose;
mod cost;
mod hand_over;
mod verdict;

use std::sync::Arc;

use serde_json::{Value, json};

use super::case::{Case, Done};
use super::draft::compose;
use super::house::{Category, House, default_categories};
use super::learned::Learned;
use super::rules::read;
use super::triage::{Opinion, judge};
use crate::model::{Call, ModelReply, ModelRequest, Stop, Usage};
use crate::ticket::Action;
use choose::{neighbours, pick, question, source};
use cost::{input_tokens, tokens};
use hand_over::{findings, hand_over};
use verdict::{Guidance, Verdict, verdict};

/// The offline model. Cheap to clone: what was learned is shared.
#[derive(Clone, Debug)]
pub struct Offline {
    house: House,
    learned: Option<Arc<Learned>>,
}

impl Default for Offline {
    fn default() -> Self {
        Self::new(default_categories())
    }
}

/// What the offline model does at this point of a run.
enum Step {
    Call(Vec<(&'static str, Value)>),
    Say(String),
}

impl Offline {
    /// Knows the house's categories by their descriptions, and nothing of its past.
    pub fn new(categories: Vec<Category>) -> Self {
        Self {
            learned: Learned::train(&categories, &[]).map(Arc::new),
            house: House::new(categories),
        }
    }

    /// The same model with what was learned from past tickets.
    pub fn with(self, learned: Arc<Learned>) -> Self {
        Self {
            learned: Some(learned),
            ..self
        }
    }

    pub fn categories(&self) -> &[Category] {
        &self.house.categories
    }

    pub fn learned(&self) -> Option<&Arc<Learned>> {
        self.learned.as_ref()
    }

    /// The triage of a ticket by itself, without search: what `eval` measures.
    pub fn triage(&self, subject: &str, body: &str) -> Opinion {
        judge(subject, body, &self.house, self.learned.as_deref(), &[])
    }

    /// The next reply. The same request always gets the same reply; only tools of the request are called.
    pub fn reply(&self, request: &ModelRequest) -> ModelReply {
        let case = Case::read(request);
        let offered = |name: &str| request.tools.iter().any(|tool| tool.name == name);
        let step = self.step(&case, &offered);
        let (text, calls) = match step {
            Step::Call(calls) => (String::new(), calls),
            Step::Say(text) => (text, Vec::new()),
        };
        let calls: Vec<Call> = calls
            .into_iter()
            .enumerate()
            .map(|(at, (name, args))| Call {
                id: format!("off-{}", case.calls + at + 1),
                name: name.into(),
                args,
            })
            .collect();
        let output = tokens(&text) + calls.iter().map(|call| 8 + tokens(&call.args.to_string())).sum::<u64>();
        let stop = if calls.is_empty() { Stop::EndOfTurn } else { Stop::Calls };
        ModelReply {
            text,
            calls,
            stop,
            usage: Usage {
                input: input_tokens(request),
                output,
                ..Usage::default()
            },
            raw: None,
        }
    }

    fn step(&self, case: &Case<'_>, offered: &dyn Fn(&str) -> bool) -> Step {
        let Some(ticket) = case.ticket else {
            return Step::Say("I do not know: no ticket was shown to me, so there is nothing to triage.".into());
        };
        let words = case.words();
        let question = question(&ticket.subject, &words);
        if !case.called("search_knowledge") && !case.called("similar_tickets") {
            let calls = self.look(&question, &ticket.subject, &words, offered);
            if !calls.is_empty() {
                return Step::Call(calls);
            }
        }
        let neighbours = neighbours(case.outcome("similar_tickets").as_ref());
        let mut opinion = judge(
            &ticket.subject,
            &words,
            &self.house,
            self.learned.as_deref(),
            &neighbours,
        );
        let guidance = Guidance::read(&case.told, &self.house);
        if let Some(place) = guidance.category {
            opinion.follow(place, &self.house);
        }
        tighten(&mut opinion, ticket.automatic, guidance.hand_over);
        let triage = &opinion.triage;

        let article = pick(case.outcome("search_knowledge").as_ref(), &question, triage);
        if let Some(id) = &article
            && !case.called("read_article")
            && offered("read_article")
            && matches!(triage.action, Action::AutoReply | Action::NeedsApproval)
        {
            return Step::Call(vec![("read_article", json!({ "article_id": id }))]);
        }
        let source = case.outcome("read_article").map(|article| source(&article));
        let mut wishes = guidance.wishes;
        let draft = source
            .as_ref()
            .and_then(|source| compose(source, &question, &triage.language, triage.action, wishes));
        if draft.is_some()
            && source
                .as_ref()
                .is_some_and(|source| !source.language.is_empty() && source.language != triage.language)
        {
            // The passage is not in the customer's language: a person should see that before it leaves.
            opinion.triage.action = opinion.triage.action.max(Action::NeedsApproval);
        }
        let triage = &opinion.triage;
        let booked = case
            .of("classify_ticket")
            .next_back()
            .map(|done| &done.call.args["category"]);
        let moved = guidance.category.is_some() && booked.is_some_and(|booked| *booked != json!(triage.category));
        if moved || booked.is_none() && !case.called("route_ticket") {
            let calls = book(&opinion, offered);
            if !calls.is_empty() {
                return Step::Call(calls);
            }
        }
        let findings = findings(&opinion, &neighbours, source.as_ref());
        match triage.action {
            Action::Ignore => Step::Say(format!("Nothing to do. {}", triage.reason)),
            Action::Human => hand_over(case, &opinion, guidance.escalate, &findings, offered),
            Action::AutoReply | Action::NeedsApproval => {
                if guidance.escalate.is_some() {
                    return hand_over(case, &opinion, guidance.escalate, &findings, offered);
                }
                let Some(draft) = draft.filter(|_| offered("reply_customer")) else {
                    return hand_over(case, &opinion, None, &findings, offered);
                };
                let tries: Vec<&Done<'_>> = case.of("reply_customer").collect();
                match verdict(tries.last().copied(), &case.told) {
                    Verdict::NotYet => Step::Call(vec![("reply_customer", json!({ "text": draft }))]),
                    Verdict::Waiting => Step::Say(format!("A reply was drafted. {}", triage.reason)),
                    Verdict::Went => Step::Say(format!("Answered. {}", triage.reason)),
                    Verdict::Rejected(reason) => {
                        let before = wishes;
                        wishes = wishes.with(&reason);
                        let again = source
                            .as_ref()
                            .filter(|_| tries.len() == 1 && wishes != before)
                            .and_then(|source| compose(source, &question, &triage.language, triage.action, wishes));
                        match again {
                            Some(text) if text != draft => {
                                Step::Call(vec![("reply_customer", json!({ "text": text }))])
                            }
                            Some(_) | None => hand_over(
                                case,
                                &opinion,
                                None,
                                "The draft was rejected and I cannot write another one that honours the reason.",
                                offered,
                            ),
                        }
                    }
                    Verdict::Failed => hand_over(
                        case,
                        &opinion,
                        None,
                        "The draft could not be sent, so a person must write.",
                        offered,
                    ),
                }
            }
        }
    }

    fn look(
        &self,
        question: &str,
        subject: &str,
        words: &str,
        offered: &dyn Fn(&str) -> bool,
    ) -> Vec<(&'static str, Value)> {
        let mut calls = Vec::new();
        if offered("similar_tickets") {
            calls.push(("similar_tickets", json!({})));
        }
        if offered("search_knowledge") && !question.is_empty() {
            let language = read(subject, words).language;
            let mut args = json!({ "query": question, "limit": 5 });
            if language.confidence > 0.0 {
                args["language"] = json!(language.language);
            }
            calls.push(("search_knowledge", args));
        }
        calls
    }
}

/// Machines are never answered, and the team may take a ticket out of our hands.
fn tighten(opinion: &mut Opinion, automatic: bool, hand_over: bool) {
    let action = &mut opinion.triage.action;
    if automatic {
        *action = if opinion.triage.category == "other" {
            Action::Ignore
        } else {
            (*action).max(Action::Human)
        };
    }
    if hand_over {
        *action = (*action).max(Action::Human);
    }
}

fn book(opinion: &Opinion, offered: &dyn Fn(&str) -> bool) -> Vec<(&'static str, Value)> {
    let triage = &opinion.triage;
    let mut calls = Vec::new();
    if offered("classify_ticket") {
        calls.push((
            "classify_ticket",
            json!({
                "category": triage.category,
                "priority": triage.priority,
                "language": triage.language,
                "action": triage.action,
                "confidence": (triage.confidence * 100.0).round() / 100.0,
                "reason": triage.reason,
            }),
        ));
    }
    if offered("route_ticket") && !triage.team.is_empty() {
        calls.push((
            "route_ticket",
            json!({ "team": triage.team, "reason": format!("{} tickets belong to {}.", triage.category, triage.team) }),
        ));
    }
    calls
}

#[cfg(test)]
mod tests;
