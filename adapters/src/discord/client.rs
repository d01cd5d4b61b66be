//! Calls to Discord's REST API: the [`Chat`] port, and what only this chat has (answers to interactions, roles of a
//! person, the registration of commands).
//!
//! A post carries a nonce that Discord enforces, so a post that may have arrived is simply sent again. A ticket's thread
//! hangs on its header and has the header's id; a message in it is named `<thread>/<message>` in a [`Place`], because
//! Discord takes threads for channels.
//!
//! The order of posts in a channel is not kept here but by the dispatcher.

mod answer;
mod below;
mod call;
mod failure;
mod gateway;
mod limits;
mod people;
mod register;
mod thread;

use std::time::Duration;

use async_trait::async_trait;
use deskhand_core::port::{Chat, Content, Place, PortError, Post};
use reqwest::Method;
use secrecy::SecretString;
use serde_json::Value;
use tokio::sync::OnceCell;

use self::call::{Api, Ask};
pub use self::gateway::{Open, Portal, Stands, id_of};
pub use self::limits::Pace;
pub use self::people::Own;
use super::draw;

/// Where and as whom Discord is called.
#[derive(Clone)]
pub struct Settings {
    /// With the version, without a slash at the end.
    pub api_url: String,
    pub bot_token: SecretString,
    pub application_id: String,
    /// The channel for cards; its guild is the one whose people are heard.
    pub channel: Option<String>,
    /// For one call as a whole.
    pub time_limit: Duration,
    pub pace: Pace,
}

impl Settings {
    /// Discord itself, ten seconds a call, at Discord's own pace.
    pub fn new(bot_token: SecretString, application_id: String) -> Self {
        Self {
            api_url: "https://discord.com/api/v10".to_owned(),
            bot_token,
            application_id,
            channel: None,
            time_limit: Duration::from_secs(10),
            pace: Pace::Discord,
        }
    }
}

pub struct DiscordChat {
    api: Api,
    application_id: String,
    channel: Option<String>,
    own: OnceCell<Own>,
    pace: Pace,
}

impl DiscordChat {
    /// Needs a default crypto provider of rustls, as `main` installs it.
    pub fn new(settings: &Settings) -> Result<Self, PortError> {
        Ok(Self {
            api: Api::new(settings)?,
            application_id: settings.application_id.clone(),
            channel: settings.channel.clone(),
            own: OnceCell::new(),
            pace: settings.pace,
        })
    }
}

/// Discord's nonce has 25 characters at most; the end of a key is its most random part.
fn nonce(key: &str) -> String {
    let plain: Vec<char> = key.chars().filter(char::is_ascii_alphanumeric).collect();
    plain[plain.len().saturating_sub(25)..].iter().collect()
}

/// Where a message really is: the thread or channel, and its id.
fn located(place: &Place) -> (&str, &str) {
    place
        .message
        .split_once('/')
        .unwrap_or((&place.channel, &place.message))
}

#[async_trait]
impl Chat for DiscordChat {
    /// Repeatable for some minutes, by its nonce. A header's thread is made with it, or when the first reply needs it;
    /// where the header is gone, that is [`PortError::Gone`].
    async fn post(&self, post: &Post) -> Result<Place, PortError> {
        let drawn = draw::draw(&post.content);
        let name = draw::thread_name(&post.content);
        let message = match &post.thread {
            Some(thread) => {
                let id = thread::post(&self.api, post, thread, &drawn, &name).await?;
                format!("{thread}/{id}")
            }
            None => {
                let sent = thread::send(&self.api, &post.channel, &post.key, &drawn).await;
                let id = sent.map_err(|failure| failure.tell("post", &post.channel))?;
                if matches!(post.content, Content::Header(_))
                    && let Err(failure) = thread::open(&self.api, &post.channel, &id, &name).await
                {
                    let why = failure.tell("open a thread", &post.channel);
                    tracing::warn!(%why, "a ticket's thread is opened with its first card instead");
                }
                id
            }
        };
        Ok(Place {
            channel: post.channel.clone(),
            message,
        })
    }

    async fn update(&self, place: &Place, content: &Content) -> Result<(), PortError> {
        let drawn = draw::draw(content);
        let (channel, id) = located(place);
        let edit = |body: Value| async move {
            let ask = Ask::new(Method::PATCH, format!("channels/{channel}/messages/{id}"));
            thread::awake(&self.api, channel, ask.json(body)).await
        };
        let answer = match edit(drawn.full).await {
            Err(failure) if failure.is_about_form() => {
                tracing::warn!(
                    discord.channel = channel,
                    "Discord refused an update; sending plain text"
                );
                edit(drawn.simple).await
            }
            answer => answer,
        };
        match answer {
            Ok(_) => Ok(()),
            Err(failure) => Err(failure.about_message().tell("update a message", channel)),
        }
    }

    async fn remove(&self, place: &Place) -> Result<(), PortError> {
        let (channel, id) = located(place);
        let ask = Ask::new(Method::DELETE, format!("channels/{channel}/messages/{id}"));
        match self.api.call(ask).await {
            Ok(_) => Ok(()),
            Err(failure) => match failure.about_message().tell("delete a message", channel) {
                PortError::Gone { .. } => Ok(()),
                other => Err(other),
            },
        }
    }

    /// By the nonce, among the newest hundred messages. Discord tells it for recent ones only; for as long as it does
    /// not, repeating the post is what finds it, by the same nonce.
    async fn find(&self, channel: &str, thread: Option<&str>, key: &str) -> Result<Option<Place>, PortError> {
        let within = thread.unwrap_or(channel);
        let ask = Ask::new(Method::GET, format!("channels/{within}/messages")).query("limit", "100");
        let page = match self.api.call(ask).await {
            Ok(page) => page,
            // Where there is no thread yet, nothing can be in it.
            Err(failure) if thread.is_some() && failure.is_unknown_channel() => return Ok(None),
            Err(failure) => return Err(failure.tell("look for a message", within)),
        };
        let nonce = nonce(key);
        let all = page.as_array().map_or(&[][..], Vec::as_slice);
        let found = all.iter().find(|message| message["nonce"] == nonce.as_str());
        let id = found.and_then(|message| message["id"].as_str());
        Ok(id.map(|id| Place {
            channel: channel.to_owned(),
            message: thread.map_or_else(|| id.to_owned(), |thread| format!("{thread}/{id}")),
        }))
    }

    /// Discord lists a role's members to bots with a privileged intent only, so people are asked for their roles instead:
    /// see [`roles_of`](DiscordChat::roles_of).
    async fn members(&self, group: &str) -> Result<Vec<String>, PortError> {
        Err(PortError::permanent(format!(
            "Discord: the members of role {group} cannot be listed; each person is looked up alone"
        )))
    }

    async fn is_full_member(&self, person: &str) -> Result<bool, PortError> {
        Ok(self.roles_of(person).await?.is_some())
    }

    async fn check(&self) -> Result<String, PortError> {
        people::check(self).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_is_short_and_of_one_post_alone() {
        let nonce = nonce("019a0000-0000-7abc-8def-0123456789ab");
        assert_eq!(nonce, "000007abc8def0123456789ab");
        assert_eq!(nonce.len(), 25);
        assert_eq!(super::nonce("key"), "key");
    }

    #[test]
    fn a_message_in_a_thread_is_found_there() {
        let place = |message: &str| Place {
            channel: "1".into(),
            message: message.into(),
        };
        assert_eq!(located(&place("2/3")), ("2", "3"));
        assert_eq!(located(&place("3")), ("1", "3"));
    }
}
