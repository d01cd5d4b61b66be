//! Verified and not understood: kept as it came, answered 200, shown to the operator, mapped again on their word.

use deskhand::http::webhooks;
use deskhand_adapters::postgres::inbox;
use deskhand_tests::fake::wire::Forgery;
use deskhand_tests::{Bot, scenario};

use crate::lines::{ada_asks, drafts, runs};

#[tokio::test]
async fn a_verified_webhook_of_any_shape_is_kept_with_its_error() {
    scenario(async |bot| {
        let deep = "[".repeat(100_000);
        let in_depth = format!("{{\"type\":\"zen:event-type:ticket.created\",\"detail\":{}", deep);
        let bodies: [&[u8]; 12] = [
            b"",
            b"   ",
            b"{not json",
            b"[]",
            b"42",
            b"null",
            b"\xff\xfe\x00\x01",
            b"{\"a\":\"\\ud800\"}",
            b"{\"a\":\"\0\"}",
            b"{\"ticket_id\":1e999999}",
            in_depth.as_bytes(),
            b"{\"type\":\"zen:event-type:user.created\",\"detail\":{\"id\":\"7\"}}",
        ];
        for body in bodies {
            let shown = String::from_utf8_lossy(&body[..body.len().min(40)]);
            assert_eq!(bot.zendesk.sends_bytes(body).await, Some(200), "{shown}");
        }
        bot.settle().await;

        let kept: Vec<Vec<u8>> = sqlx::query_scalar("SELECT body FROM inbox ORDER BY id")
            .fetch_all(bot.pool())
            .await
            .expect("the query is right");
        assert_eq!(kept, bodies, "byte for byte");
        let shown = inbox::unmapped(bot.pool()).await.expect("the database answers");
        assert_eq!(shown.len(), bodies.len());
        let silent: Vec<_> = shown.iter().filter(|row| row.error.is_empty()).collect();
        assert!(silent.is_empty(), "each says why: {silent:?}");
        assert_eq!(runs(bot).await, 0);
    })
    .await;
}

#[tokio::test]
async fn nul_in_a_customers_words_is_no_reason_to_lose_them() {
    scenario(async |bot| {
        drafts(bot, "Thank you.");
        let ticket = ada_asks(bot).await;
        bot.settle().await;

        drafts(bot, "Thank you again.");
        let event = format!(
            r#"{{"type":"zen:event-type:ticket.comment_added","detail":{{"id":"{}","subject":"Where\u0000 is it?"}},
                "event":{{"comment":{{"id":"77","body":"It is \u0000 blue.","is_public":true,
                "author":{{"id":"9","name":"A\u0000da","is_staff":false}}}}}}}}"#,
            ticket.id
        );
        assert_eq!(bot.zendesk.sends_bytes(event.as_bytes()).await, Some(200));
        bot.settle().await;

        bot.slack.only_open_card().says("Thank you again.");
        let unmapped = inbox::unmapped(bot.pool()).await.expect("the database answers");
        assert!(unmapped.is_empty(), "{unmapped:?}");
        let cards = bot.slack.cards();
        cards[0].says("Withdrawn");
    })
    .await;
}

#[tokio::test]
async fn what_an_older_version_could_not_map_is_mapped_again_on_the_operators_word() {
    scenario(async |bot| {
        // The bot never heard of the ticket; its webhook lies in the inbox as an older version kept it.
        bot.zendesk.forges_next(Forgery::NoSignature);
        let ticket = ada_asks(bot).await;
        let lost = bot.zendesk.deliveries().pop().expect("it was sent");
        inbox::keep_unmapped(
            bot.pool(),
            "zendesk",
            &lost.invocation,
            &lost.body,
            "not known to this version",
        )
        .await
        .expect("it is kept");
        let id = inbox::unmapped(bot.pool()).await.expect("the database answers")[0].id;

        drafts(bot, "Your refund left us on Monday.");
        assert!(retried(bot, id).await, "it is mapped");
        assert!(!retried(bot, id).await, "and only once");
        bot.settle().await;

        bot.slack.only_card().is_about(&ticket);
        assert_eq!(runs(bot).await, 1);
        let unmapped = inbox::unmapped(bot.pool()).await.expect("the database answers");
        assert!(unmapped.is_empty(), "{unmapped:?}");
    })
    .await;
}

/// As `deskhand inbox retry` does it.
async fn retried(bot: &Bot, id: i64) -> bool {
    let kept = inbox::raw(bot.pool(), id).await.expect("the database answers");
    let (_, _, headers, body) = kept.expect("the delivery is there");
    let headers = webhooks::headers_from(&headers);
    let inbound = webhooks::map_zendesk(&bot.app, &headers, &body)
        .await
        .expect("it can be mapped by now");
    let intake = bot.app.intake().await.expect("the database answers");
    inbox::map_again(bot.pool(), id, &inbound, intake)
        .await
        .expect("the database answers")
}

#[tokio::test]
async fn what_cannot_be_mapped_is_told_and_stays() {
    scenario(async |bot| {
        bot.zendesk.sends_bytes(b"{not json").await;
        let id = inbox::unmapped(bot.pool()).await.expect("the database answers")[0].id;
        let kept = inbox::raw(bot.pool(), id).await.expect("the database answers");
        let (_, _, headers, body) = kept.expect("the delivery is there");
        let headers = webhooks::headers_from(&headers);
        let why = webhooks::map_zendesk(&bot.app, &headers, &body)
            .await
            .expect_err("it cannot be mapped");
        assert!(why.contains("broken"), "{why}");
        assert_eq!(
            inbox::unmapped(bot.pool()).await.expect("the database answers").len(),
            1
        );
    })
    .await;
}

#[tokio::test]
async fn zendesk_is_down_while_the_ticket_must_be_read_and_the_run_is_done_later() {
    scenario(async |bot| {
        let ticket = ada_asks(bot).await;
        bot.zendesk.is_down(true);
        bot.settle().await;
        bot.slack.has_no_cards();
        assert_eq!(crate::lines::states(bot).await, ["queued"]);

        // It is down for hours, and nobody gives up.
        for _ in 0..12 {
            bot.advance(deskhand_tests::fake::clock::minutes(20));
            bot.settle().await;
        }
        assert_eq!(crate::lines::states(bot).await, ["queued"]);

        bot.zendesk.is_down(false);
        drafts(bot, "Your refund left us on Monday.");
        bot.advance(deskhand_tests::fake::clock::hours(1));
        bot.settle().await;
        bot.slack.only_card().is_about(&ticket);
        assert_eq!(runs(bot).await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_ticket_that_zendesk_does_not_know_is_handed_to_a_person() {
    scenario(async |bot| {
        bot.zendesk.sends_bytes(b"{\"ticket_id\": \"4040404\"}").await;
        bot.settle().await;

        let headers = bot.slack.headers();
        assert_eq!(headers.len(), 1);
        headers[0].says("zendesk:4040404");
        headers[0].says("the desk does not know the ticket");
        assert_eq!(crate::lines::states(bot).await, ["completed handed_over"]);
        assert!(bot.model.requests().is_empty());
    })
    .await;
}
