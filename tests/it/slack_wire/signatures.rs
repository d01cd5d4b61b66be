//! Signatures of Slack and Zendesk: the shared vectors, and what else a stranger may try.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use deskhand_adapters::signature::{self, Refused, TEST_SECRET, ZendeskPolicy};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

fn header<'a>(case: &'a Value, name: &str) -> Option<&'a str> {
    let headers = case["headers"].as_object().expect("headers");
    headers
        .iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .and_then(|(_, value)| value.as_str())
}

fn body(case: &Value) -> Vec<u8> {
    STANDARD
        .decode(case["body_base64"].as_str().expect("a body"))
        .expect("base64")
}

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, 0).expect("a time")
}

#[test]
fn every_slack_vector_is_judged_as_it_says() {
    let Some(facts) = super::facts() else { return };
    let vectors = super::json(facts.join("vectors/slack_signature.json"));
    for case in vectors["cases"].as_array().expect("cases") {
        let judged = signature::slack(
            case["signing_secret"].as_str().expect("a secret"),
            header(case, "x-slack-request-timestamp"),
            header(case, "x-slack-signature"),
            &body(case),
            at(case["now_unix"].as_i64().expect("a time")),
        );
        let expected = case["expect"] == "accept";
        assert_eq!(judged.is_ok(), expected, "{}: {judged:?}", case["name"]);
    }
}

#[test]
fn every_zendesk_vector_is_judged_as_it_says() {
    let Some(facts) = super::facts() else { return };
    let vectors = super::json(facts.join("vectors/zendesk_webhook_hmac.json"));
    let policy = ZendeskPolicy {
        allow_test_secret: true,
        window: None,
    };
    for case in vectors["cases"].as_array().expect("cases") {
        let judged = signature::zendesk(
            case["signing_secret"].as_str().expect("a secret"),
            header(case, "x-zendesk-webhook-signature-timestamp"),
            header(case, "x-zendesk-webhook-signature"),
            &body(case),
            at(1_616_648_970),
            policy,
        );
        let expected = case["expect"] == "accept";
        assert_eq!(judged.is_ok(), expected, "{}: {judged:?}", case["name"]);
    }
}

const SECRET: &str = "a-secret-of-this-test";
const NOW: i64 = 1_800_000_000;

fn mac(secret: &str, parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

fn signed(timestamp: &str, body: &[u8]) -> String {
    format!(
        "v0={}",
        hex::encode(mac(SECRET, &[b"v0:", timestamp.as_bytes(), b":", body]))
    )
}

#[test]
fn a_body_need_not_be_text() {
    let body = b"payload=\xff\xfe\x00";
    let signature = signed("1800000000", body);
    assert_eq!(
        signature::slack(SECRET, Some("1800000000"), Some(&signature), body, at(NOW)),
        Ok(())
    );
}

#[test]
fn slack_timestamps_are_plain_seconds_near_the_clock() {
    for (timestamp, expected) in [
        ("1799999700", Ok(())),
        ("1800000300", Ok(())),
        ("1799999699", Err(Refused::Stale)),
        ("1800000301", Err(Refused::Stale)),
        ("0", Err(Refused::Stale)),
        ("", Err(Refused::NotATime)),
        ("+1800000000", Err(Refused::NotATime)),
        ("-1800000000", Err(Refused::NotATime)),
        (" 1800000000", Err(Refused::NotATime)),
        ("1800000000.0", Err(Refused::NotATime)),
        ("1.8e9", Err(Refused::NotATime)),
        ("now", Err(Refused::NotATime)),
        ("١٨٠٠٠٠٠٠٠٠", Err(Refused::NotATime)),
        ("-9223372036854775808", Err(Refused::NotATime)),
        ("99999999999999999999999", Err(Refused::NotATime)),
    ] {
        let signature = signed(timestamp, b"{}");
        let judged = signature::slack(SECRET, Some(timestamp), Some(&signature), b"{}", at(NOW));
        assert_eq!(judged, expected, "{timestamp:?}");
    }
}

#[test]
fn a_slack_signature_has_one_spelling() {
    let good = signed("1800000000", b"{}");
    let digits = good.trim_start_matches("v0=");
    for bad in [
        format!(" {good}"),
        format!("{good} "),
        format!("{good}\n"),
        format!("{good},{good}"),
        format!("{good}00"),
        format!("v0={}", digits.to_uppercase()),
        format!("V0={digits}"),
        format!("v1={digits}"),
        format!("v0:{digits}"),
        format!("v0={}", STANDARD.encode(hex::decode(digits).expect("hex"))),
        digits.to_owned(),
        "v0=".to_owned(),
        String::new(),
        "v0=é".to_owned(),
    ] {
        let judged = signature::slack(SECRET, Some("1800000000"), Some(&bad), b"{}", at(NOW));
        assert!(judged.is_err(), "{bad:?}");
    }
    let missing = signature::slack(SECRET, None, Some(&good), b"{}", at(NOW));
    assert_eq!(missing, Err(Refused::NoTimestamp));
    let unset = signature::slack("", Some("1800000000"), Some(&good), b"{}", at(NOW));
    assert_eq!(unset, Err(Refused::NoSecret));
}

#[test]
fn zendesks_public_secret_is_refused_in_production() {
    let signature = STANDARD.encode(mac(TEST_SECRET, &[b"2027-01-15T08:00:00Z", b"{}"]));
    let judge = |policy| {
        signature::zendesk(
            TEST_SECRET,
            Some("2027-01-15T08:00:00Z"),
            Some(&signature),
            b"{}",
            at(NOW),
            policy,
        )
    };
    assert_eq!(judge(ZendeskPolicy::default()), Err(Refused::PublicTestSecret));
    let trying = ZendeskPolicy {
        allow_test_secret: true,
        window: None,
    };
    assert_eq!(judge(trying), Ok(()));
}

#[test]
fn zendesks_window_counts_only_when_it_is_set() {
    let judge = |timestamp: &str, window: Option<u64>| {
        let signature = STANDARD.encode(mac(SECRET, &[timestamp.as_bytes(), b"\xff"]));
        let policy = ZendeskPolicy {
            allow_test_secret: false,
            window: window.map(std::time::Duration::from_secs),
        };
        signature::zendesk(SECRET, Some(timestamp), Some(&signature), b"\xff", at(NOW), policy)
    };
    // 1,800,000,000 is 2027-01-15T08:00:00Z.
    assert_eq!(judge("2021-03-25T05:09:27Z", None), Ok(()));
    assert_eq!(judge("1234", None), Ok(()));
    assert_eq!(judge("2027-01-15T08:05:00Z", Some(300)), Ok(()));
    assert_eq!(judge("2027-01-15T09:00:00+01:00", Some(0)), Ok(()));
    assert_eq!(judge("2027-01-15T08:05:01Z", Some(300)), Err(Refused::Stale));
    assert_eq!(judge("2027-01-15T07:54:59Z", Some(300)), Err(Refused::Stale));
    assert_eq!(judge("1234", Some(300)), Err(Refused::NotATime));
}

#[test]
fn a_zendesk_signature_has_one_spelling() {
    let timestamp = "2027-01-15T08:00:00Z";
    let bytes = mac(SECRET, &[timestamp.as_bytes(), b""]);
    let good = STANDARD.encode(&bytes);
    let judge = |signature: Option<&str>, timestamp: Option<&str>| {
        signature::zendesk(SECRET, timestamp, signature, b"", at(NOW), ZendeskPolicy::default())
    };
    assert_eq!(judge(Some(&good), Some(timestamp)), Ok(()));
    for bad in [
        good.trim_end_matches('=').to_owned(),
        format!("{good} "),
        format!("sha256={good}"),
        hex::encode(&bytes),
        format!("{good}{good}"),
    ] {
        assert_eq!(judge(Some(&bad), Some(timestamp)), Err(Refused::Mismatch), "{bad}");
    }
    assert_eq!(judge(None, Some(timestamp)), Err(Refused::NoSignature));
    assert_eq!(judge(Some(""), Some(timestamp)), Err(Refused::NoSignature));
    assert_eq!(judge(Some(&good), None), Err(Refused::NoTimestamp));
}
