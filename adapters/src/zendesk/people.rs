//! Who is who on a ticket.

use std::collections::{BTreeSet, HashMap};

use deskhand_core::port::PortError;
use deskhand_core::ticket::{Author, Requester};

use super::OurAuthor;
use super::http::{Ask, Http};
use super::wire::{Id, People, Person};

/// The people named by a ticket and its comments.
pub(super) struct Known {
    people: HashMap<Id, Person>,
    ours: OurAuthor,
}

impl Known {
    pub(super) fn new(ours: OurAuthor) -> Self {
        Self {
            people: HashMap::new(),
            ours,
        }
    }

    pub(super) fn add(&mut self, people: Vec<Person>) {
        for person in people {
            if let Some(id) = person.id.clone() {
                self.people.insert(id, person);
            }
        }
    }

    /// Asks for those that no answer brought along. A person who cannot be had (deleted, or out of reach) stays a number.
    pub(super) async fn complete(&mut self, http: &Http, ids: impl Iterator<Item = &Id>) -> Result<(), PortError> {
        let missing: BTreeSet<&str> = ids
            .filter(|id| !self.people.contains_key(id) && id.0.bytes().all(|byte| byte.is_ascii_digit()))
            .map(|id| id.0.as_str())
            .collect();
        let missing: Vec<&str> = missing.into_iter().collect();
        for some in missing.chunks(100) {
            let ask = Ask::get("/api/v2/users/show_many").query("ids", some.join(","));
            match http.ask::<People>(ask).await {
                Ok(answer) => self.add(answer.users),
                Err(PortError::Gone { .. } | PortError::Permanent { .. }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(super) fn requester(&self, id: Option<&Id>) -> Requester {
        let person = id.and_then(|id| self.people.get(id));
        let text = |text: Option<&String>| text.map(|text| text.replace('\0', "")).filter(|text| !text.is_empty());
        Requester {
            name: text(person.and_then(|person| person.name.as_ref())).unwrap_or_default(),
            address: text(person.and_then(|person| person.email.as_ref()))
                .or_else(|| id.map(|id| id.0.clone()))
                .unwrap_or_default(),
        }
    }

    pub(super) fn name(&self, id: &Id) -> String {
        let name = self.people.get(id).and_then(|person| person.name.as_deref());
        name.unwrap_or_default().replace('\0', "")
    }

    pub(super) fn is_us(&self, id: &Id) -> bool {
        let email = self.people.get(id).and_then(|person| person.email.as_deref());
        self.ours.has_id(&id.0) || email.is_some_and(|email| self.ours.has_email(email))
    }

    /// Somebody at the help desk, or Zendesk itself (`-1`).
    pub(super) fn is_staff(&self, id: &Id) -> bool {
        let role = self.people.get(id).and_then(|person| person.role.as_deref());
        id.0 == "-1" || matches!(role, Some("agent" | "admin"))
    }

    pub(super) fn author(&self, id: &Id, requester: Option<&Id>) -> Author {
        let role = self.people.get(id).and_then(|person| person.role.as_deref());
        if self.is_us(id) {
            Author::Bot
        } else if Some(id) == requester {
            Author::Requester
        } else if matches!(role, Some("agent" | "admin")) {
            Author::Agent
        } else {
            Author::Other
        }
    }
}
