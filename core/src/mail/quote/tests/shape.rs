//! What holds for every text.

use proptest::prelude::*;

use super::own::cases;
use crate::mail::quote::{Kind, original, says_forwarded, split, split_forward};

/// Lines that mean something, alone or beside each other.
fn line() -> impl Strategy<Value = String> {
    let known: Vec<String> = cases()
        .iter()
        .flat_map(|case| case.text.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let drawn = [
        "",
        "",
        "-- ",
        "--",
        "-----",
        "________________",
        "| |",
        "> ",
        ">",
        "wrote:",
        "schrieb:",
        "写道：",
        "Sent from my iPhone",
    ];
    prop_oneof![
        4 => proptest::sample::select(known.clone()),
        2 => proptest::sample::select(drawn.map(str::to_owned).to_vec()),
        1 => proptest::sample::select(known).prop_map(|line| format!("> {line}")),
        1 => "[a-z0-9 .:@<>*|-]{0,30}",
        1 => "\\PC{0,20}",
    ]
}

fn body() -> impl Strategy<Value = String> {
    (
        proptest::collection::vec(line(), 0..30),
        proptest::sample::select(vec!["\n", "\r\n", "\r"]),
    )
        .prop_map(|(lines, end)| lines.join(end))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_pieces_are_the_whole_and_something_always_remains(text in body()) {
        for split in [split(&text), split_forward(&text)] {
            let whole: String = split.pieces.iter().map(|piece| piece.text).collect();
            prop_assert_eq!(&whole, &text);
            prop_assert_eq!(split.words().trim().is_empty(), text.trim().is_empty());
            prop_assert!(split.pieces.windows(2).all(|two| two[0].kind != two[1].kind));
            let _ = original(&split.forwarded());
        }
    }

    #[test]
    fn splitting_the_words_again_changes_nothing(text in body()) {
        let words = split(&text).words();
        prop_assert_eq!(split(&words).words(), words);
    }

    #[test]
    fn any_text_at_all_is_taken(text in any::<String>(), subject in any::<String>()) {
        let whole: String = split(&text).pieces.iter().map(|piece| piece.text).collect();
        prop_assert_eq!(whole, text);
        let _ = says_forwarded(&subject);
    }
}

/// What is slowest must come back at all; with time in the square of its length it would not within an hour.
#[test]
fn a_long_mail_of_anything_is_split() {
    let hostile = [
        "On Thu, Sep 3, 2026 at 6:02 PM Ann <ann@x.example>\n",
        "> From: Ann <ann@x.example>\n",
        "From: a\n",
        "a@b ",
        "To: a@b;\n",
        "wrote:",
        "-- \n",
        ">",
        "| |\n",
        "> a\nb\n",
        "\n",
        "\u{200f}> \u{a0}",
        "写道：\n",
    ];
    for part in hostile {
        let text = part.repeat(300_000 / part.len());
        let split = split(&text);
        assert_eq!(
            split.pieces.iter().map(|piece| piece.text.len()).sum::<usize>(),
            text.len()
        );
    }
}

#[test]
fn the_forwarded_mail_tells_who_wrote_it_and_what() {
    let text = cases()
        .into_iter()
        .find(|case| case.id == "en/forward-apple")
        .expect("the case")
        .text;
    let found = original(&split(&text).forwarded()).expect("a header block");
    assert_eq!(
        (found.name.as_str(), found.address.as_str()),
        ("Ola Berg", "ola@berg.example")
    );
    assert_eq!(
        (found.subject.as_str(), found.body.as_str()),
        ("Humming lamp", "It hums.")
    );
    let bare = "---------- Forwarded message ---------\nVon: <o@b.example>\nBetreff: x\nDatum: 3. Sep. 2026 18:02\n\nSie brummt.";
    let split = split(bare);
    assert_eq!(
        split.pieces.iter().map(|piece| piece.kind).collect::<Vec<_>>(),
        [Kind::Forwarded]
    );
    let found = original(&split.forwarded()).expect("a header block");
    assert_eq!(
        (found.name.as_str(), found.address.as_str(), found.body.as_str()),
        ("", "o@b.example", "Sie brummt.")
    );
}

#[test]
fn the_subject_tells_of_a_forward() {
    for subject in [
        "Fwd: lamp",
        "FW: lamp",
        "WG: Lampe",
        "TR : lampe",
        "RV: lámpara",
        "转发：灯",
        "Fwd：灯",
        "[Fwd: lamp]",
        "전달: 램프",
        "PD: lampa",
    ] {
        assert!(says_forwarded(subject), "{subject}");
    }
    for subject in [
        "Re: lamp",
        "lamp",
        "Forwarding address: changed",
        "AW: Lampe",
        "Problem: lamp",
        "Re: Fwd: lamp",
        "VS: lamppu",
        "",
    ] {
        assert!(!says_forwarded(subject), "{subject}");
    }
}
