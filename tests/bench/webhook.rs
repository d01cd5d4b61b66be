//! What Zendesk and Slack send, signed as they sign it.

use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{SecondsFormat, Utc};
use deskhand_tests::fake::{slack, wire, zendesk};
use serde_json::json;

/// A request, ready to be sent: its headers and its body.
pub(crate) struct Signed {
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

static NUMBER: AtomicU64 = AtomicU64::new(1);

/// A customer's first comment on a new ticket: about 2 KB, under an id that was never there before.
pub(crate) fn comment() -> (String, Vec<u8>) {
    // Two processes send at once; their numbers must not meet.
    let number = u64::from(std::process::id() % 10_000) * 100_000_000 + NUMBER.fetch_add(1, Ordering::Relaxed);
    let now = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
    let text = "Hello, I sent the kettle back two weeks ago and the money is not there yet. ".repeat(9);
    let body = json!({
        "account_id": 7_004_711,
        "detail": {
            "actor_id": "8447388090494", "assignee_id": null, "brand_id": "910000000021", "created_at": now,
            "custom_status": "910000000022", "description": text, "external_id": null, "form_id": "910000000023",
            "group_id": null, "id": number.to_string(), "is_public": true, "organization_id": null, "priority": "NORMAL",
            "requester_id": "8447388090494", "status": "NEW", "subject": "Where is my refund?",
            "submitter_id": "8447388090494", "tags": ["web"], "type": "QUESTION", "updated_at": now,
            "via": { "channel": "web" },
        },
        "event": {
            "comment": {
                "author": { "id": "8447388090494", "is_staff": false, "name": "Ada" },
                "body": text.trim(), "id": (number + 7_000_000_000_000).to_string(), "is_public": true,
            },
            "meta": { "sequence": { "id": format!("{number:032X}"), "position": 1 } },
        },
        "id": format!("0d15c0de-0000-4000-8000-{:012x}", number % (1 << 48)),
        "subject": format!("zen:ticket:{number}"), "time": now, "type": "zen:event-type:ticket.comment_added",
        "zendesk_event_version": "2022-11-06",
    });
    (number.to_string(), body.to_string().into_bytes())
}

pub(crate) fn zendesk(invocation: &str, body: Vec<u8>) -> Signed {
    let timestamp = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
    let signature = wire::zendesk_signature(zendesk::SECRET, &timestamp, &body);
    let headers = vec![
        ("content-type", "application/json; charset=utf-8".into()),
        ("x-zendesk-account-id", "7004711".into()),
        ("x-zendesk-webhook-id", "01JZDESKHANDBENCH000000001".into()),
        ("x-zendesk-webhook-invocation-id", format!("bench-{invocation}")),
        ("x-zendesk-webhook-signature", signature),
        ("x-zendesk-webhook-signature-timestamp", timestamp),
    ];
    Signed { headers, body }
}

/// A press of "Approve" on a card.
pub(crate) fn approve(person: &str, approval: i64, digest: &str) -> Signed {
    let now = Utc::now().timestamp();
    let ts = format!("{now}.{approval:06}");
    let payload = json!({
        "type": "block_actions",
        "user": { "id": person, "username": "sam", "name": "sam", "team_id": slack::TEAM },
        "api_app_id": "A0DESKHAND", "token": "proves-nothing", "trigger_id": format!("777.42.{approval}"),
        "team": { "id": slack::TEAM, "domain": "shop" }, "enterprise": null, "is_enterprise_install": false,
        "container": { "type": "message", "message_ts": ts, "channel_id": slack::CHANNEL, "is_ephemeral": false },
        "channel": { "id": slack::CHANNEL, "name": "triage" },
        "message": { "type": "message", "user": "U0DESKHAND", "ts": ts, "text": "A card", "team": slack::TEAM },
        "state": { "values": {} }, "response_url": "http://127.0.0.1:9/response",
        "actions": [{
            "type": "button", "action_id": "approve", "block_id": "buttons", "action_ts": format!("{now}.000100"),
            "text": { "type": "plain_text", "text": "Approve" },
            "value": format!("deskhand:{approval}:{}", &digest[..12]),
        }],
    });
    let body = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("payload", &payload.to_string())
        .finish()
        .into_bytes();
    let timestamp = now.to_string();
    let signature = wire::slack_signature(slack::SIGNING_SECRET, &timestamp, &body);
    let headers = vec![
        ("content-type", "application/x-www-form-urlencoded".into()),
        ("x-slack-request-timestamp", timestamp),
        ("x-slack-signature", signature),
    ];
    Signed { headers, body }
}
