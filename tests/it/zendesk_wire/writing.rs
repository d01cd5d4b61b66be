//! Replies, bookkeeping and follow-ups, as they go over the wire.

use deskhand_core::port::{Bookkeeping, Desk, DeskChange, DeskWrite};
use deskhand_core::ticket::Priority;
use serde_json::{Value, json};

use super::stub::Stub;
use super::{AUDITS, STAMP, TICKET, UPDATE, audit, bookkeeping, desk, facts, reply, ticket};

#[tokio::test]
async fn a_reply_is_one_public_marked_and_guarded_update() {
    let stub = Stub::start().await;
    let mut answer = ticket(&json!({}));
    answer["audit"] = audit(70, "effect-1");
    stub.answers(UPDATE, 200, answer);
    stub.answers(AUDITS, 200, json!({"audits": [audit(70, "effect-1")]}));

    let receipt = desk(&stub).write(&reply("On its way.")).await.expect("writes");
    assert_eq!((receipt.remote_id.as_str(), receipt.remark), ("72", None));
    let asked = stub.asked();
    assert_eq!(
        asked[0].body,
        json!({"ticket": {
            "comment": {"body": "On its way.", "public": true},
            "metadata": {"deskhand_effect": "effect-1"},
            "safe_update": true,
            "updated_stamp": STAMP,
        }})
    );
    facts::check_requests(&asked);
}

#[tokio::test]
async fn a_persons_comment_in_the_second_of_the_reply_is_remarked() {
    let stub = Stub::start().await;
    let mut answer = ticket(&json!({}));
    answer["audit"] = audit(70, "effect-1");
    stub.answers(UPDATE, 200, answer);
    let mut other = audit(69, "");
    other["author_id"] = json!(7);
    other["metadata"] = json!({"system": {}, "custom": {}});
    stub.answers(AUDITS, 200, json!({"audits": [audit(70, "effect-1"), other]}));
    let receipt = desk(&stub).write(&reply("On its way.")).await.expect("writes");
    assert!(receipt.remark.expect("a remark").contains("same second"));
}

#[tokio::test]
async fn bookkeeping_is_one_update_that_keeps_the_tags_of_others() {
    let stub = Stub::start().await;
    stub.answers(
        "GET /api/v2/groups",
        200,
        json!({"groups": [{"id": 41, "name": "Billing"}, {"id": 42, "name": "Old", "deleted": true}]}),
    );
    stub.answers(TICKET, 200, ticket(&json!({})));
    // Somebody was faster once: the tags are read anew and the update is made again.
    stub.answers(UPDATE, 409, json!({"error": "UpdateConflict"}));
    let mut answer = ticket(&json!({}));
    answer["audit"] = audit(70, "effect-2");
    stub.answers(UPDATE, 200, answer);

    let desk = desk(&stub);
    let change = Bookkeeping {
        priority: Some(Priority::High),
        group: Some("billing".to_owned()),
        tags: vec!["Deskhand Triaged".to_owned()],
        note: Some("Refund.".to_owned()),
    };
    let receipt = desk.write(&bookkeeping(change)).await.expect("writes");
    assert_eq!((receipt.remote_id.as_str(), receipt.remark), ("72", None));
    let asked = stub.asked();
    let updates: Vec<_> = asked.iter().filter(|ask| ask.line == UPDATE).collect();
    assert_eq!(updates.len(), 2);
    assert_eq!(
        updates[1].body,
        json!({"ticket": {
            "comment": {"body": "Refund.", "public": false},
            "priority": "high",
            "group_id": 41,
            "tags": ["fr", "web", "deskhand_triaged"],
            "metadata": {"deskhand_effect": "effect-2"},
            "safe_update": true,
            "updated_stamp": STAMP,
        }})
    );
    facts::check_requests(&asked);

    let unknown = Bookkeeping {
        group: Some("Old".to_owned()),
        priority: Some(Priority::Low),
        ..Bookkeeping::default()
    };
    let receipt = desk.write(&bookkeeping(unknown)).await.expect("writes");
    assert!(receipt.remark.expect("a remark").contains("no group \"Old\""));
    let asked = stub.asked();
    assert_eq!(asked.last().expect("one").body["ticket"]["group_id"], Value::Null);
    assert_eq!(
        asked.iter().filter(|ask| ask.line == "GET /api/v2/groups").count(),
        1,
        "groups are remembered"
    );
}

#[tokio::test]
async fn a_follow_up_goes_to_the_old_tickets_requester_under_an_idempotency_key() {
    let stub = Stub::start().await;
    stub.answers(TICKET, 200, ticket(&json!({"status": "closed"})));
    let mut created = json!({"ticket": {"id": 36, "updated_at": STAMP}});
    created["audit"] = audit(70, "effect-1");
    stub.answers("POST /api/v2/tickets", 201, created);
    let write = DeskWrite {
        change: DeskChange::FollowUp {
            subject: "Re: Lamp".to_owned(),
            text: "Hello again.".to_owned(),
        },
        ..reply("")
    };
    let receipt = desk(&stub).write(&write).await.expect("writes");
    assert_eq!(receipt.remote_id, "72");
    assert!(receipt.remark.expect("a remark").contains("zendesk:36"));
    let asked = stub.asked();
    assert_eq!(asked[1].idempotency_key, "effect-1");
    assert_eq!(asked[1].body["ticket"]["requester_id"], 7);
    assert_eq!(asked[1].body["ticket"]["via_followup_source_id"], 35);
    facts::check_requests(&asked);
}
