//! What is asked and answered over REST around the gateway: where it is, the answers to interactions that came by it, and
//! what was written while nobody listened.

use std::time::Duration;

use deskhand_core::port::PortError;
use reqwest::Method;
use secrecy::ExposeSecret;
use serde_json::Value;

use super::DiscordChat;
use super::call::Ask;
use super::failure::Failure;
use super::limits::Pace;

/// Where the gateway is, and how many new sessions Discord still allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    pub url: String,
    pub left: u64,
    /// Until all of them are allowed again.
    pub reset: Duration,
}

/// What is set in the developer portal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Portal {
    /// Where clicks and commands go; `None`: to the gateway.
    pub endpoint: Option<String>,
    /// The bot may read what people write.
    pub content: bool,
}

/// A channel or thread, as far as it matters where words stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stands {
    /// The channel above, of a thread.
    pub thread_of: Option<String>,
    pub name: String,
}

impl Stands {
    /// From a channel as Discord draws it: types 10, 11 and 12 are threads.
    pub fn of(channel: &Value) -> Self {
        let thread = matches!(channel["type"].as_u64(), Some(10..=12));
        Self {
            thread_of: channel["parent_id"].as_str().filter(|_| thread).map(str::to_owned),
            name: channel["name"].as_str().unwrap_or_default().to_owned(),
        }
    }
}

/// A page of messages.
const PAGE: usize = 100;

impl DiscordChat {
    pub async fn gateway(&self) -> Result<Open, PortError> {
        let answer = self.api.call(Ask::get("gateway/bot")).await;
        let answer = answer.map_err(|failure| failure.tell("ask for the gateway", ""))?;
        let limit = &answer["session_start_limit"];
        Ok(Open {
            url: answer["url"].as_str().unwrap_or_default().to_owned(),
            left: limit["remaining"].as_u64().unwrap_or(1),
            reset: Duration::from_millis(limit["reset_after"].as_u64().unwrap_or_default()),
        })
    }

    /// What the developer portal says of the ways in.
    pub async fn portal(&self) -> Result<Portal, PortError> {
        let application = self.api.call(Ask::get("applications/@me")).await;
        let application = application.map_err(|failure| failure.tell("look at the application", ""))?;
        let endpoint = application["interactions_endpoint_url"].as_str();
        Ok(Portal {
            endpoint: endpoint.filter(|url| !url.is_empty()).map(str::to_owned),
            // Bits 18 and 19: granted, or to a bot in few servers (docs.discord.com, "Application Flags").
            content: application["flags"].as_u64().unwrap_or_default() & (1 << 18 | 1 << 19) != 0,
        })
    }

    /// Answers an interaction that came by the gateway. An answer that may have arrived is given once more: Discord takes
    /// the first alone.
    pub async fn call_back(&self, interaction: &str, token: &str, answer: &Value) -> Result<(), PortError> {
        let ask = Ask::new(Method::POST, format!("interactions/{interaction}/{token}/callback"));
        let ask = ask.json(answer.clone()).unsigned();
        let mut given = self.api.call(ask.clone()).await;
        if let Err(Failure::Lost { .. }) = given {
            given = match self.api.call(ask).await {
                Err(failure) if failure.code() == Some(40_060) => Ok(Value::Null),
                again => again,
            };
        }
        given
            .map(drop)
            .map_err(|failure| failure.tell("answer an interaction", ""))
    }

    /// Where a channel or thread stands; nowhere where the bot does not see it.
    pub async fn stands(&self, channel: &str) -> Result<Option<Stands>, PortError> {
        match self.api.call(Ask::get(format!("channels/{channel}"))).await {
            Ok(found) => Ok(Some(Stands::of(&found))),
            Err(failure) => match failure.tell("look at a channel", channel) {
                PortError::Permanent { .. } | PortError::Gone { .. } => Ok(None),
                other => Err(other),
            },
        }
    }

    /// What was written in a channel or thread after a message, the oldest first, at most `most`; and whether that is all.
    pub async fn written_since(&self, channel: &str, since: u64, most: usize) -> Result<(Vec<Value>, bool), PortError> {
        let mut all: Vec<Value> = Vec::new();
        let mut after = since;
        while all.len() < most {
            let ask = Ask::get(format!("channels/{channel}/messages"));
            let page = self.api.call(ask.query("after", after).query("limit", PAGE)).await;
            let page = page.map_err(|failure| failure.tell("read what was written meanwhile", channel))?;
            let mut page = page.as_array().cloned().unwrap_or_default();
            page.sort_by_key(id_of);
            let (full, newest) = (page.len() == PAGE, page.last().map(id_of));
            all.append(&mut page);
            match newest {
                Some(newest) if full && newest > after => after = newest,
                Some(_) | None => return Ok((all, true)),
            }
        }
        Ok((all, false))
    }

    /// The threads of our server that are not asleep.
    pub async fn active_threads(&self) -> Result<Vec<Value>, PortError> {
        let guild = &self.own().await?.guild;
        let answer = self.api.call(Ask::get(format!("guilds/{guild}/threads/active"))).await;
        let answer = answer.map_err(|failure| failure.tell("ask for the active threads", ""))?;
        Ok(answer["threads"].as_array().cloned().unwrap_or_default())
    }

    pub(crate) fn gateway_token(&self) -> String {
        self.api.token.expose_secret().to_owned()
    }

    pub(crate) fn pace(&self) -> Pace {
        self.pace
    }
}

/// The id of something, which is greater than that of everything older.
pub fn id_of(thing: &Value) -> u64 {
    thing["id"].as_str().and_then(|id| id.parse().ok()).unwrap_or_default()
}
