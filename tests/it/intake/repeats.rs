//! The same thing told twice happens once.

use deskhand_tests::fake::by;
use deskhand_tests::scenario;

use crate::lines::{a_reply_waits, ada_asks, comments, drafts, runs};

#[tokio::test]
async fn same_webhook_twice_is_one_run() {
    scenario(async |bot| {
        drafts(bot, "Your refund left us on Monday.");
        let ticket = ada_asks(bot).await;
        assert_eq!(bot.zendesk.repeats_last_delivery().await, Some(200));
        bot.settle().await;
        // And once more, while the draft waits for sam.
        assert_eq!(bot.zendesk.repeats_last_delivery().await, Some(200));
        bot.settle().await;

        let card = bot.slack.only_open_card();
        card.is_about(&ticket);
        assert_eq!(runs(bot).await, 1);
        assert_eq!(comments(bot).await, 1);
        assert_eq!(bot.counts("SELECT count(*) FROM inbox").await, 1);
    })
    .await;
}

#[tokio::test]
async fn the_same_webhook_under_another_id_asks_nothing_anew() {
    scenario(async |bot| {
        drafts(bot, "Your refund left us on Monday.");
        ada_asks(bot).await;
        bot.settle().await;
        assert_eq!(bot.zendesk.repeats_last_delivery_under_another_id().await, Some(200));
        bot.settle().await;

        bot.slack.only_open_card().says("Your refund left us on Monday.");
        assert_eq!((runs(bot).await, comments(bot).await), (1, 1));
        assert_eq!(bot.model.requests().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn two_deliveries_of_one_comment_are_one_comment() {
    scenario(async |bot| {
        let ticket = a_reply_waits(bot).await;
        let stale = bot.slack.only_card();

        drafts(bot, "Yes, to the new account.");
        bot.zendesk
            .comments(&ticket, "To my new account, please.", by("ada@example.com"))
            .await;
        bot.settle().await;
        stale.says("Withdrawn: the customer wrote again");

        // The comment is told once more, as an event of its own: the new draft stands.
        assert_eq!(bot.zendesk.tells_newest_comment_again(&ticket).await, Some(200));
        bot.settle().await;

        bot.slack.only_open_card().says("Yes, to the new account.");
        assert_eq!((runs(bot).await, comments(bot).await), (1, 2));
        assert_eq!(bot.model.requests().len(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_burst_of_comments_is_one_run_that_hears_them_in_their_order() {
    scenario(async |bot| {
        let ticket = ada_asks(bot).await;
        bot.advance(std::time::Duration::from_secs(3));
        bot.zendesk
            .comments(&ticket, "It was the blue one.", by("ada@example.com"))
            .await;
        bot.advance(std::time::Duration::from_secs(3));
        bot.zendesk
            .comments(&ticket, "Order 4711, I forgot.", by("ada@example.com"))
            .await;
        drafts(bot, "The refund for order 4711 left us on Monday.");
        bot.settle().await;

        let said = heard(&bot.model.last_request());
        assert_eq!(
            said,
            [
                "I sent the kettle back.",
                "It was the blue one.",
                "Order 4711, I forgot."
            ]
        );
        let card = bot.slack.only_card();
        // The card quotes what she said last, whatever came in first.
        card.says("Order 4711, I forgot.");
        card.says_nothing_of("I sent the kettle back.");
        assert_eq!((runs(bot).await, comments(bot).await), (1, 3));
        assert_eq!(bot.model.requests().len(), 1);
    })
    .await;
}

/// The comments that a request tells the model, in its order.
fn heard(request: &deskhand_core::model::ModelRequest) -> Vec<String> {
    use deskhand_core::model::{Part, Turn};
    let told = request.turns.iter().filter_map(|turn| match turn {
        Turn::Told(parts) => Some(parts),
        Turn::Said(_) | Turn::Outcomes(_) => None,
    });
    told.flatten()
        .filter_map(|part| match part {
            Part::Comment { body, .. } => Some(body.clone()),
            Part::Text(_) | Part::Ticket(_) => None,
        })
        .collect()
}
