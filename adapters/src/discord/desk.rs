//! Tickets that came from a message in Discord: read and answered where that message stands.
//!
//! A ticket's outside id is `<channel>/<message>`. The talk about it is the thread that hangs on the message, which is
//! opened with the first answer; a forum's post is such a thread already. Discord keeps no books: priority, team and tags
//! stay with us, and nothing internal is ever written where customers read.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use deskhand_core::heard::{Post, PostKind, Thread, subject};
use deskhand_core::inbound::DeskStatus;
use deskhand_core::port::{Chat, Desk, DeskChange, DeskTicket, DeskWrite, PortError, Receipt};
use deskhand_core::ticket::Source;
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

/// The thread that a channel is, if it is one. It has the id of the message that it hangs on, also where that message stands
/// in the thread itself, as in a forum.
pub(crate) fn thread(channel: &str, above: Option<&str>) -> Option<Thread> {
    above.map(|above| Thread {
        channel: above.to_owned(),
        root: channel.to_owned(),
    })
}

/// A message as what was heard, as far as the message itself tells. It names neither its author's server nor their roles, so
/// those are looked up.
pub fn post(message: &Message, guild: Option<&str>) -> Post {
    Post {
        source: Source::Discord,
        delivery: format!("message:{}", message.id),
        what: PostKind::New,
        channel: message.channel.clone(),
        id: message.id.clone(),
        thread: thread(&message.channel, message.thread_of.as_deref()),
        author: message.author.clone(),
        program: message.by_bot,
        outsider: false,
        mentions_us: false,
        text: message.text.clone(),
        files: message.files.clone(),
        at: message.at,
        url: Some(url(guild, &message.channel, &message.id)),
    }
}

#[async_trait]
impl Desk for DiscordChat {
    /// The first message, and what people wrote in its thread: the newest hundred. What bots wrote is left out, ours too.
    async fn read(&self, outside_id: &str) -> Result<DeskTicket, PortError> {
        let (channel, id) = address(outside_id)?;
        let first = match self.message(channel, id).await {
            // A forum's post stands in its thread, not in the channel above.
            Err(PortError::Gone { why }) if channel != id => match self.message(id, id).await {
                Ok(first) => first,
                Err(_) => return Err(PortError::Gone { why }),
            },
            first => first?,
        };
        let thread = self.messages(id).await?;
        let others = thread.iter().rev().filter_map(inbound::message);
        let heard = std::iter::once(first.clone()).chain(others.filter(|other| other.id != first.id));
        let guild = self.known_guild();
        let posts: Vec<Post> = heard
            .filter(|message| !message.by_bot)
            .map(|message| post(&message, guild))
            .collect();
        let requester = posts.first().map(Post::requester).unwrap_or_default();
        let updated_at = posts.iter().filter_map(|post| post.at).max();
        Ok(DeskTicket {
            outside_id: outside_id.to_owned(),
            subject: subject(&first.text),
            requester,
            status: DeskStatus::Open,
            priority: None,
            assignee: None,
            assignee_name: String::new(),
            merged_into: None,
            url: Some(url(guild, channel, id)),
            stamp: String::new(),
            updated_at: updated_at.unwrap_or(DateTime::<Utc>::UNIX_EPOCH),
            comments: Vec::new(),
            posts,
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
}
