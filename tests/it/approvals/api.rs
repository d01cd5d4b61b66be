//! Deciding over the API, and the ledger that keeps what was decided.

use deskhand_adapters::postgres::ledger;
use deskhand_tests::fake::by;
use deskhand_tests::{Bot, scenario, scenario_with};
use serde_json::{Value, json};

use super::{DRAFT, a_draft_waits};

const LISTED: &[(&str, &str)] = &[("DESKHAND_APPROVERS", "slack:U0SAM00001,api:erp")];

/// The open approval as the API tells of it.
async fn open(bot: &Bot) -> Value {
    let (status, answer) = bot.api("GET", "/api/approvals", None).await;
    assert_eq!(status, 200);
    answer["approvals"][0].clone()
}

async fn decides(bot: &Bot, approval: &str, body: Value) -> (u16, Value) {
    bot.api("POST", &format!("/api/approvals/{approval}/decide"), Some(body))
        .await
}

#[tokio::test]
async fn a_listed_system_approves_over_the_api() {
    scenario_with(LISTED, async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        let waiting = open(bot).await;
        assert_eq!(waiting["approval"], "A-1");
        assert_eq!(waiting["effect"]["text"], DRAFT);
        bot.model.says("Done.");
        let body = json!({ "actor": "erp", "decision": "approve", "digest": waiting["digest"] });
        let (status, answer) = decides(bot, "A-1", body.clone()).await;
        assert_eq!((status, &answer["result"]), (200, &json!("decided")));
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, DRAFT);
        card.says("Approved by erp");
        card.has_no_buttons();

        let (status, answer) = decides(bot, "A-1", body).await;
        assert_eq!((status, &answer["result"]), (409, &json!("already_decided")));
        let sentence = answer["sentence"].as_str().unwrap_or_default();
        assert!(
            sentence.starts_with("A-1 was already approved by erp at "),
            "{sentence}"
        );
    })
    .await;
}

#[tokio::test]
async fn edits_and_rejections_come_over_the_api_too() {
    scenario_with(LISTED, async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        let digest = open(bot).await["digest"].clone();
        bot.model
            .calls("reply_customer", json!({ "text": "It leaves us on Friday." }));
        let rejects = json!({ "actor": "erp", "decision": "reject", "reason": "It is still here.", "digest": digest });
        assert_eq!(decides(bot, "A-1", rejects).await.0, 200);
        bot.settle().await;
        card.says("Rejected by erp: It is still here.");

        bot.model.says("Done.");
        let digest = open(bot).await["digest"].clone();
        let edits = json!({ "actor": "api:erp", "decision": "edit", "text": "It leaves us today.", "digest": digest });
        assert_eq!(decides(bot, "A-2", edits).await.0, 200);
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "It leaves us today.");
        bot.slack.cards()[1].says("Edited and approved by erp");
    })
    .await;
}

#[tokio::test]
async fn nobody_but_a_listed_system_decides_over_the_api() {
    scenario(async |bot| {
        let (ticket, _) = a_draft_waits(bot, DRAFT).await;
        let digest = open(bot).await["digest"].clone();
        // The one approver is slack:U0SAM00001, and a name in a body proves nothing.
        for actor in ["erp", "sam", "U0SAM00001", "slack:U0SAM00001", "*", ""] {
            let body = json!({ "actor": actor, "decision": "approve", "digest": digest });
            let (status, answer) = decides(bot, "A-1", body).await;
            assert_eq!((status, &answer["result"]), (403, &json!("not_allowed")), "{actor}");
        }
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);
        bot.slack.only_open_card().says(DRAFT);
    })
    .await;
}

#[tokio::test]
async fn a_decision_without_the_right_digest_is_refused() {
    scenario_with(LISTED, async |bot| {
        let (ticket, _) = a_draft_waits(bot, DRAFT).await;
        let digest = open(bot).await["digest"].as_str().unwrap_or_default().to_owned();
        let approve = |digest: &str| json!({ "actor": "erp", "decision": "approve", "digest": digest });

        let (status, answer) = decides(bot, "A-1", json!({ "actor": "erp", "decision": "approve" })).await;
        assert_eq!(status, 400, "{answer}");
        assert_eq!(decides(bot, "A-1", approve("")).await.0, 400);
        assert_eq!(
            decides(bot, "A-1", approve(&digest[..8])).await.0,
            400,
            "too short to prove anything"
        );
        let (status, answer) = decides(bot, "A-1", approve(&"0".repeat(64))).await;
        assert_eq!((status, &answer["result"]), (409, &json!("stale")));
        assert_eq!(decides(bot, "A-99", approve(&digest)).await.0, 404);
        assert_eq!(decides(bot, "seventeen", approve(&digest)).await.0, 400);
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);
        bot.slack.only_open_card().says(DRAFT);
    })
    .await;
}

#[tokio::test]
async fn the_api_is_closed_without_its_token() {
    scenario_with(LISTED, async |bot| {
        let (ticket, _) = a_draft_waits(bot, DRAFT).await;
        let digest = open(bot).await["digest"].clone();
        let body = json!({ "actor": "erp", "decision": "approve", "digest": digest });
        for token in ["", "wrong"] {
            let answer = reqwest::Client::new()
                .post(format!("{}/api/approvals/A-1/decide", bot.url))
                .bearer_auth(token)
                .json(&body)
                .send()
                .await
                .expect("the bot answers");
            assert_eq!(answer.status(), 401);
        }
        bot.zendesk.has_no_replies(&ticket);
        bot.slack.only_open_card().says(DRAFT);
    })
    .await;
}

#[tokio::test]
async fn the_ledger_holds_after_decisions_and_names_the_row_that_was_changed() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.slack.clicks(&card, "Approve", by("stranger")).await;
        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.slack.told_privately("stranger", "not on the list");
        bot.zendesk.has_reply(&ticket, DRAFT);
        the_sealer_comes_by(bot).await;

        let kinds = sqlx::query_scalar::<_, String>("SELECT kind FROM ledger WHERE approval_id = 1 ORDER BY number")
            .fetch_all(bot.pool())
            .await
            .expect("the ledger is there");
        assert_eq!(
            kinds,
            ["proposed", "shown", "refused", "decision", "executed", "receipt"]
        );
        let found = ledger::verify(bot.pool()).await.expect("it can be read");
        assert!(found.broken.is_none(), "{found:?}");
        assert_eq!(found.unsealed, 0);
        assert_eq!(found.sealed, bot.counts("SELECT count(*) FROM ledger").await);
        assert_eq!(
            bot.counts("SELECT count(*) FROM ledger WHERE ledger::text ILIKE '%refund%'")
                .await,
            0,
            "no word of the draft is in it"
        );

        // Somebody makes it look as if another had decided.
        sqlx::query("UPDATE ledger SET actor = 'slack:U0KIM00001' WHERE kind = 'decision'")
            .execute(bot.pool())
            .await
            .expect("whoever owns the database can");
        let number = bot.counts("SELECT number FROM ledger WHERE kind = 'decision'").await;
        let broken = ledger::verify(bot.pool())
            .await
            .expect("it can be read")
            .broken
            .expect("it is found");
        assert_eq!(
            broken.to_string(),
            format!("ledger entry {number}: it was changed after it was sealed")
        );
    })
    .await;
}

#[tokio::test]
async fn a_row_that_was_taken_out_of_the_ledger_is_missed() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, DRAFT);
        the_sealer_comes_by(bot).await;
        let number = bot.counts("SELECT number FROM ledger WHERE kind = 'decision'").await;
        sqlx::query("DELETE FROM ledger WHERE kind = 'decision'")
            .execute(bot.pool())
            .await
            .expect("whoever owns the database can");
        let broken = ledger::verify(bot.pool())
            .await
            .expect("it can be read")
            .broken
            .expect("it is found");
        assert_eq!(broken.to_string(), format!("ledger entry {number}: it is missing"));
    })
    .await;
}

/// Rows are sealed when they are a second old: these are made older instead of waiting for it.
async fn the_sealer_comes_by(bot: &Bot) {
    sqlx::query("UPDATE ledger SET at = at - interval '1 hour' WHERE number IS NULL")
        .execute(bot.pool())
        .await
        .expect("the ledger is there");
    deskhand::worker::sweeper::housekeeping(&bot.app)
        .await
        .expect("it seals");
}
