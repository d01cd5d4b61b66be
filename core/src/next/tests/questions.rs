//! Questions to the team: asked and waited for like approvals, and answered instead of decided.

use serde_json::json;

use super::scene::{Scene, ask, check, reply};
use crate::approval::ApprovalState;
use crate::run::EffectState;
use crate::ticket::Mode;

/// A run that waits for the answer to A-1.
fn waiting() -> Scene {
    let mut run = Scene::at_work();
    run.calls(&[ask("May she have it for free?", &["Yes", "No"])]);
    check(
        &run.happens(),
        "asks A-1: ask_question, the bot does not know it, and asks the team
         waits for A-1",
    );
    run
}

#[test]
fn an_answer_is_the_calls_outcome() {
    let mut run = waiting();
    check(&run.happens(), "waits for A-1");
    run.decides(1, ApprovalState::Answered, "", Some("Yes"));
    check(
        &run.happens(),
        "tells ask_question: sam of the team answered: Yes
         asks the model",
    );
}

#[test]
fn a_question_that_nobody_answers_does_not_hold_the_run_for_ever() {
    let mut run = waiting();
    run.decides(1, ApprovalState::Expired, "", None);
    check(
        &run.happens(),
        "fails ask_question: Nobody answered in time. Go on without an answer, or leave it to a person with a note.
         asks the model",
    );
}

#[test]
fn a_new_comment_leaves_the_question_open_and_its_answer_comes_as_a_note() {
    let mut run = waiting();
    run.customer_writes("I also lost the box.");
    check(
        &run.happens(),
        "tells ask_question: A-1 is not answered yet; its answer will come as a note.
         hears 1
         asks the model",
    );
    run.says("I wait.").happens();
    run.decides(1, ApprovalState::Answered, "", Some("No"));
    check(
        &run.happens(),
        "notes: A-1 (you asked: May she have it for free?): sam of the team answered: No
         asks the model",
    );
}

#[test]
fn a_question_and_a_draft_of_one_reply_wait_together_and_go_on_one_by_one() {
    let mut run = Scene::at_work();
    run.calls(&[ask("Is it in stock?", &[]), reply("On Monday.")]).happens();
    run.decides(1, ApprovalState::Answered, "", Some("Since today."));
    check(
        &run.happens(),
        "tells ask_question: sam of the team answered: Since today.
         waits for A-2",
    );
    run.approves(2);
    check(
        &run.happens(),
        "sends A-2: reply_customer
         tells reply_customer: The reply is queued: A-2, approved by sam.
         asks the model",
    );
}

#[test]
fn shadow_mode_asks_nobody() {
    let mut run = Scene::in_mode(Mode::Shadow);
    run.calls(&[ask("Is it in stock?", &[])]);
    check(
        &run.happens(),
        "records ask_question
         tells ask_question: Recorded, not asked: the bot is in shadow mode. Go on without an answer.
         asks the model",
    );
    assert_eq!(run.facts.effects[0].state, EffectState::Recorded);
}

#[test]
fn a_row_that_says_approved_of_a_question_carries_nothing_out() {
    let mut run = waiting();
    run.approves(1);
    check(
        &run.happens(),
        "takes back A-1: A-1 is a question: there is nothing to carry out.
         fails ask_question: A-1 is a question: there is nothing to carry out.
         asks the model",
    );
}

#[test]
fn options_that_are_no_choice_are_refused() {
    let mut run = Scene::at_work();
    run.calls(&[
        ask("Is it?", &["Yes", "yes "]),
        ("ask_question", json!({ "question": " " })),
    ]);
    check(
        &run.happens(),
        "fails ask_question: Give at least two different options, or none at all.
         fails ask_question: The question has no words; write it out.
         asks the model",
    );
}
