//! Walking a list page by page, bounded.

use std::collections::VecDeque;

use deskhand_core::port::PortError;
use serde::de::DeserializeOwned;

use super::http::{Ask, Http};
use super::wire::{Audit, Comment, Group, More, Page};

/// Zendesk allows 5,000 comments a ticket; no list that we read is longer.
const MOST_PAGES: u32 = 60;

pub(super) struct Pages<'a> {
    http: &'a Http,
    path: String,
    query: Vec<(&'static str, String)>,
    next: More,
    number: u32,
    seen: VecDeque<String>,
}

impl<'a> Pages<'a> {
    /// All comments, oldest first, with their authors.
    pub(super) fn comments(http: &'a Http, ticket: &str) -> Self {
        let query = vec![
            ("page[size]", "100".to_owned()),
            ("sort", "created_at".to_owned()),
            ("include", "users".to_owned()),
        ];
        Self::new(http, format!("/api/v2/tickets/{ticket}/comments"), query)
    }

    /// All audits, newest first. The order is asked for as clients in use do, but is not in this list's documentation:
    /// nothing may depend on it but speed.
    pub(super) fn audits(http: &'a Http, ticket: &str) -> Self {
        let query = vec![("per_page", "100".to_owned()), ("sort_order", "desc".to_owned())];
        Self::new(http, format!("/api/v2/tickets/{ticket}/audits"), query)
    }

    pub(super) fn groups(http: &'a Http) -> Self {
        Self::new(
            http,
            "/api/v2/groups".to_owned(),
            vec![("page[size]", "100".to_owned())],
        )
    }

    fn new(http: &'a Http, path: String, query: Vec<(&'static str, String)>) -> Self {
        Self {
            http,
            path,
            query,
            next: More::Numbered,
            number: 0,
            seen: VecDeque::new(),
        }
    }

    /// The next page; `None` after the last one. A list that does not end is an error, not a shorter list: what was not
    /// looked at could be the very thing that is looked for.
    pub(super) async fn next<T: Listed>(&mut self) -> Result<Option<Page<T>>, PortError> {
        if self.number >= MOST_PAGES {
            return Err(PortError::permanent("A list at Zendesk is longer than can be read."));
        }
        let mut ask = Ask::get(self.path.clone());
        for (key, value) in &self.query {
            ask = ask.query(key, value.clone());
        }
        match &self.next {
            More::No => return Ok(None),
            More::Numbered if self.number == 0 => {}
            More::Numbered => ask = ask.query("page", (self.number + 1).to_string()),
            More::After(cursor) => ask = ask.query("page[after]", cursor.clone()),
        }
        let page: Page<T> = self.http.ask(ask).await?;
        self.number += 1;
        self.next = page.more();
        if let More::After(cursor) = &self.next {
            if self.seen.contains(cursor) {
                return Err(PortError::transient("A list at Zendesk leads back to itself."));
            }
            self.seen.push_back(cursor.clone());
        }
        Ok(Some(page))
    }
}

/// What a list can hold.
pub(super) trait Listed: DeserializeOwned {}
impl Listed for Comment {}
impl Listed for Audit {}
impl Listed for Group {}
