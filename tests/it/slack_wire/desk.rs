//! Threads as tickets: read through their pages, and what is told of channels that the bot does not hear.

use deskhand_core::port::{Desk, PortError};
use serde_json::{Value, json};

use super::stub::{Answer, Stub};

fn own() -> Answer {
    Answer::Json(json!({
        "ok": true, "team_id": "T1", "team": "Shop", "user": "deskhand", "user_id": "UBOT",
        "url": "https://shop.slack.example/",
    }))
}

fn page(messages: Value, next: &str) -> Answer {
    Answer::Json(json!({ "ok": true, "messages": messages, "response_metadata": { "next_cursor": next } }))
}

fn refused(code: &str) -> Answer {
    Answer::Json(json!({ "ok": false, "error": code }))
}

#[tokio::test]
async fn a_thread_is_read_through_its_pages_without_what_programs_wrote() {
    let first = json!([
        { "ts": "1.1", "thread_ts": "1.1", "user": "U1", "team": "T1", "text": "Where is it?\nI waited." },
        { "ts": "1.2", "thread_ts": "1.1", "user": "UBOT", "bot_id": "B1", "text": "We look into it." },
        { "ts": "1.3", "thread_ts": "1.1", "user": "U2", "subtype": "channel_join", "text": "joined" },
    ]);
    let second = json!([
        { "ts": "2.1", "thread_ts": "1.1", "user": "U2", "team": "T2", "user_team": "T2", "text": "<@UBOT> mine too" },
        { "ts": "2.2", "thread_ts": "1.1", "user": "U3", "team": "T1", "text": "<@UBOT>" },
    ]);
    let stub = Stub::start([own(), page(first, "n"), page(second, "")]).await;
    let read = stub.chat().read("C1/1.1").await.expect("it is read");
    assert_eq!(read.subject, "Where is it?");
    assert_eq!(read.requester.address, "slack:U1");
    assert_eq!(read.url.as_deref(), Some("https://shop.slack.example/archives/C1/p11"));
    let posts: Vec<_> = read
        .posts
        .iter()
        .map(|post| (post.id.as_str(), post.text.as_str(), post.outsider))
        .collect();
    assert_eq!(
        posts,
        [("1.1", "Where is it?\nI waited.", false), ("2.1", "mine too", true)]
    );
    let asked = stub.asked();
    assert_eq!(asked[2].0, "conversations.replies");
    assert_eq!((&asked[2].1["ts"], &asked[2].1["cursor"]), (&json!("1.1"), &json!("n")));
}

#[tokio::test]
async fn a_thread_that_is_gone_or_endless_is_not_read() {
    let stub = Stub::start([own(), refused("thread_not_found")]).await;
    assert!(matches!(stub.chat().read("C1/1.1").await, Err(PortError::Gone { .. })));
    let stone =
        json!([{ "ts": "1.1", "user": "USLACKBOT", "subtype": "tombstone", "text": "This message was deleted." }]);
    let stub = Stub::start([own(), page(stone, "")]).await;
    assert!(matches!(stub.chat().read("C1/1.1").await, Err(PortError::Gone { .. })));
    let pages = (0..20).map(|_| page(json!([{ "ts": "1.1", "user": "U1", "text": "on and on" }]), "n"));
    let stub = Stub::start(std::iter::once(own()).chain(pages)).await;
    let why = stub
        .chat()
        .read("C1/1.1")
        .await
        .expect_err("it is too long")
        .to_string();
    assert_eq!(
        why,
        "Slack: the thread in channel C1 has more than 2000 messages and is not read"
    );
    assert!(stub.chat().read("C1").await.is_err(), "that is no thread");
}

#[tokio::test]
async fn a_channel_that_the_bot_does_not_hear_says_what_to_do() {
    let channel = |member, archived| {
        Answer::Json(json!({ "ok": true, "channel": { "name": "help", "is_member": member, "is_archived": archived } }))
    };
    let stub = Stub::start([channel(true, false), channel(false, false), channel(true, true)]).await;
    let chat = stub.chat();
    assert_eq!(chat.hears("C1").await.as_deref(), Ok("help"));
    let mut told = Vec::new();
    for _ in 0..2 {
        told.push(chat.hears("C1").await.expect_err("it hears nothing").to_string());
    }
    assert_eq!(
        told,
        [
            "Slack: the bot is not in channel C1 (#help): invite it there with /invite @Deskhand",
            "Slack: channel C1 (#help) is archived",
        ]
    );
}

#[tokio::test]
async fn a_file_is_read_from_slack_and_no_page_for_signing_in_is_taken_for_it() {
    let html = Answer::Status(
        200,
        vec![("content-type", "text/html; charset=utf-8")],
        "<html>Sign in</html>",
    );
    let elsewhere = Answer::Status(302, vec![("location", "https://example.com/signin")], "");
    let text = Answer::Status(200, vec![("content-type", "text/plain")], "error 42");
    let stub = Stub::start([html, elsewhere, text]).await;
    let chat = stub.chat();
    let url = format!("{}/files/x.log", stub.url);
    for _ in 0..2 {
        assert!(matches!(chat.file(&url).await, Err(PortError::Permanent { .. })));
    }
    assert_eq!(chat.file(&url).await.as_deref(), Ok("error 42"));
    assert!(chat.file("https://example.com/x.log").await.is_err());
    assert_eq!(stub.asked().len(), 3, "nobody else is asked");
}
