//! Budgets, providers that are down, another model, plans.

use deskhand_tests::fake::by;
use deskhand_tests::fake::clock::{minutes, seconds};
use deskhand_tests::{scenario, scenario_with};
use serde_json::json;

use super::types;
use crate::lines::{ada_asks, states};

#[tokio::test]
async fn a_budget_stops_the_run_and_the_ticket_says_so() {
    let little = [("DESKHAND_MAX_TOKENS", "1000")];
    scenario_with(&little, async |bot| {
        for _ in 0..12 {
            bot.model.calls("list_tickets", json!({}));
        }
        let ticket = ada_asks(bot).await;
        bot.settle().await;
        assert_eq!(bot.model.requests().len(), 9, "120 tokens each");
        assert_eq!(states(bot).await, ["completed budget"]);
        bot.slack
            .header(&ticket)
            .says("The run used up its budget (1080 tokens); a person must look at it.");
        bot.model.forgets();
    })
    .await;
}

#[tokio::test]
async fn the_budget_of_the_day_stops_every_run_until_midnight() {
    let little = [("DESKHAND_DAY_TOKENS", "1000")];
    scenario_with(&little, async |bot| {
        for _ in 0..12 {
            bot.model.calls("list_tickets", json!({}));
        }
        ada_asks(bot).await;
        bot.settle().await;
        let asked = bot.model.requests().len();
        assert!((9..=10).contains(&asked), "{asked}");
        bot.model.forgets();
        let other = bot
            .zendesk
            .opens("Hello?", "Is somebody there?", by("eve@example.com"))
            .await;
        bot.settle().await;
        assert_eq!(bot.model.requests().len(), asked, "the day is over for every ticket");
        bot.slack.header(&other).says("The budget of the day is used up");
        let said = types(bot, "/triage status").await;
        assert!(
            said.contains("The budget of the day is used up: no run asks a model"),
            "{said}"
        );

        bot.advance(minutes(24 * 60));
        bot.model.says("Done.");
        bot.zendesk
            .comments(&other, "Still there?", by("eve@example.com"))
            .await;
        bot.settle().await;
        assert_eq!(bot.model.requests().len(), asked + 1);
    })
    .await;
}

#[tokio::test]
async fn a_provider_that_is_down_is_left_alone_and_costs_no_run_its_attempts() {
    scenario(async |bot| {
        bot.model.is_down(true);
        for n in 0..8 {
            bot.zendesk
                .opens("Hello?", "Is somebody there?", by(format!("c{n}@example.com")))
                .await;
        }
        bot.settle().await;
        let asked = bot.model.requests().len();
        assert!(asked < 12, "five failures are enough: {asked}");
        let said = types(bot, "/triage status").await;
        assert!(
            said.contains("script does not answer and is left alone until")
                && said.contains("where that lasts, offline takes over"),
            "{said}"
        );
        let said = types(bot, "/triage runs T-1001").await;
        assert!(
            said.contains("queued") && said.contains("tried again later: script"),
            "{said}"
        );

        bot.model.is_down(false);
        for _ in 0..8 {
            bot.model.says("Done.");
        }
        for _ in 0..12 {
            bot.advance(seconds(30));
            bot.settle().await;
        }
        let states = states(bot).await;
        assert!(states.iter().all(|state| state == "completed triaged"), "{states:?}");
    })
    .await;
}

#[tokio::test]
async fn an_admin_chooses_another_model_for_all_replicas() {
    scenario(async |bot| {
        let said = types(bot, "/triage model nobody:knows").await;
        assert!(said.contains("There is no model nobody:knows here."), "{said}");
        let said = types(bot, "/triage model offline").await;
        assert!(
            said.contains("The model is offline from the next request on."),
            "{said}"
        );
        bot.restarts().await;
        let ticket = ada_asks(bot).await;
        bot.settle().await;
        assert_eq!(bot.model.requests().len(), 0, "the offline model worked it");
        bot.slack.header(&ticket).says("T-1001");
        for card in bot.slack.cards() {
            card.is_about(&ticket);
        }
    })
    .await;
}

#[tokio::test]
async fn a_plan_is_shown_on_the_ticket_and_ends_with_its_run() {
    scenario(async |bot| {
        bot.model
            .calls("create_plan", json!({ "steps": ["Look at the order", "Answer"] }));
        bot.model
            .calls("update_plan", json!({ "step": 1, "state": "done", "note": "it left" }));
        bot.model.says("Done.");
        let ticket = ada_asks(bot).await;
        bot.settle().await;
        let header = bot.slack.header(&ticket);
        header.says("1. [done] Look at the order: it left");
        header.says("2. [interrupted] Answer");
    })
    .await;
}
