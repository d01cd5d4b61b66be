//! What the help desk holds. Plain data: changes are in `change`, drawing in `show`.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, SubsecRound, Utc};
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    EndUser,
    Agent,
    Admin,
}

impl Role {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::EndUser => "end-user",
            Self::Agent => "agent",
            Self::Admin => "admin",
        }
    }

    pub(crate) fn is_staff(self) -> bool {
        self != Self::EndUser
    }
}

#[derive(Clone, Debug)]
pub struct Person {
    pub id: u64,
    pub name: String,
    pub email: String,
    pub role: Role,
}

#[derive(Clone, Debug)]
pub struct Group {
    pub id: u64,
    pub name: String,
}

#[derive(Clone, Debug)]
pub struct Comment {
    pub id: u64,
    pub audit_id: u64,
    pub author_id: u64,
    pub body: String,
    pub public: bool,
    pub at: DateTime<Utc>,
    pub via: Value,
    /// The writer's own metadata, as it stands in the audit under `custom`.
    pub custom: Value,
    /// Written through the API by the bot's account.
    pub by_bot: bool,
    pub looked: bool,
}

#[derive(Clone, Debug)]
pub struct Audit {
    pub id: u64,
    pub author_id: u64,
    pub at: DateTime<Utc>,
    pub events: Vec<Value>,
    pub custom: Value,
    pub via: Value,
}

#[derive(Clone, Debug)]
pub struct Ticket {
    pub id: u64,
    pub subject: String,
    pub description: String,
    /// Lower case, as in the API: new, open, pending, hold, solved, closed.
    pub status: String,
    pub priority: Option<String>,
    pub kind: Option<String>,
    pub tags: BTreeSet<String>,
    pub requester_id: u64,
    pub submitter_id: u64,
    pub assignee_id: Option<u64>,
    pub group_id: Option<u64>,
    pub external_id: Option<String>,
    pub created_at: DateTime<Utc>,
    /// Whole seconds: two changes within one look the same.
    pub updated_at: DateTime<Utc>,
    pub via: Value,
    pub merged_into: Option<u64>,
    pub comments: Vec<Comment>,
    pub audits: Vec<Audit>,
    /// When the bot's account updated it, for the limit on updates.
    pub bot_updates: Vec<DateTime<Utc>>,
}

pub struct State {
    pub people: Vec<Person>,
    pub groups: Vec<Group>,
    pub tickets: BTreeMap<u64, Ticket>,
    pub bot: u64,
    next_ticket: u64,
    next_id: u64,
}

impl State {
    pub(crate) fn new() -> Self {
        let mut state = Self {
            people: Vec::new(),
            groups: Vec::new(),
            tickets: BTreeMap::new(),
            bot: 0,
            next_ticket: 71_001,
            next_id: 910_000_001_000,
        };
        for name in [
            "Support",
            "Billing",
            "Shipping",
            "Technical",
            "Returns",
            "L2",
            "Team leads",
        ] {
            state.group_named(name);
        }
        state.bot = state.joins("Deskhand", super::EMAIL, Role::Admin);
        state
    }

    pub(crate) fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    pub(crate) fn fresh_ticket_id(&mut self) -> u64 {
        self.next_ticket += 1;
        self.next_ticket - 1
    }

    pub(crate) fn joins(&mut self, name: &str, email: &str, role: Role) -> u64 {
        let id = self.fresh_id();
        self.people.push(Person {
            id,
            name: name.to_owned(),
            email: email.to_owned(),
            role,
        });
        id
    }

    pub(crate) fn person(&self, id: u64) -> Option<&Person> {
        self.people.iter().find(|person| person.id == id)
    }

    /// The customer with this address, made up from it when new: `ada@example.com` is called Ada.
    pub(crate) fn customer(&mut self, email: &str) -> u64 {
        if let Some(known) = self
            .people
            .iter()
            .find(|person| person.email.eq_ignore_ascii_case(email))
        {
            return known.id;
        }
        let name = email.split('@').next().unwrap_or(email);
        self.joins(&capitalised(name), email, Role::EndUser)
    }

    /// Gives a customer the name that they are told to have.
    pub(crate) fn renames(&mut self, id: u64, name: Option<&str>) {
        if let (Some(person), Some(name)) = (self.people.iter_mut().find(|person| person.id == id), name) {
            name.clone_into(&mut person.name);
        }
    }

    /// The agent of this name, hired when new.
    pub(crate) fn agent(&mut self, name: &str) -> u64 {
        let named = |person: &&Person| person.role.is_staff() && person.name.eq_ignore_ascii_case(name);
        if let Some(known) = self.people.iter().find(named) {
            return known.id;
        }
        let email = format!("{}@shop.example", name.to_lowercase().replace(' ', "."));
        self.joins(&capitalised(name), &email, Role::Agent)
    }

    pub(crate) fn group_named(&mut self, name: &str) -> u64 {
        if let Some(known) = self.groups.iter().find(|group| group.name == name) {
            return known.id;
        }
        let id = self.fresh_id();
        let name = name.to_owned();
        self.groups.push(Group { id, name });
        id
    }

    pub(crate) fn group(&self, id: u64) -> Option<&Group> {
        self.groups.iter().find(|group| group.id == id)
    }

    #[track_caller]
    pub(crate) fn ticket(&self, id: u64) -> &Ticket {
        self.tickets
            .get(&id)
            .expect("the test speaks of a ticket that is there")
    }

    #[track_caller]
    pub(crate) fn ticket_mut(&mut self, id: u64) -> &mut Ticket {
        self.tickets
            .get_mut(&id)
            .expect("the test speaks of a ticket that is there")
    }
}

/// What a new ticket begins with.
pub(crate) struct Opening {
    pub(crate) subject: String,
    pub(crate) requester_id: u64,
    pub(crate) submitter_id: u64,
    pub(crate) channel: &'static str,
}

impl Ticket {
    pub(crate) fn open(id: u64, opening: Opening, group_id: Option<u64>, at: DateTime<Utc>) -> Self {
        Self {
            id,
            subject: opening.subject,
            description: String::new(),
            status: "new".to_owned(),
            priority: None,
            kind: None,
            tags: BTreeSet::new(),
            requester_id: opening.requester_id,
            submitter_id: opening.submitter_id,
            assignee_id: None,
            group_id,
            external_id: None,
            created_at: at.trunc_subsecs(0),
            updated_at: at.trunc_subsecs(0),
            via: via(opening.channel),
            merged_into: None,
            comments: Vec::new(),
            audits: Vec::new(),
            bot_updates: Vec::new(),
        }
    }
}

pub(crate) fn via(channel: &str) -> Value {
    json!({ "channel": channel, "source": { "from": {}, "to": {}, "rel": null } })
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}
