//! Expiry, locks that are not had in time, and restarts: an approval is a row, whatever happens around it.

use std::time::Duration;

use deskhand::worker::sweeper;
use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::Slack;
use deskhand_tests::{Bot, scenario, scenario_with};
use sqlx::{PgPool, Postgres, Transaction};

use super::{DRAFT, a_draft_waits, the_model_hears};

const AN_HOUR: &[(&str, &str)] = &[("DESKHAND_APPROVAL_EXPIRY", "1h")];

const fn minutes(n: u64) -> Duration {
    Duration::from_secs(n * 60)
}

#[tokio::test]
async fn an_approval_that_nobody_decides_expires_and_the_model_hears_of_it() {
    scenario_with(AN_HOUR, async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.advance(minutes(59));
        bot.settle().await;
        bot.slack.only_open_card().says(DRAFT);

        bot.model.says("A person must look at this.");
        bot.advance(minutes(2));
        bot.settle().await;
        the_model_hears(bot, "Nobody decided in time; it expired.");
        card.says("Expired: nobody decided in time");
        card.has_no_buttons();
        bot.zendesk.has_no_replies(&ticket);

        let late = bot.slack.clicks_stale(&card, "Approve", by("sam")).await;
        bot.settle().await;
        late.says("A-1 expired before you clicked; nothing was sent.");
        bot.zendesk.has_no_replies(&ticket);
    })
    .await;
}

#[tokio::test]
async fn a_click_after_the_time_is_over_is_too_late_though_nobody_swept_yet() {
    scenario_with(AN_HOUR, async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.model.says("A person must look at this.");
        bot.advance(minutes(60));
        let late = bot.slack.clicks(&card, "Approve", by("sam")).await;
        bot.settle().await;
        late.says("A-1 expired before you clicked; nothing was sent.");
        card.says("Expired: nobody decided in time");
        the_model_hears(bot, "Nobody decided in time; it expired.");
        bot.zendesk.has_no_replies(&ticket);
        assert_eq!(decisions_in_the_ledger(bot).await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_click_that_came_before_the_expiry_wins_when_both_wait_for_the_row() {
    scenario_with(AN_HOUR, async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.model.says("Done.");
        bot.advance(minutes(59));

        let held = holds_the_ticket(bot).await;
        let click = clicks_meanwhile(&bot.slack, &card);
        waits_for_locks(bot.pool(), 1).await;
        bot.advance(minutes(1));
        let app = bot.app.clone();
        let sweep = tokio::spawn(async move { sweeper::tick(&app).await });
        waits_for_locks(bot.pool(), 2).await;
        held.rollback().await.expect("it lets go");
        click.await.expect("the click is answered").says_nothing();
        sweep.await.expect("it sweeps").expect("it sweeps");
        bot.settle().await;

        bot.zendesk.has_reply(&ticket, DRAFT);
        card.says("Approved by sam");
        assert_eq!(decisions_in_the_ledger(bot).await, 1);
    })
    .await;
}

#[tokio::test]
async fn an_expiry_that_came_before_the_click_wins_when_both_wait_for_the_row() {
    scenario_with(AN_HOUR, async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.model.says("A person must look at this.");
        bot.advance(minutes(60));

        let held = holds_the_ticket(bot).await;
        let app = bot.app.clone();
        let sweep = tokio::spawn(async move { sweeper::tick(&app).await });
        waits_for_locks(bot.pool(), 1).await;
        let click = clicks_meanwhile(&bot.slack, &card);
        waits_for_locks(bot.pool(), 2).await;
        held.rollback().await.expect("it lets go");
        let late = click.await.expect("the click is answered");
        sweep.await.expect("it sweeps").expect("it sweeps");
        bot.settle().await;

        late.says("A-1 expired before you clicked; nothing was sent.");
        bot.zendesk.has_no_replies(&ticket);
        card.says("Expired: nobody decided in time");
        assert_eq!(decisions_in_the_ledger(bot).await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_click_that_cannot_get_its_lock_in_time_is_kept_and_decided_later() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.model.says("Done.");
        let held = holds_the_ticket(bot).await;
        let click = bot.slack.clicks(&card, "Approve", by("sam")).await;
        assert_eq!(click.status, 200, "it is kept before it is acknowledged");
        assert_eq!(
            bot.counts("SELECT count(*) FROM inbox WHERE kind = 'click' AND state = 'kept'")
                .await,
            1
        );
        bot.zendesk.has_no_replies(&ticket);
        held.rollback().await.expect("it lets go");

        // Also a killed process loses nothing.
        bot.restarts().await;
        bot.settle().await;
        click.says("A-1: checking; the answer follows in a moment.");
        bot.zendesk.has_reply(&ticket, DRAFT);
        card.says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_kept_click_that_comes_second_is_told_so_when_it_is_decided() {
    scenario_with(
        &[("DESKHAND_APPROVERS", "slack:U0SAM00001,slack:U0KIM00001")],
        async |bot| {
            let (ticket, card) = a_draft_waits(bot, DRAFT).await;
            bot.model.says("Done.");
            let held = holds_the_ticket(bot).await;
            let kept = bot.slack.clicks(&card, "Approve", by("kim")).await;
            held.rollback().await.expect("it lets go");
            bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
            bot.settle().await;
            kept.says("A-1: checking");
            kept.says("A-1 was already approved by sam");
            bot.zendesk.has_reply(&ticket, DRAFT);
        },
    )
    .await;
}

#[tokio::test]
async fn an_edit_that_cannot_get_its_lock_in_time_loses_none_of_its_words() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.model.says("Done.");
        let form = bot.slack.opens_modal(&card, "Edit", by("sam")).await;
        let held = holds_the_ticket(bot).await;
        let sent = form.submits("It left us on Tuesday.").await;
        held.rollback().await.expect("it lets go");
        assert!(sent.closed);
        bot.settle().await;
        sent.seen.says("A-1: checking");
        bot.zendesk.has_reply(&ticket, "It left us on Tuesday.");
    })
    .await;
}

#[tokio::test]
async fn a_restart_while_waiting_keeps_the_approval_and_the_old_cards_button_works() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.restarts().await;
        bot.settle().await;
        assert_eq!(bot.slack.only_open_card().ts, card.ts, "no second card");

        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.restarts().await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, DRAFT);
        card.says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_button_of_another_deployment_is_left_alone() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.restarts_with(&[("DESKHAND_DEPLOYMENT", "another")]).await;
        for label in ["Approve", "Edit", "Reject", "View full"] {
            let seen = bot.slack.clicks(&card, label, by("sam")).await;
            bot.settle().await;
            assert_eq!((seen.status, seen.body.as_str()), (200, ""), "{label}");
            seen.says_nothing();
        }
        bot.zendesk.has_no_replies(&ticket);
        card.says(DRAFT);
        assert_eq!(
            bot.counts("SELECT count(*) FROM approval WHERE state = 'open'").await,
            1,
            "it is the other one's to decide"
        );
    })
    .await;
}

/// Somebody else's transaction has the ticket's row.
async fn holds_the_ticket(bot: &Bot) -> Transaction<'static, Postgres> {
    let mut tx = bot.pool().begin().await.expect("the database answers");
    sqlx::query("SELECT id FROM ticket FOR UPDATE")
        .execute(&mut *tx)
        .await
        .expect("nobody else has it");
    tx
}

fn clicks_meanwhile(
    slack: &Slack,
    card: &deskhand_tests::fake::slack::Card,
) -> tokio::task::JoinHandle<deskhand_tests::fake::slack::Seen> {
    let (slack, card) = (slack.clone(), card.clone());
    tokio::spawn(async move { slack.clicks(&card, "Approve", by("sam")).await })
}

/// Comes back when so many others stand in the queue before a lock of this database. Postgres serves them in their order.
async fn waits_for_locks(pool: &PgPool, many: i64) {
    for _ in 0..10_000 {
        let waiting = sqlx::query_scalar::<_, i64>(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        )
        .fetch_one(pool)
        .await
        .expect("the database answers");
        if waiting >= many {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("nobody waits for the lock");
}

async fn decisions_in_the_ledger(bot: &Bot) -> i64 {
    bot.counts("SELECT count(*) FROM ledger WHERE kind = 'decision'").await
}
