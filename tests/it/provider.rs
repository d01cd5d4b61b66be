//! The model's provider is down, or will never answer: later, then somebody else.

use std::time::Duration;

use deskhand_core::port::ModelError;
use deskhand_tests::fake::clock::{minutes, seconds};
use deskhand_tests::{Bot, scenario};

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
    }
}
