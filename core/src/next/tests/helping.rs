//! Helpers: started within their number, waited for without a runner, heard when the last has ended. And a helper's own run.

use serde_json::json;

use super::scene::{Scene, check, classify, reply, spawn, waits};
use crate::facts::Role;
use crate::fence;
use crate::run::{Ending, RunState};
use crate::step::StepKind;

/// A run that waits for two helpers.
fn waiting() -> Scene {
    let mut run = Scene::at_work();
    run.calls(&[
        spawn("What do the articles say?"),
        spawn("Had she asked before?"),
        waits(&[]),
    ]);
    check(
        &run.happens(),
        "tells spawn_helper: Helper 1 is at work. wait_helper gives its report.
         tells spawn_helper: Helper 2 is at work. wait_helper gives its report.
         waits for helper 1, helper 2",
    );
    run
}

#[test]
fn reports_are_heard_once_the_last_helper_has_ended_and_stand_in_fences() {
    let mut run = waiting();
    run.helper_ends(2, RunState::Failed, "the provider was down");
    check(&run.happens(), "waits for helper 1");
    run.helper_ends(1, RunState::Completed, "Refunds take 5 days.");
    let (one, two) = (
        fence::fenced("Refunds take 5 days."),
        fence::fenced("the provider was down"),
    );
    check(
        &run.happens(),
        &format!("tells wait_helper: Helper 1 has reported.\n{one}\nHelper 2 failed.\n{two}\nasks the model"),
    );
    let awaited = run
        .transcript
        .steps()
        .iter()
        .filter(|step| matches!(step.kind, StepKind::Awaited { .. }));
    assert_eq!(awaited.count(), 1, "one interrupt, however often the run looks");
}

#[test]
fn three_are_at_work_at_once_and_one_that_is_closed_makes_room() {
    let mut run = Scene::at_work();
    run.calls(&[spawn("a"), spawn("b"), spawn("c"), spawn("d")]);
    check(
        &run.happens(),
        "tells spawn_helper: Helper 1 is at work. wait_helper gives its report.
         tells spawn_helper: Helper 2 is at work. wait_helper gives its report.
         tells spawn_helper: Helper 3 is at work. wait_helper gives its report.
         fails spawn_helper: 3 helpers are at work already: wait for one, or close one.
         asks the model",
    );
    run.calls(&[
        ("close_helper", json!({ "helper": 2 })),
        spawn("d"),
        ("close_helper", json!({ "helper": 9 })),
    ]);
    check(
        &run.happens(),
        "tells close_helper: Helper 2 is closed.
         tells spawn_helper: Helper 4 is at work. wait_helper gives its report.
         fails close_helper: There is no helper 9.
         asks the model",
    );
    run.calls(&[("list_helpers", json!({}))]);
    check(
        &run.happens(),
        "tells list_helpers: Helper 1: is at work: a
         Helper 2: was closed: b
         Helper 3: is at work: c
         Helper 4: is at work: d
         asks the model",
    );
}

#[test]
fn a_new_comment_is_heard_though_helpers_are_at_work() {
    let mut run = waiting();
    run.customer_writes("And the box?");
    check(
        &run.happens(),
        "tells wait_helper: Still at work: helper 1, 2. You need not wait just now: there is a new comment on the ticket. \
         Call wait_helper again for the reports.
         hears 1
         asks the model",
    );
    run.calls(&[waits(&[2])]);
    check(&run.happens(), "waits for helper 2");
}

#[test]
fn helpers_and_a_draft_of_one_reply_are_waited_for_together() {
    let mut run = Scene::at_work();
    run.calls(&[spawn("a")]).happens();
    run.calls(&[reply("On Monday."), waits(&[1])]);
    check(
        &run.happens(),
        "asks A-1: reply_customer, a reply leaves the house
         waits for A-1, helper 1",
    );
    run.helper_ends(1, RunState::Completed, "");
    check(
        &run.happens(),
        "tells wait_helper: Helper 1 has reported.
         It reported nothing.
         waits for A-1",
    );
}

#[test]
fn nobody_waits_for_helpers_that_are_not_there() {
    let mut run = Scene::at_work();
    run.calls(&[waits(&[])]);
    check(
        &run.happens(),
        "fails wait_helper: There are no helpers to wait for.\nasks the model",
    );
    run.calls(&[spawn("a")]).happens();
    run.calls(&[waits(&[1, 7])]);
    check(
        &run.happens(),
        "fails wait_helper: There is no helper 7.\nasks the model",
    );
}

/// The run of a helper, whose model was asked for the first time.
fn helping() -> Scene {
    let mut run = Scene::new();
    run.facts.role = Role::Helper;
    run.append(StepKind::Tasked {
        text: "What do the articles say?".into(),
    });
    check(&run.happens(), "hears 1\nasks the model");
    run
}

#[test]
fn a_helper_looks_and_can_do_nothing_else() {
    let mut run = helping();
    let offered: Vec<String> = run
        .request
        .iter()
        .flat_map(|request| &request.tools)
        .map(|tool| tool.name.clone())
        .collect();
    assert!(offered.contains(&"search_knowledge".to_owned()), "{offered:?}");
    for name in [
        "reply_customer",
        "classify_ticket",
        "spawn_helper",
        "ask_question",
        "add_note",
        "create_plan",
    ] {
        assert!(!offered.contains(&name.to_owned()), "{name} is not for a helper");
    }
    run.calls(&[
        reply("On Monday."),
        classify("human"),
        spawn("a"),
        ("get_plan", json!({})),
    ]);
    check(
        &run.happens(),
        "fails reply_customer: A helper only looks: reply_customer is not for it. Report what you found.
         fails classify_ticket: A helper only looks: classify_ticket is not for it. Report what you found.
         fails spawn_helper: A helper only looks: spawn_helper is not for it. Report what you found.
         fails get_plan: A helper only looks: get_plan is not for it. Report what you found.
         asks the model",
    );
}

#[test]
fn a_helper_ends_with_its_report_whatever_is_said_meanwhile() {
    let mut run = helping();
    run.customer_writes("And the box?");
    run.says("They say five days.");
    check(&run.happens(), "ends: reported");
    assert_eq!(
        crate::next::report(&run.transcript, Ending::Reported),
        "They say five days."
    );
}

#[test]
fn a_helper_that_never_stops_is_stopped_and_its_cost_is_the_familys() {
    let mut run = helping();
    for _ in 0..crate::tool::helper::STEPS {
        run.calls(&[("search_knowledge", json!({ "query": "refund" }))]);
        run.works();
    }
    assert!(run.ended);

    let mut run = helping();
    run.facts.budget.run.tokens = Some(1_000);
    run.facts.budget.others.tokens = 990;
    run.calls(&[("search_knowledge", json!({ "query": "refund" }))]);
    check(&run.happens(), "looks: search_knowledge\nends: budget");
}
