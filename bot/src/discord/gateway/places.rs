//! Where channels and threads stand, as far as the gateway told; the rest is asked for once.

use std::collections::HashMap;
use std::time::Duration;

use deskhand_adapters::discord::{DiscordChat, Stands};
use serde_json::Value;

/// Threads come and go; what is forgotten is asked for again.
const MOST: usize = 20_000;

#[derive(Default)]
pub(super) struct Places(HashMap<String, Stands>);

impl Places {
    pub(super) fn learn(&mut self, kind: &str, data: &Value) {
        let list = |name: &str| data[name].as_array().cloned().unwrap_or_default();
        match kind {
            "GUILD_CREATE" => self.add_all(&[list("channels"), list("threads")].concat()),
            "THREAD_LIST_SYNC" => self.add_all(&list("threads")),
            "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" => {
                self.add_all(std::slice::from_ref(data));
            }
            "CHANNEL_DELETE" | "THREAD_DELETE" => {
                self.0.remove(data["id"].as_str().unwrap_or_default());
            }
            _ => {}
        }
    }

    pub(super) fn add_all(&mut self, channels: &[Value]) {
        if self.0.len() > MOST {
            self.0.clear();
        }
        for channel in channels {
            if let Some(id) = channel["id"].as_str() {
                self.0.insert(id.to_owned(), Stands::of(channel));
            }
        }
    }

    /// What the bot cannot see stands nowhere. While Discord does not answer, everything that comes later waits: taking a
    /// thread for a channel would make a ticket of an answer.
    pub(super) async fn find(&mut self, discord: &DiscordChat, channel: &str) -> Stands {
        if let Some(known) = self.0.get(channel) {
            return known.clone();
        }
        let mut pause = Duration::from_millis(200);
        let found = loop {
            match discord.stands(channel).await {
                Ok(found) => break found.unwrap_or_default(),
                Err(error) => tracing::warn!(%error, "it is not known where a message stands; asking again"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(30));
        };
        self.0.insert(channel.to_owned(), found.clone());
        found
    }
}
