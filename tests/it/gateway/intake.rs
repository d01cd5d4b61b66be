//! What people write where the bot listens.

use deskhand_tests::fake::by;
use deskhand_tests::fake::discord::{APPLICATION, CHANNEL, HELP};
use deskhand_tests::{Bot, scenario_with};

use super::{GATEWAY, comments, kim_asks, tickets};
use crate::lines::drafts;

async fn sam_approves(bot: &Bot) {
    let card = bot.discord.only_open_card();
    bot.model.says("Done.");
    bot.discord.clicks(&card, "Approve", by("sam")).await.says_nothing();
    bot.settle().await;
}

#[tokio::test]
async fn a_question_in_a_watched_channel_is_answered_in_its_thread_after_approval() {
    scenario_with(GATEWAY, async |bot| {
        let said = kim_asks(bot, "Your refund left us on Monday.").await;
        assert!(bot.discord.answers_below(&said).is_empty());
        bot.discord
            .only_open_card()
            .says("This reply goes to kim in Discord, into the thread of their message.");
        sam_approves(bot).await;
        assert_eq!(bot.discord.answers_below(&said), ["Your refund left us on Monday."]);
        assert_eq!(
            tickets(bot).await,
            1,
            "the answer itself comes back by the gateway, and is nothing"
        );
    })
    .await;
}

#[tokio::test]
async fn a_forum_post_is_a_ticket_with_its_title_and_is_answered_below() {
    scenario_with(GATEWAY, async |bot| {
        drafts(bot, "We send you a lid.");
        let said = bot
            .discord
            .posts_in_forum("The lid is missing", "It was not in the box.", by("kim"));
        bot.settle().await;
        bot.discord.only_open_card().says("The lid is missing");
        sam_approves(bot).await;
        assert_eq!(bot.discord.answers_below(&said), ["We send you a lid."]);

        drafts(bot, "It left us today.");
        bot.discord.says_below(&said, "When will it come?", by("kim"));
        bot.settle().await;
        bot.discord.only_open_card().says("It left us today.");
        assert_eq!(tickets(bot).await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_later_post_in_the_thread_is_a_comment_and_takes_the_draft_back() {
    scenario_with(GATEWAY, async |bot| {
        let said = kim_asks(bot, "Your refund left us on Monday.").await;
        drafts(bot, "It left us today.");
        bot.discord.says_below(&said, "It is order 4711.", by("kim"));
        bot.settle().await;
        bot.discord.cards()[0].says("Withdrawn");
        bot.discord.only_open_card().says("It left us today.");
        assert_eq!(
            comments(bot).await,
            ["requester: Where is my refund?", "requester: It is order 4711."]
        );
    })
    .await;
}

#[tokio::test]
async fn a_colleague_in_the_thread_is_not_the_customer_and_opens_no_ticket() {
    scenario_with(GATEWAY, async |bot| {
        bot.discord.says("We are closed on Friday.", by("sam"), HELP);
        bot.settle().await;
        assert_eq!(tickets(bot).await, 0);
        let said = kim_asks(bot, "Your refund left us on Monday.").await;
        drafts(bot, "Sam looks into it.");
        bot.discord.says_below(&said, "I look into it.", by("sam"));
        bot.settle().await;
        assert_eq!(
            comments(bot).await,
            ["requester: Where is my refund?", "agent: I look into it."]
        );
        bot.discord.only_open_card().says("Sam looks into it.");
        bot.discord.cards()[0].says("Withdrawn");
    })
    .await;
}

#[tokio::test]
async fn edits_and_deletions_are_noted_and_start_nothing() {
    scenario_with(GATEWAY, async |bot| {
        let said = kim_asks(bot, "Your refund left us on Monday.").await;
        bot.discord.shows_a_preview(&said);
        bot.settle().await;
        assert_eq!(comments(bot).await.len(), 1, "a preview changes no words");
        bot.discord.changes(&said, "Where is my refund for 4712?");
        bot.settle().await;
        bot.discord.deletes(&said);
        bot.settle().await;
        let comments = comments(bot).await;
        assert_eq!(comments.len(), 3, "{comments:#?}");
        assert!(
            comments[1].contains("kim edited their message of") && comments[1].contains("for 4712?"),
            "{comments:#?}"
        );
        assert!(comments[2].contains("kim deleted their message of"), "{comments:#?}");
        assert_eq!(crate::lines::runs(bot).await, 1);
        bot.discord.only_open_card().says("A-1");
    })
    .await;
}

#[tokio::test]
async fn files_are_listed() {
    scenario_with(GATEWAY, async |bot| {
        drafts(bot, "That is a lid.");
        bot.discord
            .says_with_file("What is this?", "lid.png", 4096, by("kim"), HELP);
        bot.settle().await;
        assert_eq!(
            comments(bot).await,
            ["requester: What is this?\n[attached: lid.png, 5 kB]"]
        );
        bot.discord.only_open_card().says("That is a lid.");
    })
    .await;
}

#[tokio::test]
async fn other_channels_are_not_listened_to_until_somebody_mentions_the_bot() {
    scenario_with(GATEWAY, async |bot| {
        bot.discord.says("Nice weather.", by("kim"), CHANNEL);
        bot.settle().await;
        assert_eq!(tickets(bot).await, 0);
        drafts(bot, "Your refund left us on Monday.");
        let words = format!("<@{APPLICATION}> where is my refund?");
        bot.discord.says(&words, by("kim"), CHANNEL);
        bot.settle().await;
        assert_eq!(comments(bot).await, ["requester: where is my refund?"]);
        bot.discord.only_open_card().says("where is my refund?");
    })
    .await;
}

#[tokio::test]
async fn a_command_in_a_channel_is_answered_there_and_one_of_a_stranger_does_nothing() {
    scenario_with(GATEWAY, async |bot| {
        kim_asks(bot, "Your refund left us on Monday.").await;
        bot.discord.only_open_card().says("A-1");
        bot.discord.says("!triage show T-1001", by("sam"), CHANNEL);
        bot.settle().await;
        let lines = bot.discord.lines_in(CHANNEL);
        assert_eq!(lines.len(), 1, "{lines:#?}");
        assert!(
            lines[0].contains("T-1001") && lines[0].contains("Where is my refund?"),
            "{lines:#?}"
        );

        bot.discord.says("!triage stop T-1001", by("stranger"), CHANNEL);
        bot.settle().await;
        assert_eq!(
            bot.discord.direct_lines("stranger"),
            ["This is for the support team; nothing was done."]
        );
        assert_eq!(crate::lines::states(bot).await, ["waiting"]);
    })
    .await;
}

#[tokio::test]
async fn a_command_where_customers_read_along_is_answered_to_the_colleague_alone() {
    scenario_with(GATEWAY, async |bot| {
        let said = kim_asks(bot, "Your refund left us on Monday.").await;
        bot.discord.only_open_card().says("A-1");
        bot.discord.says_below(&said, "!triage show T-1001", by("sam"));
        bot.settle().await;
        let told = bot.discord.direct_lines("sam");
        assert!(told.len() == 1 && told[0].contains("T-1001"), "{told:#?}");
        assert!(bot.discord.answers_below(&said).is_empty());
        assert_eq!(comments(bot).await.len(), 1, "a command is no comment");
    })
    .await;
}
