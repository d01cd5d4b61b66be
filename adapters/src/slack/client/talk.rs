//! Talk in channels: a thread as a whole, and whether the bot hears a channel at all.

use deskhand_core::heard::Post;
use deskhand_core::port::PortError;

use super::SlackChat;
use super::failure::Repeat;
use crate::slack::inbound::post::{self, Seen};
use crate::slack::wire;

/// Pages of 200. Longer talk is nothing that could be answered.
const PAGES: usize = 10;

impl SlackChat {
    /// What people wrote in a thread, oldest first; [`PortError::Gone`] when its first message is gone.
    pub(crate) async fn thread(&self, channel: &str, root: &str) -> Result<Vec<Post>, PortError> {
        let own = self.own().await?;
        let mut posts: Vec<Post> = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES {
            let arguments = [
                ("channel", Some(channel)),
                ("ts", Some(root)),
                ("limit", Some("200")),
                ("cursor", cursor.as_deref()),
            ];
            let page = match self.api.get("conversations.replies", &arguments).await {
                Ok(page) => page,
                Err(failure) => return Err(failure.tell("read a thread", channel, Repeat::Harmless)),
            };
            let seen = Seen {
                channel,
                team: Some(&own.team_id).filter(|team| !team.is_empty()).map(String::as_str),
                delivery: "",
            };
            let us = format!("@{}", own.user_id);
            for message in wire::list(&page, "/messages") {
                let Some(mut post) = post::of(message, seen).filter(|post| !post.program) else {
                    continue;
                };
                // As events tell it: without the mention of us.
                if post.text.contains(&us) {
                    post.text = post.text.replacen(&us, "", 1).trim().to_owned();
                }
                if post.id == root || !post.body().is_empty() {
                    posts.push(post);
                }
            }
            match wire::text(&page, "/response_metadata/next_cursor") {
                Some(next) => cursor = Some(next.to_owned()),
                None => {
                    let begun = posts.first().is_some_and(|first| first.id == root);
                    return match begun || !posts.is_empty() {
                        true => Ok(posts),
                        false => Err(PortError::Gone {
                            why: format!("Slack: the message in channel {channel} is gone"),
                        }),
                    };
                }
            }
        }
        Err(PortError::permanent(format!(
            "Slack: the thread in channel {channel} has more than {} messages and is not read",
            PAGES * 200
        )))
    }

    /// Where people find a message, if it is known by now how the workspace is called. Never calls anybody.
    pub fn known_url(&self, post: &Post) -> Option<String> {
        let base = self
            .own
            .get()
            .map(|own| own.url.as_str())
            .filter(|url| !url.is_empty())?;
        let number = post.id.replace('.', "");
        let place = format!("{}/archives/{}/p{number}", base.trim_end_matches('/'), post.channel);
        Some(match &post.thread {
            Some(thread) if thread.root != post.id => {
                format!("{place}?thread_ts={}&cid={}", thread.root, post.channel)
            }
            Some(_) | None => place,
        })
    }

    /// Whether the bot hears a channel: its name, or what is in the way.
    pub async fn hears(&self, channel: &str) -> Result<String, PortError> {
        let answer = self.api.get("conversations.info", &[("channel", Some(channel))]).await;
        let answer = answer.map_err(|failure| failure.tell("look at a channel", channel, Repeat::Harmless))?;
        let name = wire::text(&answer, "/channel/name").unwrap_or(channel).to_owned();
        if wire::is(&answer, "/channel/is_archived") {
            return Err(PortError::permanent(format!(
                "Slack: channel {channel} (#{name}) is archived"
            )));
        }
        match wire::is(&answer, "/channel/is_member") {
            true => Ok(name),
            false => Err(PortError::permanent(format!(
                "Slack: the bot is not in channel {channel} (#{name}): invite it there with /invite @Deskhand"
            ))),
        }
    }
}
