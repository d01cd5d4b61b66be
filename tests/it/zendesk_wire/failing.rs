//! What is refused, lost, slow or wrong, and what the caller is told of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta};
use deskhand_adapters::zendesk::Zendesk;
use deskhand_core::port::{Desk, PortError};
use serde_json::json;

use super::stub::Stub;
use super::{AUDITS, COMMENTS, TICKET, UPDATE, config, desk, reply, ticket};

/// The error's name.
fn name(error: &PortError) -> &'static str {
    match error {
        PortError::Transient { .. } => "transient",
        PortError::Ambiguous { .. } => "ambiguous",
        PortError::Conflict { .. } => "conflict",
        PortError::Gone { .. } => "gone",
        PortError::Closed { .. } => "closed",
        PortError::Permanent { .. } => "permanent",
    }
}

#[tokio::test]
async fn refusals_say_whether_it_may_be_tried_again_and_whether_it_may_have_happened() {
    let closed = json!({"error": "RecordInvalid", "details": {"status": [{"description": "Status: closed prevents ticket update"}]}});
    for (status, body, of_a_write, of_a_read) in [
        (
            401,
            json!({"error": "Couldn't authenticate you"}),
            "permanent",
            "permanent",
        ),
        (403, json!({"error": "Forbidden"}), "permanent", "permanent"),
        (404, json!({"error": "RecordNotFound"}), "gone", "gone"),
        (409, json!({"error": "UpdateConflict"}), "conflict", "conflict"),
        (422, closed, "closed", "closed"),
        (422, json!({"error": "RecordInvalid"}), "permanent", "permanent"),
        (429, json!({"error": "TooManyRequests"}), "transient", "transient"),
        (503, json!("Service Unavailable"), "ambiguous", "transient"),
        (302, json!({}), "permanent", "permanent"),
        (200, json!("not a ticket"), "ambiguous", "transient"),
    ] {
        let stub = Stub::start().await;
        stub.answers(UPDATE, status, body.clone());
        stub.answers(TICKET, status, body);
        let desk = desk(&stub);
        let written = desk.write(&reply("x")).await.expect_err("refused");
        assert_eq!(name(&written), of_a_write, "write, {status}: {written}");
        let read = desk.read("35").await.expect_err("refused");
        assert_eq!(name(&read), of_a_read, "read, {status}: {read}");
    }
}

#[tokio::test]
async fn after_a_429_nothing_is_asked_until_its_time_is_over() {
    let stub = Stub::start().await;
    stub.answers_with(
        TICKET,
        429,
        &[("retry-after", "93"), ("x-rate-limit-remaining", "0")],
        json!({}),
    );
    stub.answers(TICKET, 200, ticket(&json!({})));
    stub.answers(COMMENTS, 200, json!({"comments": []}));
    let moved = Arc::new(AtomicI64::new(0));
    let hand = moved.clone();
    let mut config = config(&stub.url);
    config.clock = Arc::new(move || DateTime::UNIX_EPOCH + TimeDelta::seconds(hand.load(Ordering::Relaxed)));
    let desk = Zendesk::new(config).expect("a client");
    for _ in 0..2 {
        let Err(PortError::Transient { retry_after, .. }) = desk.read("35").await else {
            panic!("must wait")
        };
        assert_eq!(retry_after, Some(Duration::from_secs(93)));
    }
    assert_eq!(stub.asked().len(), 1);
    moved.store(93, Ordering::Relaxed);
    desk.read("35").await.expect("reads");
}

#[tokio::test]
async fn an_unreachable_desk_was_not_written_to_and_a_silent_one_may_have_been() {
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        format!("http://{}", listener.local_addr().expect("an address"))
    };
    let desk = Zendesk::new(config(&nobody)).expect("a client");
    assert_eq!(name(&desk.write(&reply("x")).await.expect_err("refused")), "transient");

    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let mut config = config(&format!("http://{}", silent.local_addr().expect("an address")));
    config.timeout = Duration::from_millis(50);
    let desk = Zendesk::new(config).expect("a client");
    assert_eq!(name(&desk.write(&reply("x")).await.expect_err("silent")), "ambiguous");
    assert_eq!(name(&desk.read("35").await.expect_err("silent")), "transient");
}

#[tokio::test]
async fn an_update_without_a_trace_is_not_taken_for_done() {
    let stub = Stub::start().await;
    stub.answers(UPDATE, 200, ticket(&json!({})));
    stub.answers(AUDITS, 200, json!({"audits": []}));
    let error = desk(&stub).write(&reply("x")).await.expect_err("no trace");
    assert_eq!(name(&error), "ambiguous");
}

#[tokio::test]
async fn what_is_no_number_never_becomes_a_path() {
    let stub = Stub::start().await;
    let desk = desk(&stub);
    for id in ["", "35/../users/me", "35?x", "-1", "３５"] {
        assert_eq!(name(&desk.read(id).await.expect_err("refused")), "permanent");
    }
    assert!(stub.asked().is_empty());
}

#[test]
fn a_wrong_address_is_one_sentence_naming_the_setting() {
    for url in ["ftp://shop.example", "http://shop.zendesk.com"] {
        let Err(error) = Zendesk::new(config(url)) else {
            panic!("{url} is taken")
        };
        assert!(error.to_string().contains("ZENDESK_URL"), "{error}");
    }
}
