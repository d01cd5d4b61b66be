//! What the channel sees: one header a ticket, kept current, with its cards and what became of them in its thread.

use deskhand_tests::fake::by;
use deskhand_tests::scenario;
use insta::assert_json_snapshot;
use serde_json::json;

use super::{DRAFT, a_draft_waits};

#[tokio::test]
async fn a_typical_card_looks_like_this() {
    scenario(async |bot| {
        bot.knows(
            "refunds",
            "en",
            "How refunds work",
            "A refund leaves us within five days.",
        )
        .await;
        bot.model.calls("read_article", json!({ "article_id": "refunds" }));
        bot.model.calls_many([
            (
                "classify_ticket",
                json!({ "category": "refund", "priority": "high", "language": "en", "action": "needs_approval",
                        "confidence": 0.9, "reason": "Asks for money back for a returned kettle." }),
            ),
            ("route_ticket", json!({ "team": "billing" })),
        ]);
        bot.model.calls(
            "reply_customer",
            json!({ "text": "Hello Ada,\n\nyour refund of 20 EUR left us on Monday." }),
        );
        bot.zendesk
            .opens(
                "Where is my refund?",
                "I sent the kettle back.\nWhere are my 20 EUR?",
                by("ada@example.com"),
            )
            .await;
        bot.settle().await;
        let card = bot.slack.only_card();
        assert!(
            card.is_broadcast(),
            "whoever reads the channel sees that something waits"
        );
        assert_json_snapshot!(redacted(card.blocks()));
    })
    .await;
}

/// Times, ports and digests are others each time.
fn redacted(blocks: serde_json::Value) -> serde_json::Value {
    fn redact(text: &str) -> String {
        if text.len() == 12 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return "[digest]".into();
        }
        let mut out = Vec::new();
        for part in text.split('<') {
            out.push(match part.split_once('>') {
                Some((inside, rest)) if inside.starts_with("!date^") => {
                    let format = inside
                        .split('^')
                        .nth(2)
                        .and_then(|f| f.split('|').next())
                        .unwrap_or_default();
                    format!("!date^[time]^{format}|[time]>{rest}")
                }
                Some((inside, rest)) if inside.starts_with("http://127.0.0.1:") => {
                    let path = inside.splitn(4, '/').nth(3).unwrap_or_default();
                    format!("http://[desk]/{path}>{rest}")
                }
                _ => part.to_owned(),
            });
        }
        let text = out.join("<");
        match text.rsplit_once(':') {
            Some((head, digest)) if digest.len() == 12 && digest.bytes().all(|b| b.is_ascii_hexdigit()) => {
                format!("{head}:[digest]")
            }
            _ => text,
        }
    }
    match blocks {
        serde_json::Value::String(text) => redact(&text).into(),
        serde_json::Value::Array(list) => list.into_iter().map(redacted).collect(),
        serde_json::Value::Object(map) => map.into_iter().map(|(name, value)| (name, redacted(value))).collect(),
        other => other,
    }
}

#[tokio::test]
async fn a_settled_card_keeps_its_words_and_shows_who_and_when() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, DRAFT);
        card.says(DRAFT);
        card.says("I sent the kettle back.");
        card.says("✅ Approved by sam");
        assert!(
            card.blocks().to_string().contains("<!date^"),
            "with the time of the decision"
        );
        card.has_no_buttons();

        let header = card.thread_parent().expect("it stands in the ticket's thread");
        let lines = header.lines();
        assert!(
            lines.iter().any(|line| line.contains("A-1: Approved by sam")),
            "{lines:#?}"
        );
    })
    .await;
}

#[tokio::test]
async fn the_header_is_kept_current() {
    scenario(async |bot| {
        bot.model.calls_many([
            (
                "classify_ticket",
                json!({ "category": "refund", "priority": "high", "language": "en", "action": "needs_approval",
                        "confidence": 0.9, "reason": "Asks for money back." }),
            ),
            ("route_ticket", json!({ "team": "billing" })),
        ]);
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        let header = bot.slack.header(&ticket);
        for words in [
            "T-1001",
            "Where is my refund?",
            "State: triaged",
            "Priority: high",
            "Team: billing",
            "A-1: reply to the customer",
        ] {
            header.says(words);
        }
        assert_eq!(card.thread_parent().map(|parent| parent.ts), Some(header.ts.clone()));

        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, DRAFT);
        let header = bot.slack.header(&ticket);
        header.says("State: waiting on customer");
        header.says_nothing_of("A-1: reply to the customer");

        bot.model.calls("reply_customer", json!({ "text": "You are welcome." }));
        bot.zendesk
            .comments(&ticket, "It came, thank you!", by("ada@example.com"))
            .await;
        bot.settle().await;
        let again = bot.slack.header(&ticket);
        assert_eq!(again.ts, header.ts, "one header for the ticket's whole life");
        again.says("State: triaged");
        again.says("A-2: reply to the customer");
        assert_eq!(
            bot.slack.only_open_card().thread_parent().map(|parent| parent.ts),
            Some(header.ts)
        );
    })
    .await;
}

#[tokio::test]
async fn a_card_whose_thread_was_deleted_finds_a_new_home() {
    scenario(async |bot| {
        let (ticket, first) = a_draft_waits(bot, DRAFT).await;
        bot.slack.deletes(&bot.slack.header(&ticket)).await;
        bot.model
            .calls("reply_customer", json!({ "text": "Your refund leaves us on Friday." }));
        bot.slack.rejects(&first, by("sam"), "The facts are wrong").await;
        bot.settle().await;
        bot.advance(std::time::Duration::from_secs(120));
        bot.settle().await;

        first.says("Rejected by sam");
        let second = bot.slack.only_open_card();
        second.says("Your refund leaves us on Friday.");
        let home = second.thread_parent().expect("no stray in the channel");
        assert_eq!(home.ts, bot.slack.header(&ticket).ts, "under a new header");
        assert_eq!(bot.slack.cards().len(), 2, "and no stray was left behind");

        bot.model.says("Done.");
        bot.slack.clicks(&second, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund leaves us on Friday.");
        second.says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_card_that_somebody_deleted_does_not_stop_its_approval() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        let form = bot.slack.opens_modal(&card, "Edit", by("sam")).await;
        let header = bot.slack.header(&ticket);
        bot.slack.deletes(&card).await;
        bot.model.says("Done.");
        form.submits("It left us on Tuesday.").await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "It left us on Tuesday.");
        let lines = header.lines();
        assert!(
            lines
                .iter()
                .any(|line| line.contains("A-1: Edited and approved by sam")),
            "{lines:#?}"
        );
    })
    .await;
}

#[tokio::test]
async fn two_tickets_have_two_headers_and_their_cards_do_not_mix() {
    scenario(async |bot| {
        let (first, card) = a_draft_waits(bot, DRAFT).await;
        bot.model.calls("reply_customer", json!({ "text": "We close at six." }));
        let second = bot
            .zendesk
            .opens("Opening hours", "Until when are you open?", by("bo@example.com"))
            .await;
        bot.settle().await;
        let other = bot.slack.cards().pop().expect("a second card");
        other.is_about(&second);
        other.says("We close at six.");
        card.is_about(&first);
        assert_ne!(bot.slack.header(&first).ts, bot.slack.header(&second).ts);

        bot.model.says("Done.");
        bot.slack.clicks(&other, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&second, "We close at six.");
        bot.zendesk.has_no_replies(&first);
        assert_eq!(bot.slack.only_open_card().ts, card.ts);
    })
    .await;
}
