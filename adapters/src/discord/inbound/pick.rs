//! Reading fields of a JSON value that may lack them.

use deskhand_core::approval::{Actor, Surface};
use deskhand_core::heard::Attached;
use serde_json::Value;

use super::{Message, Origin};
use crate::discord::desk;

/// The text at a JSON pointer; blank counts as absent.
pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

pub(super) fn owned(value: &Value, pointer: &str) -> String {
    text(value, pointer).unwrap_or_default().to_owned()
}

pub(super) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

pub(super) fn origin(payload: &Value) -> Option<Origin> {
    let id = text(payload, "/id").filter(|id| digits(id))?;
    Some(Origin {
        by: person(payload)?,
        delivery: format!("interaction:{id}"),
        answer: answer(payload),
        channel: text(payload, "/channel_id")
            .or_else(|| text(payload, "/channel/id"))
            .map(str::to_owned),
    })
}

/// In a guild the person stands in `member`, in a direct message in `user`.
fn person(payload: &Value) -> Option<Actor> {
    let in_guild = payload.pointer("/member/user").is_some();
    let user = payload.pointer(if in_guild { "/member/user" } else { "/user" })?;
    let mut actor = somebody(user, text(payload, "/member/nick"))?;
    if in_guild {
        actor.workspace = text(payload, "/guild_id").map(str::to_owned);
        actor.roles = list(payload, "/member/roles")
            .iter()
            .filter_map(|role| role.as_str())
            .map(str::to_owned)
            .collect();
    }
    Some(actor)
}

fn somebody(user: &Value, nick: Option<&str>) -> Option<Actor> {
    let id = text(user, "/id").filter(|id| digits(id))?;
    let name = nick
        .or_else(|| text(user, "/global_name"))
        .or_else(|| text(user, "/username"));
    Some(Actor {
        surface: Surface::Discord,
        id: id.to_owned(),
        name: name.unwrap_or(id).to_owned(),
        workspace: None,
        roles: Vec::new(),
    })
}

/// The token stands in an address later on, so it must be one.
fn answer(payload: &Value) -> Option<String> {
    let application = text(payload, "/application_id").filter(|id| digits(id))?;
    let token = text(payload, "/token")?;
    let plain = token
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'='));
    plain.then(|| format!("webhooks/{application}/{token}"))
}

pub(crate) fn message(value: &Value) -> Option<Message> {
    let files = list(value, "/attachments").iter().map(|file| Attached {
        id: owned(file, "/id"),
        name: owned(file, "/filename"),
        size: file.pointer("/size").and_then(Value::as_u64).unwrap_or_default(),
        kind: owned(file, "/content_type"),
        // Listed by name and size; not read.
        url: None,
    });
    Some(Message {
        id: text(value, "/id").filter(|id| digits(id))?.to_owned(),
        channel: owned(value, "/channel_id"),
        author: value.pointer("/author").and_then(|author| somebody(author, None)),
        by_bot: value.pointer("/author/bot").and_then(Value::as_bool) == Some(true),
        text: text(value, "/content").unwrap_or_default().trim().to_owned(),
        files: files.collect(),
        at: desk::at(value),
        thread_of: None,
    })
}

fn digits(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit())
}
