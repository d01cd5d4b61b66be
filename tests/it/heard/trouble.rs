//! Replies that Slack does not take, or of which it does not say whether it took them.

use std::time::Duration;

use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::HELP;
use deskhand_tests::scenario_with;

use super::{DRAFT, WATCHED, a_draft_waits};

#[tokio::test]
async fn a_reply_whose_answer_was_lost_is_posted_once() {
    scenario_with(WATCHED, async |bot| {
        let (asked, card) = a_draft_waits(bot).await;
        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.runners_settle().await;
        bot.slack.times_out_after_applying_next_write();
        for _ in 0..4 {
            bot.settle().await;
            bot.advance(Duration::from_secs(60));
        }
        assert_eq!(asked.lines(), [DRAFT]);
        card.says("Approved by sam");
        assert_eq!(
            bot.counts("SELECT count(*) FROM outbox WHERE kind = 'reply' AND state = 'delivered'")
                .await,
            1
        );
    })
    .await;
}

#[tokio::test]
async fn a_reply_that_was_lost_on_its_way_is_posted_after_all() {
    scenario_with(WATCHED, async |bot| {
        let (asked, card) = a_draft_waits(bot).await;
        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.runners_settle().await;
        bot.slack.times_out_before_applying_next_write();
        for _ in 0..4 {
            bot.settle().await;
            bot.advance(Duration::from_secs(60));
        }
        assert_eq!(asked.lines(), [DRAFT]);
        card.says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_reply_into_an_archived_channel_is_dead_and_says_why() {
    scenario_with(WATCHED, async |bot| {
        let (asked, card) = a_draft_waits(bot).await;
        bot.slack.archives(HELP);
        bot.model.says("I wait for the delivery.");
        bot.model.says("It could not be delivered.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        assert!(asked.lines().is_empty());
        card.says("Approved by sam");
        let why = sqlx::query_scalar::<_, String>("SELECT why FROM outbox WHERE kind = 'reply' AND state = 'dead'")
            .fetch_one(bot.pool())
            .await
            .expect("it is dead");
        assert_eq!(
            why,
            "Slack: could not post: channel C0HELP0001 is archived: unarchive it or set another channel (is_archived)"
        );
    })
    .await;
}

#[tokio::test]
async fn a_long_reply_goes_out_whole() {
    scenario_with(WATCHED, async |bot| {
        let long = "Unscrew the lid, then clean the ring below it. ".repeat(300);
        crate::lines::drafts(bot, &long);
        let asked = super::ada_asks(bot).await;
        bot.settle().await;
        bot.model.says("Done.");
        let card = bot.slack.only_open_card();
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        assert_eq!(asked.lines().concat().trim(), long.trim());
        card.says("Approved by sam");
    })
    .await;
}
