//! What is said in a ticket's thread afterwards, and by whom.

use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::HELP;
use deskhand_tests::scenario_with;

use super::{DRAFT, WATCHED, a_draft_waits, ada_asks, comments, last_told, runs, tickets};
use crate::lines::drafts;

#[tokio::test]
async fn a_reply_in_the_thread_is_a_comment_and_withdraws_the_open_draft() {
    scenario_with(WATCHED, async |bot| {
        let (asked, card) = a_draft_waits(bot).await;
        drafts(bot, "Order 4711 was refunded on Monday.");
        bot.slack.says("It is order 4711.", by("ada"), HELP, Some(&asked)).await;
        bot.settle().await;
        card.says("Withdrawn: the customer wrote again");
        assert!(last_told(bot).contains("It is order 4711."));
        bot.slack.only_open_card().says("Order 4711 was refunded");
        assert_eq!((tickets(bot).await, runs(bot).await), (1, 1));
        assert_eq!(
            comments(bot).await,
            ["requester ada: Where is my refund?", "requester ada: It is order 4711."]
        );
    })
    .await;
}

#[tokio::test]
async fn a_colleagues_post_in_the_thread_is_not_the_customers() {
    scenario_with(WATCHED, async |bot| {
        let (asked, card) = a_draft_waits(bot).await;
        bot.model.says("Kim sees to it.");
        bot.slack
            .says("I will look at it, Ada.", by("kim"), HELP, Some(&asked))
            .await;
        bot.settle().await;
        card.says("Withdrawn");
        assert_eq!(
            comments(bot).await,
            [
                "requester ada: Where is my refund?",
                "agent kim: I will look at it, Ada."
            ]
        );
        assert!(asked.lines().is_empty());
    })
    .await;
}

#[tokio::test]
async fn somebody_else_in_the_thread_is_neither_the_customer_nor_a_colleague() {
    scenario_with(WATCHED, async |bot| {
        let (asked, card) = a_draft_waits(bot).await;
        bot.model.says("Nothing to add.");
        bot.slack
            .says("Mine is late too.", by("outsider"), HELP, Some(&asked))
            .await;
        bot.settle().await;
        card.says("Withdrawn");
        assert_eq!(comments(bot).await[1], "other outsider: Mine is late too.");
        assert_eq!(tickets(bot).await, 1);
    })
    .await;
}

#[tokio::test]
async fn what_a_colleague_answered_unheard_keeps_the_bot_from_talking_over_them() {
    scenario_with(WATCHED, async |bot| {
        let (asked, card) = a_draft_waits(bot).await;
        // The event is lost: only the look before sending can see it.
        bot.slack.delivers_nothing(true);
        bot.slack
            .says("I have refunded you just now.", by("kim"), HELP, Some(&asked))
            .await;
        bot.slack.delivers_nothing(false);
        bot.model.says("I wait for the delivery.");
        bot.model.says("Kim answered; nothing to send.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        assert!(asked.lines().is_empty());
        card.says("Approved by sam");
        assert_eq!(comments(bot).await[1], "agent kim: I have refunded you just now.");
        let told = last_told(bot);
        assert!(
            told.contains("The reply was not sent: kim answered meanwhile"),
            "{told}"
        );
    })
    .await;
}

#[tokio::test]
async fn two_posts_in_a_burst_become_one_run() {
    let settings = [WATCHED[0], ("DESKHAND_QUIET_TIME", "5s")];
    scenario_with(&settings, async |bot| {
        let asked = ada_asks(bot).await;
        bot.settle().await;
        bot.slack
            .says("And when does it come?", by("ada"), HELP, Some(&asked))
            .await;
        bot.settle().await;
        drafts(bot, DRAFT);
        bot.advance(std::time::Duration::from_secs(6));
        bot.settle().await;
        assert_eq!((runs(bot).await, bot.model.requests().len()), (1, 1));
        assert!(last_told(bot).contains("And when does it come?"));
        bot.slack.only_open_card().says(DRAFT);
    })
    .await;
}

#[tokio::test]
async fn a_command_of_the_teams_in_a_customers_thread_is_answered_to_them_alone() {
    scenario_with(WATCHED, async |bot| {
        let (asked, card) = a_draft_waits(bot).await;
        bot.slack
            .says("!triage stop T-1001", by("kim"), HELP, Some(&asked))
            .await;
        bot.settle().await;
        bot.slack.told_privately("kim", "T-1001 is stopped");
        assert!(asked.lines().is_empty(), "the customer reads nothing of it");
        card.says("Withdrawn: stopped by kim");
        assert_eq!(comments(bot).await.len(), 1, "a command is no comment");
    })
    .await;
}
