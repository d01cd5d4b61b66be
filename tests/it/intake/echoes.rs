//! The bot's own words come back as webhooks, and people talk among themselves: neither is a reason to work.

use deskhand_tests::fake::zendesk::Hook;
use deskhand_tests::scenario;
use serde_json::json;

use super::triggers::{BY_HAND, OURS};
use crate::lines::{a_reply_is_approved, ada_asks, comments, drafts, runs, sam_approves, states};

#[tokio::test]
async fn the_bots_own_reply_coming_back_changes_nothing() {
    for (hook, template, echo_first) in [
        (Hook::Events, OURS, false),
        (Hook::Events, OURS, true),
        (Hook::Trigger, OURS, false),
        (Hook::Trigger, OURS, true),
        (Hook::Both, OURS, true),
    ] {
        scenario(async |bot| {
            bot.zendesk.subscribes(hook);
            bot.zendesk.uses_trigger_template(template);
            bot.zendesk.echoes_before_answering(echo_first);
            drafts(bot, "Your refund left us on Monday.");
            let ticket = ada_asks(bot).await;
            bot.settle().await;
            bot.model.says("Done.");
            sam_approves(bot).await;
            bot.settle().await;

            bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
            assert_eq!(
                states(bot).await,
                ["completed answered"],
                "{hook:?}, first: {echo_first}"
            );
            assert_eq!(comments(bot).await, 2, "hers and ours");
            assert_eq!(bot.model.requests().len(), 2);
            bot.slack.header(&ticket).says("waiting on customer");
        })
        .await;
    }
}

#[tokio::test]
async fn a_template_that_does_not_say_who_costs_a_look_and_no_request() {
    scenario(async |bot| {
        bot.zendesk.subscribes(Hook::Trigger);
        bot.zendesk.uses_trigger_template(BY_HAND);
        let ticket = a_reply_is_approved(bot).await;
        bot.settle().await;

        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        assert_eq!(bot.model.requests().len(), 2);
        assert_eq!(comments(bot).await, 2);
        assert_eq!(states(bot).await, ["completed answered", "completed triaged"]);
    })
    .await;
}

#[tokio::test]
async fn the_bots_own_bookkeeping_coming_back_changes_nothing() {
    scenario(async |bot| {
        bot.zendesk.echoes_before_answering(true);
        bot.model
            .calls("add_note", json!({ "text": "She is a customer since 2019." }));
        bot.model.says("A person should look at it.");
        let ticket = ada_asks(bot).await;
        bot.settle().await;

        assert_eq!(bot.zendesk.notes(&ticket), ["She is a customer since 2019."]);
        assert_eq!(states(bot).await, ["completed handed_over"]);
        assert_eq!(bot.model.requests().len(), 2);
    })
    .await;
}

#[tokio::test]
async fn we_know_our_own_words_although_zendesk_was_down_when_we_started() {
    scenario(async |bot| {
        bot.zendesk.is_down(true);
        bot.restarts().await;
        bot.zendesk.is_down(false);
        bot.zendesk.echoes_before_answering(true);
        let ticket = a_reply_is_approved(bot).await;
        bot.settle().await;

        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        assert_eq!(states(bot).await, ["completed answered"]);
        assert_eq!(bot.model.requests().len(), 2);
    })
    .await;
}

#[tokio::test]
async fn internal_notes_start_no_run_and_leave_the_draft_open() {
    for hook in [Hook::Events, Hook::Trigger] {
        scenario(async |bot| {
            bot.zendesk.subscribes(hook);
            bot.zendesk.uses_trigger_template(OURS);
            drafts(bot, "Your refund left us on Monday.");
            let ticket = ada_asks(bot).await;
            bot.settle().await;
            bot.zendesk
                .agent_comments(&ticket, "I know her, she is nice.", "Robin", false)
                .await;
            bot.settle().await;

            bot.slack.only_open_card().says("Your refund left us on Monday.");
            assert_eq!(states(bot).await, ["waiting"]);
            assert_eq!(bot.model.requests().len(), 1);

            bot.model.says("Done.");
            sam_approves(bot).await;
            bot.settle().await;
            bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
            // A note on a ticket that is done with starts nothing either.
            bot.zendesk.agent_comments(&ticket, "All well.", "Robin", false).await;
            bot.settle().await;
            assert_eq!(bot.model.requests().len(), 2, "{hook:?}");
            bot.slack.only_card().says("Approved by sam");
        })
        .await;
    }
}

#[tokio::test]
async fn a_note_on_a_ticket_nobody_works_starts_no_run() {
    scenario(async |bot| {
        bot.zendesk.subscribes(Hook::Neither);
        let ticket = ada_asks(bot).await;
        bot.zendesk.subscribes(Hook::Events);
        bot.zendesk
            .agent_comments(&ticket, "I look at it.", "Robin", false)
            .await;
        bot.settle().await;
        assert_eq!(runs(bot).await, 0);
        assert!(bot.model.requests().is_empty());
    })
    .await;
}
