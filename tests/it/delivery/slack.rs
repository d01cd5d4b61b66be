//! Slack asks to slow down, refuses what we drew, or is down.

use deskhand_tests::fake::by;
use deskhand_tests::fake::clock::{hours, minutes, seconds};
use deskhand_tests::scenario;

use crate::lines::{a_reply_waits, ada_asks, drafts, sam_approves};

#[tokio::test]
async fn slack_says_slow_down_and_we_do_on_every_replica() {
    scenario(async |bot| {
        drafts(bot, "Your refund left us on Monday.");
        let ticket = ada_asks(bot).await;
        bot.slack.slow_down(60);
        bot.settle().await;
        for _ in 0..5 {
            // A process that has not heard of it itself.
            bot.restarts().await;
            bot.settle().await;
            assert_eq!(bot.slack.came_too_early(), 0);
            bot.advance(seconds(10));
        }
        bot.slack.has_no_cards();
        bot.restarts().await;
        bot.advance(seconds(15));
        bot.settle().await;
        assert_eq!(bot.slack.came_too_early(), 0);
        bot.slack.only_card().is_about(&ticket);
    })
    .await;
}

#[tokio::test]
async fn a_channel_gets_at_most_one_post_a_second() {
    scenario(async |bot| {
        bot.slack.strict_rate(true);
        for n in 1..=4 {
            drafts(bot, &format!("Answer {n}."));
            let who = by(format!("customer{n}@example.com"));
            bot.zendesk.opens(&format!("Question {n}"), "Where is it?", who).await;
        }
        bot.settle().await;
        let cards = bot.slack.cards();
        assert_eq!(cards.len(), 4);
        for card in &cards {
            card.says("Answer");
        }
        let refused: Vec<_> = bot
            .slack
            .requests()
            .into_iter()
            .filter(|request| request.outcome == "ratelimited")
            .collect();
        assert!(refused.is_empty(), "{refused:?}");
    })
    .await;
}

#[tokio::test]
async fn slack_refuses_the_blocks_and_plain_text_with_the_same_buttons_is_shown() {
    scenario(async |bot| {
        drafts(bot, "Your refund left us on Monday.");
        let ticket = ada_asks(bot).await;
        // The header goes first.
        bot.tick().await;
        assert_eq!((bot.slack.headers().len(), bot.slack.cards().len()), (1, 0));
        bot.slack.refuses_blocks(1);
        bot.settle().await;

        let refused = bot
            .slack
            .requests()
            .iter()
            .filter(|r| r.outcome == "invalid_blocks")
            .count();
        assert_eq!(refused, 1);
        let card = bot.slack.only_card();
        card.says("Your refund left us on Monday.");
        assert_eq!(card.buttons(), ["Approve", "Edit", "Reject", "View full"]);

        bot.model.says("Done.");
        bot.slack.refuses_blocks(1);
        sam_approves(bot).await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        let card = bot.slack.only_card();
        card.says("Approved by sam");
        card.has_no_buttons();
    })
    .await;
}

#[tokio::test]
async fn slack_is_down_and_the_card_is_shown_once_it_is_back() {
    scenario(async |bot| {
        drafts(bot, "Your refund left us on Monday.");
        let ticket = ada_asks(bot).await;
        bot.slack.is_down(true);
        for _ in 0..4 {
            bot.settle().await;
            bot.advance(minutes(30));
        }
        bot.slack.is_down(false);
        bot.advance(hours(1));
        bot.settle().await;
        bot.slack.only_card().is_about(&ticket);
        bot.slack.header(&ticket).says("reply to the customer");
    })
    .await;
}

#[tokio::test]
async fn slack_is_down_and_zendesk_gets_its_reply_all_the_same() {
    scenario(async |bot| {
        let ticket = a_reply_waits(bot).await;
        let card = bot.slack.only_card();
        bot.model.says("Done.");
        sam_approves(bot).await;
        bot.slack.is_down(true);
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        assert_eq!(card.buttons().len(), 4, "nobody could tell Slack yet");

        bot.slack.is_down(false);
        bot.advance(minutes(10));
        bot.settle().await;
        card.says("Approved by sam");
        card.has_no_buttons();
        bot.slack.header(&ticket).says("waiting on customer");
    })
    .await;
}
