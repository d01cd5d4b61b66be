//! Tickets that live in a mailbox: how mail comes in, what it means, and how replies go out.

mod arriving;
mod mailbox;
mod outgoing;
mod providers;
mod secured;
mod ways;
mod whole;

use deskhand_tests::fake::smtp::Smtp;
use deskhand_tests::{Bot, scenario_with};
use serde_json::Value;

use crate::lines::{drafts, sam_approves};

pub(crate) const TOKEN: &str = "a token for raw mail";
pub(crate) const CARE: &str = "care@lamps.example";

/// A team whose help desk is a mailbox.
pub(crate) async fn by_mail(body: impl AsyncFnOnce(&mut Bot, &Smtp)) {
    by_mail_with(&[], body).await;
}

pub(crate) async fn by_mail_with(more: &[(&str, &str)], body: impl AsyncFnOnce(&mut Bot, &Smtp)) {
    let smtp = Smtp::start().await;
    let url = smtp.url();
    let mut settings = vec![
        ("MAIL_FROM", "Lampshop Care <care@lamps.example>"),
        ("MAIL_REPLY_KEY", "a key for replies"),
        ("MAIL_TEAM", "kim@lamps.example"),
        ("EMAIL_WEBHOOK_TOKEN", TOKEN),
        ("SMTP_URL", url.as_str()),
    ];
    settings.extend_from_slice(more);
    scenario_with(&settings, async |bot| body(bot, &smtp).await).await;
}

/// A mail by raw MIME; gives the status and the answer.
pub(crate) async fn posts(bot: &Bot, way: &str, content_type: &str, body: impl Into<reqwest::Body>) -> (u16, Value) {
    let request = reqwest::Client::new()
        .post(format!("{}/webhooks/email/{way}", bot.url))
        .bearer_auth(TOKEN)
        .header("content-type", content_type)
        .body(body);
    let response = request.send().await.expect("the bot answers");
    (response.status().as_u16(), response.json().await.unwrap_or_default())
}

/// A mail comes in, and belongs to this ticket.
pub(crate) async fn arrives(bot: &Bot, headers: &str, text: &str) -> String {
    let mail = format!("{}\r\n\r\n{text}", headers.trim().replace('\n', "\r\n"));
    let (status, answer) = posts(bot, "raw", "message/rfc822", mail).await;
    assert_eq!(status, 200, "{answer}");
    answer["ticket"].as_str().unwrap_or_default().to_owned()
}

/// Ola writes for the first time.
pub(crate) async fn ola_writes(bot: &Bot) -> String {
    arrives(
        bot,
        "From: Ola Berg <ola@berg.example>\nTo: care@lamps.example\nSubject: Lamp hums\nMessage-ID: <1@berg.example>\n\
         Content-Type: text/plain; charset=utf-8",
        "My lamp hums.\r\nWhat can I do?\r\n",
    )
    .await
}

/// All public comments and notes, the oldest first: `requester: My lamp hums.`
pub(crate) async fn said(bot: &Bot) -> Vec<String> {
    sqlx::query_scalar(
        "SELECT CASE WHEN public THEN '' ELSE 'note by ' END || author || ': ' || body FROM comment ORDER BY id",
    )
    .fetch_all(bot.pool())
    .await
    .expect("the query is right")
}

/// Ola has asked, and sam has approved the draft.
pub(crate) async fn a_reply_is_on_its_way(bot: &Bot) -> String {
    drafts(bot, "Please unscrew the <bulb>.");
    let ticket = ola_writes(bot).await;
    bot.settle().await;
    bot.model.says("Done.");
    sam_approves(bot).await;
    ticket
}

/// State and reason of the one reply.
pub(crate) async fn effect(bot: &Bot) -> (String, String) {
    sqlx::query_as("SELECT state, why FROM outbox WHERE kind = 'reply'")
        .fetch_one(bot.pool())
        .await
        .expect("there is a reply")
}

/// The headers and the text of a mail server's report that a mail with these headers did not arrive (RFC 3464).
pub(crate) fn bounce_of(returned: &str) -> (String, String) {
    let headers = "Return-Path: <>\nFrom: MAILER-DAEMON@mx.berg.example\nTo: care@lamps.example\n\
                   Subject: Undelivered Mail\nMessage-ID: <b1@mx.berg.example>\nMIME-Version: 1.0\n\
                   Content-Type: multipart/report; report-type=delivery-status; boundary=b";
    let text = format!(
        "--b\r\nContent-Type: text/plain\r\n\r\nIt could not be delivered.\r\n--b\r\n\
         Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.berg.example\r\n\r\n\
         Final-Recipient: rfc822; ola@berg.example\r\nAction: failed\r\nStatus: 5.1.1\r\n\
         Diagnostic-Code: smtp; 550 5.1.1 unknown\r\n--b\r\nContent-Type: text/rfc822-headers\r\n\r\n\
         {returned}\r\nSubject: Re: Lamp\r\n\r\n--b--\r\n"
    );
    (headers.to_owned(), text)
}
