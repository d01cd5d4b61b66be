//! What the server holds. Plain data; what may be done with it is in `rest` and `verbs`.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub struct Person {
    pub id: String,
    pub name: String,
    pub roles: Vec<String>,
    /// False for who is only in the other server.
    pub member: bool,
    pub bot: bool,
    /// Takes direct messages from the bot.
    pub open: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Channel,
    /// Has threads alone.
    Forum,
    /// Hangs on the message whose id it has.
    Thread {
        of: String,
        archived: bool,
    },
    Direct {
        person: String,
    },
}

#[derive(Clone, Debug)]
pub struct Channel {
    pub id: String,
    pub name: String,
    pub place: Place,
    /// False: the bot may look and not post.
    pub open: bool,
}

#[derive(Clone, Debug)]
pub struct Message {
    pub id: String,
    pub channel: String,
    /// `content`, `embeds`, `components` as they are now.
    pub body: Value,
    pub by_bot: bool,
    pub author: String,
    pub author_name: String,
    pub nonce: Option<(String, DateTime<Utc>)>,
    pub deleted: bool,
    /// Earlier bodies: what somebody may still see who has not looked again.
    pub earlier: Vec<Value>,
    pub looked: bool,
}

/// Something that only one person sees.
#[derive(Clone, Debug)]
pub struct Private {
    pub to: String,
    /// Of the interaction that it answers.
    pub token: String,
    pub body: Value,
    /// Shown as "thinking" still.
    pub thinking: bool,
    pub file: Option<String>,
    pub looked: bool,
}

/// An interaction's token: fifteen minutes.
#[derive(Clone, Debug)]
pub struct Token {
    pub token: String,
    pub until: DateTime<Utc>,
    pub answered: bool,
}

pub struct State {
    pub people: Vec<Person>,
    pub channels: Vec<Channel>,
    pub messages: Vec<Message>,
    pub privates: Vec<Private>,
    pub tokens: Vec<Token>,
    pub commands: Vec<Value>,
    /// How often commands were written.
    pub registrations: usize,
    counter: u64,
}

impl State {
    /// Sam and Kim may be made supervisors; the stranger is a member like them; the outsider is only in the other server.
    pub(crate) fn new() -> Self {
        let person = |id: &str, name: &str, roles: &[&str], member| Person {
            id: id.to_owned(),
            name: name.to_owned(),
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            member,
            bot: false,
            open: true,
        };
        let bot = Person {
            bot: true,
            ..person(super::APPLICATION, "deskhand", &[], true)
        };
        let channel = Channel {
            id: super::CHANNEL.to_owned(),
            name: "triage".to_owned(),
            place: Place::Channel,
            open: true,
        };
        let help = Channel {
            id: super::HELP.to_owned(),
            name: "help".to_owned(),
            ..channel.clone()
        };
        let forum = Channel {
            id: super::FORUM.to_owned(),
            name: "questions".to_owned(),
            place: Place::Forum,
            ..channel.clone()
        };
        Self {
            people: vec![
                bot,
                person("80351110224678901", "sam", &[super::LEADS], true),
                person("80351110224678902", "kim", &[], true),
                person("80351110224678903", "stranger", &[], true),
                person("80351110224678904", "outsider", &[super::LEADS], false),
            ],
            channels: vec![channel, help, forum],
            messages: Vec::new(),
            privates: Vec::new(),
            tokens: Vec::new(),
            commands: Vec::new(),
            registrations: 0,
            counter: 0,
        }
    }

    /// Unique, and greater than every one before it. Discord makes ids of the time; these are of 2027.
    pub(crate) fn fresh(&mut self) -> String {
        self.counter += 1;
        (1_700_000_000_000_000_000 + self.counter).to_string()
    }

    #[track_caller]
    pub(crate) fn named(&self, name: &str) -> &Person {
        let known = self
            .people
            .iter()
            .find(|person| person.name == name || person.id == name);
        match known {
            Some(person) => person,
            None => panic!("nobody here is called {name:?}"),
        }
    }

    pub(crate) fn channel(&self, id: &str) -> Option<&Channel> {
        self.channels.iter().find(|channel| channel.id == id)
    }

    pub(crate) fn message(&self, id: &str) -> Option<&Message> {
        self.messages
            .iter()
            .find(|message| message.id == id && !message.deleted)
    }

    pub(crate) fn message_mut(&mut self, channel: &str, id: &str) -> Option<&mut Message> {
        let mut all = self.messages.iter_mut();
        all.find(|message| message.id == id && message.channel == channel && !message.deleted)
    }
}

impl Person {
    pub(crate) fn user(&self) -> Value {
        json!({
            "id": self.id, "username": self.name, "discriminator": "0", "global_name": self.name,
            "avatar": null, "public_flags": 0, "bot": self.bot,
        })
    }

    pub(crate) fn as_member(&self) -> Value {
        json!({
            "user": self.user(), "roles": self.roles, "nick": null, "avatar": null, "deaf": false, "mute": false,
            "pending": false, "flags": 0, "joined_at": "2020-01-01T00:00:00.000000+00:00", "permissions": "2147483647",
            "premium_since": null, "communication_disabled_until": null,
        })
    }
}

impl Message {
    pub(crate) fn drawn(&self) -> Value {
        // Each change is a minute later.
        let edited =
            (!self.earlier.is_empty()).then(|| format!("2026-01-01T00:{:02}:00.000000+00:00", self.earlier.len() % 60));
        let part = |name: &str| self.body.get(name).cloned().unwrap_or_else(|| json!([]));
        json!({
            "id": self.id, "channel_id": self.channel, "type": 0,
            "content": self.body["content"].as_str().unwrap_or_default(),
            "embeds": part("embeds"), "components": part("components"),
            "author": { "id": self.author, "username": self.author_name, "discriminator": "0", "avatar": null, "bot": self.by_bot },
            "timestamp": "2026-01-01T00:00:00.000000+00:00", "edited_timestamp": edited, "tts": false,
            "mention_everyone": false, "mentions": [], "mention_roles": [], "attachments": part("attachments"), "pinned": false, "flags": 0,
        })
    }
}
