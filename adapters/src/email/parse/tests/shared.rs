//! Mails that lie outside of the repository, where they are there, against what three other parsers agree on.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::email::parse;

/// Where we differ on purpose.
const DIFFERENT: [(&str, &str); 5] = [
    ("legacy/033.eml", "Latin-1 under the name of UTF-8 is read, not damaged"),
    ("legacy/052.eml", "undeclared Latin-1 is read, not damaged"),
    ("malformed/001.eml", "a boundary is not a text"),
    (
        "malformed/020.eml",
        "the text behind headers without an empty line is kept",
    ),
    (
        "malformed/021.eml",
        "the text behind headers without an empty line is kept",
    ),
];

#[test]
fn where_three_parsers_agree_we_agree_too() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/mail"));
    if !folder.is_dir() {
        println!("skipped: ../shared is not there");
        return;
    }
    let text = std::fs::read_to_string(folder.join("mime_expected_by_three_parsers.json")).expect("readable");
    let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mut wrong = Vec::new();
    for (name, expected) in file["files"].as_object().expect("files") {
        let mail = parse(&std::fs::read(folder.join(name)).expect("readable"));
        let python = &expected["python_email"];
        for field in expected["all_three_agree_on"].as_array().expect("fields") {
            let field = field.as_str().expect("text");
            let (ours, theirs) = match field {
                "subject" => (
                    collapsed(&mail.subject),
                    collapsed(python["subject"].as_str().unwrap_or_default()),
                ),
                "message_id" => (
                    mail.message_id.clone(),
                    python["message_id"]
                        .as_str()
                        .unwrap_or_default()
                        .trim_matches(['<', '>'])
                        .to_owned(),
                ),
                "from" => {
                    let ours: Vec<&str> = mail.from.iter().map(|from| from.address.as_str()).collect();
                    let theirs = python["from"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(|from| from.as_str());
                    (
                        ours.join(","),
                        theirs.map(str::to_lowercase).collect::<Vec<_>>().join(","),
                    )
                }
                "text_norm_sha" if python["text_type"] == "text/plain" => {
                    let digest = hex::encode(Sha256::digest(collapsed(&mail.text)));
                    (
                        digest[..16].to_owned(),
                        python["text_norm_sha"].as_str().unwrap_or_default().to_owned(),
                    )
                }
                _ => continue,
            };
            let on_purpose = field == "text_norm_sha" && DIFFERENT.iter().any(|(file, _)| name.ends_with(file));
            // Bytes that they could not read, we do read.
            let damaged = theirs.contains(char::REPLACEMENT_CHARACTER) && !ours.contains(char::REPLACEMENT_CHARACTER);
            if ours != theirs && !on_purpose && !damaged {
                wrong.push(format!("{name} {field}: {ours:?} for {theirs:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
