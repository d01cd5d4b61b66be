//! The fakes sign as the services do: proved by the vectors, where they lie beside the repository.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use deskhand_tests::fake::spec::facts;
use deskhand_tests::fake::wire::{slack_signature, zendesk_signature};
use serde_json::Value;

const SIGNATURE: &str = "x-zendesk-webhook-signature";

fn cases(file: &str) -> Vec<Value> {
    let Some(folder) = facts() else {
        println!("skipped: ../shared is not there");
        return Vec::new();
    };
    let text = std::fs::read(folder.join("vectors").join(file)).expect("the vectors can be read");
    let vectors: Value = serde_json::from_slice(&text).expect("the vectors are JSON");
    let cases = vectors["cases"].as_array().cloned().unwrap_or_default();
    assert!(!cases.is_empty(), "{file} has no cases");
    cases
}

fn header<'a>(case: &'a Value, name: &str) -> Option<&'a str> {
    let headers = case["headers"].as_object()?;
    headers
        .iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .and_then(|(_, value)| value.as_str())
}

fn body(case: &Value) -> Vec<u8> {
    BASE64_STANDARD
        .decode(case["body_base64"].as_str().unwrap_or(""))
        .expect("base64")
}

#[test]
fn slack_vectors_that_are_to_be_accepted_carry_our_signature() {
    for case in cases("slack_signature.json")
        .iter()
        .filter(|case| case["expect"] == "accept")
    {
        let secret = case["signing_secret"].as_str().expect("a secret");
        let timestamp = header(case, "x-slack-request-timestamp").expect("a timestamp");
        let ours = slack_signature(secret, timestamp, &body(case));
        assert_eq!(
            header(case, "x-slack-signature"),
            Some(ours.as_str()),
            "{}",
            case["name"]
        );
    }
}

#[test]
fn zendesk_vectors_whose_signature_is_right_carry_ours() {
    let right = |case: &&Value| case["mac_matches"] == true && header(case, SIGNATURE).is_some();
    for case in cases("zendesk_webhook_hmac.json").iter().filter(right) {
        let secret = case["signing_secret"].as_str().expect("a secret");
        let timestamp = header(case, "x-zendesk-webhook-signature-timestamp").expect("a timestamp");
        let ours = zendesk_signature(secret, timestamp, &body(case));
        assert_eq!(
            header(case, "x-zendesk-webhook-signature"),
            Some(ours.as_str()),
            "{}",
            case["name"]
        );
    }
}
