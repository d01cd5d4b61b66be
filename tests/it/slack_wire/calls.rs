//! Calls to Slack, and what becomes of its refusals and silences.

use std::time::Duration;

use deskhand_adapters::slack::{SlackChat, form};
use deskhand_core::port::{Chat, Content, Place, PortError, Post};
use serde_json::{Value, json};

use super::cards::card;
use super::stub::{Answer, Stub};

fn post(thread: Option<&str>) -> Post {
    Post {
        channel: "C1".into(),
        thread: thread.map(str::to_owned),
        broadcast: true,
        key: "post-1".into(),
        content: Content::Card(Box::new(card())),
    }
}

fn place() -> Place {
    Place {
        channel: "C1".into(),
        message: "2.1".into(),
    }
}

fn posted(thread: Option<&str>) -> Answer {
    Answer::Json(json!({"ok": true, "channel": "C1", "ts": "2.1", "message": {"ts": "2.1", "thread_ts": thread}}))
}

fn refused(code: &str) -> Answer {
    Answer::Json(json!({"ok": false, "error": code}))
}

async fn posting(answers: impl IntoIterator<Item = Answer>, thread: Option<&str>) -> (Result<Place, PortError>, Stub) {
    let stub = Stub::start(answers).await;
    (stub.chat().post(&post(thread)).await, stub)
}

#[tokio::test]
async fn a_card_goes_into_its_thread_with_its_key() {
    let (result, stub) = posting([posted(Some("1.1"))], Some("1.1")).await;
    assert_eq!(result, Ok(place()));
    let (method, sent) = stub.asked().remove(0);
    assert_eq!(method, "chat.postMessage");
    assert_eq!(sent["thread_ts"], "1.1");
    assert_eq!(sent["reply_broadcast"], true);
    assert_eq!(
        sent["metadata"],
        json!({"event_type": "deskhand_post", "event_payload": {"key": "post-1"}})
    );
    assert_eq!(sent["unfurl_links"], false);
    assert!(
        sent["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("A-17 · T-1001"))
    );
}

#[tokio::test]
async fn refused_blocks_are_sent_again_as_plain_text_with_the_same_buttons() {
    for code in ["invalid_blocks", "msg_blocks_too_long"] {
        let (result, stub) = posting([refused(code), posted(None)], None).await;
        assert_eq!(result, Ok(place()));
        let asked = stub.asked();
        let blocks = asked[1].1["blocks"].as_array().expect("blocks").clone();
        assert_eq!(blocks.len(), 2);
        assert_eq!(blocks[0]["text"]["type"], "plain_text");
        let buttons: Vec<&Value> = blocks[1]["elements"].as_array().expect("buttons").iter().collect();
        assert_eq!(
            buttons.iter().map(|button| &button["action_id"]).collect::<Vec<_>>(),
            ["approve", "edit", "reject", "view"]
        );
        assert_eq!(asked[0].1["metadata"], asked[1].1["metadata"]);
    }
    let stub = Stub::start([
        refused("invalid_blocks"),
        Answer::Json(json!({"ok": true, "ts": "2.1"})),
    ])
    .await;
    let result = stub.chat().update(&place(), &Content::Card(Box::new(card()))).await;
    assert_eq!((result, stub.asked().len()), (Ok(()), 2));
    let (result, stub) = posting([refused("invalid_blocks"), refused("invalid_blocks")], None).await;
    assert!(matches!(result, Err(PortError::Permanent { .. })));
    assert_eq!(stub.asked().len(), 2);
}

#[tokio::test]
async fn a_reply_that_landed_outside_its_deleted_thread_is_removed() {
    let (result, stub) = posting([posted(None), Answer::Json(json!({"ok": true}))], Some("1.1")).await;
    assert!(matches!(result, Err(PortError::Gone { .. })), "{result:?}");
    let (method, sent) = stub.asked().remove(1);
    assert_eq!((method.as_str(), &sent["ts"]), ("chat.delete", &json!("2.1")));
}

#[tokio::test]
async fn retry_after_is_told_and_kept_to() {
    let slow = Answer::Status(
        429,
        vec![("retry-after", "30"), ("content-type", "application/json")],
        r#"{"ok":false,"error":"ratelimited"}"#,
    );
    let stub = Stub::start([slow]).await;
    let chat = stub.chat();
    let first = chat.post(&post(None)).await;
    let wanted = Some(Duration::from_secs(30));
    assert!(
        matches!(first, Err(PortError::Transient { retry_after, .. }) if retry_after == wanted),
        "{first:?}"
    );
    // The second one does not even leave.
    let second = chat.post(&post(None)).await;
    assert!(
        matches!(
            second,
            Err(PortError::Transient {
                retry_after: Some(_),
                ..
            })
        ),
        "{second:?}"
    );
    assert_eq!(stub.asked().len(), 1);
}

#[tokio::test]
async fn what_may_have_arrived_is_ambiguous_for_a_post_and_repeatable_for_an_update() {
    let lost = [
        Answer::Status(502, Vec::new(), "bad gateway"),
        Answer::Status(503, Vec::new(), "not now"),
        Answer::Status(200, vec![("content-type", "text/html")], "<html>"),
        Answer::Status(200, vec![("content-type", "application/json")], "{\"ok\":tr"),
        refused("fatal_error"),
    ];
    for (i, answer) in lost.into_iter().enumerate() {
        let stub = Stub::start([answer.clone(), answer]).await;
        ends_ambiguous_or_repeatable(&stub.chat(), &i.to_string()).await;
    }
    let silent = Stub::start([Answer::Silence, Answer::Silence]).await;
    ends_ambiguous_or_repeatable(&silent.impatient_chat(), "silence").await;
}

async fn ends_ambiguous_or_repeatable(chat: &SlackChat, what: &str) {
    let result = chat.post(&post(None)).await;
    assert!(matches!(result, Err(PortError::Ambiguous { .. })), "{what}: {result:?}");
    let result = chat.update(&place(), &Content::Line("x".into())).await;
    assert!(matches!(result, Err(PortError::Transient { .. })), "{what}: {result:?}");
}

#[tokio::test]
async fn a_connection_that_was_never_made_changed_nothing() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let nobody = Stub::at(format!("http://{}", listener.local_addr().expect("an address")));
    drop(listener);
    let result = nobody.chat().post(&post(None)).await;
    assert!(matches!(result, Err(PortError::Transient { .. })), "{result:?}");
}

#[tokio::test]
async fn refusals_say_what_to_do_about_them() {
    for (code, kind, words) in [
        ("not_in_channel", "permanent", "invite it there with /invite @Deskhand"),
        ("channel_not_found", "permanent", "there is no channel C1"),
        ("is_archived", "permanent", "C1 is archived"),
        ("invalid_auth", "permanent", "SLACK_BOT_TOKEN"),
        ("token_revoked", "permanent", "SLACK_BOT_TOKEN"),
        ("thread_not_found", "gone", "is gone"),
        ("service_unavailable", "transient", "not available"),
        ("ratelimited", "transient", "too many"),
        ("something_new", "permanent", "something_new"),
    ] {
        let (result, _) = posting([refused(code)], None).await;
        let error = result.expect_err("a refusal");
        let got = match &error {
            PortError::Permanent { .. } => "permanent",
            PortError::Gone { .. } => "gone",
            PortError::Transient { .. } => "transient",
            PortError::Ambiguous { .. } | PortError::Conflict { .. } | PortError::Closed { .. } => "other",
        };
        assert_eq!(got, kind, "{code}: {error}");
        assert!(error.to_string().contains(words), "{code}: {error}");
        assert!(error.to_string().starts_with("Slack: "), "{error}");
    }
    let scope =
        Answer::Json(json!({"ok": false, "error": "missing_scope", "needed": "chat:write", "provided": "none"}));
    let (result, _) = posting([scope], None).await;
    assert!(
        result
            .expect_err("a refusal")
            .to_string()
            .contains("the scope chat:write")
    );
}

#[tokio::test]
async fn updating_what_is_gone_says_so_and_removing_it_is_fine() {
    let stub = Stub::start([refused("message_not_found"), refused("message_not_found")]).await;
    let chat = stub.chat();
    let updated = chat.update(&place(), &Content::Line("x".into())).await;
    assert!(matches!(updated, Err(PortError::Gone { .. })), "{updated:?}");
    assert_eq!(chat.remove(&place()).await, Ok(()));
}

#[tokio::test]
async fn a_post_is_found_again_by_its_key_through_the_pages() {
    let other = json!({"ts": "1.2", "metadata": {"event_type": "somebody_elses", "event_payload": {"key": "post-1"}}});
    let ours = json!({"ts": "2.1", "metadata": {"event_type": "deskhand_post", "event_payload": {"key": "post-1"}}});
    let pages = || {
        [
            Answer::Json(
                json!({"ok": true, "messages": [{"ts": "1.1"}, other.clone()], "response_metadata": {"next_cursor": "n"}}),
            ),
            Answer::Json(json!({"ok": true, "messages": [ours.clone()], "response_metadata": {"next_cursor": ""}})),
        ]
    };
    for (thread, method) in [(None, "conversations.history"), (Some("1.1"), "conversations.replies")] {
        let stub = Stub::start(pages()).await;
        assert_eq!(stub.chat().find("C1", thread, "post-1").await, Ok(Some(place())));
        let asked = stub.asked();
        assert_eq!(asked[1].0, method);
        assert_eq!(asked[1].1["include_all_metadata"], "true");
        assert_eq!(asked[1].1["cursor"], "n");
        let stub = Stub::start(pages()).await;
        assert_eq!(stub.chat().find("C1", thread, "post-2").await, Ok(None));
    }
    let stub = Stub::start([refused("thread_not_found")]).await;
    assert_eq!(stub.chat().find("C1", Some("1.1"), "post-1").await, Ok(None));
}

#[tokio::test]
async fn guests_bots_and_outsiders_are_no_full_members() {
    let own = Answer::Json(json!({"ok": true, "team_id": "T1", "team": "Shop", "user": "deskhand", "user_id": "UBOT"}));
    for (person, full) in [
        (json!({"team_id": "T1"}), true),
        (json!({"team_id": "T1", "is_restricted": false, "deleted": false}), true),
        (
            json!({"team_id": "T2", "enterprise_user": {"teams": ["T2", "T1"]}}),
            true,
        ),
        (json!({"team_id": "T2"}), false),
        (json!({}), false),
        (json!({"team_id": "T1", "deleted": true}), false),
        (json!({"team_id": "T1", "is_bot": true}), false),
        (json!({"team_id": "T1", "is_restricted": true}), false),
        (json!({"team_id": "T1", "is_ultra_restricted": true}), false),
        (json!({"team_id": "T1", "is_stranger": true}), false),
    ] {
        let stub = Stub::start([own.clone(), Answer::Json(json!({"ok": true, "user": person}))]).await;
        assert_eq!(stub.chat().is_full_member("U1").await, Ok(full), "{person}");
    }
    let stub = Stub::start([
        own.clone(),
        refused("user_not_found"),
        Answer::Status(500, Vec::new(), ""),
    ])
    .await;
    let chat = stub.chat();
    assert_eq!(chat.is_full_member("U1").await, Ok(false));
    assert!(
        chat.is_full_member("U1").await.is_err(),
        "a failed look-up proves nothing"
    );
}

#[tokio::test]
async fn members_of_a_group_are_read_by_its_id() {
    let stub = Stub::start([
        Answer::Json(json!({"ok": true, "users": ["U1", "U2"]})),
        refused("no_such_subteam"),
    ])
    .await;
    let chat = stub.chat();
    assert_eq!(chat.members("@S1").await, Ok(vec!["U1".to_owned(), "U2".to_owned()]));
    assert_eq!(stub.asked()[0].1["usergroup"], "S1");
    assert!(matches!(chat.members("S2").await, Err(PortError::Gone { .. })));
}

#[tokio::test]
async fn a_form_is_opened_and_filled() {
    let stub = Stub::start([
        Answer::Json(json!({"ok": true, "view": {"id": "V1", "hash": "1.h"}})),
        Answer::Json(json!({"ok": true, "view": {"id": "V1", "hash": "2.h"}})),
        refused("expired_trigger_id"),
    ])
    .await;
    let chat = stub.chat();
    let open = chat.open_modal("t.1", &form::loading()).await.expect("it opens");
    assert_eq!((open.view_id.as_str(), open.hash.as_str()), ("V1", "1.h"));
    chat.update_modal(&open.view_id, &open.hash, &form::full(&card(), ""))
        .await
        .expect("it is filled");
    let asked = stub.asked();
    assert_eq!(
        (&asked[0].1["trigger_id"], &asked[0].1["view"]["type"]),
        (&json!("t.1"), &json!("modal"))
    );
    assert_eq!(
        (&asked[1].1["view_id"], &asked[1].1["hash"]),
        (&json!("V1"), &json!("1.h"))
    );
    assert!(matches!(
        chat.open_modal("t.1", &form::loading()).await,
        Err(PortError::Gone { .. })
    ));
}

#[tokio::test]
async fn one_person_is_answered_without_touching_the_card() {
    let stub = Stub::start([
        Answer::Status(200, vec![("content-type", "text/plain")], "ok"),
        Answer::Status(404, vec![("content-type", "text/plain")], "used_url"),
        Answer::Json(json!({"ok": true, "message_ts": "3.1"})),
    ])
    .await;
    let chat = stub.chat();
    let url = format!("{}/actions/T1/1/secret", stub.url);
    chat.respond(&url, "Only approvers may decide. <!here>", true)
        .await
        .expect("it is answered");
    let (path, sent) = stub.asked().remove(0);
    assert_eq!(path, "/actions/T1/1/secret");
    assert_eq!(
        (&sent["response_type"], &sent["replace_original"]),
        (&json!("ephemeral"), &json!(false))
    );
    assert_eq!(sent["text"], "Only approvers may decide. &lt;!here&gt;");
    let used = chat.respond(&url, "again", true).await.expect_err("used up");
    assert!(
        matches!(&used, PortError::Gone { .. }) && !used.to_string().contains("secret"),
        "{used}"
    );
    chat.post_ephemeral("C1", Some("1.1"), "U1", "Only you see this.")
        .await
        .expect("posted");
    let (method, sent) = stub.asked().remove(2);
    assert_eq!(
        (method.as_str(), &sent["user"], &sent["thread_ts"]),
        ("chat.postEphemeral", &json!("U1"), &json!("1.1"))
    );
}

#[tokio::test]
async fn doctor_hears_who_the_bot_is() {
    let own = json!({"ok": true, "team_id": "T1", "team": "Shop", "user": "deskhand", "user_id": "UBOT"});
    let stub = Stub::start([
        Answer::Json(own),
        Answer::Json(json!({"ok": true, "permalink": "https://shop.example/p1"})),
    ])
    .await;
    let chat = stub.chat();
    assert_eq!(chat.check().await, Ok("Slack: deskhand in Shop (T1)".to_owned()));
    assert_eq!(
        chat.permalink("C1", "2.1").await,
        Ok("https://shop.example/p1".to_owned())
    );
}
