//! The API's endpoints: what a request asks of the desk and what it gets back.

mod list;
mod write;

use std::sync::Arc;

use axum::http::Method;
use serde_json::{Value, json};

use super::change::Refusal;
use super::http::Answer;
use super::state::Ticket;
use super::{Desk, Inner, show};
use crate::fake::wire::Asked;

/// A write of the bot's account that webhooks must tell of.
pub(crate) struct Changed {
    pub(crate) ticket: u64,
    /// The ticket before; `None` when it is new.
    pub(crate) before: Option<Box<Ticket>>,
    pub(crate) by: u64,
}

type Answered = Result<(Answer, Option<Changed>), Answer>;

pub(crate) fn dispatch(inner: &Arc<Inner>, asked: &Asked) -> (Answer, Option<Changed>) {
    let path = asked.path.strip_prefix("/api/v2/").unwrap_or("");
    let path = path.strip_suffix(".json").unwrap_or(path);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let mut desk = inner.desk();
    let answered = match (&asked.method, parts.as_slice()) {
        (&Method::GET, rest) => read(inner, &desk, asked, rest).map(|answer| (answer, None)),
        (&Method::POST, ["tickets"]) => write::create(inner, &mut desk, asked),
        (&Method::PUT, ["tickets", id]) => write::update(inner, &mut desk, asked, number(id)),
        (&Method::PUT, ["tickets", id, "tags"]) => write::tags(inner, &mut desk, asked, number(id), write::Tags::Add),
        (&Method::POST, ["tickets", id, "tags"]) => write::tags(inner, &mut desk, asked, number(id), write::Tags::Set),
        (&Method::DELETE, ["tickets", id, "tags"]) => {
            write::tags(inner, &mut desk, asked, number(id), write::Tags::Remove)
        }
        _ => Err(Refusal::new(404, "InvalidEndpoint", "Not found").into()),
    };
    answered.unwrap_or_else(|answer| (answer, None))
}

/// 0 is nobody's number, so that nonsense is not found.
fn number(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

fn read(inner: &Inner, desk: &Desk, asked: &Asked, parts: &[&str]) -> Result<Answer, Answer> {
    let (state, base) = (&desk.state, inner.url.as_str());
    let ticket = |id: &str| {
        state
            .tickets
            .get(&number(id))
            .ok_or_else(|| Answer::from(Refusal::not_found()))
    };
    let body = match parts {
        ["tickets"] => {
            let all = state
                .tickets
                .values()
                .map(|ticket| show::ticket(base, ticket))
                .collect();
            list::paged(base, asked, "tickets", all)?
        }
        ["tickets", "show_many"] => {
            let wanted = ids(asked);
            let all = state.tickets.values().filter(|ticket| wanted.contains(&ticket.id));
            json!({ "tickets": all.map(|ticket| show::ticket(base, ticket)).collect::<Vec<_>>() })
        }
        ["tickets", id] => {
            let ticket = ticket(id)?;
            let mut body = json!({ "ticket": show::ticket(base, ticket) });
            let people = [Some(ticket.requester_id), Some(ticket.submitter_id), ticket.assignee_id];
            list::side_load(base, state, asked, &mut body, people.into_iter().flatten());
            body
        }
        ["tickets", id, "comments"] => {
            let ticket = ticket(id)?;
            let mut comments: Vec<_> = ticket.comments.iter().map(show::comment).collect();
            if list::newest_first(asked) {
                comments.reverse();
            }
            let mut body = list::paged(base, asked, "comments", comments)?;
            let authors: Vec<u64> = list::authors(&body["comments"]);
            list::side_load(base, state, asked, &mut body, authors.into_iter());
            body
        }
        ["tickets", id, "audits"] => {
            let ticket = ticket(id)?;
            let mut audits: Vec<_> = ticket.audits.iter().map(|audit| show::audit(ticket, audit)).collect();
            if list::newest_first(asked) {
                audits.reverse();
            }
            let mut body = list::paged(base, asked, "audits", audits)?;
            let authors: Vec<u64> = list::authors(&body["audits"]);
            list::side_load(base, state, asked, &mut body, authors.into_iter());
            body
        }
        ["tickets", id, "audits", audit] => {
            let ticket = ticket(id)?;
            let found = ticket.audits.iter().find(|known| known.id == number(audit));
            json!({ "audit": show::audit(ticket, found.ok_or_else(Refusal::not_found)?) })
        }
        ["tickets", id, "tags"] => json!({ "tags": ticket(id)?.tags }),
        ["users", "me"] => json!({ "user": state.person(state.bot).map(|person| show::person(base, person)) }),
        ["users", "show_many"] => {
            let wanted = ids(asked);
            let all = state.people.iter().filter(|person| wanted.contains(&person.id));
            json!({ "users": all.map(|person| show::person(base, person)).collect::<Vec<_>>() })
        }
        ["users", "search"] => {
            let query = asked
                .query("query")
                .unwrap_or("")
                .trim_start_matches("email:")
                .to_lowercase();
            let matches = |text: &str| text.to_lowercase().contains(&query);
            let all = state
                .people
                .iter()
                .filter(|person| matches(&person.email) || matches(&person.name));
            list::paged(
                base,
                asked,
                "users",
                all.map(|person| show::person(base, person)).collect(),
            )?
        }
        ["users", id] => {
            let person = state.person(number(id)).ok_or_else(Refusal::not_found)?;
            json!({ "user": show::person(base, person) })
        }
        ["groups"] | ["groups", "assignable"] => {
            let all = state.groups.iter().map(|group| show::group(base, group)).collect();
            list::paged(base, asked, "groups", all)?
        }
        ["groups", id] => {
            let group = state.group(number(id)).ok_or_else(Refusal::not_found)?;
            json!({ "group": show::group(base, group) })
        }
        ["search"] => {
            let found = list::search(state, asked.query("query").unwrap_or(""));
            let drawn = found.map(|ticket| {
                let mut result = show::ticket(base, ticket);
                result["result_type"] = "ticket".into();
                result
            });
            list::paged(base, asked, "results", drawn.collect())?
        }
        _ => return Err(Refusal::new(404, "InvalidEndpoint", "Not found").into()),
    };
    Ok(Answer::ok(body))
}

fn ids(asked: &Asked) -> Vec<u64> {
    asked
        .query("ids")
        .unwrap_or("")
        .split(',')
        .filter_map(|id| id.trim().parse().ok())
        .collect()
}

fn ticket_part(body: &Value) -> Option<&Value> {
    body.get("ticket").filter(|ticket| ticket.is_object())
}
