//! Calls of tools outside: asked, started once, and never made twice.

use serde_json::{Value, json};

use super::scene::{Scene, check};
use crate::facts::Standing;
use crate::ticket::Mode;
use crate::tool::outside::Rule;

fn refund() -> (&'static str, Value) {
    ("shop__refund", json!({ "amount": 5 }))
}

/// A run whose shop lets money be paid back, under this rule.
fn with_a_shop(rule: Rule, repeatable: bool) -> Scene {
    let mut run = Scene::new();
    run.offered("shop__refund", rule, false, repeatable);
    run.happens();
    run
}

#[test]
fn a_call_outside_is_asked_and_made_once_approved() {
    let mut run = with_a_shop(Rule::Ask, false);
    run.calls(&[refund()]);
    check(
        &run.happens(),
        "asks A-1: shop__refund, a call outside is asked
         waits for A-1",
    );
    run.approves(1);
    check(
        &run.happens(),
        "calls by A-1: shop__refund {\"amount\":5}
         asks the model",
    );
}

#[test]
fn a_tool_that_the_settings_allow_is_called_unasked() {
    let mut run = with_a_shop(Rule::Allow, false);
    run.calls(&[refund(), refund()]);
    check(
        &run.happens(),
        "calls: shop__refund {\"amount\":5}
         calls: shop__refund {\"amount\":5}
         asks the model",
    );
}

#[test]
fn a_call_that_was_begun_before_a_crash_is_not_made_again() {
    let mut run = with_a_shop(Rule::Ask, false);
    run.calls(&[refund()]);
    run.happens();
    run.approves(1).dies_in_the_next_call();
    check(&run.happens(), "calls by A-1: shop__refund {\"amount\":5}");
    check(
        &run.happens(),
        "fails shop__refund: Interrupted, result unknown: the call may or may not have taken effect. It was not repeated. Look whether it did before you call it again, or leave it to a person with a note.
         asks the model",
    );
}

#[test]
fn a_tool_that_may_be_repeated_is_called_again_after_a_crash() {
    let mut run = with_a_shop(Rule::Allow, true);
    run.calls(&[refund()]).dies_in_the_next_call();
    check(&run.happens(), "calls: shop__refund {\"amount\":5}");
    // What the customer says meanwhile waits until the call has its outcome.
    run.customer_writes("Never mind.");
    check(
        &run.happens(),
        "calls again: shop__refund {\"amount\":5}
         hears 1
         asks the model",
    );
}

#[test]
fn a_call_whose_server_went_away_in_the_crash_is_interrupted_all_the_same() {
    let mut run = with_a_shop(Rule::Allow, true);
    run.calls(&[refund()]).dies_in_the_next_call();
    run.happens();
    run.facts.outside = [].into();
    let happened = run.happens();
    assert!(
        happened.starts_with("fails shop__refund: Interrupted, result unknown"),
        "{happened}"
    );
}

#[test]
fn what_only_reads_is_looked_up_beside_the_rest() {
    let mut run = Scene::new();
    run.offered("shop__stock", Rule::Allow, true, true);
    run.offered("shop__orders", Rule::Ask, true, true);
    run.happens();
    run.calls(&[
        ("list_tickets", json!({})),
        ("shop__stock", json!({})),
        ("shop__orders", json!({})),
    ]);
    check(
        &run.happens(),
        "looks: list_tickets, shop__stock
         asks A-1: shop__orders, a call outside is asked
         waits for A-1",
    );
}

#[test]
fn a_new_comment_takes_the_question_back() {
    let mut run = with_a_shop(Rule::Ask, false);
    run.calls(&[refund()]);
    run.happens();
    run.customer_writes("I changed my mind.");
    check(
        &run.happens(),
        "takes back A-1: there is a new comment on the ticket
         fails shop__refund: A-1 is taken back undecided: there is a new comment on the ticket. Call it again if it is still needed.
         hears 1
         asks the model",
    );
}

#[test]
fn an_approved_call_is_not_made_over_an_unheard_comment() {
    let mut run = with_a_shop(Rule::Ask, false);
    run.calls(&[refund()]);
    run.happens();
    run.approves(1).customer_writes("I changed my mind.");
    check(
        &run.happens(),
        "takes back A-1: there is a new comment on the ticket
         fails shop__refund: A-1 was approved, but nothing was called: there is a new comment on the ticket. Call it again if it is still right.
         hears 1
         asks the model",
    );
}

#[test]
fn whoever_lost_the_right_to_decide_is_not_obeyed() {
    let mut run = with_a_shop(Rule::Ask, false);
    run.calls(&[refund()]);
    run.happens();
    run.approves(1).approval(1).standing = Standing::Lost;
    check(
        &run.happens(),
        "asks A-2: shop__refund, sam may no longer decide this. [sam may no longer decide this.] (instead of A-1)
         waits for A-2",
    );
}

#[test]
fn shadow_mode_calls_nothing_outside() {
    for rule in [Rule::Allow, Rule::Ask] {
        let mut run = with_a_shop(rule, false);
        run.facts.mode = Mode::Shadow;
        run.calls(&[refund()]);
        check(
            &run.happens(),
            "records shop__refund
             tells shop__refund: Recorded, not sent: the bot is in shadow mode.
             asks the model",
        );
    }
}

#[test]
fn a_denied_tool_is_neither_offered_nor_called() {
    let mut run = with_a_shop(Rule::Deny, false);
    let request = run.request.clone().expect("the model was asked");
    assert!(request.tools.iter().all(|tool| tool.name != "shop__refund"));
    run.calls(&[refund()]);
    check(
        &run.happens(),
        "fails shop__refund: The settings do not allow shop__refund. Go on without it.
         asks the model",
    );
}

#[test]
fn a_rule_that_was_tightened_holds_for_what_was_approved_before() {
    let mut run = with_a_shop(Rule::Ask, false);
    run.calls(&[refund()]);
    run.happens();
    run.approves(1).facts.outside = [].into();
    run.offered("shop__refund", Rule::Deny, false, false);
    check(
        &run.happens(),
        "takes back A-1: The settings do not allow shop__refund. Go on without it.
         fails shop__refund: The settings do not allow shop__refund. Go on without it.
         asks the model",
    );
}

#[test]
fn arguments_are_checked_against_the_servers_schema() {
    let mut run = with_a_shop(Rule::Allow, false);
    run.calls(&[("shop__refund", json!({ "amount": "all" }))]);
    let happened = run.happens();
    assert!(
        happened.starts_with("fails shop__refund: Wrong arguments for shop__refund at /amount:"),
        "{happened}"
    );
}
