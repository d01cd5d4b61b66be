//! A run that goes on before everything was decided, and what came of its calls later.

use super::scene::{Scene, check, escalate, reply};
use crate::approval::ApprovalState;
use crate::facts::Standing;
use crate::run::EffectState;

/// A-1, an escalation, waits; then the customer writes and the run goes on.
fn moved_on() -> Scene {
    let mut run = Scene::at_work();
    run.calls(&[escalate(2)]).happens();
    run.customer_writes("Any news?");
    check(
        &run.happens(),
        "tells escalate_ticket: A-1 is still undecided; its decision will come as a note.
         hears 1
         asks the model",
    );
    run
}

#[test]
fn a_new_comment_takes_back_the_draft_and_is_heard() {
    let mut run = Scene::at_work();
    run.calls(&[reply("On Monday."), escalate(2)]).happens();
    run.customer_writes("It arrived.");
    check(
        &run.happens(),
        "fails reply_customer: Withdrawn: the customer wrote again
         tells escalate_ticket: A-2 is still undecided; its decision will come as a note.
         hears 1
         asks the model",
    );
}

#[test]
fn a_late_approval_is_executed_once_and_told_as_a_note() {
    let mut run = moved_on();
    run.approves(1);
    check(
        &run.happens(),
        "sends A-1: escalate_ticket
         notes: The escalation is queued: A-1, approved by sam.
         asks the model",
    );
    run.says("The second line has it.");
    check(&run.happens(), "ends: handed_over");
}

#[test]
fn a_late_refusal_is_told_as_a_note_once() {
    for (state, told) in [
        (ApprovalState::Rejected, "notes: A-1: Rejected by sam: wait"),
        (
            ApprovalState::Expired,
            "notes: A-1: Nobody decided in time; it expired. Leave it to a person with a note.",
        ),
        (ApprovalState::Withdrawn, "notes: A-1: Withdrawn: wait"),
    ] {
        let mut run = moved_on();
        run.says("Done.").decides(1, state, "wait", None);
        check(&run.happens(), &format!("{told}\nasks the model"));
        run.says("Done.");
        assert!(run.happens().starts_with("ends: "));
    }
}

#[test]
fn a_late_approval_that_no_longer_holds_is_told_and_not_executed() {
    let mut run = moved_on();
    run.approves(1).approval(1).standing = Standing::Lost;
    check(
        &run.happens(),
        "takes back A-1: sam may no longer decide this.
         notes: A-1 was not carried out: sam may no longer decide this. Propose it again if it is still right.
         asks the model",
    );
}

#[test]
fn a_late_approval_that_the_sweeper_executed_is_told() {
    let mut run = moved_on();
    run.approves(1).approval(1).executed = true;
    check(
        &run.happens(),
        "notes: A-1 was approved by sam and carried out.\nasks the model",
    );
    run.says("Done.");
    check(&run.happens(), "ends: handed_over");
}

#[test]
fn a_decision_and_a_comment_in_the_same_moment_lose_neither() {
    let mut run = Scene::at_work();
    run.calls(&[escalate(2)]).happens();
    run.approves(1).customer_writes("Any news?");
    check(
        &run.happens(),
        "tells escalate_ticket: A-1 is decided; what came of it will come as a note.
         hears 1
         sends A-1: escalate_ticket
         notes: The escalation is queued: A-1, approved by sam.
         asks the model",
    );
}

#[test]
fn an_instruction_does_not_wait_for_old_questions() {
    let mut run = Scene::at_work();
    run.calls(&[reply("On Monday."), escalate(2)]).happens();
    run.instructed("Shorter, and offer a voucher.");
    check(
        &run.happens(),
        "takes back A-1: there is a new instruction by the team
         fails reply_customer: A-1 is taken back undecided: there is a new instruction by the team. Draft anew if it is still needed.
         tells escalate_ticket: A-2 is still undecided; its decision will come as a note.
         asks the model",
    );
}

#[test]
fn an_instruction_while_the_model_was_at_work_comes_before_its_draft() {
    let mut run = Scene::at_work();
    run.calls(&[reply("On Monday.")]).instructed("Do not answer her yet.");
    check(
        &run.happens(),
        "fails reply_customer: Not asked: there is a new instruction by the team. Read it, then decide anew.
         asks the model",
    );
}

/// A reply was approved, is on its way, and the model has nothing more to do.
fn sent() -> Scene {
    let mut run = Scene::at_work();
    run.calls(&[reply("On Monday.")]).happens();
    run.approves(1).happens();
    run.says("Answered.");
    check(&run.happens(), "ends: answered");
    run
}

#[test]
fn a_reply_that_was_withdrawn_is_noted_once_and_the_model_asked_again() {
    let mut run = sent();
    run.delivery(EffectState::Withdrawn, "Lee answered meanwhile");
    check(
        &run.happens(),
        "notes: The reply was not sent: Lee answered meanwhile\nasks the model",
    );
    run.says("Nothing more to do.");
    check(&run.happens(), "ends: handed_over");
}

#[test]
fn a_reply_that_could_not_be_delivered_is_noted_once_and_the_model_asked_again() {
    let mut run = sent();
    run.delivery(EffectState::Dead, "the ticket is closed");
    check(
        &run.happens(),
        "notes: The reply could not be delivered: the ticket is closed\nasks the model",
    );
    run.calls(&[reply("On Monday, again.")]);
    check(
        &run.happens(),
        "asks A-2: reply_customer, a reply leaves the house\nwaits for A-2",
    );
}

#[test]
fn a_reply_that_arrived_is_no_news() {
    let mut run = sent();
    run.delivery(EffectState::Delivered, "");
    check(&run.happens(), "ends: answered");
}
