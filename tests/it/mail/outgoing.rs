//! How replies go out.

use std::sync::{Arc, Mutex};

use axum::Json;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use deskhand_tests::Bot;
use serde_json::{Value, json};

use super::{arrives, by_mail, by_mail_with, ola_writes};
use crate::lines::{drafts, sam_approves, states};

/// Ola has asked, and sam has approved the draft.
async fn a_reply_is_on_its_way(bot: &Bot) -> String {
    drafts(bot, "Please unscrew the <bulb>.");
    let ticket = ola_writes(bot).await;
    bot.settle().await;
    bot.model.says("Done.");
    sam_approves(bot).await;
    ticket
}

async fn effect(bot: &Bot) -> (String, String) {
    sqlx::query_as("SELECT state, why FROM outbox WHERE kind = 'reply'")
        .fetch_one(bot.pool())
        .await
        .expect("there is a reply")
}

#[tokio::test]
async fn a_mail_is_answered_in_its_thread_and_the_answer_to_that_joins_the_ticket() {
    by_mail(async |bot, smtp| {
        let ticket = a_reply_is_on_its_way(bot).await;
        assert_eq!(ticket, "T-1001");
        assert!(smtp.sent().is_empty());
        bot.settle().await;
        let sent = smtp.only();
        assert_eq!(
            (sent.from.as_str(), sent.to.as_slice()),
            ("care@lamps.example", &["ola@berg.example".to_owned()][..])
        );
        assert_eq!(sent.mail.subject, "Re: Lamp hums [T-1001]");
        assert_eq!(sent.mail.in_reply_to, ["1@berg.example"]);
        assert_eq!(sent.mail.references, ["1@berg.example"]);
        assert_eq!(sent.mail.header("Auto-Submitted"), None);
        let text = &sent.mail.text;
        assert!(
            text.starts_with("Please unscrew the <bulb>.") && text.contains("> My lamp hums."),
            "{text}"
        );
        assert_eq!(states(bot).await, ["completed answered"]);
        bot.slack.only_card().says("Approved by sam");

        // Ola answers to the address that the reply named; her program keeps no other header.
        drafts(bot, "Then we send another one.");
        let reply_to = &sent.mail.reply_to[0].address;
        assert!(reply_to.starts_with("care+1001."), "{reply_to}");
        let headers =
            format!("From: ola@berg.example\nTo: {reply_to}\nSubject: AW: Lamp\nMessage-ID: <2@berg.example>");
        assert_eq!(
            arrives(
                bot,
                &headers,
                &format!("It still hums.\r\n\r\nAm 1.1. schrieb Care:\r\n{text}")
            )
            .await,
            ticket
        );
        bot.settle().await;
        bot.slack.only_open_card().says("It still hums.");
        bot.model.says("Done.");
        sam_approves(bot).await;
        bot.settle().await;
        let second = &smtp.sent()[1].mail;
        assert_eq!(second.in_reply_to, ["2@berg.example"]);
        assert_ne!(second.message_id, sent.mail.message_id);
    })
    .await;
}

#[tokio::test]
async fn a_refusal_that_passes_is_tried_again_and_one_that_stays_is_told() {
    by_mail(async |bot, smtp| {
        smtp.refuses_next("450 4.2.1 mailbox busy");
        smtp.refuses_next("550 5.1.1 no such person");
        a_reply_is_on_its_way(bot).await;
        bot.model.says("Nobody is there.");
        bot.settle().await;
        bot.advance(std::time::Duration::from_secs(3600));
        bot.settle().await;
        assert!(smtp.sent().is_empty());
        let (state, why) = effect(bot).await;
        assert_eq!(state, "dead");
        assert!(why.contains("no such person"), "{why}");
        bot.slack.headers()[0].says("could not be delivered");
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn what_may_have_been_taken_is_not_sent_twice() {
    by_mail(async |bot, smtp| {
        smtp.takes_next_silently();
        a_reply_is_on_its_way(bot).await;
        bot.settle().await;
        bot.advance(std::time::Duration::from_secs(24 * 3600));
        bot.settle().await;
        assert_eq!(smtp.sent().len(), 1);
        assert_eq!(effect(bot).await.0, "unknown");
        bot.slack.headers()[0].says("may or may not have arrived");
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_bounce_marks_the_reply_and_tells_the_team() {
    by_mail(async |bot, smtp| {
        let ticket = a_reply_is_on_its_way(bot).await;
        bot.settle().await;
        let id = &smtp.only().mail.message_id;
        let bounce = "Return-Path: <>\nFrom: MAILER-DAEMON@mx.berg.example\nTo: care@lamps.example\nSubject: Undelivered Mail\n\
             Message-ID: <b1@mx.berg.example>\nMIME-Version: 1.0\n\
             Content-Type: multipart/report; report-type=delivery-status; boundary=b";
        let text = format!(
            "--b\r\nContent-Type: text/plain\r\n\r\nIt could not be delivered.\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n\
             Reporting-MTA: dns; mx.berg.example\r\n\r\nFinal-Recipient: rfc822; ola@berg.example\r\nAction: failed\r\n\
             Status: 5.1.1\r\nDiagnostic-Code: smtp; 550 5.1.1 unknown\r\n--b\r\nContent-Type: text/rfc822-headers\r\n\r\n\
             Message-ID: <{id}>\r\nSubject: Re: Lamp\r\n\r\n--b--\r\n"
        );
        assert_eq!(arrives(bot, bounce, &text).await, ticket);
        bot.settle().await;
        let (state, why) = effect(bot).await;
        assert_eq!(state, "dead");
        assert!(why.contains("550 5.1.1 unknown"), "{why}");
        bot.slack.headers()[0].says("The reply did not arrive");
        assert!(bot.slack.lines().iter().any(|line| line.contains("did not arrive")));
        bot.slack.only_card().says("Approved by sam");
        // Nobody answers a mail server.
        assert_eq!((smtp.sent().len(), states(bot).await.len()), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn an_out_of_office_note_is_stored_and_wakes_nobody() {
    by_mail(async |bot, smtp| {
        let ticket = a_reply_is_on_its_way(bot).await;
        bot.settle().await;
        let headers = format!(
            "From: ola@berg.example\nTo: care@lamps.example\nSubject: Automatic reply: Lamp\nMessage-ID: <ooo@berg.example>\n\
             In-Reply-To: <{}>\nAuto-Submitted: auto-replied",
            smtp.only().mail.message_id
        );
        assert_eq!(arrives(bot, &headers, "I am out of the office.").await, ticket);
        bot.settle().await;
        let said = super::said(bot).await;
        assert_eq!(said.last().map(String::as_str), Some("note by other: I am out of the office."));
        assert_eq!((smtp.sent().len(), states(bot).await), (1, vec!["completed answered".to_owned()]));
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_provider_takes_the_mail_over_http() {
    let taken: Arc<Mutex<Vec<Value>>> = Arc::default();
    let kept = Arc::clone(&taken);
    let email = move |headers: HeaderMap, Json(body): Json<Value>| async move {
        let right = headers
            .get("x-postmark-server-token")
            .is_some_and(|token| token == "server token");
        if !right {
            return (StatusCode::UNAUTHORIZED, Json(json!({ "ErrorCode": 10 })));
        }
        kept.lock().expect("no holder panicked").push(body);
        (StatusCode::OK, Json(json!({ "ErrorCode": 0, "Message": "OK" })))
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port is free");
    let url = format!("http://{}", listener.local_addr().expect("it listens"));
    let router = axum::Router::new().route("/email", post(email));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let settings = [
        ("SMTP_URL", ""),
        ("POSTMARK_SERVER_TOKEN", "server token"),
        ("POSTMARK_API_URL", url.as_str()),
    ];
    by_mail_with(&settings, async |bot, smtp| {
        a_reply_is_on_its_way(bot).await;
        bot.settle().await;
        assert!(smtp.sent().is_empty());
        let taken = taken.lock().expect("no holder panicked").clone();
        assert_eq!(taken.len(), 1);
        assert_eq!(taken[0]["To"], "ola@berg.example");
        assert!(
            taken[0]["Headers"].to_string().contains("<1@berg.example>"),
            "{}",
            taken[0]
        );
        assert_eq!(effect(bot).await.0, "delivered");
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}
