//! Bytes of a webhook to an `Inbound`.
//!
//! Two kinds arrive at one address: event subscriptions (`zen:event-type:…`, written by Zendesk, well-formed, ids as
//! text, enums in upper case) and triggers or automations (written by a template, in which liquid escapes nothing, so
//! that a quote in a subject breaks the JSON, or worse, adds keys to it). Neither kind is trusted to be whole.

mod event;
mod trigger;

use std::fmt;

use chrono::{DateTime, SubsecRound, Utc};
use deskhand_core::inbound::{Inbound, Told};
use reqwest::header::HeaderMap;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::OurAuthor;

/// One webhook, understood.
#[derive(Clone, Debug, PartialEq)]
pub struct ZendeskInbound {
    /// Makes a repeat recognisable; see [`delivery_id`].
    pub delivery: String,
    pub inbound: Inbound,
    /// What a trigger's payload tells of a ticket that must be read: subject, requester, description. It serves only
    /// where no API account is connected. Its comment has no id, so it must never be stored beside comments that were
    /// read from the API.
    pub preview: Option<Box<Told>>,
}

/// Verified, but not mappable. Says in one sentence why; never quotes the payload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct MapError {
    pub why: String,
}

impl MapError {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

/// Maps a verified webhook. `ours` may be wholly unknown: then our own comments come as an agent's, and are recognised by
/// their id alone.
pub fn read(headers: &HeaderMap, body: &[u8], ours: &OurAuthor) -> Result<ZendeskInbound, MapError> {
    let delivery = delivery_id(headers, body);
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(MapError::new("The webhook has no body."));
    }
    if !text.starts_with('{') {
        let (inbound, preview) = trigger::from_form(text, ours)?;
        return Ok(ZendeskInbound {
            delivery,
            inbound,
            preview,
        });
    }
    let (inbound, preview) = match serde_json::from_str::<Entries>(text) {
        Ok(entries) if is_event(&entries) => (event::map(&entries, ours)?, None),
        Ok(entries) => trigger::from_entries(&entries, ours)?,
        Err(_) => (trigger::from_broken(text)?, None),
    };
    Ok(ZendeskInbound {
        delivery,
        inbound,
        preview,
    })
}

/// The id under which a delivery is stored once. Zendesk's invocation id stays the same over its retries; without it, the
/// event's own id; without that, a digest over the signed timestamp and the body.
pub fn delivery_id(headers: &HeaderMap, body: &[u8]) -> String {
    let header = |name: &str| {
        let value = headers.get(name)?.to_str().ok()?.trim();
        (!value.is_empty() && value.len() <= 200).then(|| value.to_owned())
    };
    if let Some(id) = header("x-zendesk-webhook-invocation-id") {
        return id;
    }
    if let Ok(entries) = serde_json::from_slice::<Entries>(body)
        && is_event(&entries)
        && let Some(id) = entries.get("id").and_then(Value::as_str)
        && !id.is_empty()
        && id.len() <= 200
    {
        return format!("event:{}", clean(id));
    }
    let mut digest = Sha256::new();
    digest.update(header("x-zendesk-webhook-signature-timestamp").unwrap_or_default());
    digest.update(b"\n");
    digest.update(body);
    format!("body:{}", hex::encode(digest.finalize()))
}

/// A template that names a `ticket_id` is a trigger's, whatever else a customer's subject may have added to it.
fn is_event(entries: &Entries) -> bool {
    entries.get("ticket_id").is_none()
        && entries
            .get("type")
            .and_then(Value::as_str)
            .is_some_and(|kind| kind.starts_with("zen:event-type:"))
}

/// A JSON object as it was written: order and repeats of keys are kept, because both tell what a customer's text added.
struct Entries(Vec<(String, Value)>);

impl Entries {
    fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    fn has_repeats(&self) -> bool {
        let mut keys: Vec<&str> = self.0.iter().map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        keys.windows(2).any(|pair| pair[0] == pair[1])
    }
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

/// A ticket's or comment's number, written as text or as a number: digits only, in one canonical form.
fn number(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => digits(text),
        Value::Number(number) => number.as_u64().and_then(|number| digits(&number.to_string())),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn digits(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches('0');
    let fits = !text.is_empty() && text.len() <= 19 && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.to_owned())
}

/// Text without NUL, which Postgres cannot hold.
fn clean(text: &str) -> String {
    text.replace('\0', "")
}

/// Zendesk's event times have nine fractional digits; Postgres keeps six.
fn time(value: Option<&Value>) -> Option<DateTime<Utc>> {
    let time = DateTime::parse_from_rfc3339(value?.as_str()?).ok()?;
    Some(time.with_timezone(&Utc).trunc_subsecs(6))
}

#[cfg(test)]
mod tests;
