//! Hearing, looking, recording, and replies that are of no use.

use serde_json::json;

use super::scene::{Scene, check, classify, note, read, reply, route};
use crate::model::{Part, Stop, Turn};
use crate::ticket::{Action, Author};

#[test]
fn a_run_hears_the_ticket_before_it_asks_the_model() {
    let mut run = Scene::new();
    run.customer_writes("It was order 4711.");
    check(&run.happens(), "hears 2\nasks the model");
    let request = run.request.expect("the model was asked");
    assert!(!request.tools.is_empty());
    let [Turn::Told(parts)] = &request.turns[..] else {
        panic!("one telling: {:?}", request.turns)
    };
    assert!(matches!(
        parts[..],
        [Part::Ticket(_), Part::Comment { .. }, Part::Comment { .. }]
    ));
}

#[test]
fn a_ticket_without_comments_is_heard_once() {
    let mut run = Scene::new();
    run.facts.unheard.clear();
    check(&run.happens(), "hears 0\nasks the model");
}

#[test]
fn look_ups_of_one_reply_are_done_together() {
    let mut run = Scene::at_work();
    run.calls(&[
        ("search_knowledge", json!({"query": "refund"})),
        read("refunds"),
        ("list_tickets", json!({})),
    ]);
    check(
        &run.happens(),
        "looks: search_knowledge, read_article, list_tickets\nasks the model",
    );
}

#[test]
fn what_cannot_be_run_is_an_outcome_that_the_model_can_act_on() {
    let mut run = Scene::at_work();
    run.facts.automatic = true;
    run.calls(&[("reply_costumer", json!({})), reply(""), reply(" \n"), reply("Hello.")]);
    let happened = run.happens();
    let lines: Vec<&str> = happened.lines().collect();
    assert!(
        lines[0].starts_with("fails reply_costumer: There is no tool \"reply_costumer\". The tools are: add_note,")
    );
    assert!(
        lines[1].starts_with("fails reply_customer: Wrong arguments for reply_customer at /text:"),
        "{}",
        lines[1]
    );
    check(
        &lines[2..].join("\n"),
        "fails reply_customer: The reply has no words; write it out.
         fails reply_customer: The mail is automatic; robots are not answered. Add a note instead.
         asks the model",
    );
}

#[test]
fn triage_is_recorded_at_once_and_its_action_only_tightens() {
    let mut run = Scene::at_work();
    run.calls(&[
        classify("needs_approval"),
        route("billing"),
        note("Second refund this year."),
    ]);
    check(
        &run.happens(),
        "tells classify_ticket: Recorded: refund · high · needs_approval.
         tells route_ticket: Routed to billing.
         tells add_note: The note is on the ticket.
         asks the model",
    );
    run.calls(&[classify("auto_reply")]);
    check(
        &run.happens(),
        "tells classify_ticket: Recorded: refund · high · needs_approval. The action stays as tight as it was: it can only become tighter.
         asks the model",
    );
    let triage = run.facts.ticket.triage.expect("it was recorded");
    assert_eq!(
        (triage.action, triage.team.as_str()),
        (Action::NeedsApproval, "billing")
    );
}

#[test]
fn a_ticket_is_classified_before_it_is_routed() {
    let mut run = Scene::at_work();
    run.calls(&[route("billing"), classify("human"), route("  "), route(" billing ")]);
    check(
        &run.happens(),
        "fails route_ticket: Classify the ticket first, then route it.
         tells classify_ticket: Recorded: refund · high · human.
         fails route_ticket: Name the team that should have the ticket.
         tells route_ticket: Routed to billing.
         asks the model",
    );
}

#[test]
fn a_reply_that_was_cut_off_runs_none_of_its_calls() {
    let mut run = Scene::at_work();
    run.model("I will", &[classify("human"), reply("Dear Ada, your")], Stop::Length);
    check(
        &run.happens(),
        "fails classify_ticket: The reply was cut off by its length limit, so none of its calls was run.
         fails reply_customer: The reply was cut off by its length limit, so none of its calls was run.
         asks the model",
    );
    assert_eq!(run.facts.ticket.triage, None);
}

#[test]
fn an_empty_reply_is_nudged_once_and_then_ends_the_run() {
    // Thoughts alone come as a reply without text and calls; a refusal may have neither as well.
    for (text, stop) in [
        ("", Stop::EndOfTurn),
        (" \n", Stop::EndOfTurn),
        ("", Stop::Refusal),
        ("", Stop::Length),
    ] {
        let mut run = Scene::at_work();
        run.model(text, &[], stop);
        check(&run.happens(), "nudges\nasks the model");
        run.model(text, &[], stop);
        check(
            &run.happens(),
            "books: no priority, no group: The model gave an empty reply twice; a person must look at it.
             ends: empty_reply",
        );
    }
}

#[test]
fn a_nudge_that_helped_is_forgotten() {
    let mut run = Scene::at_work();
    run.says("");
    check(&run.happens(), "nudges\nasks the model");
    run.calls(&[read("refunds")]).happens();
    run.says("");
    check(&run.happens(), "nudges\nasks the model");
}

#[test]
fn a_comment_takes_the_place_of_a_nudge() {
    let mut run = Scene::at_work();
    run.says("").customer_writes("Hello?");
    check(&run.happens(), "hears 1\nasks the model");
}

#[test]
fn a_run_ends_at_its_limit_of_steps() {
    let mut run = Scene::at_work();
    run.facts.limits.max_steps = 2;
    run.calls(&[read("a")]).happens();
    run.calls(&[read("b")]);
    check(
        &run.happens(),
        "looks: read_article
         books: no priority, no group: The run reached its limit of steps; a person must look at it.
         ends: max_steps",
    );
}

#[test]
fn a_run_ends_when_its_budget_is_used_up() {
    let mut run = Scene::at_work();
    run.facts.budget.run.tokens = Some(220);
    run.calls(&[read("a")]);
    check(&run.happens(), "looks: read_article\nasks the model");
    run.calls(&[read("b")]);
    check(
        &run.happens(),
        "looks: read_article
         books: no priority, no group: The run used up its budget (220 tokens); a person must look at it.
         ends: budget",
    );
    check(&run.happens(), "ends: budget");
}

#[test]
fn an_internal_note_starts_nothing_and_is_heard_where_the_model_is_asked_anyway() {
    let mut run = Scene::at_work();
    run.says("Done.").comment(Author::Agent, false, "She called as well.");
    check(&run.happens(), "ends: triaged");
    run.instructed("Look again.");
    check(&run.happens(), "hears 1\nasks the model");
}
