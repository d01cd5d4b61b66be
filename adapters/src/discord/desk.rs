//! Tickets that came from a message in Discord: read and answered where that message stands.
//!
//! A ticket's outside id is `<channel>/<message>`. The talk about it is the thread that hangs on the message, which is
//! opened with the first answer; a forum's post is such a thread already. Discord keeps no books: priority, team and tags
//! stay with us, and nothing internal is ever written where customers read.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use deskhand_core::inbound::{DeskStatus, NewComment};
use deskhand_core::port::{Chat, Desk, DeskChange, DeskTicket, DeskWrite, PortError, Receipt};
use deskhand_core::ticket::{Author, Requester};
use serde_json::Value;

use super::DiscordChat;
use super::inbound::{self, Message};

/// A ticket's own address: its channel and its first message.
fn address(outside_id: &str) -> Result<(&str, &str), PortError> {
    let digits = |id: &str| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit());
    let parts = outside_id
        .split_once('/')
        .filter(|(channel, message)| digits(channel) && digits(message));
    parts.ok_or_else(|| PortError::permanent(format!("\"{outside_id}\" is no message in Discord")))
}

/// Where people find a message.
pub fn url(guild: Option<&str>, channel: &str, message: &str) -> String {
    format!(
        "https://discord.com/channels/{}/{channel}/{message}",
        guild.unwrap_or("@me")
    )
}

/// The first line, as the subject of a ticket.
pub fn subject(text: &str) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("A message without words");
    let short: String = line.chars().take(100).collect();
    if short.len() < line.len() {
        format!("{short}…")
    } else {
        short
    }
}

/// A person of Discord as the requester of a ticket.
pub fn requester(message: &Message) -> Requester {
    message
        .author
        .as_ref()
        .map_or_else(Requester::default, |author| Requester {
            name: author.name.clone(),
            address: author.key(),
        })
}

/// A message as a comment; `first` is who wrote the ticket.
pub fn comment(message: &Message, first: &Requester) -> NewComment {
    let by = requester(message);
    NewComment {
        outside_id: Some(message.id.clone()),
        author: if by.address == first.address {
            Author::Requester
        } else {
            Author::Other
        },
        author_name: by.name,
        public: true,
        body: message.text.clone(),
        created_at: message.at,
        marker: None,
    }
}

#[async_trait]
impl Desk for DiscordChat {
    /// The first message, and what people wrote in its thread: the newest hundred. What bots wrote is left out, ours too.
    async fn read(&self, outside_id: &str) -> Result<DeskTicket, PortError> {
        let (channel, id) = address(outside_id)?;
        let first = self.message(channel, id).await?;
        let requester = requester(&first);
        let mut comments = vec![comment(&first, &requester)];
        let thread = self.messages(id).await?;
        let others = thread.iter().rev().filter_map(inbound::message);
        comments.extend(
            others
                .filter(|m| !m.by_bot && m.id != first.id)
                .map(|m| comment(&m, &requester)),
        );
        let updated_at = comments.iter().filter_map(|comment| comment.created_at).max();
        Ok(DeskTicket {
            outside_id: outside_id.to_owned(),
            subject: subject(&first.text),
            requester,
            status: DeskStatus::Open,
            priority: None,
            assignee: None,
            assignee_name: String::new(),
            merged_into: None,
            url: Some(url(self.known_guild(), channel, id)),
            stamp: String::new(),
            updated_at: updated_at.unwrap_or(DateTime::<Utc>::UNIX_EPOCH),
            comments,
        })
    }

    async fn write(&self, write: &DeskWrite) -> Result<Receipt, PortError> {
        let (channel, id) = address(&write.outside_id)?;
        match &write.change {
            DeskChange::Reply { text } => {
                let remote_id = self.reply_below(channel, id, &write.marker, text).await?;
                Ok(Receipt {
                    remote_id,
                    remark: None,
                })
            }
            DeskChange::Bookkeeping(_) => Ok(Receipt {
                remote_id: format!("kept-{}", write.marker),
                remark: None,
            }),
            DeskChange::FollowUp { .. } => Err(PortError::permanent("Discord knows no follow-up tickets")),
        }
    }

    /// By the nonce, as long as Discord tells it; afterwards nobody can say. A repeat within minutes finds itself.
    async fn find(&self, outside_id: &str, marker: &str) -> Result<Option<Receipt>, PortError> {
        let (channel, id) = address(outside_id)?;
        let found = Chat::find(self, channel, Some(id), &format!("{marker}0")).await?;
        Ok(found.map(|place| Receipt {
            remote_id: place.message,
            remark: None,
        }))
    }

    async fn check(&self) -> Result<String, PortError> {
        Chat::check(self).await
    }
}

/// The time that a message says it is of.
pub(crate) fn at(message: &Value) -> Option<DateTime<Utc>> {
    message["timestamp"].as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_channel_and_a_message_are_an_address() {
        assert_eq!(address("1/2").ok(), Some(("1", "2")));
        for text in ["", "1", "1/", "/2", "1/2/3", "1/../2", "a/2"] {
            assert!(address(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_subject_is_the_first_line_that_says_something() {
        assert_eq!(subject("\n  Where is it? \nI waited."), "Where is it?");
        assert_eq!(subject(" \n"), "A message without words");
        assert_eq!(subject(&"é".repeat(200)).chars().count(), 101);
    }
}
