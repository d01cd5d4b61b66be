//! Who somebody is may not be known at first: nothing is lost, overtaken or taken for what it is not.

use std::time::Duration;

use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::HELP;
use deskhand_tests::scenario_with;

use super::{DRAFT, WATCHED, a_draft_waits, ada_asks, comments, runs, tickets};
use crate::lines::drafts;

#[tokio::test]
async fn posts_wait_while_slack_does_not_say_who_wrote_them_and_keep_their_order() {
    scenario_with(WATCHED, async |bot| {
        bot.slack.is_down(true);
        let asked = ada_asks(bot).await;
        bot.slack
            .says("I will look at it.", by("kim"), HELP, Some(&asked))
            .await;
        bot.slack.says("Thank you!", by("ada"), HELP, Some(&asked)).await;
        bot.settle().await;
        assert_eq!(tickets(bot).await, 0, "a colleague must not become the customer");

        bot.slack.is_down(false);
        drafts(bot, DRAFT);
        bot.advance(Duration::from_secs(60));
        bot.settle().await;
        assert_eq!(
            comments(bot).await,
            [
                "requester ada: Where is my refund?",
                "agent kim: I will look at it.",
                "requester ada: Thank you!"
            ]
        );
        bot.slack.only_open_card().says(DRAFT);
        assert_eq!(runs(bot).await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_post_whose_author_is_never_told_is_given_up_after_an_hour_and_served_again_by_hand() {
    scenario_with(WATCHED, async |bot| {
        bot.slack.is_down(true);
        ada_asks(bot).await;
        for _ in 0..25 {
            bot.settle().await;
            bot.advance(Duration::from_secs(301));
        }
        let lost = deskhand_adapters::postgres::inbox::unmapped(bot.pool())
            .await
            .expect("the database answers");
        assert_eq!(lost.len(), 1);
        assert_eq!(lost[0].error, "the chat does not say whether its author is of the team");
        bot.slack.is_down(false);
        drafts(bot, DRAFT);
        assert!(
            deskhand_adapters::postgres::posts::retry(bot.pool(), lost[0].id)
                .await
                .expect("the database answers")
        );
        bot.settle().await;
        bot.slack.only_open_card().says(DRAFT);
    })
    .await;
}

#[tokio::test]
async fn a_post_survives_a_process_that_dies_before_it_is_served() {
    scenario_with(WATCHED, async |bot| {
        drafts(bot, DRAFT);
        ada_asks(bot).await;
        bot.restarts().await;
        bot.settle().await;
        bot.slack.only_open_card().says(DRAFT);
        assert_eq!(tickets(bot).await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_repeated_event_changes_nothing() {
    scenario_with(WATCHED, async |bot| {
        let (asked, card) = a_draft_waits(bot).await;
        assert_eq!(bot.slack.repeats_last_event().await, 200);
        bot.settle().await;
        bot.model.says("Nothing to add.");
        bot.slack.says("Hello?", by("ada"), HELP, Some(&asked)).await;
        bot.settle().await;
        assert_eq!(bot.slack.repeats_last_event().await, 200);
        bot.settle().await;
        card.says("Withdrawn");
        assert_eq!(
            (tickets(bot).await, comments(bot).await.len(), runs(bot).await),
            (1, 2, 1)
        );
    })
    .await;
}
