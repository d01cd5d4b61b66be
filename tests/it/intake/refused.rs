//! Who cannot show that they are Zendesk gets in nothing, and nothing too large gets in at all.

use deskhand_tests::fake::wire::{Forgery, zendesk_signature};
use deskhand_tests::fake::zendesk;
use deskhand_tests::{Bot, scenario};

use crate::lines::{ada_asks, runs};

const FORGERIES: [Forgery; 3] = [Forgery::WrongSecret, Forgery::ChangedBody, Forgery::NoSignature];

/// Rightly signed. Zendesk knows no window: a delivery that it tries again keeps its first timestamp.
const LATE: [Forgery; 3] = [Forgery::OldTimestamp, Forgery::FutureTimestamp, Forgery::SillyTimestamp];

#[tokio::test]
async fn forged_signature_is_refused_and_nothing_is_stored() {
    scenario(async |bot| {
        for how in FORGERIES {
            bot.zendesk.forges_next(how);
            ada_asks(bot).await;
            let answered = bot.zendesk.deliveries().last().and_then(|delivery| delivery.status);
            assert_eq!(answered, Some(401), "{how:?}");
        }
        bot.settle().await;
        bot.slack.has_no_cards();
        nothing_came_in(bot).await;
    })
    .await;
}

#[tokio::test]
async fn a_late_delivery_is_heard_and_playing_it_back_changes_nothing() {
    for how in LATE {
        scenario(async |bot| {
            bot.zendesk.forges_next(how);
            crate::lines::drafts(bot, "Your refund left us on Monday.");
            let ticket = ada_asks(bot).await;
            bot.settle().await;
            assert_eq!(bot.zendesk.repeats_last_delivery().await, Some(200));
            assert_eq!(bot.zendesk.repeats_last_delivery_under_another_id().await, Some(200));
            bot.settle().await;
            bot.slack.only_open_card().is_about(&ticket);
            assert_eq!(runs(bot).await, 1, "{how:?}");
            assert_eq!(bot.model.requests().len(), 1);
        })
        .await;
    }
}

#[tokio::test]
async fn a_genuine_webhook_after_forged_ones_is_heard() {
    scenario(async |bot| {
        bot.zendesk.forges_next(Forgery::WrongSecret);
        let ticket = ada_asks(bot).await;
        // A forger must not be able to use up the id of the genuine delivery.
        assert_eq!(bot.zendesk.repeats_last_delivery().await, Some(200));
        crate::lines::drafts(bot, "Your refund left us on Monday.");
        bot.settle().await;
        bot.slack.only_card().is_about(&ticket);
    })
    .await;
}

#[tokio::test]
async fn a_signed_webhook_of_exactly_the_limit_is_kept_and_one_byte_more_is_too_large() {
    const LIMIT: usize = 2 * 1024 * 1024;
    scenario(async |bot| {
        assert_eq!(signed(bot, vec![b' '; LIMIT + 1]).await, 413);
        nothing_came_in(bot).await;
        assert_eq!(signed(bot, vec![b' '; LIMIT]).await, 200);
        assert_eq!(
            bot.counts("SELECT count(*) FROM inbox WHERE state = 'unmapped'").await,
            1
        );
    })
    .await;
}

async fn nothing_came_in(bot: &Bot) {
    assert_eq!(bot.counts("SELECT count(*) FROM inbox").await, 0);
    assert_eq!(bot.counts("SELECT count(*) FROM ticket").await, 0);
    assert_eq!(runs(bot).await, 0);
}

/// Posts a body with a genuine signature; the fake itself would take a refusal of it for a fault.
async fn signed(bot: &Bot, body: Vec<u8>) -> u16 {
    let timestamp = bot.app.clock.now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    let signature = zendesk_signature(zendesk::SECRET, &timestamp, &body);
    let request = reqwest::Client::new()
        .post(format!("{}/webhooks/zendesk", bot.url))
        .header("x-zendesk-webhook-signature", signature)
        .header("x-zendesk-webhook-signature-timestamp", timestamp)
        .body(body);
    request.send().await.expect("the bot answers").status().as_u16()
}
