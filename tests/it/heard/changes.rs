//! Edits and deletions: noted, shown, and nothing more.

use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::HELP;
use deskhand_tests::scenario_with;

use super::{DRAFT, WATCHED, a_draft_waits, ada_asks, comments, last_told, runs, tickets};
use crate::lines::drafts;

#[tokio::test]
async fn an_edit_is_noted_starts_nothing_and_shows_on_the_draft_that_waits() {
    scenario_with(WATCHED, async |bot| {
        let (asked, card) = a_draft_waits(bot).await;
        bot.slack.edits_post(&asked, "Where is my refund for order 4712?").await;
        bot.settle().await;
        assert_eq!(
            (runs(bot).await, bot.model.requests().len()),
            (1, 1),
            "nothing is started"
        );
        let card = bot.slack.card(&card);
        card.says("ada edited their message of");
        card.says("this draft does not know of it");
        assert_eq!(
            card.buttons(),
            bot.slack.only_open_card().buttons(),
            "it may still be approved"
        );
        let noted = comments(bot).await;
        assert!(
            noted[1].starts_with("other ada (internal): ada edited their message of"),
            "{noted:?}"
        );

        // The same edit once more, and the preview of a link: nothing.
        assert_eq!(bot.slack.repeats_last_event().await, 200);
        bot.slack.finds_preview(&asked).await;
        bot.settle().await;
        assert_eq!(comments(bot).await.len(), 2);

        // At its next request the model hears of it, as the customer's words.
        drafts(bot, "Order 4712 was refunded on Monday.");
        bot.slack.says("Well?", by("ada"), HELP, Some(&asked)).await;
        bot.settle().await;
        let told = last_told(bot);
        assert!(told.contains("Where is my refund for order 4712?"), "{told}");
        bot.slack.only_open_card().says_nothing_of("edited their message");
    })
    .await;
}

#[tokio::test]
async fn a_deletion_is_noted_and_starts_nothing() {
    scenario_with(WATCHED, async |bot| {
        let (asked, card) = a_draft_waits(bot).await;
        bot.model.says("There is nothing to add.");
        let more = bot.slack.says("My card is 1234.", by("ada"), HELP, Some(&asked)).await;
        bot.settle().await;
        card.says("Withdrawn");
        let before = bot.model.requests().len();
        bot.slack.deletes(&more).await;
        bot.slack.deletes(&asked).await;
        bot.settle().await;
        assert_eq!(bot.model.requests().len(), before);
        let noted = comments(bot).await;
        assert!(
            noted[2].starts_with("other ada (internal): ada deleted their message of"),
            "{noted:?}"
        );
        assert_eq!(
            noted.len(),
            4,
            "also where a stone stands in the place of a thread's first message"
        );
        assert_eq!((tickets(bot).await, runs(bot).await), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn a_change_of_what_no_ticket_heard_is_nothing() {
    scenario_with(WATCHED, async |bot| {
        let lunch = bot.slack.says("Lunch at noon", by("kim"), HELP, None).await;
        bot.settle().await;
        bot.slack.edits_post(&lunch, "Lunch at one").await;
        bot.slack.deletes(&lunch).await;
        bot.settle().await;
        assert_eq!(tickets(bot).await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_message_that_is_corrected_before_anybody_looked_is_told_with_its_correction() {
    scenario_with(WATCHED, async |bot| {
        let asked = ada_asks(bot).await;
        // Nobody knows yet who ada is: the edit waits behind the post.
        bot.slack.edits_post(&asked, "Where is my refund for order 4712?").await;
        drafts(bot, DRAFT);
        bot.settle().await;
        let told = last_told(bot);
        assert!(told.contains("order 4712"), "{told}");
        bot.slack.only_open_card().says_nothing_of("does not know of it");
        assert_eq!((tickets(bot).await, runs(bot).await), (1, 1));
    })
    .await;
}
