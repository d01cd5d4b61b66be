//! Triggers: they name a ticket and say nothing that can be relied on, so the ticket is read.

use deskhand_tests::fake::by;
use deskhand_tests::fake::zendesk::Hook;
use deskhand_tests::scenario;

use crate::lines::{a_reply_waits, ada_asks, comments, drafts, runs, sam_approves, states};

/// The template that deploy/ has for Zendesk's administrators.
pub(super) const OURS: &str = include_str!("../../../deploy/zendesk/trigger.json");

/// As people write it by hand: a customer's words between quotes that nobody escapes.
pub(super) const BY_HAND: &str = r#"{
  "ticket_id": "{{ticket.id}}", "subject": "{{ticket.title}}", "text": "{{ticket.latest_comment}}",
  "requester_name": "{{ticket.requester.name}}", "requester_email": "{{ticket.requester.email}}",
  "status": "{{ticket.status}}", "priority": "{{ticket.priority}}"
}"#;

#[tokio::test]
async fn a_trigger_brings_the_ticket_whichever_template_it_has() {
    for template in [OURS, BY_HAND] {
        scenario(async |bot| {
            bot.zendesk.subscribes(Hook::Trigger);
            bot.zendesk.uses_trigger_template(template);
            drafts(bot, "Your refund left us on Monday.");
            let ticket = ada_asks(bot).await;
            bot.settle().await;

            let card = bot.slack.only_card();
            card.is_about(&ticket);
            card.says("I sent the kettle back.");
            card.says("Ada");
            bot.model.says("Done.");
            sam_approves(bot).await;
            bot.settle().await;
            bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
            assert_eq!(states(bot).await[0], "completed answered");
            assert_eq!(comments(bot).await, 2, "hers and ours");
        })
        .await;
    }
}

#[tokio::test]
async fn a_quote_in_the_subject_breaks_the_json_and_the_ticket_is_read_from_zendesk() {
    scenario(async |bot| {
        bot.zendesk.subscribes(Hook::Trigger);
        bot.zendesk.uses_trigger_template(BY_HAND);
        drafts(bot, "Hello Ada.");
        let ticket = bot
            .zendesk
            .opens("He said \"hello\"", "line one\nline \"two\"\\", by("ada@example.com"))
            .await;
        bot.settle().await;

        let card = bot.slack.only_card();
        card.is_about(&ticket);
        card.says("line \"two\"\\");
        assert_eq!((runs(bot).await, comments(bot).await), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn a_subject_that_writes_json_cannot_speak_for_another_ticket() {
    scenario(async |bot| {
        bot.zendesk.subscribes(Hook::Trigger);
        bot.zendesk.uses_trigger_template(BY_HAND);
        drafts(bot, "Hello Mallory.");
        let ticket = bot
            .zendesk
            .opens(
                "x\", \"ticket_id\": \"999\", \"y\": \"",
                "Me again.",
                by("mallory@example.com"),
            )
            .await;
        bot.settle().await;

        bot.slack.only_card().is_about(&ticket);
        assert_eq!(bot.counts("SELECT count(*) FROM ticket").await, 1);
        assert_eq!(
            bot.counts("SELECT count(*) FROM ticket WHERE outside_id = '999'").await,
            0
        );
    })
    .await;
}

#[tokio::test]
async fn a_trigger_and_a_subscription_at_once_make_one_comment_of_each() {
    scenario(async |bot| {
        bot.zendesk.subscribes(Hook::Both);
        bot.zendesk.uses_trigger_template(OURS);
        let ticket = a_reply_waits(bot).await;
        let stale = bot.slack.only_card();
        drafts(bot, "To the new account, on Monday.");
        bot.zendesk
            .comments(&ticket, "To my new account, please.", by("ada@example.com"))
            .await;
        bot.settle().await;

        stale.says("Withdrawn: the customer wrote again");
        bot.slack.only_open_card().says("To the new account, on Monday.");
        assert_eq!((runs(bot).await, comments(bot).await), (1, 2));

        bot.model.says("Done.");
        sam_approves(bot).await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "To the new account, on Monday.");
        assert_eq!((runs(bot).await, comments(bot).await), (1, 3));
        assert_eq!(bot.model.requests().len(), 3);
    })
    .await;
}

#[tokio::test]
async fn a_comment_that_only_a_trigger_told_of_withdraws_the_open_draft() {
    scenario(async |bot| {
        bot.zendesk.subscribes(Hook::Trigger);
        bot.zendesk.uses_trigger_template(OURS);
        let ticket = a_reply_waits(bot).await;
        let stale = bot.slack.only_card();

        drafts(bot, "Then all is well.");
        bot.zendesk
            .comments(&ticket, "It has come, thank you.", by("ada@example.com"))
            .await;
        // Sam is quicker than the runner that reads the ticket.
        bot.slack.clicks(&stale, "Approve", by("sam")).await.told();
        bot.settle().await;

        stale.has_no_buttons();
        bot.zendesk.has_no_replies(&ticket);
        bot.slack.only_open_card().says("Then all is well.");
    })
    .await;
}
