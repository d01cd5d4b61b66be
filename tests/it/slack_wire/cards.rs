//! How cards, headers and lines look in Slack, and that nothing of them leaves its limits.

use chrono::{DateTime, Utc};
use deskhand_adapters::slack::escape::size;
use deskhand_adapters::slack::render::{Drawn, draw};
use deskhand_core::card::{Body, Button, ButtonKind, ButtonValue, Card, Footer, Header, Mark, Settled, SettledAs};
use deskhand_core::id::{ApprovalId, TicketId};
use deskhand_core::port::Content;
use deskhand_core::ticket::{Priority, TicketState};
use insta::assert_json_snapshot;
use serde_json::Value;

pub(super) fn button() -> ButtonValue {
    ButtonValue {
        deployment: "shop".into(),
        approval: ApprovalId(17),
        digest: "0123456789ab".into(),
    }
}

fn at(text: &str) -> DateTime<Utc> {
    text.parse().expect("a time")
}

pub(crate) fn card() -> Card {
    Card {
        approval: ApprovalId(17),
        ticket: TicketId(1001),
        subject: "Where is my refund?".into(),
        requester: "Ada <ada@example.com>".into(),
        opened_at: at("2026-11-30T08:00:00Z"),
        url: Some("https://shop.example/agent/tickets/35436?a=1&b=2".into()),
        will: "Reply to Ada on ticket T-1001.".into(),
        last_words: "Hello <!channel>,\n\nI returned the kettle *two weeks* ago.\nWhere is my money?\nAda".into(),
        body: Body::Draft("Hello Ada,\n\nyour refund left us on Monday.\n\nKind regards".into()),
        why: "The order shows a refund of 49.90 EUR.".into(),
        sources: vec!["Refunds: how long they take".into(), "T-877".into()],
        confidence: Some(0.82),
        marks: vec![Mark {
            text: "The amount 49.90 EUR comes from the customer's text.".into(),
        }],
        buttons: [
            ButtonKind::Approve,
            ButtonKind::Edit,
            ButtonKind::Reject,
            ButtonKind::View,
        ]
        .map(|kind| Button {
            kind,
            value: button(),
            choice: None,
        })
        .to_vec(),
        footer: Footer {
            owner: "support leads".into(),
            expires_at: Some(at("2026-12-01T08:00:00Z")),
            digest: "0123456789ab".into(),
            note: String::new(),
        },
        settled: None,
    }
}

pub(super) fn drawn(card: Card) -> Drawn {
    draw(&Content::Card(Box::new(card)))
}

#[test]
fn a_draft_is_drawn_in_the_order_that_people_read_it() {
    let drawn = drawn(card());
    assert_json_snapshot!("draft", drawn.blocks);
    assert_json_snapshot!("draft_simple", drawn.simple);
}

#[test]
fn a_settled_card_says_who_and_when_and_has_no_buttons() {
    let card = Card {
        settled: Some(Settled {
            ending: SettledAs::Approved,
            line: "Approved by sam".into(),
            at: at("2026-11-30T09:15:00Z"),
        }),
        // Even if somebody forgot to take them out.
        buttons: card().buttons,
        ..card()
    };
    let drawn = drawn(card);
    assert!(
        !serde_json::to_string(&drawn.blocks)
            .expect("JSON")
            .contains("\"button\"")
    );
    assert!(
        !serde_json::to_string(&drawn.simple)
            .expect("JSON")
            .contains("\"button\"")
    );
    assert!(drawn.text.contains("Approved by sam"));
    assert_json_snapshot!("settled_end", drawn.blocks[drawn.blocks.len() - 2..]);
}

#[test]
fn a_diff_stands_as_code() {
    let card = Card {
        body: Body::Diff("--- refunds\n+++ refunds\n-Refunds take 5 days.\n+Refunds take 3 days.\n".into()),
        last_words: String::new(),
        marks: Vec::new(),
        footer: Footer {
            note: "shadow: nothing will be sent".into(),
            ..card().footer
        },
        buttons: Vec::new(),
        ..card()
    };
    assert_json_snapshot!("diff", drawn(card).blocks);
}

#[test]
fn a_header_says_how_the_ticket_stands() {
    let header = Header {
        ticket: TicketId(1001),
        outside: "zendesk:35436".into(),
        subject: "Where is my refund?".into(),
        requester: "Ada".into(),
        state: TicketState::WaitingOnCustomer,
        category: Some("refund".into()),
        priority: Some(Priority::High),
        team: Some("Billing".into()),
        waits: vec!["A-17: reply to the customer".into()],
        plan: vec!["1. [done] Look at the order".into(), "2. [pending] Answer".into()],
        trouble: Some("The reply could not be delivered: the ticket is closed.".into()),
        url: Some("https://shop.example/agent/tickets/35436".into()),
    };
    let drawn = draw(&Content::Header(Box::new(header)));
    assert_json_snapshot!("header", drawn.blocks);
}

/// Every text in the blocks, with the kind of object that holds it.
fn texts<'a>(value: &'a Value, found: &mut Vec<(&'a str, &'a str)>) {
    match value {
        Value::Object(map) => {
            if let (Some(Value::String(kind)), Some(Value::String(text))) = (map.get("type"), map.get("text")) {
                found.push((kind, text));
            }
            map.values().for_each(|value| texts(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| texts(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Facts: limits.json of the platform, checked on what would be sent.
fn keeps_slacks_limits(drawn: &Drawn, what: &str) {
    assert!(
        !drawn.text.is_empty() && drawn.text.encode_utf16().count() <= 4000,
        "{what}: text"
    );
    for blocks in [&drawn.blocks, &drawn.simple] {
        let blocks = serde_json::to_value(blocks).expect("JSON");
        let list = blocks.as_array().expect("a list");
        assert!(!list.is_empty() && list.len() <= 50, "{what}: {} blocks", list.len());
        let mut found = Vec::new();
        texts(&blocks, &mut found);
        let sum: usize = found.iter().map(|(_, text)| size(text)).sum();
        assert!(sum <= 13_000, "{what}: {sum} in all");
        for (kind, text) in &found {
            assert!(!text.trim().is_empty(), "{what}: an empty {kind}");
            assert!(size(text) <= 3000, "{what}: a {kind} of {}", size(text));
        }
        for block in list {
            let text = block["text"]["text"].as_str().unwrap_or_default();
            assert!(block["type"] != "header" || size(text) <= 150, "{what}: header");
            let elements = block["elements"].as_array().map_or(0, Vec::len);
            assert!(block["type"] != "context" || elements <= 10, "{what}: context");
        }
    }
}

#[test]
fn no_card_leaves_slacks_limits_whatever_it_is_made_of() {
    for unit in [
        "a",
        "&",
        "<",
        "退",
        "😀",
        "word ",
        "line\n",
        "\u{0}",
        "\u{202e}",
        "```",
        "<!channel> ",
    ] {
        let long = unit.repeat(4_000);
        for body in [
            Body::Draft(long.clone()),
            Body::Diff(long.clone()),
            Body::Facts((0..30).map(|_| (unit.repeat(900), long.clone())).collect()),
        ] {
            for settled in [false, true] {
                let card = Card {
                    subject: long.clone(),
                    requester: long.clone(),
                    url: Some(format!("https://shop.example/{}", "x".repeat(9000))),
                    will: long.clone(),
                    last_words: long.clone(),
                    body: body.clone(),
                    why: long.clone(),
                    sources: vec![long.clone(); 20],
                    marks: vec![Mark { text: long.clone() }; 20],
                    footer: Footer {
                        owner: long.clone(),
                        digest: long.clone(),
                        note: long.clone(),
                        ..card().footer
                    },
                    settled: settled.then(|| Settled {
                        ending: SettledAs::Rejected,
                        line: long.clone(),
                        at: at("2026-11-30T09:15:00Z"),
                    }),
                    ..card()
                };
                keeps_slacks_limits(&drawn(card), &format!("{unit:?} settled {settled}"));
            }
        }
        keeps_slacks_limits(&draw(&Content::Line(long.clone())), unit);
        let header = Header {
            ticket: TicketId(1),
            outside: long.clone(),
            subject: long.clone(),
            requester: long.clone(),
            state: TicketState::New,
            category: Some(long.clone()),
            priority: None,
            team: Some(long.clone()),
            waits: vec![long.clone(); 20],
            plan: vec![long.clone(); 25],
            trouble: Some(long.clone()),
            url: None,
        };
        keeps_slacks_limits(&draw(&Content::Header(Box::new(header))), unit);
    }
}

#[test]
fn an_empty_card_is_drawn_too() {
    let card = Card {
        subject: String::new(),
        requester: String::new(),
        will: String::new(),
        last_words: "\n".into(),
        body: Body::Draft(String::new()),
        why: String::new(),
        sources: Vec::new(),
        confidence: None,
        marks: Vec::new(),
        buttons: Vec::new(),
        ..card()
    };
    keeps_slacks_limits(&drawn(card), "empty");
    keeps_slacks_limits(&draw(&Content::Line(String::new())), "empty line");
}

#[test]
fn customers_words_mention_nobody_and_link_nowhere() {
    let hostile = "<!channel> <!here> <@U1> <#C1> <!subteam^S1> <https://evil.example|shop.example> *b* `c` ~d~ :bomb:";
    let card = Card {
        subject: hostile.into(),
        requester: hostile.into(),
        url: Some(format!("https://shop.example/?q={hostile}")),
        will: hostile.into(),
        last_words: hostile.into(),
        body: Body::Draft(hostile.into()),
        why: hostile.into(),
        sources: vec![hostile.into()],
        marks: vec![Mark { text: hostile.into() }],
        ..card()
    };
    let mut drawings = vec![drawn(card), draw(&Content::Line(hostile.into()))];
    drawings.push(draw(&Content::Header(Box::new(Header {
        ticket: TicketId(1),
        outside: hostile.into(),
        subject: hostile.into(),
        requester: hostile.into(),
        state: TicketState::New,
        category: Some(hostile.into()),
        priority: None,
        team: Some(hostile.into()),
        waits: vec![hostile.into()],
        plan: vec![hostile.into()],
        trouble: Some(hostile.into()),
        url: Some("javascript:alert(1)".into()),
    }))));
    for drawn in drawings {
        assert!(!drawn.text.contains('<'), "{}", drawn.text);
        for blocks in [&drawn.blocks, &drawn.simple] {
            let blocks = serde_json::to_value(blocks).expect("JSON");
            let mut found = Vec::new();
            texts(&blocks, &mut found);
            for (kind, text) in found.into_iter().filter(|(kind, _)| *kind == "mrkdwn") {
                // Ours alone: a date, or the one link to the ticket.
                let rest = text
                    .replacen("<https://shop.example/?q=", "", 1)
                    .replacen("<!date^", "", 1);
                assert!(
                    !rest.contains('<') && !rest.contains('*') || rest.contains("|Open the ticket>"),
                    "{kind} {text}"
                );
                assert!(!rest.contains('<'), "{kind} {text}");
            }
        }
    }
}

#[test]
fn what_was_cut_says_where_the_rest_is() {
    let long = Card {
        body: Body::Draft("word ".repeat(2000)),
        ..card()
    };
    let text = serde_json::to_string(&drawn(long.clone()).blocks).expect("JSON");
    assert!(text.contains("… (View full has the rest)"));
    let settled = Card {
        buttons: Vec::new(),
        ..long
    };
    let text = serde_json::to_string(&drawn(settled).blocks).expect("JSON");
    assert!(text.contains("… (shortened)") && !text.contains("View full"));
}
