//! The deterministic model behind the Model port: it reads the request, sees what was done, and says the next step.

use serde_json::{Value, json};

use super::case::{Case, Done};
use super::classifier::Classifier;
use super::draft::{Source, Wishes, compose};
use super::rules::{Signal, read};
use super::triage::{Category, Neighbour, Opinion, default_categories, judge};
use crate::model::{Call, ModelReply, ModelRequest, Part, Stop, Turn, Usage};
use crate::search::{Counts, Document, Query, coverage};
use crate::ticket::{Action, Triage};

/// Characters of a ticket that go into a search: what follows is seldom the question.
const QUERY: usize = 400;

/// The offline model. Cheap to clone when nothing is trained; share it otherwise.
#[derive(Clone, Debug)]
pub struct Offline {
    pub categories: Vec<Category>,
    pub classifier: Option<Classifier>,
}

impl Default for Offline {
    fn default() -> Self {
        Self {
            categories: default_categories(),
            classifier: None,
        }
    }
}

/// What the offline model does at this point of a run.
enum Step {
    Call(Vec<(&'static str, Value)>),
    Say(String),
}

impl Offline {
    /// The triage of a ticket by itself, without search: what `eval` measures.
    pub fn triage(&self, subject: &str, body: &str) -> Opinion {
        judge(subject, body, &self.categories, self.classifier.as_ref(), &[])
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
            &self.categories,
            self.classifier.as_ref(),
            &neighbours,
        );
        let guidance = Guidance::read(&case.told);
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
        if !case.called("classify_ticket") && !case.called("route_ticket") {
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

/// Escalates where the rules say so, and leaves a note for whoever takes over.
fn hand_over(
    case: &Case<'_>,
    opinion: &Opinion,
    asked: Option<u8>,
    findings: &str,
    offered: &dyn Fn(&str) -> bool,
) -> Step {
    let triage = &opinion.triage;
    let mut calls = Vec::new();
    if let Some(level) = asked.or_else(|| level(opinion))
        && offered("escalate_ticket")
        && !case.called("escalate_ticket")
    {
        calls.push((
            "escalate_ticket",
            json!({ "level": level, "team": triage.team, "reason": triage.reason }),
        ));
    }
    if offered("add_note") && !case.called("add_note") {
        calls.push((
            "add_note",
            json!({ "text": format!("I do not know: this needs a person. {} {findings}", triage.reason).trim() }),
        ));
    }
    if calls.is_empty() {
        return Step::Say(format!(
            "Handed over to {}. {}",
            if triage.team.is_empty() {
                "a person"
            } else {
                &triage.team
            },
            triage.reason
        ));
    }
    Step::Call(calls)
}

fn level(opinion: &Opinion) -> Option<u8> {
    let reading = &opinion.reading;
    let grave =
        matches!(opinion.triage.category.as_str(), "safety" | "security" | "legal") || reading.has(Signal::Outage);
    match (grave, reading.has(Signal::RepeatedContact)) {
        (true, _) => Some(2),
        (false, true) => Some(1),
        (false, false) => None,
    }
}

fn question(subject: &str, words: &str) -> String {
    let reading = read(subject, words);
    let text = format!("{} {}", subject.trim(), reading.substance);
    text.trim().chars().take(QUERY).collect()
}

fn neighbours(found: Option<&Value>) -> Vec<Neighbour> {
    let list = found
        .and_then(|found| found["tickets"].as_array())
        .map(Vec::as_slice)
        .unwrap_or_default();
    list.iter()
        .map(|one| Neighbour {
            number: one["number"].as_str().unwrap_or_default().to_owned(),
            category: one["category"].as_str().unwrap_or_default().to_owned(),
        })
        .collect()
}

/// The best hit that convinces, in the customer's language when there is one.
fn pick(found: Option<&Value>, question: &str, triage: &Triage) -> Option<String> {
    let list = found?["articles"].as_array()?;
    let query = Query::parse(question);
    let convincing: Vec<&Value> = list
        .iter()
        .filter(|hit| convinces(hit, &query, &triage.category))
        .collect();
    let own = convincing
        .iter()
        .find(|hit| hit["language"].as_str() == Some(&triage.language));
    let best = own.or_else(|| convincing.first())?;
    match &best["id"] {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// A hit convinces when title and snippet are about the same matter as the ticket by the rules, or hold most of its words.
fn convinces(hit: &Value, query: &Query, category: &str) -> bool {
    let (title, excerpt) = (
        hit["title"].as_str().unwrap_or_default(),
        hit["snippet"].as_str().unwrap_or_default(),
    );
    let about = read(title, excerpt);
    let same_matter = about
        .scores
        .iter()
        .take(2)
        .any(|(name, score)| *name == category && *score >= 1.6);
    let counts = Counts::of(&Document {
        title,
        body: excerpt,
        ..Document::default()
    });
    let covered = coverage(query, &counts);
    let titled = query.terms.iter().any(|term| {
        term.alternatives
            .iter()
            .any(|(token, fit)| *fit >= 0.5 && counts.tokens.get(token).is_some_and(|fields| fields.title > 0))
    });
    (same_matter && titled) || (titled && covered >= 0.45) || covered >= 0.7
}

fn source(article: &Value) -> Source {
    let text = |key: &str| article[key].as_str().unwrap_or_default().to_owned();
    Source {
        id: text("id"),
        title: text("title"),
        language: text("language"),
        body: text("body"),
    }
}

fn findings(opinion: &Opinion, neighbours: &[Neighbour], source: Option<&Source>) -> String {
    let mut out = Vec::new();
    match source {
        Some(source) => out.push(format!("Closest article: {} (\"{}\").", source.id, source.title)),
        None if matches!(opinion.triage.action, Action::AutoReply | Action::NeedsApproval) => {
            out.push("No article answers it convincingly.".to_owned())
        }
        None => {}
    }
    let numbers: Vec<&str> = neighbours
        .iter()
        .take(3)
        .map(|one| one.number.as_str())
        .filter(|number| !number.is_empty())
        .collect();
    if !numbers.is_empty() {
        out.push(format!("Similar tickets: {}.", numbers.join(", ")));
    }
    if opinion.tags.contains(&"prompt_injection") {
        out.push("The text contains orders to a machine; they were not followed.".to_owned());
    }
    out.join(" ")
}

enum Verdict {
    NotYet,
    Waiting,
    Went,
    Rejected(String),
    Failed,
}

fn verdict(tried: Option<&Done<'_>>, told: &[&str]) -> Verdict {
    let Some(tried) = tried else { return Verdict::NotYet };
    let Some(answer) = tried.answer else {
        return Verdict::Waiting;
    };
    let rejected = |text: &str| text.to_lowercase().contains("rejected");
    if rejected(&answer.text) {
        return Verdict::Rejected(answer.text.clone());
    }
    if let Some(text) = told.iter().rev().find(|text| rejected(text)) {
        return Verdict::Rejected((*text).to_owned());
    }
    if answer.failed { Verdict::Failed } else { Verdict::Went }
}

/// What the team told us, as far as it is simple.
#[derive(Default)]
struct Guidance {
    wishes: Wishes,
    hand_over: bool,
    escalate: Option<u8>,
}

impl Guidance {
    fn read(told: &[&str]) -> Self {
        let mut guidance = Self::default();
        for text in told {
            let lower = text.to_lowercase();
            if lower.contains("rejected") || lower.contains("withdrawn") {
                continue;
            }
            guidance.wishes = guidance.wishes.with(text);
            if [
                "hand over",
                "hand it over",
                "do not reply",
                "don't reply",
                "do not answer",
                "no reply",
                "leave it to",
            ]
            .iter()
            .any(|mark| lower.contains(mark))
            {
                guidance.hand_over = true;
            }
            if lower.contains("escalate") && !lower.contains("not escalate") {
                guidance.escalate = Some(
                    if ["level 2", "l2", "second level"]
                        .iter()
                        .any(|mark| lower.contains(mark))
                    {
                        2
                    } else {
                        1
                    },
                );
            }
        }
        guidance
    }
}

impl Wishes {
    /// What a supervisor's reason asks for, beside what was asked for already.
    fn with(self, reason: &str) -> Self {
        let lower = reason.to_lowercase();
        let says = |marks: &[&str]| marks.iter().any(|mark| lower.contains(mark));
        Self {
            shorter: self.shorter
                || says(&[
                    "short",
                    "too long",
                    "brief",
                    "concise",
                    "kürzer",
                    "zu lang",
                    "plus court",
                    "trop long",
                    "más corto",
                    "太长",
                    "短く",
                ]),
            warmer: self.warmer
                || says(&[
                    "friendl",
                    "warm",
                    "tone",
                    "polite",
                    "apolog",
                    "sorry",
                    "empath",
                    "freundlich",
                    "höflich",
                    "entschuldig",
                    "aimable",
                    "excus",
                    "amable",
                    "语气",
                    "丁寧",
                ]),
        }
    }
}

/// An honest estimate: a character of Chinese, Japanese or Korean is about a token, others are a quarter.
fn tokens(text: &str) -> u64 {
    let (mut east, mut rest) = (0, 0);
    for c in text.chars() {
        if crate::search::unspaced(c) {
            east += 1
        } else {
            rest += 1
        }
    }
    east + u64::div_ceil(rest, 4)
}

fn input_tokens(request: &ModelRequest) -> u64 {
    let turns = request.turns.iter().map(|turn| match turn {
        Turn::Told(parts) => parts.iter().map(part_tokens).sum(),
        Turn::Said(reply) => {
            tokens(&reply.text)
                + reply
                    .calls
                    .iter()
                    .map(|call| 8 + tokens(&call.args.to_string()))
                    .sum::<u64>()
        }
        Turn::Outcomes(answers) => answers.iter().map(|answer| 8 + tokens(&answer.text)).sum(),
    });
    let tools = request
        .tools
        .iter()
        .map(|tool| tokens(&tool.description) + tokens(&tool.schema.to_string()));
    tokens(&request.system) + tools.sum::<u64>() + turns.sum::<u64>()
}

fn part_tokens(part: &Part) -> u64 {
    match part {
        Part::Text(text) => tokens(text),
        Part::Ticket(brief) => 20 + tokens(&brief.subject) + tokens(&brief.requester),
        Part::Comment { body, author_name, .. } => 8 + tokens(body) + tokens(author_name),
    }
}

#[cfg(test)]
mod tests;
