//! What Discord sends, from the raw bytes of a verified request (or of a gateway event) to one value.
//!
//! Parsing is lenient: unknown fields, nulls and unknown types are no errors. What cannot be served becomes
//! [`DiscordInbound::Unknown`] with a sentence for the operator; only a body that is no JSON object is [`Malformed`].
//! Nothing here checks who may do what: it only carries who they are.

mod command;
mod component;
mod pick;
mod written;

use chrono::{DateTime, Utc};
use deskhand_core::approval::Actor;
use deskhand_core::card::{ButtonKind, ButtonValue};
use deskhand_core::heard::Attached;
use serde_json::Value;

pub(crate) use component::custom_id;
pub(crate) use pick::message;
pub use written::{deleted, edited, written};

/// A body that cannot be read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Discord's request cannot be read: {0}")]
pub struct Malformed(pub String);

#[derive(Clone, Debug, PartialEq)]
pub enum DiscordInbound {
    /// Discord tries the address.
    Ping,
    /// `/triage …`
    Command(Command),
    /// A command is being typed.
    Completing(Completing),
    /// "Triage this" in a message's menu.
    OnMessage(OnMessage),
    /// A button on a card.
    Click(Click),
    /// The edit form was sent.
    DraftSubmitted(DraftSubmitted),
    /// The reject form was sent.
    RejectSubmitted(RejectSubmitted),
    AnswerSubmitted(AnswerSubmitted),
    /// Somebody waits for an answer, and it is nothing that this version knows.
    Unknown {
        why: String,
    },
}

/// What every interaction carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// `workspace` is the guild where it happened, `None` in a direct message; `roles` are the person's there.
    pub by: Actor,
    /// Unique for this interaction.
    pub delivery: String,
    /// Where the answer may be changed or followed up within fifteen minutes, below the API's address:
    /// `webhooks/<application>/<token>`. `None` when the payload lacks it.
    pub answer: Option<String>,
    /// The channel or thread where it happened.
    pub channel: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    pub origin: Origin,
    /// What stands after `/triage`, as core's grammar reads it.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Completing {
    pub origin: Origin,
    /// The subcommand.
    pub command: String,
    /// Which of its options is being typed.
    pub option: String,
    /// What stands there so far.
    pub begun: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OnMessage {
    pub origin: Origin,
    pub message: Message,
}

/// A message that somebody wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub id: String,
    pub channel: String,
    pub author: Option<Actor>,
    /// An application wrote it.
    pub by_bot: bool,
    /// As it was written.
    pub text: String,
    pub files: Vec<Attached>,
    pub at: Option<DateTime<Utc>>,
    /// The channel that its thread hangs in, where it was written in one.
    pub thread_of: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Click {
    pub origin: Origin,
    pub kind: ButtonKind,
    /// Which option of a question it chooses.
    pub option: Option<usize>,
    pub value: ButtonValue,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DraftSubmitted {
    pub origin: Origin,
    pub value: ButtonValue,
    /// The whole draft as it is now; may be blank.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RejectSubmitted {
    pub origin: Origin,
    pub value: ButtonValue,
    /// The chosen reason and the person's words, never blank.
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AnswerSubmitted {
    pub origin: Origin,
    pub value: ButtonValue,
    /// The answer to a question, in words; may be blank.
    pub text: String,
}

/// Parses the body of a request to the interactions address.
pub fn interaction(body: &[u8]) -> Result<DiscordInbound, Malformed> {
    let payload: Value = serde_json::from_slice(body).map_err(|broken| Malformed(format!("no JSON ({broken})")))?;
    match payload.is_object() {
        true => Ok(of(&payload)),
        false => Err(Malformed("no JSON object".into())),
    }
}

/// Parses an interaction that came through the gateway.
pub fn of(payload: &Value) -> DiscordInbound {
    let kind = payload.get("type").and_then(Value::as_u64);
    if kind == Some(1) {
        return DiscordInbound::Ping;
    }
    let Some(origin) = pick::origin(payload) else {
        return unknown("an interaction without an id or a person");
    };
    match kind {
        Some(2) => command::command(payload, origin),
        Some(3) => component::click(payload, origin),
        Some(4) => command::completing(payload, origin),
        Some(5) => component::submission(payload, origin),
        Some(other) => unknown(format!("an interaction of the type {other}")),
        None => unknown("an interaction without a type"),
    }
}

fn unknown(why: impl Into<String>) -> DiscordInbound {
    DiscordInbound::Unknown { why: why.into() }
}
