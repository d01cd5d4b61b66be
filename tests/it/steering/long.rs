//! Runs that continue others, summaries of older turns, long outcomes.

use deskhand_core::port::ModelError;
use deskhand_tests::fake::by;
use deskhand_tests::{scenario, scenario_with};
use serde_json::json;

use super::{told, types};
use crate::lines::{ada_asks, states};

#[tokio::test]
async fn a_run_that_continues_another_begins_with_its_transcript() {
    scenario(async |bot| {
        bot.model.calls("search_knowledge", json!({ "query": "refund" }));
        bot.model.says("I looked for refunds and found nothing.");
        let ticket = ada_asks(bot).await;
        bot.settle().await;
        let first = bot.model.last_request();

        bot.model.says("Still nothing.");
        bot.zendesk.comments(&ticket, "And now?", by("ada@example.com")).await;
        bot.settle().await;
        let second = bot.model.last_request();
        assert_eq!(states(bot).await.len(), 2, "a run of its own");
        assert_eq!(
            second.turns[..first.turns.len()],
            first.turns[..],
            "the same beginning, for the provider's cache"
        );
        let told = told(bot);
        assert!(told.contains("I looked for refunds and found nothing."), "{told}");
        assert!(
            told.contains("The run above is over. This one continues it") && told.contains("And now?"),
            "{told}"
        );
        assert_eq!(
            told.matches("I sent the kettle back.").count(),
            1,
            "nothing is told twice"
        );
    })
    .await;
}

#[tokio::test]
async fn new_begins_without_the_earlier_transcript() {
    scenario(async |bot| {
        bot.model.says("I concluded something odd.");
        ada_asks(bot).await;
        bot.settle().await;
        bot.model.says("Afresh.");
        types(bot, "/triage new T-1001").await;
        bot.settle().await;
        let told = told(bot);
        assert!(
            !told.contains("something odd") && told.contains("I sent the kettle back."),
            "{told}"
        );
    })
    .await;
}

#[tokio::test]
async fn compact_by_command_summarises_older_turns_before_the_next_request() {
    scenario(async |bot| {
        let ticket = ada_asks(bot).await;
        for n in 0..8 {
            bot.model.says("Noted.");
            bot.zendesk
                .comments(
                    &ticket,
                    &format!("Story {n}: {}", "it broke ".repeat(300)),
                    by("ada@example.com"),
                )
                .await;
        }
        bot.settle().await;
        bot.model.forgets();

        bot.zendesk.comments(&ticket, "And now?", by("ada@example.com")).await;
        let said = types(bot, "/triage compact T-1001").await;
        assert!(said.contains("summarised before its model is asked again"), "{said}");
        // The first request is for the summary, the second goes on with it.
        bot.model.says("Ada tells how her kettle broke, eight times.");
        bot.model.says("Done.");
        bot.settle().await;
        let told = told(bot);
        assert!(
            told.contains("<conversation-summary>\\nAda tells how her kettle broke, eight times."),
            "{told}"
        );
        assert!(!told.contains("Story 0:"), "{told}");
    })
    .await;
}

#[tokio::test]
async fn a_long_ticket_is_shortened_by_itself_and_its_triage_survives() {
    let short = [("DESKHAND_COMPACT_ABOVE", "9000"), ("MODEL_OF_THE_SCENARIO", "offline")];
    scenario_with(&short, async |bot| {
        let ticket = ada_asks(bot).await;
        for n in 0..60 {
            bot.zendesk
                .comments(
                    &ticket,
                    &format!("Story {n}: {}", "I want my money back ".repeat(30)),
                    by("ada@example.com"),
                )
                .await;
        }
        bot.settle().await;
        let summaries = bot
            .counts("SELECT count(*) FROM step WHERE kind ->> 'kind' = 'compacted'")
            .await;
        assert!(summaries > 0, "it was too long");
        let triaged = bot
            .counts("SELECT count(*) FROM ticket WHERE triage ->> 'category' = 'refund'")
            .await;
        assert_eq!(triaged, 1);
        for card in bot.slack.cards() {
            card.is_about(&ticket);
        }
    })
    .await;
}

#[tokio::test]
async fn a_request_that_the_model_finds_too_long_is_shortened_and_asked_again() {
    scenario(async |bot| {
        let ticket = ada_asks(bot).await;
        for n in 0..30 {
            bot.zendesk
                .comments(
                    &ticket,
                    &format!("Story {n}: {}", "it broke ".repeat(100)),
                    by("ada@example.com"),
                )
                .await;
        }
        bot.model.fails_with(ModelError::TooLong {
            why: "prompt is too long (400)".into(),
        });
        bot.model.says("A long story of a kettle.");
        bot.model.says("Done.");
        bot.settle().await;
        let told = told(bot);
        assert!(
            told.contains("A long story of a kettle.") && told.contains("Story 29:"),
            "{told}"
        );
        assert_eq!(states(bot).await, ["completed triaged"]);
    })
    .await;
}

#[tokio::test]
async fn a_long_outcome_is_shortened_and_read_on() {
    let short = [("DESKHAND_MAX_TOOL_RESULT", "1000")];
    scenario_with(&short, async |bot| {
        let body: String = (0..400).map(|n| format!("Rule {n} of the house. ")).collect();
        bot.knows("rules", "en", "Rules", &body).await;
        bot.model.calls("read_article", json!({ "article_id": "rules" }));
        bot.model.answers(|request| {
            let shown = format!("{:?}", request.turns.last().expect("something was told"));
            assert!(
                shown.contains("characters left out") && shown.contains("Rule 399"),
                "{shown}"
            );
            let id = shown
                .split("read_artifact(\\\"")
                .nth(1)
                .and_then(|rest| rest.split('\\').next());
            let args = json!({ "artifact": id.expect("it says where the rest is"), "offset": 4000 });
            Ok(deskhand_core::model::ModelReply {
                calls: vec![deskhand_core::model::Call {
                    id: "call_0".into(),
                    name: "read_artifact".into(),
                    args,
                }],
                stop: deskhand_core::model::Stop::Calls,
                ..Default::default()
            })
        });
        bot.model.says("Done.");
        ada_asks(bot).await;
        bot.settle().await;
        let told = told(bot);
        assert!(
            told.contains("Rule 180 of the house.") && told.contains("go on with offset 4700"),
            "{told}"
        );
        assert_eq!(states(bot).await, ["completed triaged"]);
    })
    .await;
}
