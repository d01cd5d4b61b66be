//! Clicks and commands that come by the gateway: answered by the callback, once.

use deskhand_tests::fake::by;
use deskhand_tests::fake::discord::From;
use deskhand_tests::scenario_with;

use super::{GATEWAY, kim_asks};

#[tokio::test]
async fn a_click_is_answered_with_the_decided_card() {
    scenario_with(GATEWAY, async |bot| {
        let said = kim_asks(bot, "Your refund left us on Monday.").await;
        let card = bot.discord.only_open_card();
        bot.model.says("Done.");
        let seen = bot.discord.clicks(&card, "Approve", by("sam")).await;
        assert_eq!(seen.answer["type"], 7);
        card.says("Approved by sam");
        bot.discord
            .clicks(&card, "Approve", by("sam"))
            .await
            .says("A-1 was already approved by sam");
        bot.settle().await;
        assert_eq!(bot.discord.answers_below(&said).len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_command_a_form_and_a_completion_are_answered_and_a_stranger_is_refused() {
    scenario_with(GATEWAY, async |bot| {
        kim_asks(bot, "Your refund left us on Monday.").await;
        let card = bot.discord.only_open_card();
        let shown = bot.discord.commands("show", &[("ticket", "T-1001")], by("sam")).await;
        bot.settle().await;
        shown.says("Where is my refund?");
        assert_eq!(
            bot.discord.is_offered("show", "ticket", "ref", by("sam")).await,
            ["T-1001"]
        );
        bot.discord
            .clicks(&card, "Approve", by("stranger"))
            .await
            .says("not on the list");
        bot.model.says("Then a person writes.");
        let form = bot.discord.opens_form(&card, "Reject", by("sam")).await;
        form.submits("Too short.").await.says_nothing();
        bot.settle().await;
        card.says("Rejected by sam");
    })
    .await;
}

#[tokio::test]
async fn a_click_that_must_be_looked_into_is_kept_and_answered_in_its_place() {
    scenario_with(GATEWAY, async |bot| {
        let said = kim_asks(bot, "Your refund left us on Monday.").await;
        let card = bot.discord.only_open_card();
        bot.model.says("Done.");
        let seen = bot.discord.clicks_from(&card, "Approve", by("sam"), From::Direct).await;
        assert!(seen.is_thinking());
        bot.settle().await;
        seen.says("A-1 approved by sam.");
        assert_eq!(bot.discord.answers_below(&said).len(), 1);
        card.says("Approved by sam");
    })
    .await;
}
