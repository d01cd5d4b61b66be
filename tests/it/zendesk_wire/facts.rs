//! Checks against the material beside the repository: real-shaped payloads, and Zendesk's API description. Where that
//! folder is missing, there is nothing to check against.

use std::path::{Path, PathBuf};

use deskhand_adapters::zendesk::OurAuthor;
use deskhand_adapters::zendesk::inbound::read;
use deskhand_core::inbound::Happening;
use deskhand_core::ticket::Author;
use reqwest::header::HeaderMap;
use serde_json::{Map, Value};

use super::stub::Asked;

fn folder() -> Option<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/facts"));
    if folder.is_dir() {
        return Some(folder.to_owned());
    }
    println!("skipped: ../shared is not there");
    None
}

#[test]
fn every_known_payload_is_understood() {
    let Some(folder) = folder() else { return };
    for (file, expected) in [
        ("event_comment_added_customer.json", "told"),
        ("event_comment_added_internal_note.json", "told"),
        ("event_ticket_created.json", "needs read"),
        ("event_status_changed.json", "told"),
        ("event_priority_changed.json", "told"),
        ("event_tags_changed.json", "nothing"),
        ("event_group_assignment_changed.json", "nothing"),
        ("event_attachment_linked_to_comment.json", "nothing"),
        ("event_messaging_message_added.json", "needs read"),
        ("trigger_payload_rendered.json", "needs read"),
        ("trigger_payload_rendered.form", "needs read"),
        ("trigger_payload_rendered_broken.json.txt", "needs read"),
    ] {
        let bytes = std::fs::read(folder.join("payloads/zendesk").join(file)).expect("the payload");
        let mapped = read(&HeaderMap::new(), &bytes, &OurAuthor::default()).expect(file);
        assert_eq!(mapped.inbound.ticket.to_string(), "zendesk:35436", "{file}");
        let what = match &mapped.inbound.what {
            Happening::Told(_) => "told",
            Happening::NeedsRead { .. } => "needs read",
            Happening::Merged { .. } => "merged",
            Happening::Closed => "closed",
            Happening::Nothing { .. } => "nothing",
        };
        assert_eq!(what, expected, "{file}");
    }
}

#[test]
fn the_customers_comment_and_the_bots_note_are_told_apart() {
    let Some(folder) = folder() else { return };
    let ours = OurAuthor {
        id: Some("8447388090494".to_owned()),
        email: None,
    };
    for (file, author, public) in [
        ("event_comment_added_customer.json", Author::Requester, true),
        ("event_comment_added_internal_note.json", Author::Bot, false),
    ] {
        let bytes = std::fs::read(folder.join("payloads/zendesk").join(file)).expect("the payload");
        let mapped = read(&HeaderMap::new(), &bytes, &ours).expect(file);
        let Happening::Told(told) = mapped.inbound.what else {
            panic!("{file}")
        };
        assert_eq!(
            (told.comments[0].author, told.comments[0].public),
            (author, public),
            "{file}"
        );
        assert_eq!(told.comments[0].outside_id.as_deref(), Some("58789194475545"));
    }
}

/// Looks whether every field that was sent is one that Zendesk describes, of the type described.
pub(crate) fn check_requests(asked: &[Asked]) {
    let Some(folder) = folder() else { return };
    let text = std::fs::read_to_string(folder.join("api-specs/zendesk_support_openapi_2024-08.trimmed.json"));
    let spec: Value = serde_json::from_str(&text.expect("the description")).expect("JSON");
    for ask in asked {
        let (method, path) = ask.line.split_once(' ').expect("a request line");
        let template = path.replace("/tickets/35", "/tickets/{ticket_id}");
        let operation = &spec["paths"][&template][method.to_lowercase()];
        assert!(operation.is_object(), "{} is not described", ask.line);
        if ask.body.is_null() {
            continue;
        }
        // What may be written is spread over two descriptions: the input's, and the ticket's write-only fields.
        let input = if method == "PUT" {
            "TicketUpdateInput"
        } else {
            "TicketCreateInput"
        };
        let schemas = &spec["components"]["schemas"];
        let mut fields = schemas["TicketObject"]["properties"]
            .as_object()
            .expect("fields")
            .clone();
        fields.extend(schemas[input]["properties"].as_object().expect("fields").clone());
        check_object(&spec, &ask.body["ticket"], &fields, &ask.line);
    }
}

fn check_object(spec: &Value, object: &Value, fields: &Map<String, Value>, place: &str) {
    for (key, value) in object.as_object().expect("an object") {
        let schema = fields
            .get(key)
            .unwrap_or_else(|| panic!("{place}: {key} is not described"));
        let schema = match schema["$ref"].as_str() {
            Some(reference) => spec.pointer(&reference[1..]).expect("resolves"),
            None => schema,
        };
        let fits = match schema["type"].as_str() {
            Some("integer") => value.is_u64(),
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("array") => value.is_array(),
            Some("object") | None => value.is_object(),
            Some(other) => panic!("{place}: {key} has the unknown type {other}"),
        };
        assert!(fits, "{place}: {key} is not of its type");
        if let Some(allowed) = schema["enum"].as_array() {
            assert!(allowed.contains(value), "{place}: {key} is not one of its words");
        }
        if key != "metadata"
            && let Some(inner) = schema["properties"].as_object()
        {
            check_object(spec, value, inner, place);
        }
    }
}
