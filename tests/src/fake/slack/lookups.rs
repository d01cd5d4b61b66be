//! Reading: channels, threads, people, groups.

use serde_json::{Value, json};

use super::chat::{flag, known_channel, text};
use super::http::{Arguments, Outcome};
use super::state::{Channel, Message, Person, Standing, State};
use super::{APP, BOT, TEAM, Team, payload};

pub(super) fn who_am_i() -> Value {
    json!({
        "url": "https://shop.slack.example/", "team": "Shop", "user": "deskhand", "team_id": TEAM, "user_id": BOT,
        "bot_id": payload::BOT_ID, "app_id": APP, "is_enterprise_install": false,
    })
}

pub(super) fn permalink(team: &Team, arguments: &Arguments) -> Outcome {
    let channel = known_channel(team, arguments)?.id;
    let ts = text(arguments, "message_ts").ok_or("message_not_found")?;
    team.state.message(&channel, ts).ok_or("message_not_found")?;
    let link = format!("https://shop.slack.example/archives/{channel}/p{}", ts.replace('.', ""));
    Ok(json!({ "channel": channel, "permalink": link }))
}

/// The channel's own messages, and replies that were broadcast, the newest first.
pub(super) fn history(team: &Team, arguments: &Arguments) -> Outcome {
    let channel = known_channel(team, arguments)?;
    if !channel.with_bot {
        return Err("not_in_channel".into());
    }
    let here = team
        .state
        .messages
        .iter()
        .rev()
        .filter(|m| m.channel == channel.id && !m.deleted);
    let shown = here.filter(|m| m.thread_ts.is_none() || m.broadcast);
    page(team, arguments, shown.collect(), 100)
}

/// The parent and its replies, the oldest first.
pub(super) fn replies(team: &Team, arguments: &Arguments) -> Outcome {
    let channel = known_channel(team, arguments)?;
    let ts = text(arguments, "ts").ok_or("thread_not_found")?;
    let parent = team.state.message(&channel.id, ts).ok_or("thread_not_found")?;
    let thread = std::iter::once(parent).chain(team.state.replies(&channel.id, ts));
    page(team, arguments, thread.collect(), 1000)
}

fn page(team: &Team, arguments: &Arguments, all: Vec<&Message>, default: usize) -> Outcome {
    let metadata = flag(arguments, "include_all_metadata");
    let inclusive = flag(arguments, "inclusive");
    let within = |m: &&&Message| {
        let oldest = text(arguments, "oldest").unwrap_or("0");
        let latest = text(arguments, "latest").unwrap_or("9999999999.999999");
        let order = |bound: &str| m.ts.as_str().cmp(bound);
        (order(oldest).is_gt() && order(latest).is_lt()) || (inclusive && (m.ts == oldest || m.ts == latest))
    };
    let limit = match arguments.get("limit") {
        Some(Value::Number(n)) => n.as_u64().unwrap_or(0) as usize,
        Some(Value::String(text)) => text.parse().unwrap_or(0),
        _ => default,
    };
    if !(1..=1000).contains(&limit) {
        return Err("invalid_limit".into());
    }
    let start: usize = match text(arguments, "cursor").unwrap_or("") {
        "" => 0,
        cursor => cursor
            .strip_prefix("bmV4dDo")
            .and_then(|n| n.parse().ok())
            .ok_or("invalid_cursor")?,
    };
    let kept: Vec<_> = all.iter().filter(within).collect();
    let here = kept.iter().skip(start).take(limit);
    let drawn: Vec<Value> = here.map(|m| payload::message(m, Some(&team.state), metadata)).collect();
    let end = start + drawn.len();
    let has_more = end < kept.len();
    let next = if has_more {
        format!("bmV4dDo{end}")
    } else {
        String::new()
    };
    Ok(json!({ "messages": drawn, "has_more": has_more, "response_metadata": { "next_cursor": next } }))
}

pub(super) fn channel(team: &Team, arguments: &Arguments) -> Outcome {
    let channel = known_channel(team, arguments)?;
    Ok(json!({ "channel": {
        "id": channel.id, "name": channel.name, "name_normalized": channel.name, "is_channel": true,
        "is_group": false, "is_im": channel.id.starts_with('D'), "is_private": false, "is_archived": channel.archived,
        "is_general": false, "is_member": channel.with_bot, "is_shared": false, "is_ext_shared": false,
        "created": 1_700_000_000, "creator": "U0SAM00001",
    } }))
}

pub(super) fn direct(team: &mut Team, arguments: &Arguments) -> Outcome {
    let person = text(arguments, "users").unwrap_or("").to_owned();
    team.state.person(&person).ok_or("user_not_found")?;
    Ok(json!({ "channel": { "id": direct_line(team, &person).id } }))
}

/// The direct line between the bot and a person.
pub(super) fn direct_line(team: &mut Team, person: &str) -> Channel {
    let id = format!("D{}", &person[1..]);
    if let Some(known) = team.state.channel(&id) {
        return known.clone();
    }
    let line = Channel {
        name: id.clone(),
        id,
        with_bot: true,
        archived: false,
        last_post: None,
    };
    team.state.channels.push(line.clone());
    line
}

pub(super) fn person(team: &Team, arguments: &Arguments) -> Outcome {
    let id = text(arguments, "user").unwrap_or("");
    let found = team.state.person(id).ok_or("user_not_found")?;
    Ok(json!({ "user": drawn(found) }))
}

fn drawn(person: &Person) -> Value {
    let guest = person.standing == Standing::Guest;
    let bot = person.standing == Standing::Bot;
    json!({
        "id": person.id,
        "team_id": person.team,
        "name": person.name,
        "real_name": person.name,
        "deleted": person.standing == Standing::Gone,
        "is_admin": false,
        "is_owner": false,
        "is_primary_owner": false,
        "is_restricted": guest,
        "is_ultra_restricted": guest,
        "is_bot": bot,
        "is_app_user": false,
        "is_stranger": person.team != TEAM,
        "updated": 1_700_000_000,
        "tz": "Europe/London",
        "profile": {
            "real_name": person.name, "display_name": person.name, "team": person.team,
            "email": format!("{}@shop.example", person.name),
        },
    })
}

pub(super) fn group(team: &Team, arguments: &Arguments) -> Outcome {
    let id = text(arguments, "usergroup").unwrap_or("");
    let members = team.state.groups.get(id).ok_or("no_such_subteam")?;
    Ok(json!({ "users": members }))
}

pub(super) fn groups(team: &Team) -> Value {
    let all =
        team.state.groups.keys().map(
            |id| json!({ "id": id, "team_id": TEAM, "is_usergroup": true, "name": id, "handle": id.to_lowercase() }),
        );
    json!({ "usergroups": all.collect::<Vec<_>>() })
}

/// What a parent message tells of its replies.
pub(super) fn thread_facts(state: &State, message: &Message) -> Option<Value> {
    let replies: Vec<_> = state.replies(&message.channel, &message.ts).collect();
    let latest = replies.last()?;
    let mut users: Vec<_> = replies.iter().map(|reply| reply.user.clone()).collect();
    users.sort();
    users.dedup();
    Some(json!({
        "thread_ts": message.ts, "reply_count": replies.len(), "reply_users_count": users.len(), "reply_users": users,
        "latest_reply": latest.ts, "is_locked": false, "subscribed": false,
    }))
}
