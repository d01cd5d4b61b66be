//! Fields of Slack's answers, each read for itself: an answer that lacks something we do not need is still an answer.

use serde_json::Value;

/// What our posts carry, so that one can be found again: chat.postMessage knows no idempotency key.
pub(super) const METADATA: &str = "deskhand_post";

pub(super) fn text<'a>(answer: &'a Value, pointer: &str) -> Option<&'a str> {
    answer
        .pointer(pointer)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

pub(super) fn is(answer: &Value, pointer: &str) -> bool {
    answer.pointer(pointer).and_then(Value::as_bool) == Some(true)
}

pub(super) fn list<'a>(answer: &'a Value, pointer: &str) -> &'a [Value] {
    answer
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The key that a post of ours carries in its metadata.
pub(super) fn key(message: &Value) -> Option<&str> {
    (text(message, "/metadata/event_type") == Some(METADATA)).then(|| text(message, "/metadata/event_payload/key"))?
}
