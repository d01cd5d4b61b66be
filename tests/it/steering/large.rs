//! Much of everything: comments, characters, calls of one reply.

use deskhand_tests::fake::by;
use deskhand_tests::{Bot, scenario};
use serde_json::json;

use super::told;
use crate::lines::{ada_asks, drafts, sam_approves, states, works_until_the_shop_was_called};

/// Ada's story in so many comments, each with these words behind its number; then it is summarised, drafted and approved.
async fn a_story_is_summarised_and_answered(bot: &Bot, comments: usize, words: &str) {
    bot.model.says("Ada tells how her kettle broke.");
    drafts(bot, "Your refund left us on Monday.");
    let ticket = ada_asks(bot).await;
    for n in 0..comments {
        let text = format!("Story {n}: {words}");
        bot.zendesk.comments(&ticket, &text, by("ada@example.com")).await;
    }
    bot.settle().await;

    let requests = bot.model.requests();
    assert_eq!(requests.len(), 2, "one for the summary, one with it");
    let told = told(bot);
    assert!(
        told.contains("<conversation-summary>") && told.contains("Ada tells how her kettle broke."),
        "the summary is missing"
    );
    let last = format!("Story {}: ", comments - 1);
    assert!(
        told.contains(&last) && !told.contains("Story 0: "),
        "the newest words stay, the oldest do not"
    );
    assert!(
        told.chars().count() < words.chars().count() * comments / 2,
        "it is shorter by far"
    );

    bot.model.says("Done.");
    sam_approves(bot).await;
    bot.settle().await;
    bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
    for card in bot.slack.cards() {
        card.is_about(&ticket);
    }
    assert_eq!(states(bot).await, ["completed answered"]);
}

#[tokio::test]
async fn a_ticket_of_four_hundred_comments_is_summarised_and_answered() {
    scenario(async |bot| a_story_is_summarised_and_answered(bot, 400, &"it broke again ".repeat(80)).await).await;
}

#[tokio::test]
async fn two_hundred_thousand_chinese_characters_are_summarised_and_answered() {
    scenario(async |bot| a_story_is_summarised_and_answered(bot, 50, &"水壶又坏了请退款。".repeat(450)).await).await;
}

#[tokio::test]
async fn looks_of_one_reply_run_side_by_side_up_to_a_ceiling_and_keep_their_order() {
    scenario(async |bot| {
        bot.server.offers_to_read("shop__order");
        let orders = || (1..=10).map(|order| ("shop__order", json!({ "amount": order })));
        bot.model.calls_many(orders());
        ada_asks(bot).await;
        let work = works_until_the_shop_was_called(bot, 8).await;
        assert_eq!(bot.server.calls().len(), 8, "no more at the same time");

        bot.model.says("All are on their way.");
        bot.server.answers_again();
        work.await.expect("it ends").expect("the run goes on");
        let told = told(bot);
        let places: Vec<_> = (1..=10)
            .map(|order| told.find(&format!("Order {order} is on its way.")))
            .collect();
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{places:?} in {told}"
        );
        bot.settle().await;
    })
    .await;
}
