//! What the desk is told for its own books: one update at each stop, not one for each thing.

use deskhand_tests::scenario;
use serde_json::json;

use crate::lines::{a_reply_waits, ada_asks, sam_approves, states};

#[tokio::test]
async fn priority_tags_group_and_note_are_one_update() {
    scenario(async |bot| {
        bot.model.calls(
            "classify_ticket",
            json!({
                "category": "refund", "priority": "high", "language": "en", "action": "needs_approval",
                "confidence": 0.9, "reason": "She asks for her money.",
            }),
        );
        bot.model.calls("route_ticket", json!({ "team": "Billing" }));
        bot.model
            .calls("add_note", json!({ "text": "She is a customer since 2019." }));
        let ticket = a_reply_waits(bot).await;

        assert_eq!(bot.zendesk.updates(&ticket), 1);
        assert_eq!(bot.zendesk.priority(&ticket).as_deref(), Some("high"));
        assert_eq!(bot.zendesk.group(&ticket).as_deref(), Some("Billing"));
        assert_eq!(
            bot.zendesk.tags(&ticket),
            ["action_needs_approval", "category_refund", "deskhand", "language_en"]
        );
        let notes = bot.zendesk.notes(&ticket);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("She asks for her money."), "{}", notes[0]);
        assert!(notes[0].contains("She is a customer since 2019."), "{}", notes[0]);
        bot.zendesk.has_no_replies(&ticket);

        bot.model.says("Done.");
        sam_approves(bot).await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        assert_eq!(bot.zendesk.updates(&ticket), 2, "nothing new was left to book");
        assert_eq!(states(bot).await, ["completed answered"]);
        let header = bot.slack.header(&ticket);
        for word in ["high", "refund", "Billing"] {
            header.says(word);
        }
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn tags_that_people_set_stay() {
    scenario(async |bot| {
        bot.model.calls(
            "classify_ticket",
            json!({
                "category": "other", "priority": "low", "language": "en", "action": "ignore",
                "confidence": 0.9, "reason": "Nothing to do.",
            }),
        );
        bot.model.says("Nothing to do.");
        let ticket = ada_asks(bot).await;
        bot.zendesk.prioritises(&ticket, "urgent").await;
        bot.settle().await;
        assert!(bot.zendesk.tags(&ticket).contains(&"category_other".to_owned()));
        assert_eq!(states(bot).await, ["completed triaged"]);
        assert!(bot.slack.headers().is_empty(), "nobody must look at it");
    })
    .await;
}

#[tokio::test]
async fn a_team_that_zendesk_has_no_group_for_costs_only_the_group() {
    scenario(async |bot| {
        bot.model.calls(
            "classify_ticket",
            json!({
                "category": "refund", "priority": "high", "language": "en", "action": "human",
                "confidence": 0.4, "reason": "It is about a lawyer.",
            }),
        );
        bot.model.calls("route_ticket", json!({ "team": "The Lawyers" }));
        bot.model.says("A person must look.");
        let ticket = ada_asks(bot).await;
        bot.settle().await;
        assert_eq!(bot.zendesk.priority(&ticket).as_deref(), Some("high"));
        assert_eq!(bot.zendesk.group(&ticket).as_deref(), Some("Support"));
        assert_eq!(bot.zendesk.notes(&ticket).len(), 1);
        assert_eq!(states(bot).await, ["completed handed_over"]);
    })
    .await;
}
