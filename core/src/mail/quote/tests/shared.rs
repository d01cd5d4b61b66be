//! Cases that lie outside of the repository, where they are there.

use std::path::PathBuf;

use crate::mail::quote::{Kind, split};

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

/// Other people's fixtures: what each line is, as the last line of each stretch. Where these libraries split otherwise:
/// quotes above answers within a mail stay as their context (`email_tricky_18`, `email_1_8`); a name under a greeting
/// without a delimiter stays with the words, where one of them takes it for a signature (`jeff`, `long`, `short_url`,
/// `johndoe…`, `unicode_msg`), because a telephone number there may be the answer.
const OLD: [(&str, &[(Kind, usize)]); 37] = {
    use Kind::{Quoted as Q, Signature as S, Words as W};
    [
        ("crisp-email-reply-parser/email_french_2.txt", &[(W, 2), (Q, 7)]),
        ("crisp-email-reply-parser/email_german_outlook.txt", &[(W, 2), (Q, 9)]),
        ("crisp-email-reply-parser/email_russian.txt", &[(W, 2), (Q, 5)]),
        (
            "crisp-email-reply-parser/email_tricky_18_inline_reply.txt",
            &[(Q, 1), (W, 13)],
        ),
        ("github-email_reply_parser/correct_sig.txt", &[(W, 2), (S, 4)]),
        ("github-email_reply_parser/email_1_1.txt", &[(W, 9), (S, 13)]),
        (
            "github-email_reply_parser/email_1_2.txt",
            &[(W, 1), (Q, 8), (W, 36), (Q, 47), (S, 51)],
        ),
        ("github-email_reply_parser/email_1_3.txt", &[(W, 6), (Q, 51), (S, 55)]),
        ("github-email_reply_parser/email_1_4.txt", &[(W, 2), (Q, 8)]),
        ("github-email_reply_parser/email_1_5.txt", &[(W, 15)]),
        ("github-email_reply_parser/email_1_6.txt", &[(W, 2), (S, 4), (Q, 15)]),
        ("github-email_reply_parser/email_1_7.txt", &[(W, 2), (Q, 12)]),
        (
            "github-email_reply_parser/email_1_8.txt",
            &[(Q, 2), (W, 21), (Q, 35), (S, 37)],
        ),
        ("github-email_reply_parser/email_2_1.txt", &[(W, 3), (Q, 25)]),
        ("github-email_reply_parser/email_2_2.txt", &[(W, 1), (Q, 10)]),
        ("github-email_reply_parser/email_2_3.txt", &[(W, 2), (Q, 10)]),
        ("github-email_reply_parser/email_BlackBerry.txt", &[(W, 2), (S, 3)]),
        (
            "github-email_reply_parser/email_bullets.txt",
            &[(W, 11), (Q, 19), (S, 22)],
        ),
        ("github-email_reply_parser/email_iPhone.txt", &[(W, 2), (S, 3)]),
        (
            "github-email_reply_parser/email_multi_word_sent_from_my_mobile_device.txt",
            &[(W, 2), (S, 3)],
        ),
        ("github-email_reply_parser/email_one_is_not_on.txt", &[(W, 6), (Q, 10)]),
        (
            "github-email_reply_parser/email_sent_from_my_not_signature.txt",
            &[(W, 3)],
        ),
        (
            "github-email_reply_parser/email_sig_delimiter_in_middle_of_line.txt",
            &[(W, 7)],
        ),
        ("github-email_reply_parser/greedy_on.txt", &[(W, 7), (Q, 16)]),
        ("github-email_reply_parser/pathological.txt", &[(W, 2), (Q, 20)]),
        ("mail-parser-reply/email_de_wrap.txt", &[(W, 9), (Q, 13)]),
        ("mail-parser-reply/email_fr_wrap.txt", &[(W, 9), (Q, 14)]),
        ("mail-parser-reply/email_ja_1_2.txt", &[(W, 9), (Q, 18)]),
        ("mail-parser-reply/email_zh_1.txt", &[(W, 15), (S, 20), (Q, 29)]),
        ("mail-parser-reply/email_zh_2.txt", &[(W, 3), (Q, 10)]),
        ("mailgun-talon/signature/emails/P/johndoeexamplecom_body", &[(W, 34)]),
        ("mailgun-talon/signature/emails/P/unicode_msg", &[(W, 10)]),
        ("mailgun-talon/signature/emails/stripped/camel_case_body", &[(W, 9)]),
        ("mailgun-talon/signature/emails/stripped/jeff_body", &[(W, 5)]),
        ("mailgun-talon/signature/emails/stripped/long_body", &[(W, 8)]),
        ("mailgun-talon/signature/emails/stripped/short_url_body", &[(W, 6)]),
        (
            "mailgun-talon/signature/emails/stripped/sparse_body",
            &[(W, 4), (S, 23)],
        ),
    ]
};

#[test]
fn the_fixtures_of_older_libraries_keep_their_sense() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    for (name, expected) in OLD {
        let text = std::fs::read_to_string(folder.join(name)).expect("readable");
        let mut line = 0;
        let ends = split(&text)
            .pieces
            .iter()
            .map(|piece| {
                line += piece.text.lines().count();
                (piece.kind, line)
            })
            .collect::<Vec<_>>();
        if ends != expected {
            wrong.push(format!("{name}: {ends:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
