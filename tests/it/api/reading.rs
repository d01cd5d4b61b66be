//! `GET /api/…`, health and figures.

use deskhand_tests::fake::by;
use deskhand_tests::{Bot, scenario};
use serde_json::{Value, json};

use crate::lines::a_reply_waits;

async fn get(bot: &Bot, path: &str) -> (u16, Value) {
    bot.api("GET", path, None).await
}

/// Text from an address that needs no token.
async fn open(bot: &Bot, path: &str) -> (u16, String) {
    let response = reqwest::get(format!("{}{path}", bot.url))
        .await
        .expect("the bot answers");
    let status = response.status().as_u16();
    (status, response.text().await.expect("a body"))
}

#[tokio::test]
async fn a_ticket_its_run_and_its_approval_can_be_read() {
    scenario(async |bot| {
        let ticket = a_reply_waits(bot).await;
        bot.slack.only_card().is_about(&ticket);

        let (status, list) = get(bot, "/api/tickets").await;
        assert_eq!(status, 200);
        assert_eq!(list["tickets"][0]["ticket"], "T-1001");
        assert_eq!(list["tickets"][0]["subject"], "Where is my refund?");

        for name in ["T-1001".to_owned(), format!("zendesk:{}", ticket.id)] {
            let (status, shown) = get(bot, &format!("/api/tickets/{name}")).await;
            assert_eq!(status, 200, "{name}");
            assert_eq!(shown["requester"]["address"], "ada@example.com");
            assert_eq!(shown["comments"][0]["body"], "I sent the kettle back.");
            assert_eq!(shown["approvals"][0]["state"], "open");
            assert_eq!(shown["runs"][0]["state"], "waiting");
        }

        let (status, open) = get(bot, "/api/approvals").await;
        assert_eq!(status, 200);
        let approval = &open["approvals"][0];
        assert_eq!(
            (&approval["approval"], &approval["ticket"]),
            (&json!("A-1"), &json!("T-1001"))
        );
        assert_eq!(approval["effect"]["text"], "Your refund left us on Monday.");

        let run = approval["run"].as_str().expect("an id");
        let (status, shown) = get(bot, &format!("/api/runs/{run}")).await;
        assert_eq!((status, &shown["ticket"]), (200, &json!("T-1001")));
        assert_eq!(shown["steps"][0]["line"], "read 1 comment");
        assert_eq!(shown["usage"]["input"], 100);
    })
    .await;
}

#[tokio::test]
async fn a_decided_approval_is_no_longer_open() {
    scenario(async |bot| {
        let ticket = a_reply_waits(bot).await;
        let card = bot.slack.only_card();
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        assert_eq!(get(bot, "/api/approvals").await.1, json!({ "approvals": [] }));
        bot.model.says("Done.");
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        let (_, shown) = get(bot, "/api/tickets/T-1001").await;
        assert_eq!(shown["approvals"][0]["state"], "approved");
        assert_eq!(shown["approvals"][0]["executed"], true);
        card.says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn what_is_not_there_is_told_in_a_friendly_sentence() {
    scenario(async |bot| {
        for (path, expected) in [
            ("/api/tickets/T-9999", 404),
            ("/api/tickets/zendesk:1", 404),
            ("/api/tickets/T-99999999999999999999", 400),
            ("/api/tickets/whatever", 400),
            ("/api/runs/0", 400),
            ("/api/runs/01900000-0000-7000-8000-000000000000", 404),
            ("/api/nothing", 404),
            ("/", 404),
        ] {
            let (status, answer) = get(bot, path).await;
            assert_eq!(status, expected, "{path}: {answer}");
            assert!(
                answer["error"].as_str().is_some_and(|why| why.ends_with('.')),
                "{path}: {answer}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn health_and_figures_need_no_token() {
    scenario(async |bot| {
        assert_eq!(open(bot, "/health/live").await, (200, "alive\n".to_owned()));
        assert_eq!(open(bot, "/health/ready").await, (200, "ready\n".to_owned()));
        let ticket = a_reply_waits(bot).await;
        bot.slack.only_card().is_about(&ticket);
        let (status, figures) = open(bot, "/metrics").await;
        assert_eq!(status, 200);
        for line in ["deskhand_runs{state=\"waiting\"} 1", "deskhand_approvals_open 1"] {
            assert!(
                figures.lines().any(|found| found == line),
                "{line} is not in:\n{figures}"
            );
        }
        assert!(!figures.contains("kettle"), "figures hold nobody's words");
    })
    .await;
}

#[tokio::test]
async fn a_process_that_shuts_down_is_not_ready_and_still_alive() {
    scenario(async |bot| {
        bot.app.closing.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(open(bot, "/health/ready").await.0, 503);
        assert_eq!(open(bot, "/health/live").await.0, 200);
    })
    .await;
}
