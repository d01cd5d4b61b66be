//! Approvals: asked, waited for, decided, executed once.

use super::scene::{Scene, check, classify, escalate, note, reply};
use crate::approval::ApprovalState;
use crate::effect::Effect;
use crate::facts::Standing;
use crate::model::Turn;
use crate::ticket::{Action, Author, Mode};

/// A run that waits for A-1, a reply.
fn waiting() -> Scene {
    let mut run = Scene::at_work();
    run.calls(&[reply("On Monday.")]);
    check(
        &run.happens(),
        "asks A-1: reply_customer, a reply leaves the house\nwaits for A-1",
    );
    run
}

#[test]
fn several_asks_of_one_reply_are_waited_for_together() {
    let mut run = Scene::at_work();
    run.calls(&[reply("On Monday."), escalate(2)]);
    check(
        &run.happens(),
        "asks A-1: reply_customer, a reply leaves the house
         asks A-2: escalate_ticket, an escalation to the next line is asked
         waits for A-1, A-2",
    );
    check(&run.happens(), "waits for A-1, A-2");
}

#[test]
fn a_decided_one_of_two_is_sent_at_once() {
    let mut run = Scene::at_work();
    run.calls(&[reply("On Monday."), escalate(2)]).happens();
    run.approves(2);
    check(
        &run.happens(),
        "sends A-2: escalate_ticket
         tells escalate_ticket: The escalation is queued: A-2, approved by sam.
         waits for A-1",
    );
    run.approves(1);
    check(
        &run.happens(),
        "sends A-1: reply_customer
         tells reply_customer: The reply is queued: A-1, approved by sam.
         asks the model",
    );
}

#[test]
fn two_replies_of_one_turn_are_two_approvals() {
    let mut run = Scene::at_work();
    run.calls(&[reply("On Monday."), reply("And your voucher is inside.")])
        .happens();
    run.approves(1).approves(2);
    check(
        &run.happens(),
        "sends A-1: reply_customer
         tells reply_customer: The reply is queued: A-1, approved by sam.
         sends A-2: reply_customer
         tells reply_customer: The reply is queued: A-2, approved by sam.
         asks the model",
    );
}

#[test]
fn a_denied_call_does_not_hold_up_the_others() {
    let mut run = Scene::at_work();
    run.calls(&[escalate(2), reply("See https://evil.example/x")]);
    check(
        &run.happens(),
        "fails reply_customer: The draft has evil.example/x, which neither this ticket nor the knowledge base has. Write it without.
         asks A-1: escalate_ticket, an escalation to the next line is asked
         waits for A-1",
    );
}

#[test]
fn an_edited_reply_goes_out_in_the_supervisors_words_and_the_model_is_told() {
    let mut run = waiting();
    run.edits(1, "On Tuesday, sorry.");
    check(
        &run.happens(),
        "sends A-1: reply_customer
         tells reply_customer: The reply is queued: A-1, edited by sam. It went out in the supervisor's words:
         On Tuesday, sorry.
         asks the model",
    );
    let Effect::ReplyCustomer(sent) = super::super::final_effect(run.approval(1)) else {
        panic!("it is a reply")
    };
    assert_eq!(sent.text, "On Tuesday, sorry.");
}

#[test]
fn what_was_not_approved_reaches_the_model_with_its_reason() {
    for (state, reason, told) in [
        (ApprovalState::Rejected, "too long", "Rejected by sam: too long"),
        (ApprovalState::Rejected, " ", "Rejected by sam, without a reason."),
        (
            ApprovalState::Expired,
            "",
            "Nobody decided in time; it expired. Leave it to a person with a note.",
        ),
        (ApprovalState::Withdrawn, "", "Withdrawn before anybody decided."),
        (
            ApprovalState::Withdrawn,
            "the ticket was merged",
            "Withdrawn: the ticket was merged",
        ),
        (ApprovalState::Superseded, "", "Superseded by a newer request."),
    ] {
        let mut run = waiting();
        run.decides(1, state, reason, None);
        check(&run.happens(), &format!("fails reply_customer: {told}\nasks the model"));
        let request = run.request.expect("the model was asked");
        let Some(Turn::Outcomes(outcomes)) = request.turns.last() else {
            panic!("the outcome comes last: {:?}", request.turns)
        };
        assert_eq!((outcomes[0].text.as_str(), outcomes[0].failed), (told, true));
    }
}

#[test]
fn an_approved_reply_is_not_sent_once_the_ticket_moved_on() {
    let mut run = waiting();
    run.approves(1).customer_writes("Forget it, it arrived.");
    check(
        &run.happens(),
        "takes back A-1: A-1 was approved, but the ticket moved on before it was sent; draft anew.
         fails reply_customer: A-1 was approved, but the ticket moved on before it was sent; draft anew.
         hears 1
         asks the model",
    );
}

#[test]
fn a_row_that_was_tampered_with_is_not_executed() {
    let mut run = waiting();
    run.approves(1);
    if let Effect::ReplyCustomer(reply) = &mut run.approval(1).effect {
        reply.to.address = "eve@example.com".into();
    }
    check(
        &run.happens(),
        "takes back A-1: A-1 is not what its card showed; it was not executed.
         fails reply_customer: A-1 is not what its card showed; it was not executed.
         asks the model",
    );
}

#[test]
fn a_decision_by_somebody_who_may_no_longer_decide_is_asked_again() {
    for standing in [Standing::Lost, Standing::Unknown] {
        let mut run = waiting();
        run.edits(1, "On Tuesday.").approval(1).standing = standing;
        check(
            &run.happens(),
            "asks A-2: reply_customer, sam may no longer decide this. [sam may no longer decide this.] (instead of A-1)
             waits for A-2",
        );
        let Effect::ReplyCustomer(asked) = &run.approval(2).effect else {
            panic!("it is a reply")
        };
        assert_eq!(asked.text, "On Tuesday.", "the card shows what would be sent");
        run.approves(2);
        check(
            &run.happens(),
            "sends A-2: reply_customer
             tells reply_customer: The reply is queued: A-2, approved by sam.
             asks the model",
        );
    }
}

#[test]
fn policy_is_judged_anew_at_the_execution() {
    let mut run = waiting();
    run.approves(1).triaged(Action::Human);
    check(
        &run.happens(),
        "takes back A-1: The triage says that a person answers, so no draft is made. Add a note instead.
         fails reply_customer: The triage says that a person answers, so no draft is made. Add a note instead.
         asks the model",
    );
}

#[test]
fn what_the_sweeper_executed_is_told_and_not_done_again() {
    let mut run = waiting();
    run.approves(1).approval(1).executed = true;
    check(
        &run.happens(),
        "tells reply_customer: A-1 was approved by sam and carried out.
         asks the model",
    );
    run.says("Done.");
    check(&run.happens(), "ends: answered");
}

#[test]
fn bookkeeping_goes_out_once_at_each_stop() {
    let mut run = Scene::at_work();
    run.calls(&[
        classify("needs_approval"),
        note("Second refund this year."),
        note("VIP."),
        reply("On Monday."),
    ]);
    check(
        &run.happens(),
        "tells classify_ticket: Recorded: refund · high · needs_approval.
         tells add_note: The note is on the ticket.
         tells add_note: The note is on the ticket.
         asks A-1: reply_customer, a reply leaves the house
         books: high, no group: Triage: refund · high · no team · needs_approval (80 % sure). Wants money back. / Second refund this year. / VIP.
         waits for A-1",
    );
    check(&run.happens(), "waits for A-1");
    run.approves(1).happens();
    run.calls(&[note("Called her, too.")]).happens();
    run.says("Done.");
    check(
        &run.happens(),
        "books: high, no group: Called her, too.\nends: answered",
    );
    check(&run.happens(), "ends: answered");
}

#[test]
fn shadow_mode_records_and_asks_nobody() {
    let mut run = Scene::in_mode(Mode::Shadow);
    run.calls(&[reply("On Monday."), escalate(1), escalate(2)]);
    check(
        &run.happens(),
        "records reply_customer
         tells reply_customer: Recorded, not sent: the bot is in shadow mode.
         records escalate_ticket
         tells escalate_ticket: Recorded, not sent: the bot is in shadow mode.
         records escalate_ticket
         tells escalate_ticket: Recorded, not sent: the bot is in shadow mode.
         asks the model",
    );
}

#[test]
fn what_was_asked_before_shadow_mode_is_recorded_after_it() {
    let mut run = waiting();
    run.approves(1).facts.mode = Mode::Shadow;
    check(
        &run.happens(),
        "records reply_customer
         tells reply_customer: Recorded, not sent: the bot is in shadow mode.
         asks the model",
    );
    let mut run = waiting();
    run.approves(1).approval(1).standing = Standing::Lost;
    run.facts.mode = Mode::Shadow;
    check(
        &run.happens(),
        "records reply_customer
         tells reply_customer: Recorded, not sent: the bot is in shadow mode.
         asks the model",
    );
}

#[test]
fn nothing_new_is_begun_while_a_comment_is_unheard() {
    for (mode, reply_is) in [(Mode::Shadow, "done"), (Mode::Ask, "asked"), (Mode::Auto, "done")] {
        let mut run = Scene::in_mode(mode);
        run.triaged(Action::AutoReply);
        run.calls(&[escalate(1), reply("On Monday.")])
            .customer_writes("It arrived.");
        let mut lines: Vec<String> = run.happens().lines().map(str::to_owned).collect();
        lines[..2].sort();
        let why = "there is a new comment on the ticket. Read it, then decide anew.";
        check(
            &lines.join("\n"),
            &format!(
                "fails escalate_ticket: Not done: {why}
                 fails reply_customer: Not {reply_is}: {why}
                 hears 1
                 asks the model"
            ),
        );
    }
}

#[test]
fn a_colleagues_note_leaves_what_waits() {
    let mut run = waiting();
    run.comment(Author::Agent, false, "She is a VIP.");
    check(&run.happens(), "waits for A-1");
    run.approves(1);
    check(
        &run.happens(),
        "sends A-1: reply_customer
         tells reply_customer: The reply is queued: A-1, approved by sam.
         hears 1
         asks the model",
    );
}
