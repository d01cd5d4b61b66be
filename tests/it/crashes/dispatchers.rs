//! Dispatchers that die after they sent something and before they could write it down.

use deskhand::worker::dispatcher;
use deskhand_tests::fake::clock::seconds;
use deskhand_tests::scenario;

use super::{a_dispatcher_is_killed_after_sending, leases_run_out};
use crate::lines::{a_reply_is_approved, ada_asks, drafts, sam_approves, states};

#[tokio::test]
async fn a_dispatcher_is_killed_while_sending_and_the_reply_is_looked_up_and_sent_once() {
    scenario(async |bot| {
        let ticket = a_reply_is_approved(bot).await;
        bot.runners_settle().await;
        let zendesk = bot.zendesk.clone();
        a_dispatcher_is_killed_after_sending(bot, || zendesk.updates(&ticket) == 1).await;
        bot.restarts().await;

        bot.settle().await;
        assert_eq!(states(bot).await, ["waiting answered"], "its claim still stands");
        leases_run_out(bot).await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        assert_eq!(bot.zendesk.updates(&ticket), 1);
        assert_eq!(states(bot).await, ["completed answered"]);
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_dispatcher_is_killed_after_posting_a_card_and_it_is_shown_once() {
    scenario(async |bot| {
        drafts(bot, "Your refund left us on Monday.");
        let ticket = ada_asks(bot).await;
        bot.runners_settle().await;
        // The header is up; the card comes next in its lane.
        dispatcher::tick(&bot.app).await.expect("the dispatcher ticks");
        bot.advance(seconds(2));
        let slack = bot.slack.clone();
        a_dispatcher_is_killed_after_posting(bot, || slack.cards().len() == 1).await;
        bot.restarts().await;

        leases_run_out(bot).await;
        bot.settle().await;
        bot.slack.only_card().is_about(&ticket);
        bot.model.says("Done.");
        sam_approves(bot).await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

/// As above, for what needs no lock of its ticket: the table of places is locked until the dispatcher is dead.
async fn a_dispatcher_is_killed_after_posting(bot: &deskhand_tests::Bot, sent: impl Fn() -> bool) {
    let mut lock = bot.pool().begin().await.expect("the database answers");
    sqlx::query("LOCK TABLE place IN SHARE MODE")
        .execute(&mut *lock)
        .await
        .expect("nobody holds it");
    let app = bot.app.clone();
    let work = tokio::spawn(async move { dispatcher::tick(&app).await });
    while !sent() {
        assert!(!work.is_finished(), "nothing was sent");
        tokio::task::yield_now().await;
    }
    work.abort();
    let _ = work.await;
    lock.rollback().await.expect("it can be let go");
}
