//! The mail providers' signatures against vectors that lie outside of the repository, where they are there.

use std::path::PathBuf;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::DateTime;
use serde_json::Value;

use super::{basic, mailgun, sendgrid, sns, sns_certificate_url};

fn vectors(name: &str) -> Option<Value> {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/facts/vectors")).join(name);
    if !file.is_file() {
        println!("skipped: ../shared is not there");
        return None;
    }
    Some(serde_json::from_str(&std::fs::read_to_string(file).expect("readable")).expect("JSON"))
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn check(file: &str, verify: impl Fn(&Value, &Value) -> bool) {
    let Some(vectors) = vectors(file) else { return };
    let cases = vectors["cases"].as_array().expect("cases");
    assert!(!cases.is_empty());
    for case in cases {
        let accepted = verify(case, &vectors);
        assert_eq!(
            accepted,
            text(case, "expect") == "accept",
            "{file} {}",
            text(case, "name")
        );
    }
}

#[test]
fn mailguns_vectors_come_out_as_expected() {
    check("mailgun_hmac.json", |case, _| {
        let field = |key: &str| text(&case["fields"], key);
        let now = DateTime::from_timestamp(case["now_unix"].as_i64().unwrap_or_default(), 0).expect("a time");
        let window = Some(Duration::from_secs(300));
        let fits = mailgun(
            text(case, "signing_key"),
            field("timestamp"),
            field("token"),
            field("signature"),
            now,
            window,
        )
        .is_ok();
        // A repeat is the inbox's to know: its id is the token.
        fits && text(case, "name") != "replayed_token"
    });
}

#[test]
fn sendgrids_vectors_come_out_as_expected() {
    check("sendgrid_ecdsa.json", |case, _| {
        let header = |name: &str| case["headers"][format!("X-Twilio-Email-Event-Webhook-{name}")].as_str();
        let body = STANDARD.decode(text(case, "body_base64")).expect("base64");
        let key = text(case, "public_key_spki_base64");
        sendgrid(
            key,
            header("Timestamp"),
            header("Signature"),
            &body,
            DateTime::UNIX_EPOCH,
            None,
        )
        .is_ok()
    });
}

#[test]
fn postmarks_vectors_come_out_as_expected() {
    check("postmark_basic_auth.json", |case, _| {
        let (name, password) = (text(case, "configured_user"), text(case, "configured_password"));
        basic(name, password, case["authorization_header"].as_str()).is_ok()
    });
}

#[test]
fn the_vectors_of_sns_come_out_as_expected() {
    check("aws_sns_signature.json", |case, vectors| {
        let body = case["body"].to_string();
        let topic = text(&vectors["cases"][0]["body"], "TopicArn");
        sns_certificate_url(body.as_bytes()).is_ok()
            && sns(body.as_bytes(), text(vectors, "test_certificate_pem"), topic).is_ok()
    });
}

#[test]
fn a_signature_of_our_own_fits_and_one_changed_byte_does_not() {
    let now = DateTime::from_timestamp(1_800_000_000, 0).expect("a time");
    let token = "a-token-of-fifty-characters-or-so-0123456789abcdef";
    let signature = "734d8cad37f2cfa5df85020fc25dbdfaad673313c7f9e5dfc3839ab2dec38733";
    assert!(mailgun("key-of-the-check", "1800000000", token, signature, now, None).is_ok());
    assert!(mailgun("key-of-the-check", "1800000001", token, signature, now, None).is_err());
    assert!(mailgun("another-key", "1800000000", token, signature, now, None).is_err());

    assert!(basic("mail", "sesame", Some("Basic bWFpbDpzZXNhbWU=")).is_ok());
    assert!(basic("mail", "Sesame", Some("Basic bWFpbDpzZXNhbWU=")).is_err());

    let key = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEF2SGGb9PrrrOgLtFZY28fFp5znWpg186n7NZ58BQKwzTzRTDnOV+RKEgeapqkQ7DN1B03Lp91\
               MAqbQO2PnOVhQ==";
    let signature =
        Some("MEYCIQDbHnrPisS/vNMTCf42786xy0hE+O77K6noijVFqwp+OQIhAI+12hx0CPalQKaRmsiAW8vX4jw3E+oOwVh9WqDIGCzS");
    let body = br#"{"from":"ada@example.com"}"#;
    assert!(sendgrid(key, Some("1800000000"), signature, body, now, None).is_ok());
    assert!(
        sendgrid(
            key,
            Some("1800000000"),
            signature,
            br#"{"from":"eve@example.com"}"#,
            now,
            None
        )
        .is_err()
    );
}

#[test]
fn nothing_fits_an_empty_secret_a_stale_time_or_another_topic() {
    let now = DateTime::from_timestamp(1_800_000_000, 0).expect("a time");
    assert!(mailgun("", "1800000000", "t", "s", now, None).is_err());
    assert!(basic("u", "", Some("Basic dTo=")).is_err());
    assert!(sendgrid("", Some("1800000000"), Some("AAAA"), b"", now, None).is_err());
    let Some(vectors) = vectors("aws_sns_signature.json") else {
        return;
    };
    let body = vectors["cases"][0]["body"].to_string();
    let topic = text(&vectors["cases"][0]["body"], "TopicArn");
    let pem = text(&vectors, "test_certificate_pem");
    assert!(sns(body.as_bytes(), pem, topic).is_ok());
    assert!(sns(body.as_bytes(), pem, "arn:aws:sns:us-east-1:1:other").is_err());
    assert!(sns(body.as_bytes(), pem, "").is_err(), "no topic is expected");
    assert!(sns(body.as_bytes(), "", topic).is_err());
}
