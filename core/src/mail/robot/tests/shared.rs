//! Cases that lie outside of the repository, where they are there.

use std::path::PathBuf;

use crate::mail::robot::{Kind, Mail, judge};

fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/mail"));
    if !folder.is_dir() {
        println!("skipped: ../shared is not there");
        return None;
    }
    Some(folder)
}

fn json(path: PathBuf) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("readable")).expect("JSON")
}

fn subject(headers: &[(String, String)]) -> &str {
    headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("subject"))
        .map_or("", |(_, value)| value)
}

#[test]
fn the_automatic_mail_cases_get_their_labels() {
    let Some(folder) = folder() else { return };
    let file = json(folder.join("own_automatic_mail_cases.json"));
    let mut wrong = Vec::new();
    for case in file["cases"].as_array().expect("cases") {
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let headers = case["headers"].as_array().expect("headers").iter();
        let headers: Vec<_> = headers.map(|pair| (text(&pair[0]), text(&pair[1]))).collect();
        let body = text(&case["body"]);
        let found = judge(&Mail {
            headers: &headers,
            subject: subject(&headers),
            text: &body,
            ..Mail::default()
        });
        if Some(found.kind.label()) != case["label"].as_str() {
            wrong.push(format!("{}: {found:?}", case["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Read without a parser: headers up to the first empty line, everything else as text.
#[test]
fn the_bounces_are_bounces_and_name_the_mail_that_came_back() {
    let Some(folder) = folder() else { return };
    let file = json(folder.join("bounces/labels.json"));
    let mut wrong = Vec::new();
    for (name, label) in file["labels"].as_object().expect("labels") {
        let raw = std::fs::read(folder.join(format!("bounces/{name}.eml"))).expect("readable");
        let raw = String::from_utf8_lossy(&raw).replace("\r\n", "\n");
        let (head, text) = raw.split_once("\n\n").unwrap_or((&raw, ""));
        let unfolded = head.replace("\n\t", " ").replace("\n ", " ");
        let pairs = unfolded.lines().filter_map(|line| line.split_once(':'));
        let headers: Vec<(String, String)> = pairs.map(|(n, v)| (n.to_owned(), v.trim().to_owned())).collect();
        let found = judge(&Mail {
            headers: &headers,
            subject: subject(&headers),
            text,
            ..Mail::default()
        });
        let has_id = text.to_lowercase().contains("\nmessage-id:");
        let lacks_id = matches!(&found.kind, Kind::Bounce(bounce) if has_id && bounce.original.is_none());
        if Some(found.kind.label()) != label.as_str() || lacks_id {
            wrong.push(format!("{name}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
