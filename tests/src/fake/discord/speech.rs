//! What people write in the server.

use serde_json::{Value, json};

use super::state::{Channel, Message, Person, Place};
use super::text;
use super::{Discord, GUILD, Guild};
use crate::fake::Who;

/// A message that somebody wrote.
#[derive(Clone, Debug)]
pub struct Said {
    pub channel: String,
    pub id: String,
}

impl Discord {
    /// Somebody writes in a channel, or in a thread.
    #[track_caller]
    pub fn says(&self, words: &str, who: Who, channel: &str) -> Said {
        self.says_with(words, &json!([]), who, channel)
    }

    /// The same, with a file.
    #[track_caller]
    pub fn says_with_file(&self, words: &str, name: &str, bytes: u64, who: Who, channel: &str) -> Said {
        let file = json!({
            "id": "1100000000000000900", "filename": name, "size": bytes, "content_type": "image/png",
            "url": "https://cdn.discordapp.com/attachments/1/2/3", "proxy_url": "https://media.discordapp.net/1/2/3",
        });
        self.says_with(words, &json!([file]), who, channel)
    }

    #[track_caller]
    fn says_with(&self, words: &str, files: &Value, who: Who, channel: &str) -> Said {
        let mut guild = self.guild();
        assert!(guild.state.channel(channel).is_some(), "there is no channel {channel}");
        let id = guild.state.fresh();
        let person = guild.state.named(&who.0).clone();
        let said = Said {
            channel: channel.to_owned(),
            id,
        };
        guild.writes(Message::of(
            &said,
            &person,
            json!({ "content": words, "attachments": files }),
        ));
        said
    }

    /// Somebody opens the thread of a message, and writes there.
    #[track_caller]
    pub fn says_below(&self, said: &Said, words: &str, who: Who) -> Said {
        {
            let mut guild = self.guild();
            if guild.state.channel(&said.id).is_none() {
                guild.opens(&said.id, "talk", &said.channel);
            }
        }
        self.says(words, who, &said.id)
    }

    /// The author, or a moderator, deletes it.
    pub fn deletes(&self, said: &Said) {
        self.guild().deletes(&said.channel, &said.id);
    }

    /// The author changes what they wrote.
    #[track_caller]
    pub fn changes(&self, said: &Said, words: &str) {
        let mut guild = self.guild();
        let message = guild.state.message_mut(&said.channel, &said.id);
        message
            .expect("the message is still there")
            .changes(&json!({ "content": words }));
        guild.tells_of("MESSAGE_UPDATE", &said.id);
    }

    /// Discord adds the preview of a link: the words stay.
    pub fn shows_a_preview(&self, said: &Said) {
        let mut guild = self.guild();
        if let Some(message) = guild.state.message_mut(&said.channel, &said.id) {
            message.body["embeds"] = json!([{ "type": "article", "title": "A page" }]);
        }
        guild.tells_of("MESSAGE_UPDATE", &said.id);
    }

    /// Somebody posts in a forum: a thread, whose first message has its id.
    #[track_caller]
    pub fn posts_in_forum(&self, title: &str, words: &str, who: Who) -> Said {
        let mut guild = self.guild();
        let id = guild.state.fresh();
        guild.opens(&id, title, super::FORUM);
        let person = guild.state.named(&who.0).clone();
        let said = Said {
            channel: id.clone(),
            id,
        };
        guild.writes(Message::of(&said, &person, json!({ "content": words })));
        said
    }

    /// What the bot wrote in the thread of a message, the oldest first. Looks at it.
    pub fn answers_below(&self, said: &Said) -> Vec<String> {
        let mut guild = self.guild();
        let below = guild
            .state
            .messages
            .iter_mut()
            .filter(|m| m.by_bot && !m.deleted && m.channel == said.id);
        below
            .map(|message| {
                message.looked = true;
                text::of(&message.body)
            })
            .collect()
    }
}

impl Guild {
    /// A message stands there from now on, and whoever listens hears of it.
    pub(super) fn writes(&mut self, message: Message) {
        let id = message.id.clone();
        self.state.messages.push(message);
        self.tells_of("MESSAGE_CREATE", &id);
    }

    /// Tells the gateway of a message as it is now: with its author's membership, as events have it.
    pub(super) fn tells_of(&mut self, kind: &str, id: &str) {
        let Some(message) = self.state.message(id) else { return };
        let direct = self
            .state
            .channel(&message.channel)
            .is_some_and(|channel| matches!(channel.place, Place::Direct { .. }));
        if direct {
            return;
        }
        let mut drawn = message.drawn();
        drawn["guild_id"] = GUILD.into();
        if let Some(author) = self.state.people.iter().find(|person| person.id == message.author) {
            let mut member = author.as_member();
            member.as_object_mut().map(|member| member.remove("user"));
            drawn["member"] = member;
        }
        let named = |person: &&Person| {
            message.body["content"]
                .as_str()
                .is_some_and(|words| words.contains(&format!("<@{}>", person.id)))
        };
        drawn["mentions"] = self.state.people.iter().filter(named).map(Person::user).collect();
        self.gateway.message(kind, drawn);
    }

    pub(super) fn deletes(&mut self, channel: &str, id: &str) -> Option<()> {
        self.state.message_mut(channel, id)?.deleted = true;
        let gone = json!({ "id": id, "channel_id": channel, "guild_id": GUILD });
        self.gateway.happens("MESSAGE_DELETE", gone);
        Some(())
    }

    /// A thread is opened; gives it as it is drawn.
    pub(super) fn opens(&mut self, id: &str, name: &str, of: &str) -> Value {
        let thread = Channel {
            id: id.to_owned(),
            name: name.to_owned(),
            place: Place::Thread {
                of: of.to_owned(),
                archived: false,
            },
            open: true,
        };
        let mut drawn = thread.drawn();
        self.state.channels.push(thread);
        drawn["newly_created"] = true.into();
        self.gateway.happens("THREAD_CREATE", drawn.clone());
        drawn
    }
}

impl Message {
    /// What a person wrote.
    fn of(said: &Said, person: &Person, body: Value) -> Self {
        Self {
            id: said.id.clone(),
            channel: said.channel.clone(),
            body,
            by_bot: person.bot,
            author: person.id.clone(),
            author_name: person.name.clone(),
            nonce: None,
            deleted: false,
            earlier: Vec::new(),
            looked: true,
        }
    }
}

impl Channel {
    /// As interactions and the gateway show it.
    pub(super) fn drawn(&self) -> Value {
        match &self.place {
            Place::Thread { of, .. } => {
                json!({ "id": self.id, "type": 11, "name": self.name, "parent_id": of, "guild_id": GUILD })
            }
            Place::Channel => {
                json!({ "id": self.id, "type": 0, "name": self.name, "parent_id": null, "guild_id": GUILD })
            }
            Place::Forum => {
                json!({ "id": self.id, "type": 15, "name": self.name, "parent_id": null, "guild_id": GUILD })
            }
            Place::Direct { .. } => json!({ "id": self.id, "type": 1 }),
        }
    }
}
