//! Tickets that came from a message in Slack: read and answered in the thread of that message.
//!
//! A ticket's outside id is `<channel>/<ts>`. Slack keeps no books: priority, team and tags stay with us, and nothing internal
//! is ever written where customers read.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use deskhand_core::heard::{Post as Heard, subject};
use deskhand_core::inbound::DeskStatus;
use deskhand_core::port::{Chat, Content, Desk, DeskChange, DeskTicket, DeskWrite, Place, PortError, Post, Receipt};

use super::SlackChat;
use super::escape;
use super::render::{self, Drawn};

/// As much as a message's blocks hold; what is longer goes out as plain text.
const BLOCKS: usize = 11_500;
/// Slack cuts off what is over 40,000 characters.
const TEXT: usize = 39_000;

/// A ticket's own address: its channel and its first message.
fn address(outside_id: &str) -> Result<(&str, &str), PortError> {
    let word = |id: &str| !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric());
    let ts = |id: &str| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let parts = outside_id
        .split_once('/')
        .filter(|(channel, message)| word(channel) && ts(message));
    parts.ok_or_else(|| PortError::permanent(format!("\"{outside_id}\" is no message in Slack")))
}

/// A reply to a customer, whole.
fn drawn(text: &str) -> Result<Drawn, PortError> {
    let text = escape::drawable(text);
    let text = text.trim();
    match escape::size(text) {
        0 => Err(PortError::permanent("an empty answer cannot be sent")),
        1..=BLOCKS => Ok(render::line(text)),
        _ if escape::size(text) <= TEXT => Ok(Drawn {
            text: escape::escape(text),
            blocks: Vec::new(),
            simple: Vec::new(),
        }),
        _ => Err(PortError::permanent(format!(
            "Slack: the answer is longer than the {TEXT} characters of a message: shorten it"
        ))),
    }
}

fn receipt(place: &Place) -> Receipt {
    Receipt {
        remote_id: format!("{}/{}", place.channel, place.message),
        remark: None,
    }
}

#[async_trait]
impl Desk for SlackChat {
    /// What people wrote in the thread. What programs wrote is left out, ours too.
    async fn read(&self, outside_id: &str) -> Result<DeskTicket, PortError> {
        let (channel, root) = address(outside_id)?;
        let mut posts = self.thread(channel, root).await?;
        for post in &mut posts {
            post.url = self.known_url(post);
        }
        let first = posts.first().filter(|first| first.id == root);
        let updated_at = posts.iter().filter_map(|post| post.at).max();
        Ok(DeskTicket {
            outside_id: outside_id.to_owned(),
            // Where a program began the thread, what people wrote first says what it is about.
            subject: posts.first().map(|first| subject(&first.text)).unwrap_or_default(),
            requester: first.map(Heard::requester).unwrap_or_default(),
            status: DeskStatus::Open,
            priority: None,
            assignee: None,
            assignee_name: String::new(),
            merged_into: None,
            url: first.and_then(|first| first.url.clone()),
            stamp: String::new(),
            updated_at: updated_at.unwrap_or(DateTime::<Utc>::UNIX_EPOCH),
            comments: Vec::new(),
            posts,
        })
    }

    /// Not repeatable: what may have arrived is found by [`find`](Desk::find) first.
    async fn write(&self, write: &DeskWrite) -> Result<Receipt, PortError> {
        let (channel, root) = address(&write.outside_id)?;
        match &write.change {
            DeskChange::Reply { text } => {
                let post = Post {
                    channel: channel.to_owned(),
                    thread: Some(root.to_owned()),
                    broadcast: false,
                    key: write.marker.clone(),
                    content: Content::Line(text.clone()),
                };
                Ok(receipt(&self.post_drawn(&post, drawn(text)?).await?))
            }
            DeskChange::Bookkeeping(_) => Ok(Receipt {
                remote_id: format!("kept-{}", write.marker),
                remark: None,
            }),
            DeskChange::FollowUp { .. } => Err(PortError::permanent("Slack knows no follow-up tickets")),
        }
    }

    /// By the marker in the metadata of what was posted in the thread.
    async fn find(&self, outside_id: &str, marker: &str) -> Result<Option<Receipt>, PortError> {
        let (channel, root) = address(outside_id)?;
        let found = Chat::find(self, channel, Some(root), marker).await?;
        Ok(found.as_ref().map(receipt))
    }

    async fn check(&self) -> Result<String, PortError> {
        Chat::check(self).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_channel_and_a_ts_are_an_address() {
        assert_eq!(address("C1/1.2").ok(), Some(("C1", "1.2")));
        for text in ["", "C1", "C1/", "/1.2", "C1/1.2/3", "C1/../2", "C1/a"] {
            assert!(address(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_reply_goes_out_whole_or_not_at_all() {
        let short = drawn("Dear Ada,\n*it* left <us>.").expect("it can be sent");
        assert!(!short.blocks.is_empty());
        let long = "words ".repeat(4000);
        let sent = drawn(&long).expect("it can be sent");
        assert!(sent.blocks.is_empty());
        assert_eq!(sent.text, long.trim());
        assert!(drawn(&"words ".repeat(8000)).is_err());
        assert!(drawn(" \n").is_err());
    }
}
