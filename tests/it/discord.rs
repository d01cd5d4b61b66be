//! Discord as people use it: decisions by role, forms, late tokens, commands, and both chats at once.

mod messages;
mod people;
mod trouble;
mod typed;

use deskhand_tests::fake::by;
use deskhand_tests::scenario_with;

use crate::lines::a_reply_waits;

/// Discord in Slack's place.
const ONLY: &[(&str, &str)] = &[("WITH_DISCORD", "only")];

#[tokio::test]
async fn deciding_in_one_chat_settles_the_card_in_the_other() {
    scenario_with(&[("WITH_DISCORD", "both")], async |bot| {
        let ticket = a_reply_waits(bot).await;
        let (slack, discord) = (bot.slack.only_open_card(), bot.discord.only_open_card());
        bot.model.says("Done.");
        bot.discord.clicks(&discord, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;

        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        slack.says("Approved by sam");
        slack.has_no_buttons();
        let late = bot.slack.clicks_stale(&slack, "Approve", by("sam")).await;
        bot.settle().await;
        late.says("A-1 was already approved by sam");
    })
    .await;
}

#[tokio::test]
async fn the_click_itself_is_answered_with_the_decided_card() {
    scenario_with(ONLY, async |bot| {
        let ticket = a_reply_waits(bot).await;
        let card = bot.discord.only_open_card();
        assert_eq!(
            card.thread().as_deref(),
            Some("T-1001 · Where is my refund?"),
            "it hangs under the ticket's header"
        );
        bot.model.says("Done.");
        let seen = bot.discord.clicks(&card, "Approve", by("sam")).await;
        // Nothing has worked on yet: what the person sees came with the answer.
        assert_eq!(seen.answer["type"], 7);
        card.says("Approved by sam");
        card.has_no_buttons();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
    })
    .await;
}

#[tokio::test]
async fn the_whole_card_comes_as_a_file_to_the_one_who_asked() {
    scenario_with(ONLY, async |bot| {
        let draft = format!(
            "Dear Ada,\n{}\nYours, the last line.",
            "We looked into it once more. ".repeat(150)
        );
        crate::lines::drafts(bot, &draft);
        crate::lines::ada_asks(bot).await;
        bot.settle().await;
        let card = bot.discord.only_open_card();
        card.says("View full has the rest");
        card.says_nothing_of("the last line");

        let seen = bot.discord.clicks(&card, "View full", by("kim")).await;
        assert!(seen.is_thinking(), "it follows in a moment");
        bot.settle().await;
        seen.says("A-1, with everything that the card had to cut:");
        assert!(seen.file().contains(&draft), "{}", seen.file());
    })
    .await;
}

#[tokio::test]
async fn the_edit_form_opens_with_the_draft_and_gives_back_what_was_not_taken() {
    scenario_with(ONLY, async |bot| {
        let draft = "Dear Ada,\n\nyour refund left us on Monday.\n\n  Yours\n  the shop";
        crate::lines::drafts(bot, draft);
        let ticket = crate::lines::ada_asks(bot).await;
        bot.settle().await;
        let card = bot.discord.only_open_card();
        let refused = bot
            .discord
            .opens_form(&card, "Edit", by("stranger"))
            .await
            .submits("You owe us money.")
            .await;
        refused.says("not on the list");
        refused.says("You owe us money.");

        bot.model.says("Done.");
        let form = bot.discord.opens_form(&card, "Edit", by("sam")).await;
        assert!(form.text().contains(draft), "{}", form.text());
        form.submits_untouched().await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, draft);
        card.says("Edited and approved by sam");
    })
    .await;
}
