//! Reading fields of a JSON value that may lack them.

use std::borrow::Cow;

use deskhand_core::approval::{Actor, Surface};
use serde_json::Value;

use super::{Malformed, Person};

pub(super) fn json(body: &[u8]) -> Result<Value, Malformed> {
    serde_json::from_slice(body).map_err(|broken| Malformed(format!("no JSON ({broken})")))
}

/// A form's fields, in order. A later one of the same name counts for nothing.
pub(super) fn form(body: &[u8]) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    url::form_urlencoded::parse(body).collect()
}

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

/// The person of an interaction. `team` is where it happened: in a shared channel that may be another organisation's.
pub(super) fn person(payload: &Value) -> Option<Person> {
    let id = text(payload, "/user/id")?;
    let name = text(payload, "/user/name").or_else(|| text(payload, "/user/username"));
    let own = text(payload, "/user/team_id");
    let here = text(payload, "/team/id");
    Some(somebody(id, name.unwrap_or(id), own, here))
}

pub(super) fn somebody(id: &str, name: &str, own: Option<&str>, here: Option<&str>) -> Person {
    Person {
        actor: Actor {
            surface: Surface::Slack,
            id: id.to_owned(),
            name: name.to_owned(),
            workspace: own.or(here).map(str::to_owned),
            roles: Vec::new(),
        },
        outsider: matches!((own, here), (Some(own), Some(here)) if own != here),
    }
}
