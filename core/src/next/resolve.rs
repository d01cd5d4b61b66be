//! From a call's arguments to one exact effect: recipients, versions and revisions filled in from the facts.

use serde_json::json;

use crate::article::{Article, ArticleState};
use crate::diff;
use crate::effect::{Edit, EditChange, Effect, Escalation, Reply};
use crate::facts::Facts;
use crate::id::ArticleId;
use crate::step::Outcome;
use crate::tool::escalate::Escalate;
use crate::tool::knowledge::ProposeEdit;
use crate::tool::question::{AskQuestion, Question};
use crate::tool::reply::ReplyCustomer;
use crate::transcript::Transcript;

pub(super) fn reply(args: &ReplyCustomer, facts: &Facts) -> Result<Effect, Outcome> {
    let text = args.text.trim();
    if text.is_empty() {
        return Err(Outcome::failed("The reply has no words; write it out."));
    }
    Ok(Effect::ReplyCustomer(Reply {
        ticket: facts.ticket.id,
        outside: facts.ticket.outside.clone(),
        to: facts.ticket.requester.clone(),
        text: text.to_owned(),
        version: facts.ticket.version,
    }))
}

pub(super) fn escalation(args: &Escalate, facts: &Facts) -> Result<Effect, Outcome> {
    if args.team.trim().is_empty() || args.reason.trim().is_empty() {
        return Err(Outcome::failed("Name the team and the reason of the escalation."));
    }
    Ok(Effect::EscalateTicket(Escalation {
        ticket: facts.ticket.id,
        outside: facts.ticket.outside.clone(),
        level: args.level,
        team: args.team.trim().to_owned(),
        reason: args.reason.trim().to_owned(),
        version: facts.ticket.version,
    }))
}

/// Options that say the same are one; a single one would be no choice.
pub(super) fn question(args: &AskQuestion, facts: &Facts) -> Result<Effect, Outcome> {
    let question = args.question.trim();
    if question.is_empty() {
        return Err(Outcome::failed("The question has no words; write it out."));
    }
    let mut options: Vec<String> = Vec::new();
    for option in args.options.iter().map(|option| option.trim()) {
        if !option.is_empty() && !options.iter().any(|other| other.eq_ignore_ascii_case(option)) {
            options.push(option.to_owned());
        }
    }
    if options.len() == 1 {
        return Err(Outcome::failed("Give at least two different options, or none at all."));
    }
    Ok(Effect::AskQuestion(Question {
        ticket: facts.ticket.id,
        question: question.to_owned(),
        options,
    }))
}

/// An edit must rest on the article as it stands: read in this run, at its present revision.
pub(super) fn edit(args: &ProposeEdit, transcript: &Transcript, facts: &Facts) -> Result<Effect, Outcome> {
    let id = ArticleId(args.article_id.trim().to_owned());
    let change = match facts.articles.get(&id) {
        None => create(args, &id)?,
        Some(Article {
            state: ArticleState::Retired,
            ..
        }) => {
            return Err(Outcome::failed(format!(
                "The article \"{id}\" is retired: propose a new one under another id."
            )));
        }
        Some(article) => {
            match transcript.articles_read().get(&id) {
                None => {
                    return Err(Outcome::failed(format!(
                        "Read the article first: read_article(\"{id}\")."
                    )));
                }
                Some(revision) if *revision != article.revision => {
                    return Err(Outcome::failed(format!(
                        "The article is at revision {} by now; read it again: read_article(\"{id}\").",
                        article.revision
                    )));
                }
                Some(_) => {}
            }
            if args.retire {
                EditChange::Retire {
                    base_revision: article.revision,
                }
            } else {
                if args.old_text.is_empty() {
                    return Err(Outcome::failed(format!(
                        "The article \"{id}\" exists: give the passage to replace."
                    )));
                }
                match diff::apply(&article.body, &args.old_text, &args.new_text) {
                    Ok(_) => {}
                    Err(diff::EditError::NoChange) => {
                        return Err(Outcome::ok("That is what the article says already; nothing to ask.")
                            .with(json!({ "unchanged": true })));
                    }
                    Err(error) => return Err(Outcome::failed(error.to_string())),
                }
                EditChange::Replace {
                    base_revision: article.revision,
                    old_text: args.old_text.clone(),
                    new_text: args.new_text.clone(),
                }
            }
        }
    };
    Ok(Effect::ProposeKnowledgeEdit(Edit {
        ticket: facts.ticket.id,
        article: id,
        rationale: args.rationale.trim().to_owned(),
        change,
    }))
}

fn create(args: &ProposeEdit, id: &ArticleId) -> Result<EditChange, Outcome> {
    let missing = || {
        Outcome::failed(format!(
            "There is no article \"{id}\": find it with search_knowledge, or give a title to propose a new one."
        ))
    };
    let title = args
        .title
        .as_deref()
        .map(str::trim)
        .filter(|title| !title.is_empty())
        .ok_or_else(missing)?;
    if args.retire || !args.old_text.is_empty() {
        return Err(missing());
    }
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.0.is_empty() || id.0.len() > 80 || !id.0.chars().all(plain) {
        return Err(Outcome::failed(
            "The id of a new article is made of lower-case letters, digits and dashes.",
        ));
    }
    if args.new_text.trim().is_empty() {
        return Err(Outcome::failed("A new article needs its text in new_text."));
    }
    Ok(EditChange::Create {
        title: title.to_owned(),
        body: args.new_text.clone(),
        language: String::new(),
    })
}
