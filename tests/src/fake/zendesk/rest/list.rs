//! Pages, by cursor and by offset; people beside tickets; a search that knows a few words.

use axum::http::Method;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::super::http::Answer;
use super::super::show;
use super::super::state::{State, Ticket};
use crate::fake::wire::Asked;

use super::super::change::Refusal;

pub(super) fn newest_first(asked: &Asked) -> bool {
    asked.query("sort_order") == Some("desc") || asked.query("sort").is_some_and(|sort| sort.starts_with('-'))
}

/// One page of a list. With `page[size]` or `page[after]` cursors are spoken, else numbered pages of at most 100.
pub(super) fn paged(base: &str, asked: &Asked, name: &str, all: Vec<Value>) -> Result<Value, Answer> {
    debug_assert_eq!(asked.method, Method::GET);
    if asked.query("page[size]").is_some() || asked.query("page[after]").is_some() {
        return by_cursor(base, asked, name, all);
    }
    let size: usize = asked
        .query("per_page")
        .and_then(|text| text.parse().ok())
        .unwrap_or(100)
        .clamp(1, 100);
    let page: usize = asked
        .query("page")
        .and_then(|text| text.parse().ok())
        .unwrap_or(1)
        .max(1);
    if page * size > 10_000 {
        // Numbered pages end at ten thousand records.
        return Err(Refusal::new(400, "InvalidPaginationDepth", "Number of pages exceeds the limit").into());
    }
    let count = all.len();
    let here: Vec<Value> = all.into_iter().skip((page - 1) * size).take(size).collect();
    let link = |page: usize| format!("{base}{}?page={page}&per_page={size}", asked.path);
    Ok(json!({
        name: here,
        "count": count,
        "next_page": (page * size < count).then(|| link(page + 1)),
        "previous_page": (page > 1).then(|| link(page - 1)),
    }))
}

fn by_cursor(base: &str, asked: &Asked, name: &str, all: Vec<Value>) -> Result<Value, Answer> {
    let size: usize = asked.query("page[size]").map_or(Ok(100), str::parse).unwrap_or(0);
    if !(1..=100).contains(&size) {
        return Err(Refusal::new(400, "InvalidPaginationParameter", "page[size] is out of range").into());
    }
    let start = match asked.query("page[after]") {
        None => 0,
        Some(cursor) => from_cursor(cursor)
            .ok_or_else(|| Refusal::new(400, "InvalidPaginationParameter", "page[after] is not valid"))?,
    };
    let count = all.len();
    let here: Vec<Value> = all.into_iter().skip(start).take(size).collect();
    let end = start + here.len();
    let has_more = end < count;
    let next = format!(
        "{base}{}?page%5Bsize%5D={size}&page%5Bafter%5D={}",
        asked.path,
        cursor(end)
    );
    Ok(json!({
        name: here,
        "meta": { "has_more": has_more, "after_cursor": cursor(end), "before_cursor": cursor(start) },
        "links": { "next": has_more.then_some(next), "prev": null },
    }))
}

/// Opaque to clients, so it does not look like a number.
fn cursor(at: usize) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(format!("o:{at}"))
}

fn from_cursor(text: &str) -> Option<usize> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
    std::str::from_utf8(&bytes).ok()?.strip_prefix("o:")?.parse().ok()
}

pub(super) fn authors(list: &Value) -> Vec<u64> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(|entry| entry["author_id"].as_u64())
        .collect()
}

/// Adds what `include=users,groups` asks for.
pub(super) fn side_load(base: &str, state: &State, asked: &Asked, body: &mut Value, people: impl Iterator<Item = u64>) {
    let wanted: Vec<&str> = asked.query("include").unwrap_or("").split(',').map(str::trim).collect();
    if wanted.contains(&"users") {
        let mut ids: Vec<u64> = people.collect();
        ids.sort_unstable();
        ids.dedup();
        let drawn = ids
            .into_iter()
            .filter_map(|id| state.person(id))
            .map(|person| show::person(base, person));
        body["users"] = drawn.collect();
    }
    if wanted.contains(&"groups") {
        body["groups"] = state.groups.iter().map(|group| show::group(base, group)).collect();
    }
}

/// `type:`, `status:`, `external_id:`, `requester:` and plain words, all of which must fit.
pub(super) fn search<'a>(state: &'a State, query: &str) -> impl Iterator<Item = &'a Ticket> {
    let words: Vec<String> = query.to_lowercase().split_whitespace().map(str::to_owned).collect();
    state
        .tickets
        .values()
        .filter(move |ticket| words.iter().all(|word| fits(state, ticket, word)))
}

fn fits(state: &State, ticket: &Ticket, word: &str) -> bool {
    match word.split_once(':') {
        Some(("type", kind)) => kind == "ticket",
        Some(("status", status)) => ticket.status == status,
        Some(("external_id", id)) => ticket
            .external_id
            .as_deref()
            .is_some_and(|known| known.eq_ignore_ascii_case(id)),
        Some(("requester", email)) => state
            .person(ticket.requester_id)
            .is_some_and(|person| person.email == email),
        Some(_) | None => {
            let said = ticket
                .comments
                .iter()
                .any(|comment| comment.body.to_lowercase().contains(word));
            said || ticket.subject.to_lowercase().contains(word)
        }
    }
}
