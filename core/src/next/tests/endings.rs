//! How runs end, and what the desk is told then.

use super::scene::{Scene, check, classify, escalate, note, reply};
use crate::run::EffectState;
use crate::ticket::{Action, Mode};

/// What the run ends with when the model, after these calls, says that it is done.
#[track_caller]
fn ends(mode: Mode, calls: &[(&str, serde_json::Value)], expected: &str) {
    let mut run = Scene::in_mode(mode);
    run.triaged(Action::AutoReply);
    run.calls(calls).happens();
    run.says("Done.");
    let happened = run.happens();
    assert_eq!(happened.lines().last(), Some(expected), "{happened}");
}

#[test]
fn a_run_ends_as_what_it_did_for_the_customer() {
    ends(Mode::Auto, &[reply("On Monday.")], "ends: answered");
    ends(
        Mode::Auto,
        &[reply("On Monday."), escalate(1), note("FYI")],
        "ends: answered",
    );
    ends(Mode::Ask, &[classify("auto_reply")], "ends: triaged");
    ends(Mode::Ask, &[classify("ignore")], "ends: triaged");
    ends(Mode::Ask, &[classify("human")], "ends: handed_over");
    ends(Mode::Ask, &[escalate(1)], "ends: handed_over");
    ends(Mode::Ask, &[note("I do not know.")], "ends: handed_over");
    ends(
        Mode::Ask,
        &[classify("human"), reply("On Monday.")],
        "ends: handed_over",
    );
    ends(Mode::Shadow, &[reply("On Monday.")], "ends: recorded");
    ends(Mode::Shadow, &[escalate(1), note("FYI")], "ends: recorded");
    ends(Mode::Shadow, &[classify("needs_approval")], "ends: triaged");
}

#[test]
fn a_rejected_draft_leaves_the_ticket_to_a_person() {
    let mut run = Scene::at_work();
    run.calls(&[reply("On Monday.")]).happens();
    run.rejects(1, "I call her").happens();
    run.says("Nothing to do.");
    check(&run.happens(), "ends: handed_over");
}

#[test]
fn an_escalation_that_is_still_undecided_leaves_the_ticket_to_a_person() {
    let mut run = Scene::at_work();
    run.calls(&[escalate(3)]).happens();
    run.customer_writes("Any news?").happens();
    run.says("It waits for a supervisor.");
    check(&run.happens(), "ends: handed_over");
}

#[test]
fn a_reply_of_which_nobody_knows_is_no_answer() {
    let mut run = Scene::in_mode(Mode::Auto);
    run.triaged(Action::AutoReply);
    run.calls(&[reply("On Monday.")]).happens();
    run.delivery(EffectState::Unknown, "the connection broke");
    run.says("Done.");
    check(&run.happens(), "ends: handed_over");
}

#[test]
fn nothing_new_is_not_booked() {
    let mut run = Scene::at_work();
    run.says("Nothing to do.");
    check(&run.happens(), "ends: triaged");
}

#[test]
fn trouble_is_booked_once_and_again_only_after_something_new() {
    let mut run = Scene::at_work();
    run.facts.limits.max_steps = 1;
    run.calls(&[classify("human")]);
    check(
        &run.happens(),
        "tells classify_ticket: Recorded: refund · high · human.
         books: high, no group: Triage: refund · high · no team · human (80 % sure). Wants money back. / The run reached its limit of steps; a person must look at it.
         ends: max_steps",
    );
    check(&run.happens(), "ends: max_steps");
    run.customer_writes("Hello?");
    check(
        &run.happens(),
        "hears 1
         books: high, no group: The run reached its limit of steps; a person must look at it.
         ends: max_steps",
    );
}

#[test]
fn tags_are_plain_words_for_the_desk() {
    let mut run = Scene::at_work();
    run.calls(&[("classify_ticket", serde_json::json!({
        "category": "Return & Refund", "priority": "low", "language": "ZH", "action": "human", "confidence": 1.0, "reason": "x"
    }))]);
    run.happens();
    run.says("Done.");
    let super::super::Next::Finish(finish) = super::super::next(&run.transcript, &run.facts) else {
        panic!("it ends")
    };
    let tags = finish.bookkeeping.expect("there is something new").tags;
    assert_eq!(
        tags,
        ["deskhand", "category_return___refund", "language_zh", "action_human"]
    );
}
