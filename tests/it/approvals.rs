//! From a customer's words to a supervisor's click to the customer's answer.

use deskhand_tests::fake::by;
use deskhand_tests::scenario;
use serde_json::json;

#[tokio::test]
async fn supervisor_approves_reply_in_thread() {
    scenario(async |bot| {
        bot.model
            .calls("reply_customer", json!({ "text": "Your refund left us on Monday." }));
        bot.model.says("Done.");

        let ticket = bot
            .zendesk
            .opens("Where is my refund?", "I sent the kettle back.", by("ada@example.com"))
            .await;
        bot.settle().await;

        let card = bot.slack.only_card();
        card.is_about(&ticket);
        card.says("Your refund left us on Monday.");
        assert!(
            card.thread_parent().is_some(),
            "the card hangs under its ticket's header"
        );
        bot.zendesk.has_no_replies(&ticket);

        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;

        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        let card = bot.slack.card(&card);
        card.says("Approved by sam");
        card.has_no_buttons();
    })
    .await;
}
