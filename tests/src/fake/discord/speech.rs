//! What people write in the server.

use serde_json::{Value, json};

use super::Discord;
use super::state::{Channel, Message, Place};
use super::text;
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
        let mut guild = self.guild();
        assert!(guild.state.channel(channel).is_some(), "there is no channel {channel}");
        let id = guild.state.fresh();
        let person = guild.state.named(&who.0).clone();
        guild.state.messages.push(Message {
            id: id.clone(),
            channel: channel.to_owned(),
            body: json!({ "content": words }),
            by_bot: false,
            author: person.id,
            author_name: person.name,
            nonce: None,
            deleted: false,
            earlier: Vec::new(),
            looked: true,
        });
        Said {
            channel: channel.to_owned(),
            id,
        }
    }

    /// Somebody opens the thread of a message, and writes there.
    #[track_caller]
    pub fn says_below(&self, said: &Said, words: &str, who: Who) -> Said {
        {
            let mut guild = self.guild();
            if guild.state.channel(&said.id).is_none() {
                guild.state.channels.push(Channel {
                    id: said.id.clone(),
                    name: "talk".into(),
                    place: Place::Thread {
                        of: said.channel.clone(),
                        archived: false,
                    },
                    open: true,
                });
            }
        }
        self.says(words, who, &said.id)
    }

    /// The author, or a moderator, deletes it.
    pub fn deletes(&self, said: &Said) {
        let mut guild = self.guild();
        if let Some(message) = guild.state.message_mut(&said.channel, &said.id) {
            message.deleted = true;
        }
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

impl Channel {
    /// As interactions show it.
    pub(super) fn drawn(&self) -> Value {
        match &self.place {
            Place::Thread { of, .. } => json!({ "id": self.id, "type": 11, "name": self.name, "parent_id": of }),
            Place::Channel => json!({ "id": self.id, "type": 0, "name": self.name, "parent_id": null }),
            Place::Direct { .. } => json!({ "id": self.id, "type": 1 }),
        }
    }
}
