use std::path::PathBuf;

use serde_json::Value;

use super::*;
use crate::email::inbound::{EmailInbound, Ours, inbound};

fn payloads() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/facts/payloads"));
    if !folder.is_dir() {
        println!("skipped: ../shared is not there");
        return None;
    }
    Some(folder)
}

fn taken(name: &str, body: &[u8]) -> Received {
    let kind = if name.ends_with(".form") {
        "application/x-www-form-urlencoded"
    } else {
        "multipart/form-data; boundary=xYzZY"
    };
    match name.split('/').next().unwrap_or_default() {
        "mailgun" => mailgun(kind, body).expect("a mail"),
        "sendgrid" => sendgrid(kind, body).expect("a mail"),
        "postmark" => postmark(body).expect("a mail"),
        "ses" => match ses(body).expect("a notice") {
            SesNotice::Mail(mail) => *mail,
            other @ (SesNotice::Confirm { .. } | SesNotice::Nothing { .. }) => panic!("{name}: {other:?}"),
        },
        other => panic!("no way {other}"),
    }
}

fn understood(received: &Received) -> EmailInbound {
    let addresses = ["help@shop.example".to_owned()];
    inbound(
        received,
        Ours {
            addresses: &addresses,
            reply_key: "",
        },
    )
}

#[test]
fn every_way_brings_the_same_mail() {
    let Some(folder) = payloads() else { return };
    let text = std::fs::read_to_string(folder.join("inbound_expected_by_anymail.json")).expect("readable");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let raw = understood(&raw(&std::fs::read(folder.join("raw_message.eml")).expect("readable")));
    for (name, expected) in file["expected"].as_object().expect("payloads") {
        let received = taken(name, &std::fs::read(folder.join(name)).expect("readable"));
        let (mail, expected) = (&received.mail, &expected[0]);
        let id = |key: &str| {
            expected[key]
                .as_str()
                .unwrap_or_default()
                .trim_matches(['<', '>'])
                .to_owned()
        };
        assert_eq!(mail.subject, id("subject"), "{name}");
        assert_eq!(mail.message_id, id("message_id"), "{name}");
        assert_eq!(mail.in_reply_to, [id("in_reply_to")], "{name}");
        assert_eq!(mail.text.trim_end(), id("text").trim_end(), "{name}");
        assert_eq!(received.envelope_from, id("envelope_sender"), "{name}");
        assert_eq!(received.envelope_to, [id("envelope_recipient")], "{name}");
        let people = |people: &[crate::email::Mailbox]| {
            people
                .iter()
                .map(|one| format!("{} <{}>", one.name, one.address))
                .collect::<Vec<_>>()
        };
        assert_eq!(people(&mail.from), [expected["from"].as_str().expect("text")], "{name}");
        assert_eq!(Value::from(people(&mail.to)), expected["to"], "{name}");
        assert_eq!(Value::from(people(&mail.cc)), expected["cc"], "{name}");
        let date = chrono::DateTime::parse_from_rfc3339(&id("date"))
            .expect("a date")
            .to_utc();
        assert_eq!(mail.date, Some(date), "{name}");
        assert!(received.doubts.is_empty(), "{name}: {:?}", received.doubts);
        let found = understood(&received);
        if !name.contains("latin1") {
            assert_eq!(found.words, raw.words, "{name}");
            assert_eq!(found.whole, raw.whole, "{name}");
        }
        // The comment names what is attached.
        if !name.contains("latin1") && !name.contains("no_attachment") {
            assert_eq!(found.inbound, raw.inbound, "{name}");
        }
        assert_eq!(found.thread, raw.thread, "{name}");
        if !name.contains("no_attachment") && !name.contains("latin1") {
            let listed = |found: &EmailInbound| {
                let list = found.attachments.iter();
                list.map(|one| (one.name.clone(), one.content_type.clone(), one.size, one.inline))
                    .collect::<Vec<_>>()
            };
            assert_eq!(listed(&found), listed(&raw), "{name}");
        }
    }
}

#[test]
fn doubts_and_pointers_are_told() {
    let Some(folder) = payloads() else { return };
    let read = |name: &str| std::fs::read(folder.join(name)).expect("readable");
    let SesNotice::Mail(mail) = ses(&read("ses/sns_received_spam_dmarc_fail.json")).expect("a notice") else {
        panic!("no mail")
    };
    assert!(
        mail.doubts.iter().any(|doubt| doubt.contains("DMARC"))
            && mail.doubts.iter().any(|doubt| doubt.contains("spam"))
    );
    let why = ses(&read("ses/sns_received_s3_pointer.json"))
        .expect_err("no access")
        .why;
    assert!(why.contains("S3"), "{why}");
}

#[test]
fn a_mail_in_s3_is_said_to_lie_there_by_bucket_and_key() {
    let message = serde_json::json!({
        "notificationType": "Received", "mail": { "messageId": "m1" },
        "receipt": { "action": { "type": "S3", "bucketName": "lamps-mail", "objectKey": "in/m1\n" } },
    });
    let body = serde_json::json!({ "Type": "Notification", "Message": message.to_string() });
    let why = ses(body.to_string().as_bytes()).expect_err("no access").why;
    assert_eq!(
        why,
        "The mail lies in S3 (bucket lamps-mail, key in/m1), to which there is no access: post that object to \
         /webhooks/email/raw, and let the rule publish to SNS instead."
    );
}

#[test]
fn what_is_no_mail_is_said_and_never_panics() {
    for body in [
        &b""[..],
        b"{}",
        b"[]",
        b"{\"Type\":\"Notification\",\"Message\":\"x\"}",
        b"\xff\xfe",
        b"--xYzZY\r\n",
    ] {
        assert!(mailgun("multipart/form-data; boundary=xYzZY", body).is_err());
        assert!(sendgrid("multipart/form-data; boundary=xYzZY", body).is_err());
        assert!(sendgrid("", body).is_err() && mailgun("application/x-www-form-urlencoded", body).is_err());
        assert!(postmark(body).is_err() && ses(body).is_err());
    }
    let asked = b"{\"Type\":\"SubscriptionConfirmation\",\"SubscribeURL\":\"https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription\"}";
    assert!(matches!(ses(asked), Ok(SesNotice::Confirm { .. })));
    assert!(
        ses(b"{\"Type\":\"SubscriptionConfirmation\",\"SubscribeURL\":\"https://sns.amazonaws.com.evil.example/x\"}")
            .is_err()
    );
    assert!(
        ses(b"{\"Type\":\"SubscriptionConfirmation\",\"SubscribeURL\":\"https://sns.evil.example?x.amazonaws.com/\"}")
            .is_err()
    );
}
