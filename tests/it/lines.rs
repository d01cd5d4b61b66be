//! What many scenarios have the model say, and what they look up in the store because no surface shows it.

use deskhand::worker::runner;
use deskhand_tests::Bot;
use deskhand_tests::fake::by;
use deskhand_tests::fake::zendesk::TicketHandle;
use serde_json::json;
use tokio::task::JoinHandle;

/// The next reply of the model drafts an answer to the customer.
pub(crate) fn drafts(bot: &Bot, text: &str) {
    bot.model.calls("reply_customer", json!({ "text": text }));
}

/// Ada asks where her refund is.
pub(crate) async fn ada_asks(bot: &Bot) -> TicketHandle {
    bot.zendesk
        .opens("Where is my refund?", "I sent the kettle back.", by("ada@example.com"))
        .await
}

/// What the drafts of most scenarios say.
const DRAFT: &str = "Your refund left us on Monday.";

/// Ada has asked, and the model's draft waits for a decision.
pub(crate) async fn a_reply_waits(bot: &Bot) -> TicketHandle {
    drafts(bot, DRAFT);
    let ticket = ada_asks(bot).await;
    bot.settle().await;
    ticket
}

/// The same, and sam has just approved it: nobody has worked on yet.
pub(crate) async fn a_reply_is_approved(bot: &Bot) -> TicketHandle {
    let ticket = a_reply_waits(bot).await;
    bot.model.says("Done.");
    sam_approves(bot).await;
    ticket
}

/// Sam approves the one card that still waits.
pub(crate) async fn sam_approves(bot: &Bot) {
    let card = bot.slack.only_open_card();
    bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
}

/// A runner begins to work, and is in the middle of a call outside whose answer is held back.
pub(crate) async fn works_until_the_shop_is_called(bot: &Bot) -> JoinHandle<anyhow::Result<usize>> {
    works_until_the_shop_was_called(bot, 1).await
}

/// The same in the middle of so many calls.
pub(crate) async fn works_until_the_shop_was_called(bot: &Bot, times: usize) -> JoinHandle<anyhow::Result<usize>> {
    bot.server.hangs();
    let app = bot.app.clone();
    let mut work = tokio::spawn(async move { runner::tick(&app).await });
    tokio::select! {
        () = bot.server.was_called(times) => {}
        ended = &mut work => panic!("the shop was not called: {ended:?}"),
    }
    work
}

pub(crate) async fn runs(bot: &Bot) -> i64 {
    bot.counts("SELECT count(*) FROM run").await
}

pub(crate) async fn comments(bot: &Bot) -> i64 {
    bot.counts("SELECT count(*) FROM comment").await
}

/// How the runs stand, the oldest first: `completed answered`, `waiting`.
pub(crate) async fn states(bot: &Bot) -> Vec<String> {
    sqlx::query_scalar("SELECT trim(state || ' ' || coalesce(ending, '')) FROM run ORDER BY created_at, id")
        .fetch_all(bot.pool())
        .await
        .expect("the query is right")
}
