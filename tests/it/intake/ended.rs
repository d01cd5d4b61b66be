//! Tickets that end at the help desk: merged, closed, solved; and those that come back.

use deskhand_tests::fake::by;
use deskhand_tests::fake::zendesk::Hook;
use deskhand_tests::scenario;

use super::triggers::OURS;
use crate::lines::{a_reply_is_approved, a_reply_waits, ada_asks, comments, drafts, runs, sam_approves, states};

#[tokio::test]
async fn a_merged_ticket_withdraws_its_draft_and_becomes_another_name_of_its_target() {
    for hook in [Hook::Events, Hook::Trigger] {
        scenario(async |bot| {
            bot.zendesk.subscribes(hook);
            bot.zendesk.uses_trigger_template(OURS);
            drafts(bot, "The first draft.");
            let first = ada_asks(bot).await;
            bot.settle().await;
            let withdrawn = bot.slack.only_card();
            drafts(bot, "The second draft.");
            let second = bot
                .zendesk
                .opens("My refund again", "Did you get my mail?", by("ada@example.com"))
                .await;
            bot.settle().await;

            bot.zendesk.merges(&first, &second).await;
            bot.settle().await;
            withdrawn.says("Withdrawn");
            withdrawn.has_no_buttons();
            let open = bot.slack.only_open_card();
            open.says("The second draft.");
            assert_eq!(states(bot).await, ["cancelled", "waiting"], "{hook:?}");
            assert_eq!(bot.model.requests().len(), 2, "nobody asks about a merged ticket");

            // Whoever asks for the first ticket is shown the second.
            let (_, shown) = bot
                .api("GET", &format!("/api/tickets/zendesk:{}", first.id), None)
                .await;
            assert_eq!(shown["outside_id"], second.id.to_string());

            bot.model.says("Done.");
            sam_approves(bot).await;
            bot.settle().await;
            bot.zendesk.has_reply(&second, "The second draft.");
            bot.zendesk.has_no_replies(&first);
        })
        .await;
    }
}

#[tokio::test]
async fn a_ticket_merged_into_one_we_never_saw_brings_that_one() {
    scenario(async |bot| {
        drafts(bot, "The first draft.");
        let first = ada_asks(bot).await;
        bot.settle().await;
        bot.slack.only_card().is_about(&first);
        bot.zendesk.subscribes(Hook::Neither);
        let unseen = bot
            .zendesk
            .opens("My refund again", "Did you get my mail?", by("ada@example.com"))
            .await;
        bot.zendesk.subscribes(Hook::Events);

        drafts(bot, "The second draft.");
        bot.zendesk.merges(&first, &unseen).await;
        bot.settle().await;
        let card = bot.slack.only_open_card();
        card.is_about(&unseen);
        card.says("Did you get my mail?");
    })
    .await;
}

#[tokio::test]
async fn a_ticket_merged_while_its_reply_was_on_its_way_gets_no_reply() {
    scenario(async |bot| {
        drafts(bot, "The first draft.");
        let first = ada_asks(bot).await;
        bot.settle().await;
        bot.zendesk.subscribes(Hook::Neither);
        let second = bot
            .zendesk
            .opens("My refund again", "Hello?", by("ada@example.com"))
            .await;
        bot.zendesk.merges(&first, &second).await;

        // The model thinks it is done with the first one.
        bot.model.says("Done.");
        drafts(bot, "For the second ticket.");
        sam_approves(bot).await;
        bot.settle().await;
        bot.zendesk.has_no_replies(&first);
        bot.zendesk.has_no_replies(&second);
        bot.slack.only_open_card().is_about(&second);
    })
    .await;
}

#[tokio::test]
async fn a_ticket_closed_at_the_desk_withdraws_its_draft() {
    scenario(async |bot| {
        let ticket = a_reply_waits(bot).await;
        bot.model.says("Nothing is left to do.");
        bot.zendesk.closes(&ticket).await;
        bot.settle().await;

        let card = bot.slack.only_card();
        card.says("Withdrawn: the ticket was closed");
        card.has_no_buttons();
        bot.slack.header(&ticket).says("solved");
        bot.zendesk.has_no_replies(&ticket);
    })
    .await;
}

#[tokio::test]
async fn a_closed_ticket_takes_no_reply_and_its_header_says_why() {
    scenario(async |bot| {
        let ticket = a_reply_waits(bot).await;
        // Nobody tells us.
        bot.zendesk.subscribes(Hook::Neither);
        bot.zendesk.closes(&ticket).await;

        bot.model.says("She has her answer.");
        bot.model.says("I cannot reach her on this ticket.");
        sam_approves(bot).await;
        bot.settle().await;

        bot.zendesk.has_no_replies(&ticket);
        let header = bot.slack.header(&ticket);
        header.says("could not be delivered: the ticket is closed");
        assert_eq!(bot.counts("SELECT count(*) FROM outbox WHERE state = 'dead'").await, 1);
        assert_eq!(states(bot).await, ["completed handed_over"]);
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn solved_elsewhere_withdraws_the_draft_and_a_late_click_is_told_so() {
    scenario(async |bot| {
        let ticket = a_reply_waits(bot).await;
        let card = bot.slack.only_card();
        bot.model.says("Somebody solved it.");
        bot.zendesk.solves(&ticket).await;
        let seen = bot.slack.clicks(&card, "Approve", by("sam")).await;
        bot.settle().await;

        card.says("Withdrawn: the ticket was solved elsewhere");
        seen.says("solved elsewhere");
        bot.zendesk.has_no_replies(&ticket);
        bot.slack.header(&ticket).says("solved");
    })
    .await;
}

#[tokio::test]
async fn a_ticket_solved_without_our_knowing_gets_no_reply() {
    scenario(async |bot| {
        let ticket = a_reply_waits(bot).await;
        bot.zendesk.subscribes(Hook::Neither);
        bot.zendesk.solves(&ticket).await;
        bot.model.says("She has her answer.");
        bot.model.says("Somebody solved it.");
        sam_approves(bot).await;
        bot.settle().await;

        bot.zendesk.has_no_replies(&ticket);
        let told = format!("{:?}", bot.model.last_request().turns);
        assert!(
            told.contains("The reply was not sent: the ticket was solved meanwhile"),
            "{told}"
        );
        bot.slack.header(&ticket).says("solved");
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_comment_on_a_solved_ticket_opens_it_again() {
    scenario(async |bot| {
        let ticket = a_reply_is_approved(bot).await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        bot.zendesk.solves(&ticket).await;
        bot.settle().await;
        bot.slack.header(&ticket).says("State: solved");
        assert_eq!(runs(bot).await, 1);

        bot.advance(deskhand_tests::fake::clock::hours(30));
        drafts(bot, "The bank says Wednesday.");
        bot.zendesk
            .comments(&ticket, "It is not there.", by("ada@example.com"))
            .await;
        bot.settle().await;
        bot.slack.header(&ticket).says("State: triaged");
        bot.model.says("Done.");
        sam_approves(bot).await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "The bank says Wednesday.");
        assert_eq!(states(bot).await, ["completed answered", "completed answered"]);
        assert_eq!(comments(bot).await, 4);
        for card in bot.slack.cards() {
            card.says("Approved by sam");
        }
    })
    .await;
}
