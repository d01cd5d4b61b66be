//! People steer a run: pause, resume, stop, a summary of older turns, another model; and runs that continue others.

use deskhand::worker::runner;
use deskhand_core::port::ModelError;
use deskhand_tests::fake::by;
use deskhand_tests::fake::clock::{minutes, seconds};
use deskhand_tests::fake::slack::CHANNEL;
use deskhand_tests::{Bot, scenario, scenario_with};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::lines::{ada_asks, drafts, sam_approves, states};

async fn types(bot: &Bot, text: &str) -> String {
    bot.slack.commands(text, by("sam"), CHANNEL).await.told().join("\n")
}

/// A runner has the run, and its model is in the middle of a reply.
async fn is_writing(bot: &Bot, words: &str) -> JoinHandle<anyhow::Result<usize>> {
    bot.model.holds_after(words);
    let app = bot.app.clone();
    let work = tokio::spawn(async move { runner::tick(&app).await });
    bot.model.is_thinking().await;
    work
}

fn told(bot: &Bot) -> String {
    format!("{:?}", bot.model.last_request().turns)
}

#[tokio::test]
async fn pause_in_the_middle_of_a_reply_keeps_it_as_partial_and_resume_goes_on() {
    scenario(async |bot| {
        let ticket = ada_asks(bot).await;
        let work = is_writing(bot, "Dear Ada, your refund ").await;
        let said = types(bot, "/triage pause T-1001").await;
        assert!(said.contains("T-1001 is paused by sam"), "{said}");
        work.await.expect("it ends").expect("the runner lets go");
        bot.settle().await;
        assert_eq!(states(bot).await, ["waiting"]);
        bot.slack
            .header(&ticket)
            .says("paused by hand: resume T-1001 lets it go on");
        let shown = types(bot, "/triage runs T-1001").await;
        assert!(shown.contains("reply paused by a person"), "{shown}");

        // A comment, and whatever else would queue it, finds it paused.
        bot.zendesk.comments(&ticket, "Hello?", by("ada@example.com")).await;
        bot.settle().await;
        assert_eq!(states(bot).await, ["waiting"]);

        bot.model.releases();
        drafts(bot, "Your refund left us on Monday.");
        let said = types(bot, "/triage resume T-1001").await;
        assert!(said.contains("T-1001 goes on."), "{said}");
        bot.settle().await;
        let told = told(bot);
        assert!(
            told.contains("Your last reply was paused by a person while you wrote it; none of its calls was run."),
            "{told}"
        );
        assert!(
            told.contains("Dear Ada, your refund") && told.contains("Hello?"),
            "{told}"
        );
        bot.slack.only_card().says("Your refund left us on Monday.");
    })
    .await;
}

#[tokio::test]
async fn a_waiting_run_that_is_paused_hears_of_its_decision_when_it_is_resumed() {
    scenario(async |bot| {
        drafts(bot, "Your refund left us on Monday.");
        let ticket = ada_asks(bot).await;
        bot.settle().await;
        assert!(types(bot, "/triage pause T-1001").await.contains("paused"));
        assert!(types(bot, "/triage pause T-1001").await.contains("paused already"));
        sam_approves(bot).await;
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);

        bot.model.says("Done.");
        types(bot, "/triage resume T-1001").await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        bot.slack.only_card().says("Approved by sam");
        assert_eq!(states(bot).await, ["completed answered"]);
    })
    .await;
}

#[tokio::test]
async fn stop_in_the_middle_of_a_reply_ends_the_run_and_keeps_what_was_written() {
    scenario(async |bot| {
        ada_asks(bot).await;
        let work = is_writing(bot, "Dear Ada, ").await;
        let said = types(bot, "/triage stop T-1001").await;
        assert!(said.contains("T-1001 is stopped"), "{said}");
        work.await.expect("it ends").expect("the runner lets go");
        bot.model.releases();
        bot.settle().await;
        assert_eq!(states(bot).await, ["cancelled"]);
        let partial: String = sqlx::query_scalar("SELECT kind ->> 'text' FROM step WHERE kind ->> 'kind' = 'partial'")
            .fetch_one(bot.pool())
            .await
            .expect("it was kept");
        assert_eq!(partial, "Dear Ada, ");
        bot.slack.has_no_cards();
    })
    .await;
}

#[tokio::test]
async fn nothing_to_pause_is_said_so() {
    scenario(async |bot| {
        bot.model.says("Nothing to do.");
        ada_asks(bot).await;
        bot.settle().await;
        let said = types(bot, "/triage pause T-1001").await;
        assert!(said.contains("Nothing is at work on T-1001"), "{said}");
        let said = types(bot, "/triage compact T-1001").await;
        assert!(
            said.contains("its next run shortens what came before by itself"),
            "{said}"
        );
    })
    .await;
}

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
            said.contains("script does not answer and is left alone until"),
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
