//! Helpers of a run: side by side, without a runner for the one that waits, ended with it, counted to it.

mod crashes;

use deskhand::worker::runner;
use deskhand_core::model::{Call, ModelReply, ModelRequest, Stop, Turn, Usage};
use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::CHANNEL;
use deskhand_tests::fake::zendesk::TicketHandle;
use deskhand_tests::{Bot, scenario, scenario_with};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::lines::{ada_asks, states};

const TASKS: [&str; 2] = ["What do the articles say of refunds?", "Had she asked before?"];

fn reply(text: &str, calls: &[(&str, Value)]) -> ModelReply {
    let calls = calls.iter().enumerate().map(|(n, (name, args))| Call {
        id: format!("call_{n}"),
        name: (*name).to_owned(),
        args: args.clone(),
    });
    ModelReply {
        text: text.to_owned(),
        calls: calls.collect(),
        stop: if text.is_empty() { Stop::Calls } else { Stop::EndOfTurn },
        usage: Usage {
            input: 100,
            output: 20,
            ..Usage::default()
        },
        raw: None,
    }
}

/// What a model says in a run with two helpers, whoever of them asks and however often: it goes by the request alone.
fn says(request: &ModelRequest) -> ModelReply {
    let said = request
        .turns
        .iter()
        .filter(|turn| matches!(turn, Turn::Said(_)))
        .count();
    let told = format!("{:?}", request.turns);
    match (request.system.starts_with("You are a helper"), said) {
        (true, 0) => reply("", &[("search_knowledge", json!({ "query": "refund" }))]),
        (true, _) => {
            let task = TASKS.iter().find(|task| told.contains(**task)).copied().unwrap_or("?");
            reply(&format!("Found out: {task}"), &[])
        }
        (false, 0) => {
            let spawn = |task: &str| ("spawn_helper", json!({ "task": task }));
            reply("", &[spawn(TASKS[0]), spawn(TASKS[1]), ("wait_helper", json!({}))])
        }
        (false, _) => reply("Nothing to be done.", &[]),
    }
}

fn goes_by_the_request(bot: &Bot, requests: usize) {
    for _ in 0..requests {
        bot.model.answers(|request| Ok(says(request)));
    }
}

/// The two helpers are at work, each before the held gate of its model; the run that they help waits.
async fn two_are_thinking(bot: &Bot) -> (TicketHandle, JoinHandle<anyhow::Result<usize>>) {
    goes_by_the_request(bot, 6);
    let ticket = ada_asks(bot).await;
    runner::tick(&bot.app).await.expect("the run starts its helpers");
    assert_eq!(states(bot).await, ["waiting", "queued", "queued"]);
    bot.model.holds();
    let app = bot.app.clone();
    let work = tokio::spawn(async move { runner::tick(&app).await });
    while bot.model.requests().len() < 3 {
        assert!(!work.is_finished(), "both helpers ask their model");
        tokio::task::yield_now().await;
    }
    (ticket, work)
}

async fn types(bot: &Bot, text: &str) -> String {
    bot.slack.commands(text, by("sam"), CHANNEL).await.told().join("\n")
}

#[tokio::test]
async fn they_work_side_by_side_and_the_last_ones_end_wakes_the_run_that_waits_without_a_runner() {
    scenario(async |bot| {
        let (_, work) = two_are_thinking(bot).await;
        assert_eq!(states(bot).await, ["waiting", "running", "running"]);
        let shown = types(bot, "/triage helpers T-1001").await;
        assert!(
            shown.contains("1 · running · 0 tokens · What do the articles say"),
            "{shown}"
        );
        let shown = types(bot, "/triage T-1001").await;
        assert!(
            shown.contains("T-1001 waits for helper 1") && shown.contains("helper 2: Had she asked"),
            "{shown}"
        );

        bot.model.releases();
        work.await.expect("it ends").expect("they report");
        assert_eq!(
            states(bot).await,
            ["queued", "completed reported", "completed reported"]
        );
        bot.settle().await;
        assert_eq!(states(bot).await[0], "completed triaged");
        assert_eq!(
            bot.model.requests().len(),
            6,
            "the run is asked twice, each helper twice"
        );
        let told = format!("{:?}", bot.model.last_request().turns);
        assert!(
            TASKS.iter().all(|task| told.contains(&format!("Found out: {task}"))),
            "{told}"
        );
        let shown = types(bot, "/triage helpers T-1001").await;
        assert!(
            shown.contains("completed · 240 tokens") && shown.contains("Found out: Had she asked"),
            "{shown}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_customer_who_writes_is_heard_while_they_are_at_work() {
    scenario(async |bot| {
        let (ticket, work) = two_are_thinking(bot).await;
        let (_, listed) = bot.api("GET", "/api/tickets/T-1001", None).await;
        assert_eq!(
            listed["runs"].as_array().map(Vec::len),
            Some(1),
            "helpers are no runs of the ticket's own"
        );
        bot.zendesk
            .comments(&ticket, "And the box?", by("ada@example.com"))
            .await;
        assert_eq!(states(bot).await[0], "queued");
        bot.model.releases();
        work.await.expect("it ends").expect("they report");
        bot.settle().await;
        let told = format!("{:?}", bot.model.last_request().turns);
        assert!(told.contains("And the box?"), "{told}");
        assert_eq!(states(bot).await[0], "completed triaged");
        bot.model.forgets();
    })
    .await;
}

#[tokio::test]
async fn stop_and_pause_hold_them_too() {
    scenario(async |bot| {
        let (_, work) = two_are_thinking(bot).await;
        types(bot, "/triage pause T-1001").await;
        work.await.expect("it ends").expect("the runners let go");
        assert_eq!(states(bot).await, ["waiting", "waiting", "waiting"]);
        bot.settle().await;
        assert_eq!(bot.model.requests().len(), 3, "nobody asks a model while it is paused");

        types(bot, "/triage resume T-1001").await;
        let app = bot.app.clone();
        let work = tokio::spawn(async move { runner::tick(&app).await });
        while bot.model.requests().len() < 5 {
            assert!(!work.is_finished(), "both go on");
            tokio::task::yield_now().await;
        }
        types(bot, "/triage stop T-1001").await;
        work.await.expect("it ends").expect("the runners let go");
        bot.model.releases();
        bot.settle().await;
        assert_eq!(states(bot).await, ["cancelled", "cancelled", "cancelled"]);
        bot.model.forgets();
    })
    .await;
}

#[tokio::test]
async fn a_run_that_concludes_without_them_ends_them() {
    scenario(async |bot| {
        bot.model.calls("spawn_helper", json!({ "task": TASKS[0] }));
        bot.model.says("I need no help after all.");
        ada_asks(bot).await;
        bot.model.holds();
        let work = bot.works_until_the_model_thinks().await;
        bot.model.releases();
        work.await.expect("it ends").expect("it concludes");
        assert_eq!(states(bot).await, ["completed triaged", "cancelled"]);
        bot.settle().await;
        assert_eq!(bot.model.requests().len(), 2, "it never began");
    })
    .await;
}

#[tokio::test]
async fn what_they_cost_is_counted_to_the_run_that_they_help() {
    // Its own request and its helpers' four cost 240 tokens each.
    let little = [("DESKHAND_MAX_TOKENS", "1000")];
    scenario_with(&little, async |bot| {
        for _ in 0..6 {
            bot.model.answers(|request| {
                let mut reply = says(request);
                reply.usage.input = 220;
                Ok(reply)
            });
        }
        let ticket = ada_asks(bot).await;
        bot.settle().await;
        assert_eq!(states(bot).await[0], "completed budget");
        bot.slack
            .header(&ticket)
            .says("The run used up its budget (1200 tokens)");
        bot.model.forgets();
    })
    .await;
}
