//! Reading a ticket, looking for a write, and learning who we are.

use deskhand_core::inbound::DeskStatus;
use deskhand_core::port::Desk;
use deskhand_core::ticket::{Author, Priority};
use serde_json::json;

use super::stub::Stub;
use super::{AUDITS, COMMENTS, STAMP, TICKET, audit, comment, desk, facts, ticket};

#[tokio::test]
async fn a_ticket_is_read_with_all_pages_people_and_markers() {
    let stub = Stub::start().await;
    stub.answers(TICKET, 200, ticket(&json!({})));
    stub.answers(
        COMMENTS,
        200,
        json!({
            "comments": [
                comment(1, 7, "It flickers.", &json!({"attachments": [{"id": 9, "file_name": "lamp.jpg"}]})),
                comment(2, 900, "Sorry!", &json!({"metadata": {"custom": {"deskhand_effect": "effect-0"}}})),
            ],
            "users": [], "meta": {"has_more": true, "after_cursor": "next=="}, "links": {"next": "http://elsewhere.example/"},
        }),
    );
    stub.answers(
        COMMENTS,
        200,
        json!({
            "comments": [
                comment(3, 900, "Note.", &json!({"public": false, "metadata": {}})),
                comment(4, 5, "I take it.", &json!({})),
                comment(5, 8, "Me too.", &json!({})),
            ],
            "users": [{"id": 5, "name": "Sam", "email": "sam@shop.example", "role": "admin"}],
            "meta": {"has_more": false, "after_cursor": null},
        }),
    );
    stub.answers(
        "GET /api/v2/users/show_many",
        200,
        json!({"users": [{"id": 8, "name": "Eve", "role": "end-user"}]}),
    );
    let mut explaining = audit(70, "effect-00");
    explaining["events"][1]["id"] = json!(3);
    stub.answers(
        AUDITS,
        200,
        json!({"audits": [explaining], "next_page": null, "count": 1}),
    );

    let read = desk(&stub).read("35").await.expect("reads");
    assert_eq!(
        (read.requester.name.as_str(), read.requester.address.as_str()),
        ("Ada", "ada@example.com")
    );
    assert_eq!(
        (read.status, read.priority, read.assignee),
        (DeskStatus::Open, Some(Priority::Low), None)
    );
    assert_eq!((read.stamp.as_str(), read.merged_into), (STAMP, None));
    let seen: Vec<_> = read
        .comments
        .iter()
        .map(|c| {
            (
                c.outside_id.as_deref().unwrap_or(""),
                c.author,
                c.author_name.as_str(),
                c.public,
                c.marker.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("1", Author::Requester, "Ada", true, None),
            ("2", Author::Bot, "Deskhand", true, Some("effect-0")),
            ("3", Author::Bot, "Deskhand", false, Some("effect-00")),
            ("4", Author::Agent, "Sam", true, None),
            ("5", Author::Other, "Eve", true, None),
        ]
    );
    assert_eq!(read.comments[0].body, "It flickers.\n\n[attached: lamp.jpg]");

    let asked = stub.asked();
    let pages: Vec<_> = asked
        .iter()
        .filter(|ask| ask.line == COMMENTS)
        .map(|ask| ask.query.as_str())
        .collect();
    assert_eq!(
        pages,
        [
            "page%5Bsize%5D=100&sort=created_at&include=users",
            "page%5Bsize%5D=100&sort=created_at&include=users&page%5Bafter%5D=next%3D%3D",
        ]
    );
    assert_eq!(asked[0].authorization, "Basic Ym90QHNob3AuZXhhbXBsZS90b2tlbjp0b2tlbg==");
    facts::check_requests(&asked);
}

#[tokio::test]
async fn a_merged_ticket_names_its_target_and_a_customer_cannot() {
    for (tags, author, body, merged_into) in [
        (
            json!(["closed_by_merge"]),
            900,
            "This request was closed and merged into request #99 \"Lamp #3\".",
            Some("99"),
        ),
        (json!(["closed_by_merge"]), 900, "Moved over.", None),
        (json!(["closed_by_merge"]), 7, "merged into request #99", None),
        (json!(["web"]), 900, "merged into request #99", None),
    ] {
        let stub = Stub::start().await;
        stub.answers(
            TICKET,
            200,
            ticket(&json!({"status": "closed", "tags": tags, "assignee_id": 5})),
        );
        let marked = json!({"metadata": {"custom": {"deskhand_effect": "e"}}});
        stub.answers(
            COMMENTS,
            200,
            json!({"comments": [comment(1, author, body, &marked)], "meta": {"has_more": false}}),
        );
        stub.answers("GET /api/v2/users/show_many", 404, json!({"error": "RecordNotFound"}));
        let read = desk(&stub).read("35").await.expect("reads");
        assert_eq!(read.merged_into.as_deref(), merged_into, "{body}");
        assert_eq!(read.status, DeskStatus::Closed);
        assert_eq!(
            (read.assignee.as_deref(), read.assignee_name.as_str()),
            (Some("5"), "Zendesk agent 5"),
            "a person out of reach stays a number"
        );
    }
}

#[tokio::test]
async fn a_write_is_found_by_its_marker_on_whatever_page_it_is() {
    let stub = Stub::start().await;
    stub.answers(
        AUDITS,
        200,
        json!({"audits": [audit(60, "another")], "next_page": "http://elsewhere.example/?page=2"}),
    );
    stub.answers(
        AUDITS,
        200,
        json!({"audits": [audit(70, "effect-1")], "next_page": null}),
    );
    let found = desk(&stub).find("35", "effect-1").await.expect("looks");
    assert_eq!(found.expect("found").remote_id, "72");
    let asked = stub.asked();
    assert_eq!(asked[0].query, "per_page=100&sort_order=desc");
    assert_eq!(asked[1].query, "per_page=100&sort_order=desc&page=2");
}

#[tokio::test]
async fn a_lost_follow_up_is_found_among_the_follow_ups_and_a_stranger_is_not() {
    let stub = Stub::start().await;
    stub.answers(AUDITS, 200, json!({"audits": [audit(60, "another")]}));
    stub.answers(TICKET, 200, ticket(&json!({"followup_ids": [36]})));
    stub.answers(
        "GET /api/v2/tickets/36/audits",
        200,
        json!({"audits": [audit(70, "effect-1")]}),
    );
    let desk = desk(&stub);
    assert_eq!(
        desk.find("35", "effect-1")
            .await
            .expect("looks")
            .expect("found")
            .remote_id,
        "72"
    );
    assert_eq!(desk.find("35", "effect-9").await.expect("looks"), None);
}

#[tokio::test]
async fn the_doctor_learns_who_we_are() {
    for (user, expected) in [
        (
            json!({"id": 900, "name": "Deskhand", "email": "bot@shop.example", "role": "agent"}),
            "Deskhand (agent) at 127.0.0.1",
        ),
        (
            json!({"id": null, "name": "Anonymous user", "email": "invalid@example.com"}),
            "do not belong together",
        ),
        (
            json!({"id": 7, "name": "Ada", "email": "ada@example.com", "role": "end-user"}),
            "must be an agent",
        ),
        (
            json!({"id": 9, "name": "Li", "email": "li@example.com", "role": "agent", "only_private_comments": true}),
            "internal notes only",
        ),
    ] {
        let stub = Stub::start().await;
        stub.answers("GET /api/v2/users/me", 200, json!({"user": user}));
        let said = match desk(&stub).check().await {
            Ok(line) => line,
            Err(error) => error.to_string(),
        };
        assert!(said.contains(expected), "{said}");
    }
}
