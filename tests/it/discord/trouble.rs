//! When Discord fails, refuses, forgets, or sends what nobody knows.

use std::time::Duration;

use deskhand_tests::fake::by;
use deskhand_tests::fake::wire::Forgery;
use deskhand_tests::scenario_with;
use serde_json::json;

use super::ONLY;
use crate::lines::{a_reply_waits, ada_asks, drafts};

#[tokio::test]
async fn a_post_whose_answer_was_lost_is_not_made_twice() {
    scenario_with(ONLY, async |bot| {
        bot.discord.times_out_after_applying_next_write();
        a_reply_waits(bot).await;
        assert_eq!(bot.discord.headers().len(), 1, "the nonce gives back what is there");
        bot.discord.only_open_card().says("A-1");
    })
    .await;
}

#[tokio::test]
async fn embeds_that_discord_refuses_become_plain_text_with_the_same_buttons() {
    scenario_with(ONLY, async |bot| {
        drafts(bot, "Your refund left us on Monday.");
        bot.discord.refuses_embeds(2);
        let ticket = ada_asks(bot).await;
        bot.settle().await;
        let card = bot.discord.only_open_card();
        card.says("Your refund left us on Monday.");
        bot.model.says("Done.");
        bot.discord.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        card.says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn cards_wait_for_a_discord_that_is_down_or_slows_us_down() {
    scenario_with(ONLY, async |bot| {
        bot.discord.is_down(true);
        a_reply_waits(bot).await;
        assert!(bot.discord.cards().is_empty());
        bot.discord.is_down(false);
        bot.discord.slows_down(1);
        for _ in 0..8 {
            bot.advance(Duration::from_secs(120));
            bot.settle().await;
        }
        bot.discord.only_open_card().says("A-1");
        assert_eq!(bot.discord.headers().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_forged_interaction_is_answered_401_and_decides_nothing() {
    scenario_with(ONLY, async |bot| {
        let ticket = a_reply_waits(bot).await;
        let card = bot.discord.only_open_card();
        for how in [Forgery::WrongSecret, Forgery::ChangedBody, Forgery::NoSignature] {
            bot.discord.forges_next(how);
            let seen = bot.discord.clicks(&card, "Approve", by("sam")).await;
            assert_eq!(seen.status, 401, "{how:?}");
        }
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);
        assert_eq!(
            bot.discord.sends(|_| {}, by("sam")).await.answer,
            json!({ "type": 1 }),
            "a ping has its pong"
        );
    })
    .await;
}

#[tokio::test]
async fn what_nobody_knows_is_answered_and_kept_for_the_operator() {
    scenario_with(ONLY, async |bot| {
        let unknown = bot.discord.sends(|body| body["type"] = 99.into(), by("sam")).await;
        unknown.says("I do not know what to do with this");
        let silent = bot
            .discord
            .sends(|body| *body = json!({ "type": 3, "data": {} }), by("sam"))
            .await;
        silent.says("I do not know what to do with this");
        let kept = "SELECT count(*) FROM inbox WHERE source = 'discord' AND state = 'unmapped'";
        assert_eq!(bot.counts(kept).await, 2);
    })
    .await;
}
