//! Who may decide in Discord: by role from the signed payload, looked up again before anything leaves.

use std::time::Duration;

use deskhand_tests::fake::by;
use deskhand_tests::fake::discord::{From, LEADS};
use deskhand_tests::scenario_with;

use super::ONLY;
use crate::lines::a_reply_waits;

#[tokio::test]
async fn whoever_lost_the_role_between_click_and_execution_sends_nothing() {
    scenario_with(ONLY, async |bot| {
        let ticket = a_reply_waits(bot).await;
        let card = bot.discord.only_open_card();
        bot.discord.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.discord.gives_roles("sam", &[]);
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);
        card.says("Superseded: sam may no longer decide this.");
        bot.discord.only_open_card().says("sam may no longer decide this.");
    })
    .await;
}

#[tokio::test]
async fn a_look_up_that_fails_before_execution_refuses() {
    scenario_with(ONLY, async |bot| {
        let ticket = a_reply_waits(bot).await;
        let card = bot.discord.only_open_card();
        bot.discord.members_are_down(true);
        bot.discord.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);
        card.says("Superseded");
        bot.discord.only_open_card().says("A-2");
    })
    .await;
}

#[tokio::test]
async fn a_click_without_a_member_is_kept_until_the_role_was_looked_up() {
    scenario_with(ONLY, async |bot| {
        let ticket = a_reply_waits(bot).await;
        let card = bot.discord.only_open_card();
        bot.model.says("Done.");
        let stranger = bot
            .discord
            .clicks_from(&card, "Approve", by("stranger"), From::Direct)
            .await;
        assert!(
            stranger.is_thinking(),
            "the click is stored, and nothing is decided yet"
        );
        bot.settle().await;
        stranger.says("You are not on the list of those who may decide A-1. Nothing was changed.");

        let sam = bot.discord.clicks_from(&card, "Approve", by("sam"), From::Direct).await;
        assert!(sam.is_thinking());
        bot.settle().await;
        sam.says("A-1 approved by sam.");
        assert_eq!(sam.told().len(), 1, "one click, one answer");
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        card.says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn another_server_decides_nothing_whatever_roles_it_gives() {
    scenario_with(ONLY, async |bot| {
        let ticket = a_reply_waits(bot).await;
        let card = bot.discord.only_open_card();
        for label in ["Approve", "Edit", "View full"] {
            let seen = bot
                .discord
                .clicks_from(&card, label, by("outsider"), From::OtherGuild)
                .await;
            bot.settle().await;
            seen.says("This belongs to another server; nothing was changed.");
        }
        // Nor does somebody who only says in a direct message that they are one of us.
        let direct = bot
            .discord
            .clicks_from(&card, "Approve", by("outsider"), From::Direct)
            .await;
        bot.settle().await;
        direct.says("not on the list");
        bot.zendesk.has_no_replies(&ticket);
        bot.discord.only_open_card();
    })
    .await;
}

#[tokio::test]
async fn a_decision_after_the_token_has_died_is_told_by_the_bot() {
    scenario_with(ONLY, async |bot| {
        let ticket = a_reply_waits(bot).await;
        let card = bot.discord.only_open_card();
        bot.model.says("Done.");
        let seen = bot.discord.clicks_from(&card, "Approve", by("sam"), From::Direct).await;
        assert!(seen.is_thinking());
        // The bot was away for longer than Discord lets it answer.
        bot.advance(Duration::from_secs(16 * 60));
        bot.restarts().await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        card.says("Approved by sam");
        assert_eq!(bot.discord.direct_lines("sam"), ["A-1 approved by sam."]);
    })
    .await;
}

#[tokio::test]
async fn a_role_given_since_counts_at_the_next_click() {
    scenario_with(ONLY, async |bot| {
        let ticket = a_reply_waits(bot).await;
        let card = bot.discord.only_open_card();
        bot.discord
            .clicks(&card, "Approve", by("kim"))
            .await
            .says("not on the list");
        bot.discord.gives_roles("kim", &[LEADS]);
        bot.model.says("Done.");
        bot.discord.clicks(&card, "Approve", by("kim")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
    })
    .await;
}
