//! What was written while nobody listened and no session could be taken up: read where it matters, within limits.
//!
//! Edits and deletions of that time are not told by anybody; the words of an edited message that is read are the new ones.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use deskhand_adapters::discord::client::id_of;
use deskhand_adapters::postgres::gateway as store;
use deskhand_core::port::PortError;
use serde_json::Value;

use super::Ear;

/// From each channel or thread.
const MOST: usize = 500;
/// So many of the newest tickets have their threads read.
const TALKS: i64 = 100;
/// Messages of several channels do not come in the order of their ids; a repeat costs nothing.
const MARGIN: i64 = 10_000 << 22;

/// The least id that a message of this time can have: milliseconds since 2015 (docs.discord.com, "Snowflakes").
pub(super) fn id_at(time: DateTime<Utc>) -> i64 {
    (time.timestamp_millis() - 1_420_070_400_000).max(0) << 22
}

/// Reads what is newer, the oldest first, and hears it.
pub(super) async fn read(ear: &mut Ear<'_>, newest: i64) -> anyhow::Result<()> {
    let since = u64::try_from(newest - MARGIN).unwrap_or_default();
    let mut found: Vec<Value> = Vec::new();
    for channel in channels(ear, since).await? {
        let (mut written, all) = match ear.discord.written_since(&channel, since, MOST).await {
            Ok(written) => written,
            // A forum has no messages of its own; what the bot may not read, doctor names.
            Err(PortError::Permanent { why } | PortError::Gone { why }) => {
                tracing::debug!(%why, "a channel was not read");
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if !all {
            tracing::warn!(
                discord.channel = channel,
                "so much was written while nobody listened that only the first {MOST} messages were read; use Triage this \
                 for the rest"
            );
        }
        found.append(&mut written);
    }
    found.sort_by_key(id_of);
    for message in &mut found {
        // A page of messages does not say where it is of.
        message["guild_id"] = ear.own.guild.clone().into();
        ear.written(message).await?;
        ear.newest = ear.newest.max(i64::try_from(id_of(message)).ok());
    }
    if !found.is_empty() {
        tracing::info!(
            messages = found.len(),
            "what was written while nobody listened was read"
        );
    }
    Ok(())
}

/// Watched channels, their threads that are awake, and the threads of tickets.
async fn channels(ear: &mut Ear<'_>, since: u64) -> anyhow::Result<BTreeSet<String>> {
    let watched = ear.app.config.discord.as_ref().map(|config| config.watch.clone());
    let mut channels: BTreeSet<String> = watched.unwrap_or_default().into_iter().collect();
    let threads = ear.discord.active_threads().await?;
    ear.places.add_all(&threads);
    let text = |thread: &Value, name: &str| thread[name].as_str().unwrap_or_default().to_owned();
    let is_news = |thread: &Value| {
        text(thread, "last_message_id")
            .parse()
            .is_ok_and(|newest: u64| newest > since)
    };
    let quiet: BTreeSet<String> = threads
        .iter()
        .filter(|thread| thread["last_message_id"].is_string() && !is_news(thread))
        .map(|thread| text(thread, "id"))
        .collect();
    let below: Vec<String> = threads
        .iter()
        .filter(|thread| channels.contains(&text(thread, "parent_id")))
        .map(|thread| text(thread, "id"))
        .collect();
    let talks = store::open_talks(&ear.app.pool, TALKS).await?;
    let talks = talks
        .iter()
        .filter_map(|id| id.split_once('/'))
        .map(|(_, root)| root.to_owned());
    channels.extend(below.into_iter().chain(talks).filter(|thread| !quiet.contains(thread)));
    Ok(channels)
}

#[cfg(test)]
mod tests {
    use super::id_at;

    #[test]
    fn an_id_is_a_time() {
        // The documentation's example.
        let at = "2016-04-30T11:18:25.796Z".parse().expect("a time");
        assert_eq!(id_at(at) >> 22, 175_928_847_299_117_063 >> 22);
    }
}
