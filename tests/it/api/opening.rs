//! `POST /api/tickets`.

use deskhand_tests::{API_TOKEN, Bot, scenario, scenario_with};
use serde_json::{Value, json};

use crate::lines::{comments, drafts, runs, sam_approves, states};

fn question() -> Value {
    json!({
        "external_id": "shop-4711", "subject": "Where is my refund?", "body": "I sent the kettle back.",
        "requester": { "name": "Ada", "email": "ada@example.com" },
    })
}

async fn post(bot: &Bot, key: &str, body: impl Into<reqwest::Body>) -> (u16, Value) {
    let request = reqwest::Client::new()
        .post(format!("{}/api/tickets", bot.url))
        .bearer_auth(API_TOKEN)
        .header("idempotency-key", key)
        .body(body);
    let response = request.send().await.expect("the bot answers");
    (response.status().as_u16(), response.json().await.unwrap_or_default())
}

#[tokio::test]
async fn a_ticket_from_any_system_is_answered_where_it_came_from() {
    scenario(async |bot| {
        drafts(bot, "Your refund left us on Monday.");
        let (status, opened) = bot.api("POST", "/api/tickets", Some(question())).await;
        assert_eq!((status, &opened["ticket"]), (201, &json!("T-1001")));
        bot.settle().await;
        let card = bot.slack.only_card();
        card.says("I sent the kettle back.");
        let path = "/api/tickets/T-1001";
        assert_eq!(replies(&bot.api("GET", path, None).await.1), Vec::<String>::new());

        bot.model.says("Done.");
        sam_approves(bot).await;
        bot.settle().await;
        let (status, shown) = bot.api("GET", path, None).await;
        assert_eq!(status, 200);
        assert_eq!(replies(&shown), ["Your refund left us on Monday."]);
        assert_eq!(shown["state"], "waiting_on_customer");
        assert_eq!(states(bot).await, ["completed answered"]);
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

/// What the bot said in public.
fn replies(ticket: &Value) -> Vec<String> {
    let comments = ticket["comments"].as_array().expect("a list");
    comments
        .iter()
        .filter(|comment| comment["author"] == "bot" && comment["public"] == true)
        .map(|comment| comment["body"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[tokio::test]
async fn the_same_key_twice_is_one_ticket() {
    scenario(async |bot| {
        drafts(bot, "Your refund left us on Monday.");
        let mut body = question();
        body.as_object_mut().expect("an object").remove("external_id");
        let (status, first) = post(bot, "order-4711", body.to_string()).await;
        assert_eq!((status, &first["repeat"]), (201, &json!(false)));
        bot.settle().await;
        let (status, again) = post(bot, "order-4711", body.to_string()).await;
        assert_eq!((status, &again["repeat"]), (200, &json!(true)));
        assert_eq!(again["ticket"], first["ticket"]);
        bot.settle().await;
        assert_eq!((runs(bot).await, comments(bot).await), (1, 1));
        bot.slack.only_open_card().says("kettle");
    })
    .await;
}

#[tokio::test]
async fn a_key_in_the_body_does_the_same() {
    scenario(async |bot| {
        drafts(bot, "Your refund left us on Monday.");
        let mut body = question();
        body["idempotency_key"] = "order-4711".into();
        assert_eq!(bot.api("POST", "/api/tickets", Some(body.clone())).await.0, 201);
        assert_eq!(bot.api("POST", "/api/tickets", Some(body)).await.0, 200);
        bot.settle().await;
        assert_eq!((runs(bot).await, comments(bot).await), (1, 1));
        bot.slack.only_open_card().says("kettle");
    })
    .await;
}

#[tokio::test]
async fn a_second_post_with_the_senders_number_adds_to_the_ticket() {
    scenario(async |bot| {
        drafts(bot, "Your refund left us on Monday.");
        let (_, first) = post(bot, "one", question().to_string()).await;
        bot.settle().await;
        let stale = bot.slack.only_card();
        drafts(bot, "To the new account, on Monday.");
        let mut more = question();
        more["body"] = "To my new account, please.".into();
        let (status, second) = post(bot, "two", more.to_string()).await;
        assert_eq!((status, &second["ticket"]), (201, &first["ticket"]));
        bot.settle().await;
        stale.says("Withdrawn: the customer wrote again");
        bot.slack.only_open_card().says("To my new account, please.");
        assert_eq!((runs(bot).await, comments(bot).await), (1, 2));
    })
    .await;
}

#[tokio::test]
async fn who_has_no_token_is_refused_and_nothing_is_stored() {
    scenario(async |bot| {
        let url = format!("{}/api/tickets", bot.url);
        let http = reqwest::Client::new();
        let wrong = [
            None,
            Some("Bearer guess".to_owned()),
            Some(API_TOKEN.to_owned()),
            Some(format!("Basic {API_TOKEN}")),
            Some(format!("Bearer {API_TOKEN}x")),
            Some("Bearer ".to_owned()),
        ];
        for authorization in wrong {
            let mut request = http.post(&url).json(&question());
            if let Some(value) = &authorization {
                request = request.header("authorization", value);
            }
            let response = request.send().await.expect("the bot answers");
            assert_eq!(response.status(), 401, "{authorization:?}");
        }
        for path in ["tickets", "tickets/T-1001", "approvals", "runs/0"] {
            let response = http
                .get(format!("{}/api/{path}", bot.url))
                .send()
                .await
                .expect("the bot answers");
            assert_eq!(response.status(), 401, "{path}");
        }
        assert_eq!(bot.counts("SELECT count(*) FROM inbox").await, 0);
    })
    .await;
}

#[tokio::test]
async fn without_a_token_in_the_settings_the_api_is_closed() {
    scenario_with(&[("DESKHAND_API_TOKEN", "")], async |bot| {
        let (status, answer) = bot.api("POST", "/api/tickets", Some(question())).await;
        assert_eq!(status, 401);
        assert!(
            answer["error"]
                .as_str()
                .is_some_and(|why| why.contains("DESKHAND_API_TOKEN"))
        );
    })
    .await;
}

#[tokio::test]
async fn a_malformed_ticket_is_refused_in_one_sentence_and_nothing_is_stored() {
    scenario(async |bot| {
        let with = |key: &str, value: Value| {
            let mut body = question();
            body[key] = value;
            body.to_string()
        };
        let bodies = [
            String::new(),
            "{not json".to_owned(),
            "[]".to_owned(),
            "null".to_owned(),
            "{}".to_owned(),
            "{\"body\":\"\\ud800\"}".to_owned(),
            "[".repeat(100_000),
            with("body", "  ".into()),
            with("body", 7.into()),
            with("colour", "blue".into()),
            with("priority", "very".into()),
            with("requester", "ada@example.com".into()),
            with("external_id", "x".repeat(201).into()),
            with("external_id", "a\0b".into()),
            with("idempotency_key", "x".repeat(201).into()),
            with("idempotency_key", "a\0b".into()),
        ];
        for body in bodies {
            let shown: String = body.chars().take(60).collect();
            let (status, answer) = post(bot, "key", body).await;
            assert_eq!(status, 400, "{shown}: {answer}");
            let why = answer["error"].as_str().unwrap_or_default();
            assert!(why.ends_with('.') && !why.contains('\n'), "{shown}: {why:?}");
        }
        for table in [
            "SELECT count(*) FROM inbox",
            "SELECT count(*) FROM ticket",
            "SELECT count(*) FROM run",
        ] {
            assert_eq!(bot.counts(table).await, 0, "{table}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_ticket_that_is_too_large_is_refused() {
    scenario(async |bot| {
        let mut body = question();
        body["body"] = "x".repeat(1024 * 1024).into();
        let (status, answer) = post(bot, "key", body.to_string()).await;
        assert_eq!(status, 413);
        assert_eq!(answer["error"], "The body is too large.");
        assert_eq!(bot.counts("SELECT count(*) FROM ticket").await, 0);
    })
    .await;
}

#[tokio::test]
async fn nul_in_the_words_is_no_reason_to_refuse_them() {
    scenario(async |bot| {
        drafts(bot, "Your refund left us on Monday.");
        let mut body = question();
        body["body"] = "I sent\0 the kettle back.".into();
        body["subject"] = "Where\0?".into();
        body["requester"]["name"] = "A\0da".into();
        assert_eq!(post(bot, "key", body.to_string()).await.0, 201);
        bot.settle().await;
        bot.slack.only_card().says("the kettle back.");
    })
    .await;
}
