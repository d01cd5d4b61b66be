//! Application commands: `/triage` with its subcommands, its completion, and "Triage this" on a message.

use serde_json::Value;

use super::{Command, Completing, DiscordInbound, OnMessage, Origin, pick, unknown};
use crate::discord::commands;

/// Discord's kinds of commands.
const TYPED: u64 = 1;
const ON_MESSAGE: u64 = 3;

pub(super) fn command(payload: &Value, origin: Origin) -> DiscordInbound {
    let name = pick::text(payload, "/data/name").unwrap_or_default();
    match payload.pointer("/data/type").and_then(Value::as_u64) {
        Some(TYPED) if name == commands::NAME => DiscordInbound::Command(Command {
            origin,
            text: typed(payload),
        }),
        Some(ON_MESSAGE) if name == commands::ON_MESSAGE => {
            let target = pick::owned(payload, "/data/target_id");
            let message = payload
                .pointer("/data/resolved/messages")
                .and_then(|all| all.get(&target));
            match message.and_then(pick::message) {
                Some(mut message) => {
                    message.thread_of = thread_of(payload);
                    DiscordInbound::OnMessage(OnMessage { origin, message })
                }
                None => unknown("a message command without its message"),
            }
        }
        Some(_) | None => unknown("a command that is not ours"),
    }
}

/// The channel that a thread (types 10 to 12) hangs in.
fn thread_of(payload: &Value) -> Option<String> {
    let kind = payload.pointer("/channel/type").and_then(Value::as_u64)?;
    let parent = pick::text(payload, "/channel/parent_id")?;
    (10..=12).contains(&kind).then(|| parent.to_owned())
}

/// The subcommand and its options as one line. The subcommand that only names a ticket has no word of its own.
fn typed(payload: &Value) -> String {
    let Some(sub) = pick::list(payload, "/data/options").first() else {
        return String::new();
    };
    let name = pick::text(sub, "/name").unwrap_or_default();
    let mut words: Vec<&str> = Vec::new();
    if name != commands::TICKET {
        words.push(name);
    }
    words.extend(
        pick::list(sub, "/options")
            .iter()
            .filter_map(|option| pick::text(option, "/value")),
    );
    words.join(" ").replace('\u{a0}', " ").trim().to_owned()
}

pub(super) fn completing(payload: &Value, origin: Origin) -> DiscordInbound {
    let sub = pick::list(payload, "/data/options").first();
    let focused = sub.and_then(|sub| {
        let options = pick::list(sub, "/options");
        options
            .iter()
            .find(|option| option.get("focused").and_then(Value::as_bool) == Some(true))
    });
    match (sub, focused) {
        (Some(sub), Some(focused)) => DiscordInbound::Completing(Completing {
            origin,
            command: pick::owned(sub, "/name"),
            option: pick::owned(focused, "/name"),
            begun: pick::owned(focused, "/value"),
        }),
        _ => unknown("a completion that names nothing"),
    }
}
