//! Tickets from messages: made by "Triage this", answered in the message's own thread after approval.

use deskhand_tests::fake::by;
use deskhand_tests::fake::discord::{HELP, Said};
use deskhand_tests::{Bot, scenario_with};

use super::ONLY;
use crate::lines::drafts;

/// Kim asked in the help channel, sam made a ticket of it, and a draft waits.
async fn kims_message_is_a_ticket(bot: &Bot, draft: &str) -> Said {
    let said = bot
        .discord
        .says("Where is my refund?\nI sent the kettle back.", by("kim"), HELP);
    drafts(bot, draft);
    let seen = bot.discord.uses_on_message(&said, by("sam")).await;
    seen.says("This message is T-1001 now");
    bot.settle().await;
    said
}

#[tokio::test]
async fn a_message_becomes_a_ticket_and_its_approved_answer_goes_into_its_thread() {
    scenario_with(ONLY, async |bot| {
        let draft = format!(
            "It left us on Monday. Write to *us* again.\n\n{}",
            "More words follow here. ".repeat(90)
        );
        let said = kims_message_is_a_ticket(bot, &draft).await;
        let card = bot.discord.only_open_card();
        card.says("Where is my refund?");
        card.says("This reply goes to kim in Discord, into the thread of their message.");
        assert!(bot.discord.answers_below(&said).is_empty());
        bot.discord
            .uses_on_message(&said, by("sam"))
            .await
            .says("This message is on T-1001 already.");

        bot.model.says("Done.");
        bot.discord.times_out_after_applying_next_write();
        bot.discord.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        let answers = bot.discord.answers_below(&said);
        assert_eq!(
            answers.len(),
            3,
            "as many messages as it needs, none of them twice: {answers:#?}"
        );
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&answers.join(" ")), words(&draft), "word for word");
        card.says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn what_the_customer_added_in_the_thread_withdraws_the_answer_and_reaches_the_model() {
    scenario_with(ONLY, async |bot| {
        let said = kims_message_is_a_ticket(bot, "Your refund left us on Monday.").await;
        let card = bot.discord.only_open_card();
        bot.discord.says_below(&said, "It arrived today, thank you.", by("kim"));
        bot.model.says("Nothing is left to answer.");
        bot.discord.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.model.says("Nothing is left to answer.");
        bot.settle().await;
        assert!(bot.discord.answers_below(&said).is_empty());
        let heard = format!("{:?}", bot.model.last_request().turns);
        assert!(heard.contains("It arrived today, thank you."), "{heard}");
        card.says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_message_in_the_thread_of_a_ticket_is_a_comment_on_it() {
    scenario_with(ONLY, async |bot| {
        let said = kims_message_is_a_ticket(bot, "Your refund left us on Monday.").await;
        bot.discord.only_open_card().says("A-1");
        let more = bot.discord.says_below(&said, "And the lid is missing.", by("kim"));
        drafts(bot, "We send you a lid.");
        bot.discord
            .uses_on_message(&more, by("sam"))
            .await
            .says("This message was added to T-1001.");
        bot.settle().await;
        bot.discord.cards()[0].says("Withdrawn");
        bot.discord.only_open_card().says("We send you a lid.");
        assert_eq!(bot.counts("SELECT count(*) FROM ticket").await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_colleague_who_answers_in_the_thread_is_not_the_customer_and_is_not_talked_over() {
    scenario_with(ONLY, async |bot| {
        let said = kims_message_is_a_ticket(bot, "Your refund left us on Monday.").await;
        let card = bot.discord.only_open_card();
        bot.discord
            .says_below(&said, "I have refunded you just now.", by("sam"));
        bot.model.says("I wait for the delivery.");
        bot.model.says("Sam answered; nothing to send.");
        bot.discord.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        assert!(bot.discord.answers_below(&said).is_empty());
        let heard = format!("{:?}", bot.model.last_request().turns);
        assert!(
            heard.contains("The reply was not sent: sam answered meanwhile"),
            "{heard}"
        );
        assert_eq!(
            bot.counts("SELECT count(*) FROM comment WHERE author = 'agent' AND author_name = 'sam'")
                .await,
            1
        );
        card.says("Approved by sam");
    })
    .await;
}
