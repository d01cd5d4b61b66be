//! Processes that die at the worst moment. Another one goes on, and nothing happens twice.

mod dispatchers;
mod leases;
mod outside;
mod runners;

use deskhand::worker::{dispatcher, sweeper};
use deskhand_tests::Bot;
use deskhand_tests::fake::clock::minutes;

/// Time passes until whatever a dead process held has run out, and the sweeper looks.
pub(crate) async fn leases_run_out(bot: &Bot) {
    bot.advance(minutes(5));
    sweeper::tick(&bot.app).await.expect("the sweeper ticks");
}

/// A dispatcher starts to send and is killed before it can write down what came of it: the ticket is locked until then.
async fn a_dispatcher_is_killed_after_sending(bot: &Bot, sent: impl Fn() -> bool) {
    let mut lock = bot.pool().begin().await.expect("the database answers");
    sqlx::query("SELECT id FROM ticket FOR UPDATE")
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
