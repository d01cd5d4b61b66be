//! The Zendesk adapter against a small scripted server, and against the payloads and the API description kept beside the
//! repository. No state model here: each test says what the server answers and looks at what it was asked.

mod facts;
mod failing;
mod reading;
mod stub;
mod writing;

use deskhand_adapters::zendesk::{Zendesk, ZendeskConfig};
use deskhand_core::port::{Bookkeeping, DeskChange, DeskWrite};
use serde_json::{Value, json};

use stub::Stub;

const TICKET: &str = "GET /api/v2/tickets/35";
const COMMENTS: &str = "GET /api/v2/tickets/35/comments";
const AUDITS: &str = "GET /api/v2/tickets/35/audits";
const UPDATE: &str = "PUT /api/v2/tickets/35";
const STAMP: &str = "2026-10-09T08:53:21Z";

fn config(url: &str) -> ZendeskConfig {
    // The second test of this process finds it installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = url.parse().expect("an address");
    ZendeskConfig::new(url, "bot@shop.example", "token".to_owned().into())
}

fn desk(stub: &Stub) -> Zendesk {
    Zendesk::new(config(&stub.url)).expect("a client")
}

fn reply(text: &str) -> DeskWrite {
    DeskWrite {
        outside_id: "35".to_owned(),
        marker: "effect-1".to_owned(),
        stamp: Some(STAMP.to_owned()),
        change: DeskChange::Reply { text: text.to_owned() },
    }
}

fn bookkeeping(change: Bookkeeping) -> DeskWrite {
    DeskWrite {
        outside_id: "35".to_owned(),
        marker: "effect-2".to_owned(),
        stamp: None,
        change: DeskChange::Bookkeeping(change),
    }
}

fn ticket(changes: &Value) -> Value {
    let mut ticket = json!({
        "id": 35, "subject": "Lamp broken", "status": "open", "priority": "low", "requester_id": 7,
        "assignee_id": 900, "tags": ["fr", "web"], "followup_ids": [], "updated_at": STAMP,
    });
    for (key, value) in changes.as_object().expect("an object") {
        ticket[key] = value.clone();
    }
    json!({"ticket": ticket, "users": [
        {"id": 7, "name": "Ada", "email": "ada@example.com", "role": "end-user"},
        {"id": 900, "name": "Deskhand", "email": "bot@shop.example", "role": "agent"},
    ]})
}

fn comment(id: u64, author: i64, body: &str, changes: &Value) -> Value {
    let mut comment = json!({
        "id": id, "type": "Comment", "author_id": author, "body": body, "public": true, "attachments": [],
        "audit_id": id + 1_000, "created_at": STAMP, "metadata": {"system": {}, "custom": {}},
    });
    for (key, value) in changes.as_object().expect("an object") {
        comment[key] = value.clone();
    }
    comment
}

/// An audit by the bot that added a comment.
fn audit(id: u64, marker: &str) -> Value {
    json!({
        "id": id, "ticket_id": 35, "author_id": 900, "created_at": "2026-10-09T09:00:00Z",
        "metadata": {"system": {}, "custom": {"deskhand_effect": marker}},
        "events": [
            {"id": id + 1, "type": "Change", "field_name": "status", "value": "open"},
            {"id": id + 2, "type": "Comment", "public": true, "body": "Done."},
        ],
    })
}
