//! Calls of tools outside: no outbox holds them, so a crash in the middle must be told, not repeated.

use deskhand_core::tool::outside::Rule;
use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::CHANNEL;
use deskhand_tests::{Bot, scenario};
use serde_json::json;

use super::leases_run_out;
use crate::lines::{ada_asks, states, works_until_the_shop_is_called};

/// The model wants five pounds paid back, and the bot is killed after the shop did it and before its answer came.
async fn is_killed_while_the_shop_pays(bot: &Bot) {
    let work = works_until_the_shop_is_called(bot).await;
    work.abort();
    let _ = work.await;
    bot.server.answers_again();
}

fn last_outcome(bot: &Bot) -> String {
    let requests = bot.model.requests();
    let request = requests.last().expect("the model was asked");
    format!("{:?}", request.turns.last().expect("something was said"))
}

#[tokio::test]
async fn supervisor_approves_a_call_outside_and_it_is_made_once() {
    scenario(async |bot| {
        bot.server.offers("shop__refund", Rule::Ask, false);
        bot.model.calls("shop__refund", json!({ "amount": 5 }));
        ada_asks(bot).await;
        bot.settle().await;
        assert_eq!(bot.server.calls(), [""; 0], "nobody approved it yet");
        let card = bot.slack.only_card();
        card.says("The tool shop__refund is called once, with exactly these arguments.");
        card.says("amount");
        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        assert_eq!(bot.server.calls(), ["shop__refund {\"amount\":5}"]);
        assert!(
            last_outcome(bot).contains("<customer_text>\\nRefund R-1 is booked."),
            "{}",
            last_outcome(bot)
        );
        card.says("Approved by sam");
        assert_eq!(states(bot).await, ["completed triaged"]);
    })
    .await;
}

#[tokio::test]
async fn killed_in_a_call_outside_and_it_is_told_as_unknown_and_not_repeated() {
    scenario(async |bot| {
        bot.server.offers("shop__refund", Rule::Ask, false);
        bot.model.calls("shop__refund", json!({ "amount": 5 }));
        ada_asks(bot).await;
        bot.settle().await;
        let card = bot.slack.only_card();
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        is_killed_while_the_shop_pays(bot).await;
        bot.restarts().await;
        bot.model.calls(
            "add_note",
            json!({ "text": "The refund may have been made: look at the shop." }),
        );
        bot.model.says("A person must look.");
        leases_run_out(bot).await;
        bot.settle().await;

        assert_eq!(bot.server.calls().len(), 1, "it is not made again");
        let told = bot.model.requests()[1].turns.clone();
        assert!(format!("{told:?}").contains("Interrupted, result unknown"), "{told:?}");
        card.says("Approved by sam");
        assert_eq!(states(bot).await, ["completed handed_over"]);
    })
    .await;
}

#[tokio::test]
async fn killed_in_a_call_that_may_be_repeated_and_it_is_made_again() {
    scenario(async |bot| {
        bot.server.offers("shop__sync", Rule::Allow, true);
        bot.model.calls("shop__sync", json!({}));
        ada_asks(bot).await;
        is_killed_while_the_shop_pays(bot).await;
        bot.restarts().await;
        bot.model.says("Done.");
        leases_run_out(bot).await;
        bot.settle().await;

        assert_eq!(bot.server.calls().len(), 2, "once before the crash and once after it");
        assert_eq!(states(bot).await, ["completed triaged"]);
    })
    .await;
}

#[tokio::test]
async fn a_connection_that_breaks_in_a_call_outside_is_told_as_unknown() {
    scenario(async |bot| {
        bot.server.offers("shop__refund", Rule::Allow, false);
        bot.server.breaks_in_the_next_call();
        bot.model.calls("shop__refund", json!({ "amount": 5 }));
        bot.model.says("A person must look.");
        ada_asks(bot).await;
        bot.settle().await;
        assert_eq!(bot.server.calls().len(), 1);
        let told = last_outcome(bot);
        assert!(told.contains("gave no result (the connection broke)"), "{told}");
    })
    .await;
}

#[tokio::test]
async fn an_instruction_during_a_call_outside_does_not_cost_its_outcome() {
    scenario(async |bot| {
        bot.server.offers("shop__refund", Rule::Allow, false);
        bot.model.calls("shop__refund", json!({ "amount": 5 }));
        ada_asks(bot).await;
        let work = works_until_the_shop_is_called(bot).await;
        let seen = bot.slack.commands("/triage T-1001 be kind", by("sam"), CHANNEL).await;
        seen.says("Working on T-1001 with your instruction.");
        bot.model.says("Done.");
        bot.server.answers_again();
        work.await.expect("it ends").expect("the runner ticks");
        bot.settle().await;
        let told = format!("{:?}", bot.model.requests()[1].turns);
        assert!(
            told.contains("Refund R-1 is booked.") && told.contains("be kind"),
            "{told}"
        );
        assert_eq!(bot.server.calls().len(), 1);
    })
    .await;
}
