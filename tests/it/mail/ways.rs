//! The ways in: each with its own proof, all with the same result.

use std::path::PathBuf;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{TOKEN, by_mail, by_mail_with, posts, said};

const KEY: &str = "a key of Mailgun";

fn payload(name: &str) -> Option<Vec<u8>> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/facts/payloads")).join(name);
    if !path.is_file() {
        println!("skipped: ../shared is not there");
        return None;
    }
    Some(std::fs::read(path).expect("readable"))
}

/// A route's form of our own, signed.
fn mailgun_form(token: &str, key: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("any key fits");
    mac.update(b"1791500000");
    mac.update(token.as_bytes());
    let signature = hex::encode(mac.finalize().into_bytes());
    let headers = json!([
        ["From", "Ola Berg <ola@berg.example>"],
        ["To", "care@lamps.example"],
        ["Subject", "Lamp hums"],
        ["Message-Id", "<1@berg.example>"],
    ]);
    let fields = [
        ("timestamp", "1791500000"),
        ("token", token),
        ("signature", &signature),
        ("sender", "ola@berg.example"),
        ("recipient", "care@lamps.example"),
        ("body-plain", "My lamp hums.\r\nWhat can I do?"),
        ("message-headers", &headers.to_string()),
    ];
    url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish()
}

const FORM: &str = "application/x-www-form-urlencoded";

#[tokio::test]
async fn the_same_mail_by_another_way_changes_nothing() {
    let settings = [("MAILGUN_SIGNING_KEY", KEY), ("POSTMARK_BASIC_AUTH", "hook:secret")];
    by_mail_with(&settings, async |bot, _| {
        let ticket = super::ola_writes(bot).await;
        let (status, answer) = posts(bot, "mailgun", FORM, mailgun_form("t1", KEY)).await;
        assert_eq!((status, &answer["ticket"]), (200, &json!(ticket)));
        let (status, again) = posts(bot, "mailgun", FORM, mailgun_form("t1", KEY)).await;
        assert_eq!((status, &again["repeat"]), (200, &json!(true)));
        let body = json!({
            "MessageID": "p1", "FromFull": { "Name": "Ola Berg", "Email": "ola@berg.example" }, "Subject": "Lamp hums",
            "ToFull": [{ "Email": "care@lamps.example" }], "TextBody": "My lamp hums.\nWhat can I do?",
            "Headers": [{ "Name": "Message-ID", "Value": "<1@berg.example>" }],
        });
        let response = reqwest::Client::new()
            .post(format!("{}/webhooks/email/postmark", bot.url))
            .basic_auth("hook", Some("secret"))
            .json(&body)
            .send()
            .await
            .expect("the bot answers");
        assert_eq!(response.json::<Value>().await.expect("JSON")["ticket"], json!(ticket));
        assert_eq!(said(bot).await, ["requester: My lamp hums.\nWhat can I do?"]);
    })
    .await;
}

#[tokio::test]
async fn what_is_not_proved_leaves_no_trace() {
    by_mail_with(&[("MAILGUN_SIGNING_KEY", KEY)], async |bot, _| {
        let forged = posts(bot, "mailgun", FORM, mailgun_form("t1", "another key")).await;
        let unset = posts(bot, "sendgrid", FORM, "a=b").await;
        let also_unset = posts(bot, "ses", "text/plain", "{}").await;
        let wrong = reqwest::Client::new()
            .post(format!("{}/webhooks/email/raw?token=wrong", bot.url))
            .body("From: a@b.example\r\n\r\nx")
            .send()
            .await
            .expect("the bot answers");
        assert_eq!([forged.0, unset.0, also_unset.0, wrong.status().as_u16()], [401; 4]);
        assert_eq!(
            bot.counts("SELECT (SELECT count(*) FROM inbox) + (SELECT count(*) FROM mail)")
                .await,
            0
        );
    })
    .await;
}

#[tokio::test]
async fn what_is_proved_and_no_mail_is_kept_with_its_reason() {
    by_mail_with(&[("POSTMARK_BASIC_AUTH", "hook:secret")], async |bot, _| {
        let response = reqwest::Client::new()
            .post(format!("{}/webhooks/email/postmark", bot.url))
            .basic_auth("hook", Some("secret"))
            .body("{\"MessageID\":")
            .send()
            .await
            .expect("the bot answers");
        assert_eq!(response.status(), 200);
        assert_eq!(
            bot.counts("SELECT count(*) FROM inbox WHERE state = 'unmapped' AND error <> ''")
                .await,
            1
        );
    })
    .await;
}

#[tokio::test]
async fn a_notification_of_ses_is_proved_by_its_certificate() {
    let Some(vectors) = payload("../vectors/aws_sns_signature.json") else {
        return;
    };
    let vectors: Value = serde_json::from_slice(&vectors).expect("JSON");
    let certificate = vectors["test_certificate_pem"].as_str().expect("a certificate");
    let cases = vectors["cases"].as_array().expect("cases");
    let topic = cases[0]["body"]["TopicArn"].as_str().expect("a topic");
    by_mail_with(&[("SES_TOPIC_ARN", topic)], async |bot, _| {
        for case in cases {
            let body = case["body"].to_string();
            if let Ok(url) = deskhand_adapters::signature::sns_certificate_url(body.as_bytes()) {
                bot.app.certificates.put(&url, certificate).await;
            }
            let (status, _) = posts(bot, "ses", "text/plain", body).await;
            let expected = if case["expect"] == "accept" { 200 } else { 401 };
            assert_eq!(status, expected, "{}", case["name"]);
        }
        // Both forms of the question whether we want the topic wait for a worker, which alone opens addresses.
        assert_eq!(
            bot.counts("SELECT count(*) FROM inbox WHERE kind = 'confirm' AND state = 'kept'")
                .await,
            2
        );
    })
    .await;
}

#[tokio::test]
async fn a_token_in_the_address_opens_the_raw_way_as_well() {
    by_mail(async |bot, _| {
        let response = reqwest::Client::new()
            .post(format!("{}/webhooks/email/raw", bot.url))
            .query(&[("token", TOKEN)])
            .body("From: ola@berg.example\r\nSubject: x\r\nMessage-ID: <1@berg.example>\r\n\r\nIt hums.")
            .send()
            .await
            .expect("the bot answers");
        assert_eq!(response.status(), 200);
        assert_eq!(said(bot).await, ["requester: It hums."]);
    })
    .await;
}
