//! How cards look in Discord, and that nothing of them leaves its limits.

use deskhand_adapters::discord::{draw, form, reply};
use deskhand_core::card::{Body, ButtonKind, Card, Header, Mark};
use deskhand_core::port::Content;
use deskhand_core::ticket::TicketState;
use insta::assert_json_snapshot;
use serde_json::Value;

use crate::slack_wire::a_card;

fn drawn(card: Card) -> draw::Drawn {
    draw::draw(&Content::Card(Box::new(card)))
}

#[test]
fn a_draft_is_drawn_in_the_order_that_people_read_it() {
    assert_json_snapshot!("draft", drawn(a_card()).full);
}

fn length(text: &Value) -> usize {
    text.as_str().map_or(0, |text| text.encode_utf16().count())
}

/// Facts: limits.json of the platform, checked on what would be sent.
fn keeps_discords_limits(body: &Value, what: &str) {
    assert!(length(&body["content"]) <= 2000, "{what}: content");
    let mut sum = 0;
    for embed in body["embeds"].as_array().expect("a list") {
        let fields = embed["fields"].as_array().map_or(&[][..], Vec::as_slice);
        let footer = length(&embed["footer"]["text"]);
        sum += length(&embed["title"]) + length(&embed["description"]) + footer;
        assert!(
            length(&embed["title"]) <= 256 && length(&embed["description"]) <= 4096 && footer <= 2048,
            "{what}"
        );
        for field in fields {
            sum += length(&field["name"]) + length(&field["value"]);
            assert!((1..=1024).contains(&length(&field["value"])), "{what}: {field}");
        }
    }
    assert!(sum <= 6000, "{what}: {sum} in all");
    for row in body["components"].as_array().expect("a list") {
        for button in row["components"].as_array().expect("a list") {
            assert!((1..=100).contains(&length(&button["custom_id"])), "{what}: {button}");
        }
    }
    assert_eq!(body["allowed_mentions"], serde_json::json!({ "parse": [] }), "{what}");
}

#[test]
fn no_card_leaves_discords_limits_whatever_it_is_made_of() {
    for unit in [
        "a",
        "*",
        "@",
        "退",
        "😀",
        "word ",
        "line\n",
        "\u{0}",
        "\u{202e}",
        "```",
        "@everyone ",
        "1. ",
        "- ",
    ] {
        let long = unit.repeat(4_000);
        for body in [
            Body::Draft(long.clone()),
            Body::Diff(long.clone()),
            Body::Facts((0..30).map(|_| (unit.repeat(900), long.clone())).collect()),
        ] {
            let mut card = a_card();
            for text in [
                &mut card.subject,
                &mut card.requester,
                &mut card.will,
                &mut card.last_words,
                &mut card.why,
            ] {
                text.clone_from(&long);
            }
            card.url = Some(format!("https://shop.example/{}", "x".repeat(9000)));
            card.body = body;
            card.sources = vec![long.clone(); 30];
            card.marks = vec![Mark { text: long.clone() }; 30];
            card.footer.owner.clone_from(&long);
            card.footer.note.clone_from(&long);
            let drawn = drawn(card.clone());
            keeps_discords_limits(&drawn.full, unit);
            keeps_discords_limits(&drawn.simple, unit);
            keeps_discords_limits(&reply::card(&card)["data"], unit);
        }
        let header = Header {
            ticket: a_card().ticket,
            outside: long.clone(),
            subject: long.clone(),
            requester: long.clone(),
            state: TicketState::WaitingOnCustomer,
            category: Some(long.clone()),
            priority: None,
            team: Some(long.clone()),
            waits: vec![long.clone(); 40],
            plan: vec![long.clone(); 40],
            trouble: Some(long.clone()),
            url: None,
        };
        let header = draw::draw(&Content::Header(Box::new(header)));
        keeps_discords_limits(&header.full, unit);
        keeps_discords_limits(&header.simple, unit);
        keeps_discords_limits(&draw::line(&long).full, unit);
    }
}

#[test]
fn customers_words_mention_nobody_and_mark_nothing_up() {
    let mut card = a_card();
    card.last_words = "@everyone **look** [here](https://evil.example) <@80351110224678912> `x`".into();
    let text = drawn(card).full.to_string();
    for mark in ["@everyone **", "**look**", "[here](", "<@8035", "(https://evil"] {
        let unescaped = text.match_indices(mark).any(|(at, _)| !text[..at].ends_with('\\'));
        assert!(!unescaped, "{mark} is in {text}");
    }
}

#[test]
fn a_diff_cannot_leave_its_block_of_code() {
    let mut card = a_card();
    card.body = Body::Diff("-old\n+``` @everyone\n".into());
    let text = drawn(card).full["embeds"][0]["description"]
        .as_str()
        .expect("a text")
        .to_owned();
    assert_eq!(text.matches("```").count(), 2, "{text}");
}

#[test]
fn forms_keep_discords_limits() {
    let value = a_card().buttons.remove(0).value;
    for form in [
        form::edit(&value, &"Dear Ada, ".repeat(1_500)).expect("it fits"),
        form::reject(&value),
        form::question(&value, &"May we refund after thirty days? ".repeat(40)),
    ] {
        assert!(length(&form["title"]) <= 45 && length(&form["custom_id"]) <= 100);
        let labels = form["components"].as_array().expect("a list");
        assert!((1..=5).contains(&labels.len()));
        for label in labels {
            assert!((1..=45).contains(&length(&label["label"])) && length(&label["component"]["value"]) <= 4000);
            assert!(length(&label["description"]) <= 100 && length(&label["component"]["placeholder"]) <= 100);
        }
    }
    // Every button but the two of questions.
    assert_eq!(ButtonKind::ALL.len() - 2, a_card().buttons.len());
}
