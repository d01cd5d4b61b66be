//! A process dies at every step of a run with helpers, one ticket after the other. Whatever was written is gone on from,
//! and nothing is done twice.
//!
//! The store itself says when: at the step that is meant it waits, and the process that writes it is killed meanwhile. A
//! step that is a commit of its own is then written though its writer never heard of it; one in a transaction is not.

use deskhand::worker::runner;
use deskhand_tests::fake::by;
use deskhand_tests::{Bot, scenario};

use super::{TASKS, goes_by_the_request};
use crate::crashes::leases_run_out;

/// The lock at which the store waits.
const GATE: i64 = 4_711;

/// From here on the store counts the steps that are written, and waits at one of them.
async fn waits_at_a_step(bot: &Bot) {
    for sql in [
        "CREATE SEQUENCE written",
        "CREATE TABLE fatal (step bigint)",
        "INSERT INTO fatal VALUES (0)",
        "CREATE FUNCTION wait_at_the_gate() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
             IF nextval('written') = (SELECT step FROM fatal) THEN
                 PERFORM pg_advisory_xact_lock_shared(4711);
             END IF;
             RETURN NEW;
         END $$",
        "CREATE TRIGGER fatal BEFORE INSERT ON step FOR EACH ROW EXECUTE FUNCTION wait_at_the_gate()",
    ] {
        sqlx::query(sql).execute(bot.pool()).await.expect("it is right");
    }
}

/// Works until the step is reached, and dies there. False when everything was done before it came to that.
async fn dies_at(bot: &mut Bot, step: i64) -> bool {
    sqlx::query("UPDATE fatal SET step = $1")
        .bind(step)
        .execute(bot.pool())
        .await
        .expect("it is right");
    sqlx::query("ALTER SEQUENCE written RESTART")
        .execute(bot.pool())
        .await
        .expect("it is right");
    let mut gate = bot.pool().begin().await.expect("the database answers");
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(GATE)
        .execute(&mut *gate)
        .await
        .expect("nobody else has it");
    let app = bot.app.clone();
    let work = tokio::spawn(async move { while runner::tick(&app).await.is_ok_and(|done| done > 0) {} });
    let waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 4711
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let mut reached = false;
    while !reached && !work.is_finished() {
        reached = bot.counts(waits).await > 0;
    }
    work.abort();
    let _ = work.await;
    gate.rollback().await.expect("it can be let go");
    sqlx::query("UPDATE fatal SET step = 0")
        .execute(bot.pool())
        .await
        .expect("it is right");
    reached
}

#[tokio::test]
async fn a_process_dies_at_every_step_and_the_run_and_its_helpers_come_to_the_same_end() {
    scenario(async |bot| {
        waits_at_a_step(bot).await;
        let mut step = 0;
        let mut reached = true;
        while reached {
            step += 1;
            assert!(step < 40, "a run with two helpers has fewer steps");
            goes_by_the_request(bot, 40);
            bot.zendesk
                .opens(&format!("Refund {step}"), "Where is my refund?", by("ada@example.com"))
                .await;
            reached = dies_at(bot, step).await;
            bot.restarts().await;
            leases_run_out(bot).await;
            bot.settle().await;
            bot.model.forgets();
            came_to_the_same_end(bot, step).await;
        }
        assert!(step > 8, "the run and its helpers have more steps than {step}");
    })
    .await;
}

async fn came_to_the_same_end(bot: &Bot, step: i64) {
    let runs: Vec<(String, bool)> = sqlx::query_as(
        "SELECT trim(state || ' ' || coalesce(ending, '')), parent IS NULL FROM run
          WHERE ticket_id = (SELECT max(id) FROM ticket) ORDER BY created_at, id",
    )
    .fetch_all(bot.pool())
    .await
    .expect("the query is right");
    let expected = [
        ("completed triaged", true),
        ("completed reported", false),
        ("completed reported", false),
    ];
    let expected = expected.map(|(state, main)| (state.to_owned(), main));
    assert_eq!(runs, expected, "killed at step {step}");
    let outcomes: Vec<String> = sqlx::query_scalar(
        "SELECT kind -> 'outcome' ->> 'text' FROM step JOIN run ON run.id = run_id
          WHERE ticket_id = (SELECT max(id) FROM ticket) AND parent IS NULL AND kind ->> 'kind' = 'outcome' ORDER BY seq",
    )
    .fetch_all(bot.pool())
    .await
    .expect("the query is right");
    assert_eq!(
        outcomes.len(),
        3,
        "killed at step {step}: each call has one outcome: {outcomes:?}"
    );
    for task in TASKS {
        let found = format!("Found out: {task}");
        assert!(outcomes[2].contains(&found), "killed at step {step}: {}", outcomes[2]);
    }
}
