//! Runners that die while the model thinks, or between a decision and its delivery.

use deskhand::worker::runner;
use deskhand_core::model::{Call, ModelReply, Stop};
use deskhand_tests::fake::by;
use deskhand_tests::{Bot, scenario};
use serde_json::json;

use super::leases_run_out;
use crate::lines::{a_reply_is_approved, a_reply_waits, ada_asks, drafts, sam_approves, states};

/// The model classifies the ticket, and from then on thinks for as long as it is let.
fn classifies_and_then_thinks(bot: &Bot) {
    let model = bot.model.clone();
    bot.model.answers(move |_| {
        model.holds();
        let args = json!({
            "category": "refund", "priority": "high", "language": "en", "action": "needs_approval",
            "confidence": 0.9, "reason": "She asks for her money.",
        });
        let call = Call {
            id: "call_0".into(),
            name: "classify_ticket".into(),
            args,
        };
        Ok(ModelReply {
            calls: vec![call],
            stop: Stop::Calls,
            ..ModelReply::default()
        })
    });
}

#[tokio::test]
async fn killed_after_the_models_call_and_another_runner_finishes_without_a_second_effect() {
    scenario(async |bot| {
        classifies_and_then_thinks(bot);
        let ticket = ada_asks(bot).await;
        let app = bot.app.clone();
        let work = tokio::spawn(async move { runner::tick(&app).await });
        while bot.model.requests().len() < 2 {
            assert!(!work.is_finished(), "the model is asked twice");
            tokio::task::yield_now().await;
        }
        work.abort();
        let _ = work.await;
        bot.model.releases();

        bot.restarts().await;
        drafts(bot, "Your refund left us on Monday.");
        leases_run_out(bot).await;
        bot.settle().await;
        bot.model.says("Done.");
        sam_approves(bot).await;
        bot.settle().await;

        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        bot.slack.only_card().says("Approved by sam");
        assert_eq!(bot.zendesk.notes(&ticket).len(), 1, "it is classified once");
        assert_eq!(bot.zendesk.updates(&ticket), 2, "the bookkeeping and the reply");
        let third = bot.model.requests()[2].clone();
        assert_eq!(
            third.turns,
            bot.model.requests()[1].turns,
            "it goes on where the first one was"
        );
        assert_eq!(states(bot).await, ["completed answered"]);
    })
    .await;
}

#[tokio::test]
async fn killed_while_the_model_thinks_and_nothing_happens_before_the_lease_runs_out() {
    scenario(async |bot| {
        let ticket = ada_asks(bot).await;
        bot.is_killed_while_the_model_thinks().await;
        bot.restarts().await;
        bot.settle().await;
        assert_eq!(states(bot).await, ["running"], "its lease still stands");
        bot.slack.has_no_cards();

        drafts(bot, "Your refund left us on Monday.");
        leases_run_out(bot).await;
        bot.settle().await;
        bot.slack.only_card().is_about(&ticket);
    })
    .await;
}

#[tokio::test]
async fn killed_between_decision_and_delivery_and_the_reply_arrives_once() {
    scenario(async |bot| {
        let ticket = a_reply_is_approved(bot).await;
        // The runner has put the reply into the outbox when the process dies.
        bot.runners_settle().await;
        bot.zendesk.has_no_replies(&ticket);
        bot.restarts().await;
        bot.settle().await;

        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        assert_eq!(states(bot).await, ["completed answered"]);
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn killed_right_after_the_click_and_the_reply_arrives_once() {
    scenario(async |bot| {
        let ticket = a_reply_waits(bot).await;
        let card = bot.slack.only_card();
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.restarts().await;
        bot.model.says("Done.");
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        card.says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn killed_after_the_reply_was_queued_and_it_is_queued_once() {
    scenario(async |bot| {
        let ticket = a_reply_waits(bot).await;
        sam_approves(bot).await;
        // The approval is executed, and the runner dies while the model hears of it.
        bot.is_killed_while_the_model_thinks().await;
        bot.restarts().await;
        bot.model.says("Done.");
        leases_run_out(bot).await;
        bot.settle().await;

        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        assert_eq!(bot.zendesk.updates(&ticket), 1);
        assert_eq!(states(bot).await, ["completed answered"]);
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}
