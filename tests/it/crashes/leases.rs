//! Leases: returned when lost, worth nothing to who is late, never two on one ticket, given up after too many deaths.

use std::collections::BTreeSet;
use std::time::Duration;

use deskhand::worker::control::Hand;
use deskhand::worker::runner::{self, Left};
use deskhand_adapters::postgres::runs;
use deskhand_core::id::TicketId;
use deskhand_tests::fake::by;
use deskhand_tests::{Bot, scenario};
use tokio::task::JoinSet;

use super::leases_run_out;
use crate::lines::{ada_asks, drafts, states};

/// Another runner claims what is ready.
async fn claims(bot: &Bot, most: i64) -> Vec<runs::Lease> {
    let claimed = runs::claim(bot.pool(), "another", most, 60.0, &[0; 3], bot.app.clock.moved())
        .await
        .expect("the database answers");
    claimed.leases
}

#[tokio::test]
async fn a_late_worker_changes_nothing() {
    scenario(async |bot| {
        let ticket = ada_asks(bot).await;
        bot.model.holds();
        let app = bot.app.clone();
        let late = tokio::spawn(async move { runner::tick(&app).await });
        bot.model.is_thinking().await;

        // Its lease runs out, and another runner has the run when the answer comes at last.
        leases_run_out(bot).await;
        let leases = claims(bot, 1).await;
        drafts(bot, "From the late one.");
        bot.model.releases();
        late.await.expect("it does not panic").expect("it just stops");
        assert_eq!(bot.counts("SELECT count(*) FROM approval").await, 0);
        assert_eq!(
            bot.counts("SELECT count(*) FROM step WHERE kind ->> 'kind' = 'replied'")
                .await,
            0
        );

        drafts(bot, "From the one that has it.");
        let left = runner::pursue(&bot.app, &leases[0], Hand::default().take(&leases[0]).0)
            .await
            .expect("it works");
        assert_eq!(left, Left::Waiting);
        bot.settle().await;
        let card = bot.slack.only_card();
        card.is_about(&ticket);
        card.says("From the one that has it.");
    })
    .await;
}

#[tokio::test]
async fn a_late_worker_cannot_put_a_run_back_that_another_one_has() {
    scenario(async |bot| {
        ada_asks(bot).await;
        let late = claims(bot, 1).await;
        leases_run_out(bot).await;
        let new = claims(bot, 1).await;
        assert_eq!((late[0].run, late[0].attempt + 1), (new[0].run, new[0].attempt));

        let left = runner::pursue(&bot.app, &late[0], Hand::default().take(&late[0]).0)
            .await
            .expect("it just stops");
        assert_eq!(left, Left::LeaseLost);
        let put = runs::put_back(bot.pool(), &late[0], "late", 0.0, 8, None).await;
        assert_eq!(put.expect("the database answers"), Err(runs::LeaseLost));
        let renewed = runs::renew(bot.pool(), &late, 60.0)
            .await
            .expect("the database answers");
        assert!(renewed.is_empty());
        assert_eq!(states(bot).await, ["running"]);
        leases_run_out(bot).await;
    })
    .await;
}

#[tokio::test]
async fn a_run_whose_runner_dies_again_and_again_fails_for_good_and_says_so() {
    scenario(async |bot| {
        bot.may_fail();
        let ticket = ada_asks(bot).await;
        let mut deaths = 0;
        while states(bot).await == ["queued"] {
            assert!(deaths < 20, "nobody gives up");
            bot.is_killed_while_the_model_thinks().await;
            leases_run_out(bot).await;
            deaths += 1;
        }
        bot.settle().await;
        assert_eq!(states(bot).await, ["failed"]);
        assert!(deaths > 3, "a few deaths are bad luck: {deaths}");
        bot.slack
            .header(&ticket)
            .says("The run failed: the runner that worked it was lost");

        // The customer writes again, and a new run has better luck.
        drafts(bot, "Your refund left us on Monday.");
        bot.zendesk.comments(&ticket, "Hello?", by("ada@example.com")).await;
        bot.settle().await;
        bot.slack.only_open_card().says("Hello?");
    })
    .await;
}

#[tokio::test]
async fn many_runners_at_once_never_have_the_same_ticket() {
    scenario(async |bot| {
        for n in 0..24 {
            let who = by(format!("customer{n}@example.com"));
            bot.zendesk.opens(&format!("Question {n}"), "Where is it?", who).await;
        }
        let mut all = JoinSet::new();
        for n in 0..6 {
            let pool = bot.pool().clone();
            all.spawn(async move { runs::claim(&pool, &format!("runner {n}"), 7, 60.0, &[0; 3], None).await });
        }
        let mut tickets = BTreeSet::new();
        for claimed in all.join_all().await {
            for lease in claimed.expect("the database answers").leases {
                assert!(tickets.insert(lease.ticket), "{} is worked twice", lease.ticket);
            }
        }
        // Who came while another one was looking may have found less than there was.
        while let Some(lease) = claims(bot, 7).await.pop() {
            assert!(tickets.insert(lease.ticket), "{} is worked twice", lease.ticket);
        }
        assert_eq!(tickets.len(), 24);
        leases_run_out(bot).await;
        assert_eq!(bot.counts("SELECT count(*) FROM ready").await, 24);
    })
    .await;
}

/// Somebody takes the one run out of the queue and has to wait for it; whoever claims meanwhile must not wait for the two
/// of them, who would wait for the claim.
async fn a_claim_passes_by(bot: &Bot, taking: impl Future<Output = sqlx::Result<()>> + Send + 'static) {
    let mut lock = bot.pool().begin().await.expect("the database answers");
    sqlx::query("SELECT id FROM run FOR UPDATE")
        .execute(&mut *lock)
        .await
        .expect("nobody holds it");
    let taking = tokio::spawn(taking);
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while bot.counts(waits).await == 0 {
        assert!(!taking.is_finished(), "it waits for the run");
    }
    let claimed = tokio::time::timeout(Duration::from_secs(10), claims(bot, 7)).await;
    assert_eq!(claimed.expect("a claim waits for nobody"), []);
    lock.rollback().await.expect("it can be let go");
    taking.await.expect("it ends").expect("it was not refused");
    assert_eq!(bot.counts("SELECT count(*) FROM ready").await, 0);
}

#[tokio::test]
async fn a_claim_does_not_wait_for_a_run_that_is_being_paused_or_stopped() {
    scenario(async |bot| {
        ada_asks(bot).await;
        let pool = bot.pool().clone();
        a_claim_passes_by(bot, async move {
            let mut tx = pool.begin().await?;
            runs::pause(&mut tx, TicketId(1001)).await?;
            tx.commit().await
        })
        .await;
        assert_eq!(states(bot).await, ["waiting"]);

        let mut tx = bot.pool().begin().await.expect("the database answers");
        runs::resume(&mut tx, TicketId(1001)).await.expect("it is paused");
        tx.commit().await.expect("the database answers");
        assert_eq!(states(bot).await, ["queued"]);
        let pool = bot.pool().clone();
        a_claim_passes_by(bot, async move {
            let mut tx = pool.begin().await?;
            runs::cancel(&mut tx, TicketId(1001), "stopped").await?;
            tx.commit().await
        })
        .await;
        assert_eq!(states(bot).await, ["cancelled"]);
    })
    .await;
}

#[tokio::test]
async fn a_comment_while_a_run_is_at_work_starts_no_second_one() {
    scenario(async |bot| {
        let ticket = ada_asks(bot).await;
        bot.model.holds();
        let work = bot.works_until_the_model_thinks().await;
        bot.zendesk
            .comments(&ticket, "To my new account, please.", by("ada@example.com"))
            .await;
        assert!(claims(bot, 10).await.is_empty(), "the ticket has its runner");

        drafts(bot, "Your refund left us on Monday.");
        drafts(bot, "To the new account, on Monday.");
        bot.model.releases();
        work.await.expect("it does not panic").expect("it works");
        bot.settle().await;
        bot.slack.only_card().says("To the new account, on Monday.");
        assert_eq!(states(bot).await, ["waiting"]);
    })
    .await;
}
