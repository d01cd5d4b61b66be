//! The execution of a decided approval: exactly the effect that the card was made from, or not at all.

use serde_json::json;

use super::{NewText, Next, Sending, Starting, calls};
use crate::approval::ApprovalState;
use crate::article::{Article, ArticleState};
use crate::diff;
use crate::digest;
use crate::effect::{Edit, EditChange, Effect};
use crate::facts::{ApprovalFact, Facts, Standing};
use crate::id::{ApprovalId, CallKey};
use crate::policy;
use crate::step::{Outcome, StepKind};
use crate::ticket::Mode;

#[derive(Clone, Debug, PartialEq)]
pub enum Execution {
    Send(Box<Sending>),
    /// Only its own run, at this very call, can make it.
    Start(Box<Starting>),
    /// The ground moved: ask again for `effect`, and say what changed.
    Drifted {
        effect: Effect,
        why: String,
    },
    /// It cannot be done any more; one sentence for the model.
    Refused {
        why: String,
    },
}

/// The effect after the decision: the supervisor's words where they edited it.
pub fn final_effect(approval: &ApprovalFact) -> Effect {
    match approval
        .decision
        .as_ref()
        .and_then(|decision| decision.edited.as_deref())
    {
        Some(text) if approval.state == ApprovalState::Edited => edited(&approval.effect, text),
        _ => approval.effect.clone(),
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
        // Arguments are approved as they are or not at all: its card has no way to edit them.
        Effect::UseTool(_) | Effect::AskQuestion(_) => {}
    }
    effect
}

/// Whether a person's standing still carries the decision that they made.
fn holds(approval: &ApprovalFact) -> bool {
    match approval.standing {
        Standing::Holds => true,
        Standing::Lost | Standing::Unknown => false,
    }
}

/// Judges a decided approval anew at the moment of its execution. Serves the run's own runner, and approvals whose run
/// has moved on or ended. `heard` is the newest comment that its run has heard.
pub fn execute(approval: &ApprovalFact, heard: i64, facts: &Facts) -> Execution {
    if !approval.is_due() {
        let why = match approval.executed {
            true => format!("{} was executed already.", approval.id),
            false => format!("{} is {}; it was not executed.", approval.id, approval.state),
        };
        return Execution::Refused { why };
    }
    if digest::of(&approval.effect) != approval.digest {
        // The row was changed behind our back: whatever it says now, nobody approved it.
        return Execution::Refused {
            why: format!("{} is not what its card showed; it was not executed.", approval.id),
        };
    }
    let effect = final_effect(approval);
    if let Effect::AskQuestion(_) = effect {
        let why = format!("{} is a question: there is nothing to carry out.", approval.id);
        return Execution::Refused { why };
    }
    if let Effect::ReplyCustomer(reply) = &effect
        && reply.version != facts.ticket.version
    {
        let why = format!(
            "{} was approved, but the ticket moved on before it was sent; draft anew.",
            approval.id
        );
        return Execution::Refused { why };
    }
    if let Some(why) = policy::refuses(&effect, facts) {
        return Execution::Refused { why };
    }
    if !holds(approval) {
        let who = approval
            .decision
            .as_ref()
            .map_or("Whoever decided", |decision| decision.by_name.as_str());
        return Execution::Drifted {
            effect,
            why: format!("{who} may no longer decide this."),
        };
    }
    let by = approval
        .decision
        .as_ref()
        .map_or_else(String::new, |decision| match approval.state {
            ApprovalState::Edited => format!(", edited by {}", decision.by_name),
            _ => format!(", approved by {}", decision.by_name),
        });
    send(approval.call, Some(approval.id), effect, &by, heard, facts)
}

/// What policy allows without asking, and what shadow mode records instead of asking.
pub(super) fn unasked(call: CallKey, effect: Effect, why: &str, heard: i64, facts: &Facts) -> Next {
    match send(call, None, effect, &format!(" ({why})"), heard, facts) {
        Execution::Send(sending) => Next::Send(*sending),
        Execution::Start(starting) => Next::Start(*starting),
        Execution::Drifted { why, .. } | Execution::Refused { why } => calls::just(call, Outcome::failed(why)),
    }
}

fn send(call: CallKey, approval: Option<ApprovalId>, effect: Effect, by: &str, heard: i64, facts: &Facts) -> Execution {
    let recorded = facts.mode == Mode::Shadow;
    if let Effect::UseTool(used) = &effect
        && !recorded
    {
        return Execution::Start(Box::new(Starting {
            call,
            approval,
            used: used.clone(),
            again: false,
            heard,
        }));
    }
    let mut article = None;
    if let Effect::ProposeKnowledgeEdit(edit) = &effect {
        match new_text(edit, facts.articles.get(&edit.article)) {
            Ok(text) => article = Some(text),
            Err(execution) => return *execution,
        }
    }
    let name = approval.map_or_else(String::new, |id| format!("{id}"));
    let what = match &effect {
        Effect::ReplyCustomer(_) => "The reply is queued",
        Effect::EscalateTicket(_) => "The escalation is queued",
        Effect::ProposeKnowledgeEdit(_) => "The article was changed",
        Effect::UseTool(_) => "The call is made",
        Effect::AskQuestion(_) => "The question is asked",
    };
    let mut text = match (recorded, name.is_empty()) {
        (true, _) if matches!(effect, Effect::AskQuestion(_)) => {
            "Recorded, not asked: the bot is in shadow mode. Go on without an answer.".to_owned()
        }
        (true, _) => "Recorded, not sent: the bot is in shadow mode.".to_owned(),
        (false, true) => format!("{what}{by}."),
        (false, false) => format!("{what}: {name}{by}."),
    };
    let changed = approval.is_some() && by.starts_with(", edited");
    if changed {
        text.push_str(" It went out in the supervisor's words:\n");
        text.push_str(&words(&effect));
    }
    let outcome = Outcome::ok(text).with(json!({
        "queued": !recorded,
        "recorded": recorded,
        "approval": approval,
    }));
    Execution::Send(Box::new(Sending {
        call,
        approval,
        effect,
        recorded,
        told: StepKind::Outcome { call, outcome },
        article,
        heard,
    }))
}

fn words(effect: &Effect) -> String {
    match effect {
        Effect::ReplyCustomer(reply) => reply.text.clone(),
        Effect::EscalateTicket(escalation) => escalation.reason.clone(),
        Effect::ProposeKnowledgeEdit(edit) => match &edit.change {
            EditChange::Replace { new_text, .. } => new_text.clone(),
            EditChange::Create { body, .. } => body.clone(),
            EditChange::Retire { .. } => String::new(),
        },
        Effect::UseTool(used) => used.args.to_string(),
        Effect::AskQuestion(question) => question.question.clone(),
    }
}

/// The article after the edit; where its base moved and the passage still stands once, the edit is asked again.
fn new_text(edit: &Edit, present: Option<&Article>) -> Result<NewText, Box<Execution>> {
    let refuse = |why: String| Err(Box::new(Execution::Refused { why }));
    let retired = present.is_some_and(|article| article.state == ArticleState::Retired);
    match (&edit.change, present) {
        (EditChange::Replace { .. } | EditChange::Retire { .. }, Some(_)) if retired => {
            refuse(format!("The article \"{}\" was retired meanwhile.", edit.article))
        }
        (EditChange::Create { title, body, language }, None) => Ok(NewText {
            base_revision: None,
            title: title.clone(),
            body: body.clone(),
            language: language.clone(),
            retired: false,
        }),
        (EditChange::Create { .. }, Some(_)) => refuse(format!("An article \"{}\" was made meanwhile.", edit.article)),
        (EditChange::Replace { .. } | EditChange::Retire { .. }, None) => {
            refuse(format!("The article \"{}\" is no longer there.", edit.article))
        }
        (
            EditChange::Replace {
                base_revision,
                old_text,
                new_text,
            },
            Some(article),
        ) => match diff::apply(&article.body, old_text, new_text) {
            Ok(_) if article.revision != *base_revision => {
                let change = EditChange::Replace {
                    base_revision: article.revision,
                    old_text: old_text.clone(),
                    new_text: new_text.clone(),
                };
                moved(edit, change, article)
            }
            Ok(body) => Ok(NewText {
                base_revision: Some(article.revision),
                title: article.title.clone(),
                body,
                language: article.language.clone(),
                retired: false,
            }),
            Err(error) => refuse(format!(
                "The article \"{}\" is at revision {} by now and the edit no longer fits: {error}",
                edit.article, article.revision
            )),
        },
        (EditChange::Retire { base_revision }, Some(article)) if article.revision != *base_revision => moved(
            edit,
            EditChange::Retire {
                base_revision: article.revision,
            },
            article,
        ),
        (EditChange::Retire { .. }, Some(article)) => Ok(NewText {
            base_revision: Some(article.revision),
            title: article.title.clone(),
            body: article.body.clone(),
            language: article.language.clone(),
            retired: true,
        }),
    }
}

fn moved(edit: &Edit, change: EditChange, article: &Article) -> Result<NewText, Box<Execution>> {
    let effect = Effect::ProposeKnowledgeEdit(Edit { change, ..edit.clone() });
    let why = format!(
        "The article changed to revision {} after the card was made.",
        article.revision
    );
    Err(Box::new(Execution::Drifted { effect, why }))
}
