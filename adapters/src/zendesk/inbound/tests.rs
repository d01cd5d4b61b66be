use deskhand_core::inbound::{DeskStatus, Happening, NewComment};
use deskhand_core::ticket::{Author, Priority};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn bot() -> OurAuthor {
    OurAuthor {
        id: Some("900".to_owned()),
        email: Some("bot@shop.example".to_owned()),
    }
}

fn map(body: &str) -> Result<ZendeskInbound, MapError> {
    read(&HeaderMap::new(), body.as_bytes(), &bot())
}

/// The ticket and a word for what happened.
fn outcome(body: &str) -> String {
    match map(body) {
        Ok(mapped) => {
            let what = match mapped.inbound.what {
                Happening::Told(_) => "told".to_owned(),
                Happening::NeedsRead { .. } => "needs read".to_owned(),
                Happening::Merged { into } => format!("merged into {into}"),
                Happening::Closed => "closed".to_owned(),
                Happening::Nothing { .. } => "nothing".to_owned(),
            };
            format!("{}: {what}", mapped.inbound.ticket)
        }
        Err(_) => "error".to_owned(),
    }
}

fn event(kind: &str, event: &Value) -> String {
    json!({
        "type": format!("zen:event-type:ticket.{kind}"),
        "id": "event-1",
        "subject": "zen:ticket:81",
        "time": "2026-10-09T08:53:21.672717030Z",
        "detail": {"id": "81", "requester_id": "7", "actor_id": "5", "subject": "Lamp broken",
                   "updated_at": "2026-10-09T08:53:21Z", "description": "It flickers."},
        "event": event,
    })
    .to_string()
}

fn comment_by(author: &str, is_staff: bool, public: bool) -> NewComment {
    let body = event(
        "comment_added",
        &json!({"comment": {"id": "4001", "body": "Still\u{0} dark.", "is_public": public,
                           "author": {"id": author, "name": "Ada", "is_staff": is_staff}}}),
    );
    match map(&body).expect("maps").inbound.what {
        Happening::Told(told) => told.comments.into_iter().next().expect("one comment"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_comment_event_is_a_whole_comment_with_its_own_id() {
    let comment = comment_by("7", false, true);
    assert_eq!(comment.outside_id.as_deref(), Some("4001"));
    assert_eq!(comment.author, Author::Requester);
    assert_eq!(comment.body, "Still dark.", "NUL cannot be stored");
    assert!(comment.public);
    assert_eq!(
        comment.created_at.map(|time| time.to_rfc3339()).as_deref(),
        Some("2026-10-09T08:53:21.672717+00:00")
    );
}

#[test]
fn authors_are_told_apart_by_their_ids() {
    assert_eq!(comment_by("7", false, true).author, Author::Requester);
    assert_eq!(comment_by("5", true, true).author, Author::Agent);
    assert_eq!(comment_by("900", true, false).author, Author::Bot);
    assert_eq!(comment_by("8", false, true).author, Author::Other);
    assert!(!comment_by("5", true, false).public);
}

#[test]
fn each_event_says_what_it_is_about() {
    for (kind, payload, expected) in [
        ("created", json!({}), "zendesk:81: needs read"),
        (
            "comment_added",
            json!({"comment": {"body": "no id"}}),
            "zendesk:81: needs read",
        ),
        (
            "merged",
            json!({"target_ticket_id": "99"}),
            "zendesk:81: merged into 99",
        ),
        ("merged", json!({"target_ticket_id": "81"}), "zendesk:81: needs read"),
        ("merged", json!({}), "zendesk:81: needs read"),
        ("status_changed", json!({"current": "CLOSED"}), "zendesk:81: closed"),
        ("status_changed", json!({"current": "solved"}), "zendesk:81: told"),
        ("status_changed", json!({"current": "ON_MARS"}), "zendesk:81: nothing"),
        ("priority_changed", json!({"current": "HIGH"}), "zendesk:81: told"),
        ("priority_changed", json!({"current": null}), "zendesk:81: nothing"),
        ("requester_changed", json!({}), "zendesk:81: needs read"),
        ("soft_deleted", json!({}), "zendesk:81: closed"),
        ("tags_changed", json!({"tags_added": ["x"]}), "zendesk:81: nothing"),
        ("made_up_next_year", json!({}), "zendesk:81: nothing"),
    ] {
        assert_eq!(outcome(&event(kind, &payload)), expected, "{kind}");
    }
}

#[test]
fn our_own_changes_of_fields_change_nothing() {
    let ours =
        event("status_changed", &json!({"current": "SOLVED"})).replace("\"actor_id\":\"5\"", "\"actor_id\":\"900\"");
    assert_eq!(outcome(&ours), "zendesk:81: nothing");
}

#[test]
fn an_assignment_to_the_bot_is_an_assignment_to_nobody() {
    for (current, assignee) in [(json!("5"), Some("5")), (json!("900"), None), (Value::Null, None)] {
        let mapped = map(&event("agent_assignment_changed", &json!({"current": current}))).expect("maps");
        let Happening::Told(told) = mapped.inbound.what else {
            panic!("told")
        };
        assert_eq!(told.assignee, Some(assignee.map(str::to_owned)));
    }
}

#[test]
fn a_trigger_names_a_ticket_that_must_be_read() {
    for body in [
        r#"{"ticket_id":"35436","subject":"Hi","latest_comment":"text"}"#,
        r#"{ "ticket_id" : 35436 }"#,
        r#"{"subject":"keys in another order","ticket_id":"35436"}"#,
        "ticket_id=35436&subject=O%C3%B9+%22est%22",
        // Broken by a quote, by a line break, by a stray backslash, and cut off.
        r#"{"ticket_id":"35436","subject":"He said "hello""}"#,
        "{\"ticket_id\":\"35436\",\"subject\":\"line one\nline two\"}",
        r#"{"ticket_id":"35436","subject":"C:\new"}"#,
        r#"{"ticket_id":35436,"subject":"cut o"#,
        // Broken out of its quotes without breaking the JSON.
        r#"{"ticket_id":"35436","subject":"x","ticket_id":"1","a":"b"}"#,
        r#"{"ticket_id":"35436","subject":"x","type":"zen:event-type:ticket.merged","detail":{"id":"1"},"a":""}"#,
    ] {
        assert_eq!(outcome(body), "zendesk:35436: needs read", "{body}");
    }
}

#[test]
fn a_customers_text_never_chooses_the_ticket() {
    for body in [
        r#"{"subject":"x","ticket_id":"1","y":"","ticket_id":"35436"}"#,
        r#"{"subject":"He said "ticket_id":"1","ticket_id":"35436"}"#,
        r#"{"ticket_id":"","subject":"\"ticket_id\":\"1\""}"#,
        r#"{"ticket_id":"12a","subject":"He said "hi""}"#,
        r#"{"ticket_id":"35436" "subject":"no comma"}"#,
        r#"{"ticket_id":["1"]}"#,
        r#"{"ticket":{"ticket_id":"1"}}"#,
        "subject=x&ticket_id=1&ticket_id=2",
        "",
        "null",
        "[1]",
    ] {
        assert_eq!(outcome(body), "error", "{body}");
    }
}

#[test]
fn a_trigger_of_our_own_update_is_known_by_the_account_and_not_by_a_name() {
    assert_eq!(
        outcome(r#"{"ticket_id":"5","current_user_id":"900"}"#),
        "zendesk:5: nothing"
    );
    assert_eq!(
        outcome(r#"{"ticket_id":"5","current_user_email":"Bot@Shop.example"}"#),
        "zendesk:5: nothing"
    );
    assert_eq!(
        outcome(r#"{"ticket_id":"5","current_user":"Deskhand"}"#),
        "zendesk:5: needs read"
    );
    let unknown = read(
        &HeaderMap::new(),
        br#"{"ticket_id":"5","current_user_email":""}"#,
        &OurAuthor::default(),
    );
    assert!(matches!(
        unknown.expect("maps").inbound.what,
        Happening::NeedsRead { .. }
    ));
}

#[test]
fn what_a_trigger_tells_besides_is_a_preview() {
    let mapped = map(
        r#"{"ticket_id":"5","subject":"Lamp","description":"----------------------------------------------\n\nAda, 9 Oct 2026 at 10:53\n\nIt flickers.\nOften.",
            "requester_name":"Ada","requester_email":"ada@example.com","priority":"High","status":"Open","url":"shop.zendesk.com/agent/tickets/5"}"#,
    );
    let preview = mapped.expect("maps").preview.expect("a preview");
    assert_eq!(preview.subject.as_deref(), Some("Lamp"));
    assert_eq!(preview.priority, Some(Priority::High));
    assert_eq!(preview.status, Some(DeskStatus::Open));
    assert_eq!(preview.url.as_deref(), Some("https://shop.zendesk.com/agent/tickets/5"));
    assert_eq!(preview.comments[0].body, "It flickers.\nOften.");
    assert_eq!(preview.comments[0].outside_id, None);
}

#[test]
fn a_delivery_keeps_its_id_over_retries() {
    let mut headers = HeaderMap::new();
    headers.insert(
        "x-zendesk-webhook-signature-timestamp",
        "2026-10-09T08:53:22Z".parse().expect("a value"),
    );
    let created = event("created", &json!({}));
    assert_eq!(delivery_id(&headers, created.as_bytes()), "event:event-1");
    let by_body = delivery_id(&headers, br#"{"ticket_id":"5"}"#);
    assert!(by_body.starts_with("body:"), "{by_body}");
    assert_eq!(by_body, delivery_id(&headers, br#"{"ticket_id":"5"}"#));
    headers.insert(
        "x-zendesk-webhook-signature-timestamp",
        "2026-10-09T08:54:22Z".parse().expect("a value"),
    );
    assert_ne!(by_body, delivery_id(&headers, br#"{"ticket_id":"5"}"#));
    headers.insert(
        "x-zendesk-webhook-invocation-id",
        "8350205582".parse().expect("a value"),
    );
    assert_eq!(delivery_id(&headers, created.as_bytes()), "8350205582");
}

#[test]
fn absurd_bodies_are_errors_with_one_sentence() {
    let deep = format!("{{\"a\":{}", "[".repeat(100_000));
    for body in [
        deep.as_str(),
        "{\"type\":\"zen:event-type:user.created\"}",
        "{\"a\":\"\\ud800\"}",
        "{}",
    ] {
        let error = map(body).expect_err("does not map");
        assert!(error.to_string().ends_with('.'), "{error}");
    }
    assert!(read(&HeaderMap::new(), &[0xff, 0xfe, 0x00], &bot()).is_err());
}

proptest! {
    /// No bytes make it panic, and a broken trigger never yields another ticket than its first key.
    #[test]
    fn a_mutated_trigger_names_its_own_ticket_or_none(
        subject in "[\\x00-\\x7f\u{e9}\u{4e2d}]{0,60}",
        tail in "[\"\\\\{}:,a-z_0-9]{0,40}",
    ) {
        let body = format!("{{\"ticket_id\":\"35436\",\"subject\":\"{subject}\",\"ticket_id\":\"1{tail}\"}}");
        let mapped = map(&body).expect("the first key names it");
        prop_assert_eq!(mapped.inbound.ticket.id, "35436");
    }

    #[test]
    fn no_bytes_make_it_panic(
        mut bytes in Just(event("comment_added", &json!({"comment": {"id": "1", "body": "x", "is_public": true}})).into_bytes()),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        keep in any::<prop::sample::Index>(),
    ) {
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(keep.index(bytes.len()) + 1);
        let id = delivery_id(&HeaderMap::new(), &bytes);
        prop_assert!(!id.is_empty());
        if let Err(error) = read(&HeaderMap::new(), &bytes, &bot()) {
            prop_assert!(!error.why.is_empty());
        }
    }
}
