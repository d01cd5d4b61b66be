//! The calls of the REST API that a bot of this kind makes, with Discord's error codes.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::check::{self, Refused};
use super::state::{Channel, Message, Place};
use super::{APPLICATION, GUILD, Guild};
use crate::fake::wire::Asked;

type Outcome = Result<Value, Refused>;

/// For so long a repeated nonce gives back the first message.
const NONCE_COUNTS: TimeDelta = TimeDelta::minutes(3);

pub(super) fn call(
    guild: &mut Guild,
    asked: &Asked,
    path: &str,
    body: &Value,
    file: Option<String>,
    now: DateTime<Utc>,
) -> Outcome {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match (asked.method.as_str(), parts.as_slice()) {
        ("GET", ["users", "@me"]) => Ok(json!({ "id": APPLICATION, "username": "deskhand", "bot": true })),
        ("GET", ["users", "@me", "guilds"]) => Ok(json!([{ "id": GUILD, "name": "Shop" }])),
        ("GET", ["applications", "@me"]) => Ok(json!({
            "id": APPLICATION, "name": "Deskhand", "verify_key": super::public_key(),
            "interactions_endpoint_url": guild.endpoint.then_some("https://deskhand.example.com/discord/interactions"),
            "flags": if guild.gateway.content { 1 << 19 } else { 0 },
        })),
        ("GET", ["gateway", "bot"]) => Ok(json!({
            "url": guild.gateway.url, "shards": 1,
            "session_start_limit": {
                "total": 1000, "remaining": guild.gateway.left, "reset_after": 14_400_000, "max_concurrency": 1,
            },
        })),
        ("GET", ["guilds", GUILD, "threads", "active"]) => {
            let awake = |channel: &&Channel| matches!(channel.place, Place::Thread { archived: false, .. });
            let threads: Vec<_> = guild.state.channels.iter().filter(awake).map(Channel::drawn).collect();
            Ok(json!({ "threads": threads, "members": [] }))
        }
        ("POST", ["interactions", _, token, "callback"]) => called_back(guild, token, body, now),
        ("GET", ["channels", id]) => {
            let channel = guild.state.channel(id).ok_or_else(unknown_channel)?;
            Ok(channel.drawn())
        }
        ("PATCH", ["channels", id]) => wake(guild, id, body),
        ("GET", ["channels", id, "messages"]) => {
            guild.state.channel(id).ok_or_else(unknown_channel)?;
            let most = asked
                .query("limit")
                .and_then(|most| most.parse().ok())
                .unwrap_or(50)
                .min(100);
            let all = guild.state.messages.iter().filter(|m| m.channel == *id && !m.deleted);
            // The newest, or those that come next after one; the newest of them first.
            let mut page: Vec<_> = match asked.query("after") {
                Some(after) => all.filter(|m| m.id.as_str() > after).take(most).collect(),
                None => all.rev().take(most).collect(),
            };
            page.sort_by(|a, b| b.id.cmp(&a.id));
            Ok(page.into_iter().map(Message::drawn).collect())
        }
        ("GET", ["channels", channel, "messages", id]) => {
            guild.state.channel(channel).ok_or_else(unknown_channel)?;
            Ok(guild
                .state
                .message_mut(channel, id)
                .ok_or_else(unknown_message)?
                .drawn())
        }
        ("POST", ["channels", id, "messages"]) => post(guild, id, body, now),
        ("PATCH", ["channels", channel, "messages", id]) => edit(guild, channel, id, body),
        ("DELETE", ["channels", channel, "messages", id]) => {
            guild.deletes(channel, id).ok_or_else(unknown_message)?;
            Ok(Value::Null)
        }
        ("POST", ["channels", channel, "messages", id, "threads"]) => open_thread(guild, channel, id, body),
        ("GET", ["guilds", GUILD, "members", person]) => {
            if guild.members_down {
                return Err(Refused {
                    status: 503,
                    body: Value::Null,
                });
            }
            let known = guild
                .state
                .people
                .iter()
                .find(|known| known.id == *person && known.member);
            Ok(known
                .ok_or_else(|| Refused::of(404, 10007, "Unknown Member"))?
                .as_member())
        }
        ("GET", ["applications", APPLICATION, "guilds", GUILD, "commands"]) => Ok(json!(guild.state.commands)),
        ("PUT", ["applications", APPLICATION, "guilds", GUILD, "commands"]) => {
            guild.state.registrations += 1;
            let mut commands = body.as_array().cloned().unwrap_or_default();
            for command in &mut commands {
                command["id"] = guild.state.fresh().into();
                command["application_id"] = APPLICATION.into();
                command["version"] = "1".into();
                command["default_member_permissions"] = Value::Null;
            }
            guild.state.commands.clone_from(&commands);
            Ok(json!(commands))
        }
        ("POST", ["users", "@me", "channels"]) => direct(guild, body),
        ("PATCH", ["webhooks", APPLICATION, token, "messages", "@original"]) => original(guild, token, body, file, now),
        _ => Err(Refused::of(404, 0, "404: Not Found")),
    }
}

fn unknown_channel() -> Refused {
    Refused::of(404, 10003, "Unknown Channel")
}

fn unknown_message() -> Refused {
    Refused::of(404, 10008, "Unknown Message")
}

fn post(guild: &mut Guild, channel: &str, body: &Value, now: DateTime<Utc>) -> Outcome {
    let found = guild.state.channel(channel).ok_or_else(unknown_channel)?.clone();
    if !found.open {
        return Err(Refused::of(403, 50013, "Missing Permissions"));
    }
    if let Place::Direct { person } = &found.place
        && !guild.state.named(person).open
    {
        return Err(Refused::of(403, 50007, "Cannot send messages to this user"));
    }
    accepts(guild, body)?;
    if check::is_empty(body) {
        return Err(Refused::of(400, 50006, "Cannot send an empty message"));
    }
    let nonce = body["nonce"].as_str().map(str::to_owned);
    if let Some(nonce) = nonce.as_deref().filter(|_| body["enforce_nonce"] == true) {
        let same = guild.state.messages.iter().find(|m| {
            m.channel == channel
                && m.nonce
                    .as_ref()
                    .is_some_and(|(n, at)| n == nonce && now - *at < NONCE_COUNTS)
        });
        if let Some(same) = same {
            return Ok(same.drawn());
        }
    } else {
        guild
            .violations
            .push("a message was posted without a nonce that is enforced".into());
    }
    // A post wakes a thread that had gone to sleep.
    for known in guild.state.channels.iter_mut().filter(|known| known.id == channel) {
        if let Place::Thread { archived, .. } = &mut known.place {
            *archived = false;
        }
    }
    let id = guild.state.fresh();
    let message = Message {
        id,
        channel: channel.to_owned(),
        body: body.clone(),
        by_bot: true,
        author: APPLICATION.to_owned(),
        author_name: "deskhand".to_owned(),
        nonce: nonce.map(|nonce| (nonce, now)),
        deleted: false,
        earlier: Vec::new(),
        looked: false,
    };
    let drawn = message.drawn();
    guild.writes(message);
    Ok(drawn)
}

fn accepts(guild: &mut Guild, body: &Value) -> Result<(), Refused> {
    guild.violations.extend(check::mentions(body));
    if guild.refuse_embeds > 0 && body["embeds"].as_array().is_some_and(|embeds| !embeds.is_empty()) {
        guild.refuse_embeds -= 1;
        return Err(Refused::form("embeds", "refused as the test asked"));
    }
    check::message(body)
}

fn edit(guild: &mut Guild, channel: &str, id: &str, body: &Value) -> Outcome {
    let found = guild.state.channel(channel).ok_or_else(unknown_channel)?;
    if matches!(found.place, Place::Thread { archived: true, .. }) {
        return Err(Refused::of(400, 50083, "Thread is archived"));
    }
    accepts(guild, body)?;
    let message = guild.state.message_mut(channel, id).ok_or_else(unknown_message)?;
    if !message.by_bot {
        return Err(Refused::of(
            403,
            50005,
            "Cannot edit a message authored by another user",
        ));
    }
    message.changes(body);
    let drawn = message.drawn();
    guild.tells_of("MESSAGE_UPDATE", id);
    Ok(drawn)
}

impl Message {
    /// Only what is named changes.
    pub(super) fn changes(&mut self, body: &Value) {
        self.earlier.push(self.body.clone());
        for part in ["content", "embeds", "components"] {
            if let Some(value) = body.get(part) {
                self.body[part] = value.clone();
            }
        }
    }
}

fn open_thread(guild: &mut Guild, channel: &str, id: &str, body: &Value) -> Outcome {
    guild.state.message_mut(channel, id).ok_or_else(unknown_message)?;
    if guild.state.channel(id).is_some() {
        return Err(Refused::of(
            400,
            160_004,
            "A thread has already been created for this message",
        ));
    }
    let name = body["name"].as_str().unwrap_or_default().to_owned();
    if name.is_empty() || name.chars().count() > 100 {
        return Err(Refused::form("name", "Must be between 1 and 100 in length."));
    }
    Ok(guild.opens(id, &name, channel))
}

fn wake(guild: &mut Guild, id: &str, body: &Value) -> Outcome {
    let mut all = guild.state.channels.iter_mut();
    let channel = all.find(|channel| channel.id == id).ok_or_else(unknown_channel)?;
    if let (Place::Thread { archived, .. }, Some(wanted)) = (&mut channel.place, body["archived"].as_bool()) {
        *archived = wanted;
    }
    Ok(json!({ "id": channel.id, "type": 11 }))
}

fn direct(guild: &mut Guild, body: &Value) -> Outcome {
    let person = body["recipient_id"].as_str().unwrap_or_default().to_owned();
    let known = guild.state.people.iter().any(|known| known.id == person);
    if !known {
        return Err(Refused::of(400, 50033, "Invalid Recipient(s)"));
    }
    let id = format!("9{person}");
    if guild.state.channel(&id).is_none() {
        guild.state.channels.push(Channel {
            id: id.clone(),
            name: "direct".into(),
            place: Place::Direct { person },
            open: true,
        });
    }
    Ok(json!({ "id": id, "type": 1 }))
}

/// The answer to an interaction that came by the gateway: one, for fifteen minutes.
fn called_back(guild: &mut Guild, token: &str, body: &Value, now: DateTime<Utc>) -> Outcome {
    let known = guild.state.tokens.iter_mut().find(|known| known.token == token);
    let known = known
        .filter(|known| now <= known.until)
        .ok_or_else(|| Refused::of(404, 10062, "Unknown interaction"))?;
    if std::mem::replace(&mut known.answered, true) {
        return Err(Refused::of(400, 40060, "Interaction has already been acknowledged."));
    }
    match guild.callbacks.remove(token).map(|waits| waits.send(body.clone())) {
        Some(Ok(())) => {}
        Some(Err(_)) | None => guild
            .violations
            .push("nobody waited for the answer to an interaction".into()),
    }
    Ok(Value::Null)
}

/// The answer to an interaction is changed, within fifteen minutes.
fn original(guild: &mut Guild, token: &str, body: &Value, file: Option<String>, now: DateTime<Utc>) -> Outcome {
    let known = guild.state.tokens.iter().find(|known| known.token == token);
    let known = known.ok_or_else(|| Refused::of(404, 10015, "Unknown Webhook"))?;
    if now > known.until {
        return Err(Refused::of(401, 50027, "Invalid Webhook Token"));
    }
    if !known.answered {
        return Err(unknown_message());
    }
    accepts(guild, body)?;
    let private = guild.state.privates.iter_mut().find(|private| private.token == token);
    let private = private.ok_or_else(unknown_message)?;
    private.body = body.clone();
    private.thinking = false;
    private.file = file;
    private.looked = false;
    Ok(json!({ "id": "1", "channel_id": "1" }))
}
