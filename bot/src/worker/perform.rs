//! Performing read-only calls: from the store to an outcome. A failing tool is an outcome, never an error.

use deskhand_adapters::postgres::runs::Lease;
use deskhand_adapters::postgres::search::{self, Kind};
use deskhand_adapters::postgres::tickets::{self, Filter};
use deskhand_adapters::postgres::{articles, artifacts};
use deskhand_core::article::ArticleState;
use deskhand_core::command::TicketRef;
use deskhand_core::context;
use deskhand_core::facts::Facts;
use deskhand_core::fence;
use deskhand_core::id::{ArticleId, TicketId};
use deskhand_core::next::Looking;
use deskhand_core::port::ToolsError;
use deskhand_core::step::{Outcome, StepKind};
use deskhand_core::ticket::Author;
use deskhand_core::tool::lookup::{self, Look};
use deskhand_core::tool::outside::ToolUse;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::files;
use crate::app::App;

/// How many looks of one reply run at the same time.
const SIDE_BY_SIDE: usize = 8;

/// Performs the calls side by side; the outcomes stand in the order of the calls.
pub async fn looks(app: &App, facts: &Facts, looks: &[Looking]) -> Vec<StepKind> {
    let mut steps = Vec::with_capacity(looks.len());
    for some in looks.chunks(SIDE_BY_SIDE) {
        steps.extend(join_all(some.iter().map(|looking| perform(app, facts, looking))).await);
    }
    steps
}

/// Outcomes that are longer than a model should read at once: the whole is kept, and head and tail are shown.
pub async fn shortened(app: &App, lease: &Lease, steps: Vec<StepKind>) -> anyhow::Result<Vec<StepKind>> {
    let mut out = Vec::with_capacity(steps.len());
    for mut step in steps {
        if let StepKind::Outcome { call, outcome } = &mut step {
            let id = artifacts::id(lease.run, *call);
            if let Some(short) = context::shorten(&outcome.text, app.config.limits.max_tool_result, &id) {
                artifacts::put(&app.pool, &id, lease.ticket, lease.run, &outcome.text).await?;
                outcome.text = short;
            }
        }
        out.push(step);
    }
    Ok(out)
}

async fn perform(app: &App, facts: &Facts, looking: &Looking) -> StepKind {
    let outcome = match look(app, facts, &looking.look).await {
        Ok(outcome) => outcome,
        Err(error) => {
            tracing::warn!(%error, "a look-up failed");
            Outcome::failed("The look-up failed just now; try it once more, or go on without it.")
        }
    };
    StepKind::Outcome {
        call: looking.call,
        outcome,
    }
}

async fn look(app: &App, facts: &Facts, look: &Look) -> sqlx::Result<Outcome> {
    match look {
        Look::ListTickets(args) => list(app, args).await,
        Look::GetTicket(args) => get(app, &args.ticket).await,
        Look::SearchTickets(args) => {
            let limit = args.limit.unwrap_or(lookup::FEW) as usize;
            let found = search::search(&app.pool, Kind::Ticket, &args.query, None, limit).await?;
            described(app, found).await
        }
        Look::SimilarTickets(args) => similar(app, facts, args).await,
        Look::SearchKnowledge(args) => {
            let limit = args.limit.unwrap_or(lookup::FEW) as usize;
            let found = search::search(&app.pool, Kind::Article, &args.query, args.language.as_deref(), limit).await?;
            let ids: Vec<&str> = found.iter().map(|hit| hit.id.as_str()).collect();
            let details = json!({ "found": ids });
            let articles: Vec<Value> = found
                .iter()
                .map(|hit| {
                    json!({ "id": hit.id, "title": hit.title, "language": hit.language, "score": rounded(hit.score),
                            "coverage": rounded(hit.coverage), "snippet": hit.snippet })
                })
                .collect();
            Ok(Outcome::ok(json!({ "articles": articles }).to_string()).with(details))
        }
        Look::ReadArticle(args) => read_article(app, args.article_id.trim()).await,
        Look::ReadArtifact(args) => read_artifact(app, facts.ticket.id, args).await,
        Look::LoadSkill(args) => Ok(load_skill(app, args.name.trim())),
        Look::Outside(used) => Ok(outside(app, used).await),
    }
}

/// Calls a tool of a server outside. Its words are fenced: whoever runs the server, they are no instruction to the model.
pub async fn outside(app: &App, used: &ToolUse) -> Outcome {
    let Some(tools) = &app.tools else {
        return Outcome::failed(format!("{} is not offered any more; go on without it.", used.tool));
    };
    match tools.call(used).await {
        Ok(mut outcome) => {
            outcome.text = fence::fenced(&outcome.text);
            outcome
        }
        Err(ToolsError::NotCalled { why }) => Outcome::failed(format!("{} was not called: {why}.", used.tool)),
        Err(ToolsError::Unknown { why }) => Outcome::failed(format!(
            "{} gave no result ({why}): the call may or may not have taken effect. Look whether it did before you call \
             it again, or leave it to a person with a note.",
            used.tool
        ))
        .with(json!({ "interrupted": true })),
    }
}

fn rounded(score: f32) -> f64 {
    (f64::from(score) * 100.0).round() / 100.0
}

async fn list(app: &App, args: &lookup::ListTickets) -> sqlx::Result<Outcome> {
    let filter = Filter {
        state: args.state,
        category: args.category.as_deref(),
        most: i64::from(args.limit.unwrap_or(20)),
        ..Filter::default()
    };
    let rows = tickets::list(&app.pool, &filter).await?;
    let tickets: Vec<Value> = rows
        .iter()
        .map(|row| {
            let triage = row.triage.as_ref();
            json!({ "number": TicketId(row.id).to_string(), "subject": fence::fenced_line(&row.subject), "state": row.state,
                    "category": triage.map(|t| &t["category"]), "priority": triage.map(|t| &t["priority"]) })
        })
        .collect();
    Ok(Outcome::ok(json!({ "tickets": tickets }).to_string()))
}

/// Finds a ticket as people write it.
pub async fn resolve(app: &App, reference: &TicketRef) -> sqlx::Result<Option<TicketId>> {
    match reference {
        TicketRef::Number(id) => tickets::find(&app.pool, *id).await,
        TicketRef::Outside(outside) => tickets::find_outside(&app.pool, outside).await,
    }
}

async fn get(app: &App, text: &str) -> sqlx::Result<Outcome> {
    let id = match text.parse::<TicketRef>() {
        Ok(reference) => resolve(app, &reference).await?,
        Err(_) => None,
    };
    let Some(whole) = (match id {
        Some(id) => tickets::get(&app.pool, id).await?,
        None => None,
    }) else {
        let shown: String = text.chars().take(40).collect();
        return Ok(Outcome::failed(format!(
            "No ticket {shown}: find the number with list_tickets."
        )));
    };
    let ticket = whole.ticket;
    let comments: Vec<Value> = tickets::comments(&app.pool, ticket.id, 0)
        .await?
        .iter()
        .map(|comment| {
            json!({ "author": comment.author, "name": fence::fenced_line(&comment.author_name), "public": comment.public,
                    "at": comment.created_at, "body": fence::fenced(&comment.body) })
        })
        .collect();
    let text = json!({
        "number": ticket.id.to_string(), "subject": fence::fenced_line(&ticket.subject), "state": ticket.state,
        "requester": fence::fenced_line(&ticket.requester.to_string()), "triage": ticket.triage, "comments": comments,
    });
    Ok(Outcome::ok(text.to_string()).with(json!({ "ticket": ticket.id })))
}

async fn similar(app: &App, facts: &Facts, args: &lookup::SimilarTickets) -> sqlx::Result<Outcome> {
    let limit = args.limit.unwrap_or(lookup::FEW) as usize;
    let other = match &args.ticket {
        Some(text) => match text.parse::<TicketRef>() {
            Ok(reference) => resolve(app, &reference).await?,
            Err(_) => None,
        },
        None => Some(facts.ticket.id),
    };
    let Some(whole) = (match other {
        Some(id) => tickets::get(&app.pool, id).await?,
        None => None,
    }) else {
        return Ok(Outcome::failed(
            "There is no such ticket: find the number with list_tickets.",
        ));
    };
    let mut words = whole.ticket.subject.clone();
    for comment in tickets::comments(&app.pool, whole.ticket.id, 0).await? {
        if comment.public && matches!(comment.author, Author::Requester | Author::Other) {
            words.push('\n');
            words.push_str(&comment.body);
        }
    }
    let words: String = words.chars().take(2000).collect();
    let own = whole.ticket.id.to_string();
    let mut found = search::search(&app.pool, Kind::Ticket, &words, None, limit + 1).await?;
    found.retain(|hit| hit.id != own);
    found.truncate(limit);
    described(app, found).await
}

/// Tickets with what was concluded and answered.
async fn described(app: &App, found: Vec<search::Found>) -> sqlx::Result<Outcome> {
    let mut list = Vec::new();
    for hit in &found {
        let Ok(id) = hit.id.parse::<TicketId>() else { continue };
        let Some(whole) = tickets::get(&app.pool, id).await? else {
            continue;
        };
        let answer = tickets::comments(&app.pool, id, 0)
            .await?
            .into_iter()
            .rev()
            .find(|comment| comment.public && matches!(comment.author, Author::Agent | Author::Bot))
            // What a colleague wrote may quote the customer.
            .map(|comment| fence::fenced(&comment.body));
        let triage = whole.ticket.triage.as_ref();
        list.push(json!({
            "number": id.to_string(), "subject": fence::fenced_line(&whole.ticket.subject), "score": rounded(hit.score),
            "category": triage.map(|t| &t.category), "priority": triage.map(|t| t.priority),
            "team": triage.map(|t| &t.team), "action": triage.map(|t| t.action), "answer": answer,
            "snippet": fence::fenced_line(&hit.snippet),
        }));
    }
    let ids: Vec<&str> = found.iter().map(|hit| hit.id.as_str()).collect();
    Ok(Outcome::ok(json!({ "tickets": list }).to_string()).with(json!({ "found": ids })))
}

async fn read_article(app: &App, id: &str) -> sqlx::Result<Outcome> {
    let found = articles::get(&app.pool, &ArticleId(id.to_owned())).await?;
    let Some(article) = found
        .map(|filed| filed.article)
        .filter(|article| article.state != ArticleState::Retired)
    else {
        let shown: String = id.chars().take(60).collect();
        return Ok(Outcome::failed(format!(
            "No article \"{shown}\": find its id with search_knowledge."
        )));
    };
    let text = json!({ "id": article.id, "title": article.title, "language": article.language,
                       "revision": article.revision, "body": article.body });
    let details = json!({ "article": article.id, "revision": article.revision, "title": article.title });
    Ok(Outcome::ok(text.to_string()).with(details))
}

/// A part of a text that was shortened before; a little less than would be shortened again.
async fn read_artifact(app: &App, ticket: TicketId, args: &lookup::ReadArtifact) -> sqlx::Result<Outcome> {
    let id = args.artifact.trim();
    let length = app.config.limits.max_tool_result.saturating_sub(300).max(200);
    if let Some(read) = files::read(app, ticket, id).await? {
        return Ok(match read {
            // A customer's words, as much as those that it hung on.
            Ok(text) => Outcome::ok(fence::fenced(&context::window(&text, args.offset, length))),
            Err(why) => Outcome::failed(why),
        });
    }
    let Some(text) = artifacts::get(&app.pool, ticket, id).await? else {
        let shown: String = id.chars().take(60).collect();
        let text = format!("No artifact \"{shown}\" on this ticket: its id stands where something was left out.");
        return Ok(Outcome::failed(text));
    };
    Ok(Outcome::ok(context::window(&text, args.offset, length)))
}

fn load_skill(app: &App, name: &str) -> Outcome {
    match app.skills.skills.iter().find(|skill| skill.name == name) {
        Some(skill) => Outcome::ok(skill.body.clone()).with(json!({ "skill": skill.name })),
        None => {
            let names: Vec<&str> = app.skills.skills.iter().map(|skill| skill.name.as_str()).collect();
            Outcome::failed(format!("There is no such skill. The skills are: {}.", names.join(", ")))
        }
    }
}
