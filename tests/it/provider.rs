//! The model's provider is down, or will never answer: later, then somebody else.

use std::time::Duration;

use deskhand_core::port::ModelError;
use deskhand_tests::fake::by;
use deskhand_tests::fake::clock::{minutes, seconds};
use deskhand_tests::{Bot, scenario};
use serde_json::json;

use crate::lines::{ada_asks, drafts, states};

#[tokio::test]
async fn a_provider_that_asks_to_wait_is_asked_again_when_it_said() {
    scenario(async |bot| {
        bot.model.fails_with(ModelError::Transient {
            why: "too many requests (429)".into(),
            retry_after: Some(Duration::from_secs(40)),
        });
        let ticket = ada_asks(bot).await;
        bot.settle().await;
        assert_eq!(states(bot).await, ["queued"]);
        bot.advance(seconds(35));
        bot.settle().await;
        assert_eq!(bot.model.requests().len(), 1, "it is left alone until then");

        drafts(bot, "Your refund left us on Monday.");
        bot.advance(seconds(10));
        bot.settle().await;
        bot.slack.only_card().is_about(&ticket);
        bot.slack.only_card().says("Your refund left us on Monday.");
    })
    .await;
}

#[tokio::test]
async fn a_provider_that_stays_down_is_replaced_by_the_offline_model_and_the_ticket_says_so() {
    scenario(async |bot| {
        bot.model.is_down(true);
        let ticket = ada_asks(bot).await;
        let mut tries = 0;
        while states(bot).await == ["queued"] {
            assert!(tries < 20, "nobody takes over");
            bot.settle().await;
            if tries == 2 {
                bot.slack
                    .header(&ticket)
                    .says("the run is tried again later: script did not answer");
            }
            bot.advance(minutes(5));
            tries += 1;
        }
        assert!(tries > 3, "a short outage is waited for: {tries}");
        bot.settle().await;

        took_over(bot).await;
        let notes = bot.zendesk.notes(&ticket);
        assert!(notes.iter().any(|note| note.contains("offline")), "{notes:?}");
    })
    .await;
}

#[tokio::test]
async fn a_provider_that_will_never_answer_is_replaced_at_once() {
    scenario(async |bot| {
        for _ in 0..20 {
            // As many as the run may ask for; those that it does not need are taken back below.
            bot.model.fails_with(ModelError::Permanent {
                why: "the key is not valid (401)".into(),
            });
        }
        ada_asks(bot).await;
        bot.settle().await;
        took_over(bot).await;
        bot.model.forgets();
    })
    .await;
}

#[tokio::test]
async fn a_provider_that_goes_down_in_the_middle_is_replaced_and_the_run_goes_on_from_there() {
    scenario(async |bot| {
        bot.model.calls("search_knowledge", json!({ "query": "refund" }));
        ada_asks(bot).await;
        for _ in 0..20 {
            // It stays without credit, whatever the run asks for still.
            bot.model.fails_with(ModelError::Permanent {
                why: "the account has no credit left (402)".into(),
            });
        }
        bot.settle().await;
        bot.model.forgets();
        took_over(bot).await;
        let searched = bot
            .counts("SELECT count(*) FROM step WHERE kind ->> 'kind' = 'replied' AND kind ->> 'model' = 'script'")
            .await;
        assert_eq!(searched, 1, "what was done before is kept");
        assert_eq!(crate::lines::runs(bot).await, 1, "and it is one run");
    })
    .await;
}

#[tokio::test]
async fn a_storm_of_429_costs_few_requests_and_no_run() {
    scenario(async |bot| {
        for n in 0..6 {
            let from = by(format!("c{n}@example.com"));
            bot.zendesk.opens("Hello?", "Is somebody there?", from).await;
            bot.model.fails_with(ModelError::Transient {
                why: "too many requests (429)".into(),
                retry_after: Some(Duration::from_secs(30)),
            });
        }
        bot.settle().await;
        let asked = bot.model.requests().len();
        assert!((5..=6).contains(&asked), "five in a row are enough: {asked}");
        bot.model.forgets();
        bot.advance(seconds(20));
        bot.settle().await;
        assert_eq!(
            bot.model.requests().len(),
            asked,
            "it is left alone for as long as it said"
        );
        for _ in 0..6 {
            bot.model.says("Done.");
        }
        for _ in 0..8 {
            bot.advance(seconds(30));
            bot.settle().await;
        }
        let states = states(bot).await;
        assert!(states.iter().all(|state| state == "completed triaged"), "{states:?}");
        assert_eq!(
            bot.model.requests().len(),
            asked + 6,
            "each run is answered by one request"
        );
    })
    .await;
}

/// The offline model has worked the ticket, and the run says why.
async fn took_over(bot: &Bot) {
    let run: uuid::Uuid = sqlx::query_scalar("SELECT id FROM run")
        .fetch_one(bot.pool())
        .await
        .expect("there is one run");
    let (_, shown) = bot.api("GET", &format!("/api/runs/{run}"), None).await;
    let lines = shown["steps"].to_string();
    assert!(lines.contains("offline took over"), "{lines}");
    assert_ne!(shown["run"]["state"], "failed");
    for card in bot.slack.cards() {
        card.says("Ada");
        card.says("offline took over");
    }
}
