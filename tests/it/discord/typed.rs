//! `/triage` in Discord, its completion, and "Triage this".

use deskhand_tests::fake::by;
use deskhand_tests::fake::discord::HELP;
use deskhand_tests::scenario_with;

use super::ONLY;
use crate::lines::a_reply_waits;

#[tokio::test]
async fn commands_are_registered_once_and_answered_to_the_one_who_typed() {
    scenario_with(ONLY, async |bot| {
        bot.restarts().await;
        let puts = bot
            .discord
            .requests()
            .into_iter()
            .filter(|request| request.method == "PUT")
            .count();
        assert_eq!(puts, 1, "a restart registers nothing that is there already");

        a_reply_waits(bot).await;
        bot.discord.only_open_card().says("A-1");
        let shown = bot.discord.commands("show", &[("ticket", "T-1001")], by("sam")).await;
        shown.says("Where is my refund?");
        let run = bot.discord.commands("ticket", &[("ticket", "T-1001")], by("sam")).await;
        run.says("A-1");
        let stranger = bot.discord.commands("list", &[], by("stranger")).await;
        stranger.says("This is for the support team; nothing was done.");
    })
    .await;
}

#[tokio::test]
async fn tickets_and_words_are_offered_while_they_are_typed_to_the_team_alone() {
    scenario_with(ONLY, async |bot| {
        a_reply_waits(bot).await;
        bot.discord.only_open_card().says("A-1");
        for begun in ["", "10", "T-10", "refund"] {
            assert_eq!(
                bot.discord.is_offered("show", "ticket", begun, by("sam")).await,
                ["T-1001"],
                "{begun}"
            );
        }
        assert_eq!(
            bot.discord.is_offered("mode", "words", "a", by("sam")).await,
            ["ask", "auto"]
        );
        assert!(
            bot.discord
                .is_offered("show", "ticket", "", by("stranger"))
                .await
                .is_empty()
        );
    })
    .await;
}

#[tokio::test]
async fn triage_this_works_on_a_message_that_names_a_ticket() {
    scenario_with(ONLY, async |bot| {
        a_reply_waits(bot).await;
        bot.discord.only_open_card().says("A-1");
        let said = bot.discord.says("Could you look at T-1001, please?", by("kim"), HELP);
        bot.discord.uses_on_message(&said, by("sam")).await.says("A-1");
        bot.discord
            .uses_on_message(&said, by("stranger"))
            .await
            .says("This is for the support team");
    })
    .await;
}
