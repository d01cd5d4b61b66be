//! Calls to Slack's Web API: the [`Chat`] port, and what only a handler can do in time (forms, private answers).
//!
//! Requests are slack-morphism's types over its client. Three things are our own. Answers are read as plain JSON, because
//! a typed answer that Slack extended would turn a post that was made into an error. `conversations.replies` is called by
//! its name, because the client's own method cannot ask for metadata. And every call has a time limit, and ends in a
//! [`PortError`] that says whether it may have happened, which the client leaves to its callers.
//!
//! The order of posts in a channel is not kept here but by the dispatcher.

mod call;
mod failure;
mod file;
mod find;
mod pace;
mod people;
mod talk;
mod views;

use std::time::Duration;

use async_trait::async_trait;
use deskhand_core::port::{Chat, Content, Place, PortError, Post};
use secrecy::SecretString;
use slack_morphism::prelude::*;
use tokio::sync::OnceCell;

use self::call::Api;
use self::failure::Repeat;
pub use self::pace::Pace;
pub use self::people::{Known, Own};
pub use self::views::OpenView;
use super::render::{self, Drawn};
use super::wire;

/// Where and as whom Slack is called.
#[derive(Clone)]
pub struct Settings {
    /// Without a method's name; a slash at its end does not matter.
    pub api_url: String,
    pub bot_token: SecretString,
    /// For one call as a whole.
    pub time_limit: Duration,
    pub pace: Pace,
}

impl Settings {
    /// Slack itself, ten seconds a call, at Slack's own pace.
    pub fn new(bot_token: SecretString) -> Self {
        Self {
            api_url: "https://slack.com/api".to_owned(),
            bot_token,
            time_limit: Duration::from_secs(10),
            pace: Pace::Slack,
        }
    }
}

pub struct SlackChat {
    api: Api,
    own: OnceCell<Own>,
    files: file::Files,
}

impl SlackChat {
    pub fn new(settings: &Settings) -> Self {
        Self {
            api: Api::new(settings),
            own: OnceCell::new(),
            files: file::Files::new(settings),
        }
    }

    /// Sends what was drawn; if Slack refuses the blocks, once more in plain text with the same buttons.
    async fn send(&self, post: &Post, drawn: Drawn) -> Result<serde_json::Value, failure::Failure> {
        let request = |blocks| {
            let metadata = SlackMessageMetadata::new(wire::METADATA.into())
                .with_event_payload([("key".to_owned(), post.key.clone())].into());
            let content = SlackMessageContent::new()
                .with_text(drawn.text.clone())
                .with_blocks(blocks)
                .with_metadata(metadata);
            let mut request = SlackApiChatPostMessageRequest::new(post.channel.clone().into(), content)
                .with_unfurl_links(false)
                .with_unfurl_media(false);
            if let Some(thread) = &post.thread {
                request = request
                    .with_thread_ts(thread.clone().into())
                    .with_reply_broadcast(post.broadcast);
            }
            request
        };
        match self
            .api
            .post("chat.postMessage", &post.channel, &request(drawn.blocks))
            .await
        {
            Err(failure) if failure.is_about_blocks() => {
                tracing::warn!(
                    slack.channel = post.channel,
                    "Slack refused the blocks of a post; sending plain text"
                );
                self.api
                    .post("chat.postMessage", &post.channel, &request(drawn.simple))
                    .await
            }
            answer => answer,
        }
    }

    pub(super) async fn post_drawn(&self, post: &Post, drawn: Drawn) -> Result<Place, PortError> {
        let answer = self
            .send(post, drawn)
            .await
            .map_err(|failure| failure.tell("post", &post.channel, Repeat::Doubles))?;
        let Some(ts) = wire::text(&answer, "/ts") else {
            return Err(PortError::Ambiguous {
                why: "Slack accepted a post without saying its ts".into(),
            });
        };
        let place = Place {
            channel: wire::text(&answer, "/channel").unwrap_or(&post.channel).to_owned(),
            message: ts.to_owned(),
        };
        let landed = wire::text(&answer, "/message/thread_ts");
        if post.thread.is_some() && answer.get("message").is_some() && landed != post.thread.as_deref() {
            let removed = match self.delete(&place).await {
                Ok(()) => "removed".to_owned(),
                Err(trouble) => format!("not removed ({trouble})"),
            };
            return Err(PortError::Gone {
                why: format!(
                    "Slack: the thread in channel {} was deleted; the reply landed outside it and was {removed}",
                    post.channel
                ),
            });
        }
        Ok(place)
    }

    async fn delete(&self, place: &Place) -> Result<(), PortError> {
        let request = SlackApiChatDeleteRequest::new(place.channel.clone().into(), place.message.clone().into());
        match self.api.post("chat.delete", &place.channel, &request).await {
            Ok(_) => Ok(()),
            Err(failure) if failure.code() == Some("message_not_found") => Ok(()),
            Err(failure) => Err(failure.tell("delete a post", &place.channel, Repeat::Harmless)),
        }
    }
}

#[async_trait]
impl Chat for SlackChat {
    /// Not repeatable: what may have arrived is [`PortError::Ambiguous`], and [`find`](Chat::find) settles it. A thread
    /// whose parent was deleted is [`PortError::Gone`]: Slack posts such a reply to the channel, from where it is removed
    /// again.
    async fn post(&self, post: &Post) -> Result<Place, PortError> {
        self.post_drawn(post, render::draw(&post.content)).await
    }

    async fn update(&self, place: &Place, content: &Content) -> Result<(), PortError> {
        let drawn = render::draw(content);
        let request = |blocks| {
            let content = SlackMessageContent::new()
                .with_text(drawn.text.clone())
                .with_blocks(blocks);
            SlackApiChatUpdateRequest::new(place.channel.clone().into(), content, place.message.clone().into())
        };
        let answer = match self
            .api
            .post("chat.update", &place.channel, &request(drawn.blocks))
            .await
        {
            Err(failure) if failure.is_about_blocks() => {
                tracing::warn!(
                    slack.channel = place.channel,
                    "Slack refused the blocks of an update; sending plain text"
                );
                self.api
                    .post("chat.update", &place.channel, &request(drawn.simple))
                    .await
            }
            answer => answer,
        };
        answer
            .map(drop)
            .map_err(|failure| failure.tell("update a post", &place.channel, Repeat::Harmless))
    }

    async fn remove(&self, place: &Place) -> Result<(), PortError> {
        self.delete(place).await
    }

    async fn find(&self, channel: &str, thread: Option<&str>, key: &str) -> Result<Option<Place>, PortError> {
        find::find(&self.api, channel, thread, key).await
    }

    /// `group` is a user group's id, with or without the `@` that settings write before it.
    async fn members(&self, group: &str) -> Result<Vec<String>, PortError> {
        people::members(&self.api, group.trim_start_matches('@')).await
    }

    async fn is_full_member(&self, person: &str) -> Result<bool, PortError> {
        Ok(self.person(person).await?.full_member)
    }

    async fn check(&self) -> Result<String, PortError> {
        let own = people::own(&self.api).await?;
        Ok(format!("Slack: {} in {} ({})", own.name, own.team, own.team_id))
    }
}
