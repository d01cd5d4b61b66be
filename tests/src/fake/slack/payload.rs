//! How messages look on the wire, in answers and inside events, clicks and commands.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::state::{Message, Person, State};
use super::{APP, BOT, TEAM};

pub(super) const BOT_ID: &str = "B0DESKHAND";
/// The legacy verification token, which proves nothing.
const TOKEN: &str = "proves-nothing";

/// A message; with the state it also tells of its thread.
pub(super) fn message(message: &Message, state: Option<&State>, metadata: bool) -> Value {
    let mut drawn = json!({
        "type": "message", "user": message.user, "ts": message.ts, "text": message.text, "team": message.team,
    });
    if message.team != TEAM {
        // A person of another workspace, in a shared channel.
        drawn["user_team"] = message.team.clone().into();
        drawn["source_team"] = message.team.clone().into();
    }
    if !message.files.is_empty() {
        drawn["files"] = message.files.clone().into();
        drawn["subtype"] = "file_share".into();
    }
    if message.is_by_bot() {
        drawn["bot_id"] = BOT_ID.into();
        drawn["app_id"] = APP.into();
        drawn["bot_profile"] = json!({
            "id": BOT_ID, "app_id": APP, "name": "Deskhand", "deleted": false, "updated": 1_700_000_000,
            "team_id": TEAM, "icons": { "image_36": "https://a.slack-edge.example/36.png" },
        });
    }
    if !message.blocks.is_empty() {
        drawn["blocks"] = message.blocks.clone().into();
    }
    if let Some(edited) = &message.edited {
        drawn["edited"] = json!({ "user": message.user, "ts": edited });
    }
    if let (true, Some(metadata)) = (metadata, &message.metadata) {
        drawn["metadata"] = metadata.clone();
    }
    if let Some(thread_ts) = &message.thread_ts {
        drawn["thread_ts"] = thread_ts.clone().into();
        drawn["parent_user_id"] = BOT.into();
        if message.broadcast {
            drawn["subtype"] = "thread_broadcast".into();
        }
    }
    let facts = state.and_then(|state| super::lookups::thread_facts(state, message));
    if let (Some(Value::Object(facts)), Some(object)) = (facts, drawn.as_object_mut()) {
        object.extend(facts);
    }
    drawn
}

/// The event inside a callback: a message that appeared.
pub(super) fn message_event(posted: &Message) -> Value {
    let mut event = message(posted, None, true);
    event["channel"] = posted.channel.clone().into();
    event["event_ts"] = posted.ts.clone().into();
    event["channel_type"] = if posted.channel.starts_with('D') {
        "im"
    } else {
        "channel"
    }
    .into();
    if !posted.is_by_bot() {
        event["client_msg_id"] = format!("c0ffee00-0000-4000-8000-{:0>12}", posted.ts.replace('.', "")).into();
    }
    event
}

pub(super) fn changed_event(now_is: &Message, before: &Message, now: DateTime<Utc>) -> Value {
    let ts = format!("{}.000900", now.timestamp());
    json!({
        "type": "message", "subtype": "message_changed", "message": message(now_is, None, true),
        "previous_message": message(before, None, true), "channel": now_is.channel, "hidden": true, "ts": ts,
        "event_ts": ts, "channel_type": "channel",
    })
}

/// What Slack tells when the first message of a thread is deleted: a stone stands in its place.
pub(super) fn stone_event(gone: &Message, now: DateTime<Utc>) -> Value {
    let ts = format!("{}.000900", now.timestamp());
    let stone = json!({
        "type": "message", "subtype": "tombstone", "text": "This message was deleted.", "user": "USLACKBOT",
        "hidden": true, "ts": gone.ts, "thread_ts": gone.ts,
    });
    json!({
        "type": "message", "subtype": "message_changed", "message": stone,
        "previous_message": message(gone, None, true), "channel": gone.channel, "hidden": true, "ts": ts,
        "event_ts": ts, "channel_type": "channel",
    })
}

pub(super) fn deleted_event(gone: &Message, now: DateTime<Utc>) -> Value {
    let ts = format!("{}.000900", now.timestamp());
    json!({
        "type": "message", "subtype": "message_deleted", "previous_message": message(gone, None, true),
        "channel": gone.channel, "hidden": true, "deleted_ts": gone.ts, "ts": ts, "event_ts": ts,
        "channel_type": "channel",
    })
}

/// The envelope of the Events API.
pub(super) fn callback(event: Value, number: u64, now: DateTime<Utc>) -> Value {
    json!({
        "token": TOKEN, "team_id": TEAM, "context_team_id": TEAM, "context_enterprise_id": null, "api_app_id": APP,
        "event": event, "type": "event_callback", "event_id": format!("Ev0{number:08}"),
        "event_time": now.timestamp(),
        "authorizations": [{
            "enterprise_id": null, "team_id": TEAM, "user_id": BOT, "is_bot": true, "is_enterprise_install": false,
        }],
        "is_ext_shared_channel": false, "event_context": "4-fake",
    })
}

/// What every interaction begins with. `team` is where it happened, which is ours also for somebody from elsewhere in a
/// shared channel: only `user.team_id` tells them apart.
pub(super) fn interaction(kind: &str, person: &Person, trigger: &str) -> Value {
    json!({
        "type": kind,
        "user": { "id": person.id, "username": person.name, "name": person.name, "team_id": person.team },
        "api_app_id": APP, "token": TOKEN, "trigger_id": trigger,
        "team": { "id": TEAM, "domain": "shop" },
        "enterprise": null, "is_enterprise_install": false,
    })
}

/// The fields of a slash command, in Slack's order.
pub(super) fn command(person: &Person, channel: (&str, &str), command: (&str, &str)) -> Vec<(&'static str, String)> {
    let domain = if person.team == TEAM { "shop" } else { "elsewhere" };
    vec![
        ("token", TOKEN.to_owned()),
        ("team_id", person.team.clone()),
        ("team_domain", domain.to_owned()),
        ("channel_id", channel.0.to_owned()),
        ("channel_name", channel.1.to_owned()),
        ("user_id", person.id.clone()),
        ("user_name", person.name.clone()),
        ("command", command.0.to_owned()),
        ("text", command.1.to_owned()),
        ("api_app_id", APP.to_owned()),
        ("is_enterprise_install", "false".to_owned()),
    ]
}
