//! Cases that lie outside of the repository, where they are there.

use std::path::PathBuf;

use crate::mail::quote::split;

fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/mail/replies"));
    if !folder.is_dir() {
        println!("skipped: ../shared is not there");
        return None;
    }
    Some(folder)
}

#[test]
fn the_multilingual_replies_come_out_as_written_beside_them() {
    let Some(folder) = folder() else { return };
    let text = std::fs::read_to_string(folder.join("own_multilingual_replies.json")).expect("readable");
    let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mut wrong = Vec::new();
    for case in file["cases"].as_array().expect("cases") {
        let string = |key: &str| case[key].as_str().expect("text");
        let split = split(string("text"));
        if split.words().trim() != string("expected_reply").trim()
            || split.signature().trim() != string("expected_signature").trim()
        {
            wrong.push(format!(
                "{}: {:?} signed {:?}",
                string("id"),
                split.words(),
                split.signature()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
