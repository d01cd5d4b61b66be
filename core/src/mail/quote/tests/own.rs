//! The cases of `cases.txt`.

use crate::mail::quote::{split, split_forward};

#[derive(Debug, Default)]
pub(super) struct Case {
    pub id: String,
    pub text: String,
    pub words: String,
    pub signature: String,
    pub forwarded: String,
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let (mut section, mut crlf) = (String::new(), false);
    for line in include_str!("cases.txt").lines() {
        if let Some(rest) = line.strip_prefix("%% ") {
            if let Some(id) = rest.strip_prefix("case ") {
                cases.push(Case {
                    id: id.to_owned(),
                    ..Case::default()
                });
                (section, crlf) = ("text".to_owned(), false);
            } else if rest == "crlf" {
                crlf = true;
            } else {
                section = rest.to_owned();
            }
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        let line = unescaped(line);
        let part = match section.as_str() {
            "text" => &mut case.text,
            "words" => &mut case.words,
            "signature" => &mut case.signature,
            "forwarded" => &mut case.forwarded,
            other => panic!("{}: no section {other}", case.id),
        };
        part.push_str(&line);
        part.push_str(if crlf && section == "text" { "\r\n" } else { "\n" });
    }
    cases
}

fn unescaped(line: &str) -> String {
    let mut parts = line.split("\\u{");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('}').expect("closed");
        out.push(
            u32::from_str_radix(code, 16)
                .ok()
                .and_then(char::from_u32)
                .expect("a character"),
        );
        out.push_str(rest);
    }
    out
}

#[test]
fn every_case_comes_out_as_written() {
    let cases = cases();
    assert!(cases.len() > 60);
    let mut wrong = Vec::new();
    for case in &cases {
        let split = split(&case.text);
        for (part, found, expected) in [
            ("words", split.words(), &case.words),
            ("signature", split.signature(), &case.signature),
            ("forwarded", split.forwarded(), &case.forwarded),
        ] {
            if found.trim_end() != expected.trim_end() {
                wrong.push(format!("{} {part}: {found:?}\n   expected {expected:?}", case.id));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_forward_without_a_separator_is_known_by_its_subject() {
    let text = "Please handle.\n\nFrom: Ola Berg <ola@berg.example>\nSent: Thursday, September 3, 2026 6:02 PM\n\
                To: Care <care@lamps.example>\nSubject: Humming lamp\n\nIt hums.\n\nOla";
    assert_eq!(split(text).quoted(), split_forward(text).forwarded());
    assert_eq!(split_forward(text).words(), "Please handle.");
}
