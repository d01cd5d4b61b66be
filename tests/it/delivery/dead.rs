//! What cannot be delivered is shown with its reason, and sent on an operator's word.

use deskhand_adapters::postgres::outbox;
use deskhand_core::id::EffectId;
use deskhand_tests::fake::clock::hours;
use deskhand_tests::scenario;

use crate::lines::{a_reply_waits, ada_asks, drafts, sam_approves, states};

#[tokio::test]
async fn a_dead_letter_is_shown_with_its_reason_and_redrive_sends_it() {
    scenario(async |bot| {
        let ticket = a_reply_waits(bot).await;
        bot.model.says("She has her answer.");
        bot.model.says("A person must reach her.");
        sam_approves(bot).await;
        bot.zendesk.is_down(true);
        let mut hours_down = 0;
        while bot.counts("SELECT count(*) FROM outbox WHERE state = 'dead'").await == 0 {
            assert!(hours_down < 48, "nobody gives up");
            bot.settle().await;
            bot.advance(hours(2));
            hours_down += 2;
        }
        bot.settle().await;
        let header = bot.slack.header(&ticket);
        header.says("The reply could not be delivered: Zendesk has trouble (503)");
        assert_eq!(states(bot).await, ["completed handed_over"]);

        let listed = outbox::list(bot.pool(), None).await.expect("the database answers");
        assert_eq!(listed.len(), 1, "{listed:?}");
        assert!(listed[0].why.contains("503"), "{}", listed[0].why);
        bot.zendesk.is_down(false);
        let redriven = outbox::redrive(bot.pool(), EffectId(listed[0].id)).await;
        assert!(redriven.expect("the database answers"));
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        bot.slack.header(&ticket).says_nothing_of("could not be delivered");
        bot.slack.header(&ticket).says("waiting on customer");
        let again = outbox::redrive(bot.pool(), EffectId(listed[0].id)).await;
        assert!(!again.expect("the database answers"), "what was delivered stays so");
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_dead_letter_lets_those_behind_it_pass() {
    scenario(async |bot| {
        drafts(bot, "The first answer.");
        let ticket = ada_asks(bot).await;
        bot.settle().await;
        bot.model.says("She has her answer.");
        sam_approves(bot).await;
        bot.runners_settle().await;
        sqlx::query("UPDATE outbox SET state = 'dead', why = 'for a scenario' WHERE kind = 'reply'")
            .execute(bot.pool())
            .await
            .expect("the query is right");
        drafts(bot, "The second answer.");
        bot.zendesk
            .comments(&ticket, "Hello?", deskhand_tests::fake::by("ada@example.com"))
            .await;
        bot.settle().await;
        bot.model.says("Done.");
        sam_approves(bot).await;
        bot.settle().await;
        assert_eq!(bot.zendesk.replies(&ticket), ["The second answer."]);
        for card in bot.slack.cards() {
            card.says("Approved by sam");
        }
    })
    .await;
}
