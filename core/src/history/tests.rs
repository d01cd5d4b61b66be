use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::model::{Stop, Usage};

fn told(text: &str) -> Turn {
    Turn::Told(vec![Part::Text(text.to_owned())])
}

fn said(text: &str, calls: &[&str]) -> Turn {
    Turn::Said(ModelReply {
        text: text.to_owned(),
        calls: calls.iter().map(|id| call(id)).collect(),
        stop: if calls.is_empty() { Stop::EndOfTurn } else { Stop::Calls },
        usage: Usage::default(),
        raw: None,
    })
}

fn call(id: &str) -> Call {
    Call {
        id: id.to_owned(),
        name: "list_tickets".to_owned(),
        args: json!({}),
    }
}

fn answers(answers: &[(&str, &str)]) -> Turn {
    let answer = |(id, text): &(&str, &str)| Answer {
        call_id: (*id).to_owned(),
        name: "list_tickets".to_owned(),
        text: (*text).to_owned(),
        failed: *text == GAP,
    };
    Turn::Outcomes(answers.iter().map(answer).collect())
}

#[track_caller]
fn check(turns: &[Turn], expected: &[Turn]) {
    assert_eq!(repaired(turns, Wire::Anthropic), expected);
}

#[test]
fn a_sound_history_stays_as_it_is() {
    let sound = [
        told("a"),
        said("", &["x", "y"]),
        answers(&[("x", "1"), ("y", "2")]),
        said("done", &[]),
        told("b"),
    ];
    check(&sound, &sound);
}

#[test]
fn a_crash_leaves_a_gap_that_says_so() {
    check(
        &[told("a"), said("", &["x", "y"]), answers(&[("y", "2")]), told("b")],
        &[
            told("a"),
            said("", &["x", "y"]),
            answers(&[("x", GAP), ("y", "2")]),
            told("b"),
        ],
    );
}

#[test]
fn outcomes_come_right_after_their_calls_in_their_order() {
    check(
        &[
            told("a"),
            said("", &["x", "y"]),
            answers(&[("y", "2")]),
            told("b"),
            answers(&[("x", "1")]),
        ],
        &[
            told("a"),
            said("", &["x", "y"]),
            answers(&[("x", "1"), ("y", "2")]),
            told("b"),
        ],
    );
}

#[test]
fn outcomes_without_a_call_and_second_outcomes_are_dropped() {
    check(
        &[
            answers(&[("x", "0")]),
            told("a"),
            said("", &["x"]),
            answers(&[("x", "1"), ("x", "2"), ("z", "3")]),
        ],
        &[told("a"), said("", &["x"]), answers(&[("x", "1")])],
    );
}

#[test]
fn one_id_in_two_replies_stays_two_calls() {
    check(
        &[
            told("a"),
            said("", &["x"]),
            answers(&[("x", "1")]),
            said("", &["x"]),
            answers(&[("x", "2")]),
        ],
        &[
            told("a"),
            said("", &["x"]),
            answers(&[("x", "1")]),
            said("", &["x_2"]),
            answers(&[("x_2", "2")]),
        ],
    );
    // The first one's outcome is missing: the second one's must not be taken for it.
    check(
        &[told("a"), said("", &["x"]), said("", &["x"]), answers(&[("x", "2")])],
        &[
            told("a"),
            said("", &["x"]),
            answers(&[("x", GAP)]),
            said("", &["x_2"]),
            answers(&[("x_2", "2")]),
        ],
    );
}

#[test]
fn one_id_twice_in_a_reply_takes_the_outcomes_in_their_order() {
    check(
        &[told("a"), said("", &["x", "x"]), answers(&[("x", "1"), ("x", "2")])],
        &[told("a"), said("", &["x", "x_2"]), answers(&[("x", "1"), ("x_2", "2")])],
    );
}

#[test]
fn empty_turns_are_dropped_and_the_ends_are_ours() {
    check(&[], &[told("Go on.")]);
    check(
        &[said("hello", &[]), told(" "), said(" ", &[]), said("again", &[])],
        &[
            told("Go on."),
            said("hello", &[]),
            told("Go on."),
            said("again", &[]),
            told("Go on."),
        ],
    );
    check(
        &[told("a"), told("b")],
        &[Turn::Told(vec![Part::Text("a".to_owned()), Part::Text("b".to_owned())])],
    );
}

#[test]
fn ids_take_the_spelling_of_each_provider() {
    let long = "c".repeat(70);
    let turns = [
        told("a"),
        said("", &["call:1", &long, ""]),
        answers(&[("call:1", "1"), (&long, "2"), ("", "3")]),
    ];
    let ids = |wire| match &repaired(&turns, wire)[2] {
        Turn::Outcomes(answers) => answers
            .iter()
            .map(|a| (a.call_id.clone(), a.text.clone()))
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let pair = |id: &str, text: &str| (id.to_owned(), text.to_owned());
    assert_eq!(
        ids(Wire::Anthropic),
        [pair("call_1", "1"), pair(&"c".repeat(64), "2"), pair("call", "3")]
    );
    assert_eq!(
        ids(Wire::OpenAi),
        [pair("call:1", "1"), pair(&"c".repeat(40), "2"), pair("call", "3")]
    );
}

#[test]
fn a_made_up_tool_name_does_not_spoil_the_history() {
    let mut turn = said("", &["x"]);
    if let Turn::Said(reply) = &mut turn {
        reply.calls[0].name = "functions.list tickets".to_owned();
    }
    let turns = repaired(&[told("a"), turn], Wire::OpenAi);
    assert_eq!(fault(&turns, Wire::OpenAi), None);
    assert!(format!("{turns:?}").contains("functions_list_tickets"));
}

#[test]
fn a_raw_reply_is_replayed_only_to_its_provider_and_only_unchanged() {
    let raw = |id: &str| {
        Some(RawReply {
            provider: "anthropic".to_owned(),
            message: json!({"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "tool_use", "id": id, "name": "list_tickets", "input": {}},
            ]}),
        })
    };
    let kept = |id: &str, raw: Option<RawReply>, wire| {
        let mut turn = said("", &[id]);
        if let Turn::Said(reply) = &mut turn {
            reply.raw = raw;
        }
        match &repaired(&[told("a"), turn], wire)[1] {
            Turn::Said(reply) => reply.raw.is_some(),
            other => panic!("{other:?}"),
        }
    };
    assert!(kept("toolu_1", raw("toolu_1"), Wire::Anthropic));
    assert!(!kept("toolu_1", raw("toolu_1"), Wire::OpenAi));
    assert!(!kept("toolu:1", raw("toolu:1"), Wire::Anthropic));
    assert!(
        !kept("toolu_1", raw("toolu_2"), Wire::Anthropic),
        "its calls are not the reply's"
    );
}

#[test]
fn the_check_names_what_is_wrong() {
    for (turns, word) in [
        (vec![], "last turn"),
        (vec![told("a"), said("b", &[])], "last turn"),
        (vec![said("b", &[]), told("a")], "to nothing"),
        (vec![told("a"), said("", &["x"]), told("b")], "no outcomes"),
        (vec![told("a"), answers(&[("x", "1")])], "without calls"),
        (
            vec![told("a"), said("", &["x", "y"]), answers(&[("y", "1"), ("x", "1")])],
            "followed by",
        ),
        (
            vec![told("a"), said("", &["a:b"]), answers(&[("a:b", "1")])],
            "malformed",
        ),
        (
            vec![told("a"), said("", &["x", "x"]), answers(&[("x", "1"), ("x", "1")])],
            "used before",
        ),
        (vec![told(" ")], "nothing is told"),
    ] {
        let fault = fault(&turns, Wire::Anthropic).expect("a fault");
        assert!(fault.contains(word), "{fault}");
    }
}

fn any_turn() -> impl Strategy<Value = Turn> {
    let id = || {
        prop::sample::select(vec![
            "x",
            "y",
            "z",
            "x_2",
            "a:b",
            "a_b",
            "",
            "é",
            "call_0123456789_0123456789_0123456789_0123456789",
        ])
    };
    prop_oneof![
        prop::sample::select(vec!["a", "", "  "]).prop_map(told),
        (
            prop::sample::select(vec!["hm", "", "\n"]),
            prop::collection::vec(id(), 0..4)
        )
            .prop_map(|(text, calls)| said(text, &calls)),
        prop::collection::vec((id(), prop::sample::select(vec!["1", "2", ""])), 0..4).prop_map(|list| answers(&list)),
    ]
}

proptest! {
    #[test]
    fn any_history_becomes_one_that_a_provider_takes(turns in prop::collection::vec(any_turn(), 0..14)) {
        for wire in Wire::ALL {
            let once = repaired(&turns, wire);
            prop_assert_eq!(fault(&once, wire), None);
            prop_assert_eq!(&repaired(&once, wire), &once, "a second repair changes nothing");
            let calls = |turns: &[Turn]| turns.iter().map(|turn| match turn {
                Turn::Said(reply) => reply.calls.len(),
                Turn::Told(_) | Turn::Outcomes(_) => 0,
            }).sum::<usize>();
            prop_assert_eq!(calls(&once), calls(&turns), "no call is lost");
        }
    }

    #[test]
    fn a_longer_history_keeps_the_ids_of_the_shorter(turns in prop::collection::vec(any_turn(), 0..14), cut in 0usize..14) {
        let cut = cut.min(turns.len());
        for wire in Wire::ALL {
            let ids = |turns: &[Turn]| repaired(turns, wire).iter().flat_map(|turn| match turn {
                Turn::Said(reply) => reply.calls.iter().map(|call| call.id.clone()).collect(),
                Turn::Told(_) | Turn::Outcomes(_) => Vec::new(),
            }).collect::<Vec<_>>();
            prop_assert!(ids(&turns).starts_with(&ids(&turns[..cut])));
        }
    }
}
