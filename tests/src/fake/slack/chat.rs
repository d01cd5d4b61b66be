//! Posting, updating and deleting, with Slack's limits and error codes.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::blocks::{self, Surface};
use super::http::{Arguments, Outcome, Refused};
use super::payload;
use super::state::{Channel, Message, Private};
use super::{BOT, TEAM, Team};

/// Characters of a message's text; what is over is cut off.
const TEXT: usize = 40_000;
/// An update with more is refused.
const UPDATED_TEXT: usize = 4_000;

pub(super) fn text<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

pub(super) fn flag(arguments: &Arguments, name: &str) -> bool {
    match arguments.get(name) {
        Some(Value::Bool(yes)) => *yes,
        Some(Value::String(text)) => text == "true" || text == "1",
        _ => false,
    }
}

pub(super) fn post(team: &mut Team, arguments: &Arguments, now: DateTime<Utc>) -> Outcome {
    let channel = open_channel(team, arguments)?;
    let blocks = content(team, arguments)?.unwrap_or_default();
    let words = text(arguments, "text").unwrap_or("");
    if words.is_empty() && blocks.is_empty() && arguments.get("attachments").is_none() {
        return Err("no_text".into());
    }
    if team.strict_rate
        && let Some(last) = channel.last_post
        && (now - last).num_milliseconds() < 1000
    {
        return Err(Refused::slow_down(1));
    }
    let metadata = arguments.get("metadata").filter(|value| !value.is_null()).cloned();
    if let Some(metadata) = &metadata
        && (!metadata["event_type"].is_string() || !metadata["event_payload"].is_object())
    {
        return Err("invalid_metadata_format".into());
    }
    let thread_ts = text(arguments, "thread_ts").and_then(|ts| thread_of(team, &channel.id, ts));
    let ts = team.state.fresh_ts(now);
    let message = Message {
        channel: channel.id.clone(),
        ts: ts.clone(),
        broadcast: thread_ts.is_some() && flag(arguments, "reply_broadcast"),
        thread_ts,
        user: BOT.to_owned(),
        team: TEAM.to_owned(),
        files: Vec::new(),
        text: words.chars().take(TEXT).collect(),
        blocks,
        metadata,
        edited: None,
        deleted: false,
        earlier: Vec::new(),
        looked: false,
    };
    let drawn = payload::message(&message, None, true);
    team.echoes.push_back(payload::message_event(&message));
    team.state.messages.push(message);
    for known in &mut team.state.channels {
        if known.id == channel.id {
            known.last_post = Some(now);
        }
    }
    Ok(json!({ "channel": channel.id, "ts": ts, "message": drawn }))
}

/// The root of the thread that a `thread_ts` means: a reply's own `ts` means its root, and a parent that is gone means
/// no thread at all, so that the post lands in the channel. No error says so; only the answer does.
fn thread_of(team: &Team, channel: &str, ts: &str) -> Option<String> {
    let parent = team.state.message(channel, ts)?;
    Some(parent.thread_ts.clone().unwrap_or_else(|| ts.to_owned()))
}

pub(super) fn update(team: &mut Team, arguments: &Arguments, now: DateTime<Utc>) -> Outcome {
    let channel = known_channel(team, arguments)?;
    let ts = text(arguments, "ts").ok_or("message_not_found")?.to_owned();
    let found = team.state.message(&channel.id, &ts).ok_or("message_not_found")?;
    if !found.is_by_bot() {
        return Err("cant_update_message".into());
    }
    let blocks = content(team, arguments)?;
    let words = text(arguments, "text");
    if words.is_none() && blocks.is_none() {
        return Err("no_text".into());
    }
    if words.is_some_and(|words| words.chars().count() > UPDATED_TEXT) {
        return Err("msg_too_long".into());
    }
    let edited = now.timestamp().to_string();
    let message = team.state.message_mut(&channel.id, &ts).ok_or("message_not_found")?;
    let before = message.clone();
    // Blocks that are left out stay as they are; an empty list takes them away.
    if let Some(blocks) = blocks {
        let earlier = std::mem::replace(&mut message.blocks, blocks);
        message.earlier.push(earlier);
    }
    if let Some(words) = words {
        words.clone_into(&mut message.text);
    }
    if let Some(metadata) = arguments.get("metadata").filter(|value| value.is_object()) {
        message.metadata = Some(metadata.clone()).filter(|value| value.get("event_type").is_some());
    }
    message.edited = Some(format!("{edited}.000000"));
    let drawn = payload::message(message, None, true);
    let words = message.text.clone();
    let event = payload::changed_event(message, &before, now);
    team.echoes.push_back(event);
    Ok(json!({ "channel": channel.id, "ts": ts, "text": words, "message": drawn }))
}

pub(super) fn delete(team: &mut Team, arguments: &Arguments, now: DateTime<Utc>) -> Outcome {
    let channel = known_channel(team, arguments)?;
    let ts = text(arguments, "ts").ok_or("message_not_found")?.to_owned();
    let message = team.state.message_mut(&channel.id, &ts).ok_or("message_not_found")?;
    if !message.is_by_bot() {
        return Err("cant_delete_message".into());
    }
    message.deleted = true;
    let event = payload::deleted_event(message, now);
    team.echoes.push_back(event);
    Ok(json!({ "channel": channel.id, "ts": ts }))
}

pub(super) fn post_ephemeral(team: &mut Team, arguments: &Arguments, now: DateTime<Utc>) -> Outcome {
    let channel = open_channel(team, arguments)?;
    let blocks = content(team, arguments)?.unwrap_or_default();
    let words = text(arguments, "text").unwrap_or("");
    if words.is_empty() && blocks.is_empty() {
        return Err("no_text".into());
    }
    let to = text(arguments, "user").unwrap_or("").to_owned();
    team.state.person(&to).ok_or("user_not_in_channel")?;
    team.state.privates.push(Private {
        channel: channel.id,
        to,
        thread_ts: text(arguments, "thread_ts").map(str::to_owned),
        text: words.to_owned(),
        blocks,
        looked: false,
    });
    Ok(json!({ "message_ts": team.state.fresh_ts(now) }))
}

pub(super) fn known_channel(team: &Team, arguments: &Arguments) -> Result<Channel, Refused> {
    let id = text(arguments, "channel").unwrap_or("");
    Ok(team.state.channel(id).ok_or("channel_not_found")?.clone())
}

/// A channel that the bot may post to. A person's id opens the direct line to them.
fn open_channel(team: &mut Team, arguments: &Arguments) -> Result<Channel, Refused> {
    let id = text(arguments, "channel").unwrap_or("").to_owned();
    if team.state.person(&id).is_some() {
        return Ok(super::lookups::direct_line(team, &id));
    }
    let channel = known_channel(team, arguments)?;
    match (channel.archived, channel.with_bot) {
        (true, _) => Err("is_archived".into()),
        (false, false) => Err("not_in_channel".into()),
        (false, true) => Ok(channel),
    }
}

/// The blocks, checked and with ids; `None` where none were sent.
fn content(team: &mut Team, arguments: &Arguments) -> Result<Option<Vec<Value>>, Refused> {
    let Some(sent) = arguments.get("blocks").filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let Some(sent) = sent.as_array() else {
        return Err("invalid_blocks_format".into());
    };
    if team.refuse_blocks > 0 && !sent.is_empty() {
        team.refuse_blocks -= 1;
        return Err(Refused::with_details(
            "invalid_blocks",
            vec!["refused as the test asked".to_owned()],
        ));
    }
    blocks::check(sent, Surface::Message)?;
    Ok(Some(blocks::with_ids(sent, || team.state.fresh())))
}
