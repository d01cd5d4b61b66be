//! What the workspace holds. Plain data; what may be done with it is in `chat`, `views` and `lookups`.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Member,
    /// A single-channel guest.
    Guest,
    Bot,
    /// Left the workspace.
    Gone,
}

#[derive(Clone, Debug)]
pub struct Person {
    pub id: String,
    pub name: String,
    pub team: String,
    pub standing: Standing,
}

#[derive(Clone, Debug)]
pub struct Channel {
    pub id: String,
    pub name: String,
    pub with_bot: bool,
    pub archived: bool,
    /// When the bot last posted, for the limit of one a second.
    pub last_post: Option<DateTime<Utc>>,
}

#[derive(Clone, Debug)]
pub struct Message {
    pub channel: String,
    pub ts: String,
    pub thread_ts: Option<String>,
    pub user: String,
    /// The author's own workspace.
    pub team: String,
    pub text: String,
    /// As Slack draws them.
    pub files: Vec<Value>,
    /// As they were sent, with ids given where they had none.
    pub blocks: Vec<Value>,
    pub metadata: Option<Value>,
    pub broadcast: bool,
    pub edited: Option<String>,
    pub deleted: bool,
    /// Earlier blocks, the oldest first: what somebody may still see who has not looked again.
    pub earlier: Vec<Vec<Value>>,
    pub looked: bool,
}

/// Something that only one person sees.
#[derive(Clone, Debug)]
pub struct Private {
    pub channel: String,
    pub to: String,
    pub thread_ts: Option<String>,
    pub text: String,
    pub blocks: Vec<Value>,
    pub looked: bool,
}

#[derive(Clone, Debug)]
pub struct View {
    pub id: String,
    pub trigger: String,
    pub person: String,
    /// As sent, with ids given where blocks had none.
    pub body: Value,
    pub hash: String,
    pub open: bool,
}

#[derive(Clone, Debug)]
pub struct Trigger {
    pub id: String,
    pub person: String,
    pub until: DateTime<Utc>,
    pub used: bool,
}

/// A response URL: five uses in thirty minutes.
#[derive(Clone, Debug)]
pub struct Answerable {
    pub token: String,
    pub person: String,
    pub channel: String,
    /// The message that the click was on.
    pub message: Option<String>,
    pub thread_ts: Option<String>,
    pub uses: u32,
    pub until: DateTime<Utc>,
}

pub struct State {
    pub people: Vec<Person>,
    pub channels: Vec<Channel>,
    pub groups: BTreeMap<String, Vec<String>>,
    pub messages: Vec<Message>,
    /// What shared files hold, by the last part of their address.
    pub files: BTreeMap<String, Vec<u8>>,
    pub privates: Vec<Private>,
    pub views: Vec<View>,
    pub triggers: Vec<Trigger>,
    pub answerables: Vec<Answerable>,
    counter: u64,
}

impl State {
    /// Sam and Kim may be made supervisors; the stranger is a member like them; the guests and the outsider are not.
    pub(crate) fn new() -> Self {
        let channel = |id: &str, name: &str| Channel {
            id: id.to_owned(),
            name: name.to_owned(),
            with_bot: true,
            archived: false,
            last_post: None,
        };
        let person = |id: &str, name: &str, team: &str, standing| Person {
            id: id.to_owned(),
            name: name.to_owned(),
            team: team.to_owned(),
            standing,
        };
        let people = vec![
            person(super::BOT, "deskhand", super::TEAM, Standing::Bot),
            person("U0SAM00001", "sam", super::TEAM, Standing::Member),
            person("U0KIM00001", "kim", super::TEAM, Standing::Member),
            person("U0STRANGER", "stranger", super::TEAM, Standing::Member),
            person("U0GUEST001", "guest", super::TEAM, Standing::Guest),
            person("U0ADA00001", "ada", super::TEAM, Standing::Guest),
            person("U0OUTSIDER", "outsider", super::OTHER_TEAM, Standing::Member),
            person("U0GONE0001", "gone", super::TEAM, Standing::Gone),
            person("U0OTHERBOT", "other-bot", super::TEAM, Standing::Bot),
        ];
        Self {
            people,
            channels: vec![channel(super::CHANNEL, "triage"), channel(super::HELP, "help")],
            groups: BTreeMap::new(),
            messages: Vec::new(),
            files: BTreeMap::new(),
            privates: Vec::new(),
            views: Vec::new(),
            triggers: Vec::new(),
            answerables: Vec::new(),
            counter: 0,
        }
    }

    pub(crate) fn fresh(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    /// Unique, and greater than every one before it.
    pub(crate) fn fresh_ts(&mut self, now: DateTime<Utc>) -> String {
        format!("{}.{:06}", now.timestamp(), self.fresh())
    }

    pub(crate) fn joins(&mut self, name: &str, team: &str, standing: Standing) -> String {
        let id = format!("U0NEW{:05}", self.fresh());
        self.people.push(Person {
            id: id.clone(),
            name: name.to_owned(),
            team: team.to_owned(),
            standing,
        });
        id
    }

    pub(crate) fn opens_channel(&mut self, name: &str, with_bot: bool) -> String {
        let id = format!("C0NEW{:05}", self.fresh());
        self.channels.push(Channel {
            id: id.clone(),
            name: name.to_owned(),
            with_bot,
            archived: false,
            last_post: None,
        });
        id
    }

    #[track_caller]
    pub(crate) fn named(&self, name: &str) -> &Person {
        let known = self
            .people
            .iter()
            .find(|person| person.name == name || person.id == name);
        match known {
            Some(person) => person,
            None => panic!("nobody here is called {name:?}; use joins() first"),
        }
    }

    pub(crate) fn person(&self, id: &str) -> Option<&Person> {
        self.people.iter().find(|person| person.id == id)
    }

    /// By id or by name, as `#triage` too.
    pub(crate) fn channel(&self, id: &str) -> Option<&Channel> {
        let name = id.trim_start_matches('#');
        self.channels
            .iter()
            .find(|channel| channel.id == id || channel.name == name)
    }

    pub(crate) fn message(&self, channel: &str, ts: &str) -> Option<&Message> {
        self.messages
            .iter()
            .find(|m| m.channel == channel && m.ts == ts && !m.deleted)
    }

    pub(crate) fn message_mut(&mut self, channel: &str, ts: &str) -> Option<&mut Message> {
        self.messages
            .iter_mut()
            .find(|m| m.channel == channel && m.ts == ts && !m.deleted)
    }

    pub(crate) fn replies<'a>(&'a self, channel: &'a str, ts: &'a str) -> impl Iterator<Item = &'a Message> {
        let here = self.messages.iter().filter(move |m| m.channel == channel && !m.deleted);
        here.filter(move |m| m.thread_ts.as_deref() == Some(ts))
    }
}

impl Message {
    pub(crate) fn is_by_bot(&self) -> bool {
        self.user == super::BOT
    }
}
