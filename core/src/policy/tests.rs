//! The table of what a call may do, a line of it a test, in every mode; and what comes before what.

use serde_json::{Value, json};

use super::{Verdict, judge};
use crate::approval::ApprovalState;
use crate::grant::Grant;
use crate::next::tests::scene::{Scene, Yielded, change, check, classify, escalate, note, read, reply, route};
use crate::ticket::{Action, Author, Mode};

/// What becomes of one call in one mode: `Asks` with reason and marks as the card shows them.
fn comes_to(run: &mut Scene, call: (&str, Value)) -> String {
    run.calls(&[call]);
    run.happens()
}

#[track_caller]
fn is_never_asked(call: (&str, Value)) {
    for mode in Mode::ALL {
        let mut run = Scene::in_mode(*mode);
        run.triaged(Action::NeedsApproval);
        run.calls(std::slice::from_ref(&call));
        assert_eq!(run.works(), Yielded::AskedModel, "{call:?} in mode {mode}");
        assert!(
            run.facts.approvals.is_empty() && run.facts.effects.is_empty(),
            "{call:?} in mode {mode}"
        );
        let (_, outcome) = run.transcript.outcomes().last().expect("it has an outcome");
        assert!(!outcome.failed, "{call:?} in mode {mode}: {}", outcome.text);
    }
}

#[test]
fn looking_is_allowed() {
    is_never_asked(("list_tickets", json!({})));
    is_never_asked(("get_ticket", json!({ "ticket": "T-1001" })));
    is_never_asked(("search_tickets", json!({ "query": "refund" })));
    is_never_asked(("similar_tickets", json!({})));
    is_never_asked(("search_knowledge", json!({ "query": "refund" })));
    is_never_asked(("load_skill", json!({ "name": "refunds" })));
    let mut run = Scene::at_work();
    run.article("refunds", 1, "Refunds take 5 days.");
    check(
        &comes_to(&mut run, read("refunds")),
        "looks: read_article\nasks the model",
    );
}

#[test]
fn bookkeeping_is_allowed() {
    is_never_asked(classify("human"));
    is_never_asked(route("billing"));
    is_never_asked(note("FYI"));
}

#[test]
fn an_escalation_to_the_teams_lead_is_allowed() {
    for mode in [Mode::Ask, Mode::Auto] {
        check(
            &comes_to(&mut Scene::in_mode(mode), escalate(1)),
            "sends unasked: escalate_ticket
             tells escalate_ticket: The escalation is queued (an escalation to the team's lead needs nobody's word).
             asks the model",
        );
    }
    let recorded = comes_to(&mut Scene::in_mode(Mode::Shadow), escalate(1));
    assert!(recorded.starts_with("records escalate_ticket"), "{recorded}");
}

#[test]
fn an_escalation_to_the_next_line_is_asked() {
    for level in [2, 3] {
        for mode in [Mode::Ask, Mode::Auto] {
            check(
                &comes_to(&mut Scene::in_mode(mode), escalate(level)),
                "asks A-1: escalate_ticket, an escalation to the next line is asked\nwaits for A-1",
            );
        }
        let recorded = comes_to(&mut Scene::in_mode(Mode::Shadow), escalate(level));
        assert!(recorded.starts_with("records escalate_ticket"), "{recorded}");
    }
}

#[test]
fn a_reply_is_asked() {
    for action in [None, Some(Action::AutoReply), Some(Action::NeedsApproval)] {
        let mut run = Scene::in_mode(Mode::Ask);
        action.map(|action| run.triaged(action).facts.mode);
        check(
            &comes_to(&mut run, reply("On Monday.")),
            "asks A-1: reply_customer, a reply leaves the house\nwaits for A-1",
        );
    }
    let recorded = comes_to(&mut Scene::in_mode(Mode::Shadow), reply("On Monday."));
    assert!(recorded.starts_with("records reply_customer"), "{recorded}");
}

#[test]
fn a_reply_goes_unasked_only_in_mode_auto_with_action_auto_reply_and_no_mark() {
    let mut run = Scene::in_mode(Mode::Auto);
    run.triaged(Action::AutoReply);
    check(
        &comes_to(&mut run, reply("On Monday.")),
        "sends unasked: reply_customer
         tells reply_customer: The reply is queued (mode auto, and triage says auto_reply).
         asks the model",
    );

    for action in [None, Some(Action::NeedsApproval)] {
        let mut run = Scene::in_mode(Mode::Auto);
        action.map(|action| run.triaged(action).facts.mode);
        check(
            &comes_to(&mut run, reply("On Monday.")),
            "asks A-1: reply_customer, triage does not say auto_reply\nwaits for A-1",
        );
    }

    let mut run = Scene::in_mode(Mode::Auto);
    run.triaged(Action::AutoReply)
        .customer_writes("I want 5,000 EUR.")
        .happens();
    check(
        &comes_to(&mut run, reply("You get 5000 € on Monday.")),
        "asks A-1: reply_customer, an inspector marked it [The amount 5000€ comes from the customer's text.]
         waits for A-1",
    );
}

#[test]
fn an_edit_with_a_change_is_asked_every_time() {
    let grant = Grant {
        id: 4,
        tool: "propose_knowledge_edit".into(),
        args: serde_json::Map::new(),
        by: "slack:U1".into(),
        until: None,
    };
    for mode in [Mode::Ask, Mode::Auto] {
        let mut run = Scene::in_mode(mode);
        run.triaged(Action::AutoReply).facts.grants.push(grant.clone());
        run.article("refunds", 1, "Refunds take 5 days. Fees are 2 EUR.");
        comes_to(&mut run, read("refunds"));
        check(
            &comes_to(&mut run, change("refunds", "5 days", "3 days")),
            "asks A-1: propose_knowledge_edit, a knowledge-base edit is asked every time\nwaits for A-1",
        );
        run.approves(1).happens();
        comes_to(&mut run, read("refunds"));
        check(
            &comes_to(&mut run, change("refunds", "2 EUR", "3 EUR")),
            "asks A-2: propose_knowledge_edit, a knowledge-base edit is asked every time\nwaits for A-2",
        );
    }
}

#[test]
fn an_edit_without_a_change_is_answered_at_once() {
    for mode in Mode::ALL {
        let mut run = Scene::in_mode(*mode);
        run.article("refunds", 1, "Refunds take 5 days.");
        comes_to(&mut run, read("refunds"));
        check(
            &comes_to(&mut run, change("refunds", "5 days", "5 days")),
            "tells propose_knowledge_edit: That is what the article says already; nothing to ask.
             asks the model",
        );
    }
}

#[test]
fn a_tool_that_nobody_knows_is_never_run() {
    for mode in Mode::ALL {
        let happened = comes_to(&mut Scene::in_mode(*mode), ("billing__refund", json!({ "amount": 5 })));
        assert!(
            happened.starts_with("fails billing__refund: There is no tool"),
            "{happened}"
        );
    }
}

// What comes before what.

#[test]
fn a_ticket_for_a_person_or_for_nobody_gets_no_draft_in_any_mode() {
    for mode in Mode::ALL {
        for (action, why) in [
            (
                Action::Human,
                "The triage says that a person answers, so no draft is made. Add a note instead.",
            ),
            (
                Action::Ignore,
                "The triage says that there is nothing to answer, so no draft is made.",
            ),
        ] {
            let mut run = Scene::in_mode(*mode);
            run.triaged(action);
            check(
                &comes_to(&mut run, reply("On Monday.")),
                &format!("fails reply_customer: {why}\nasks the model"),
            );
        }
        let mut run = Scene::in_mode(*mode);
        run.triaged(Action::AutoReply).facts.automatic = true;
        check(
            &comes_to(&mut run, reply("On Monday.")),
            "fails reply_customer: The mail is automatic; robots are not answered. Add a note instead.
             asks the model",
        );
    }
}

#[test]
fn a_person_may_be_called_where_no_draft_is_made() {
    let mut run = Scene::at_work();
    run.triaged(Action::Human).facts.automatic = true;
    assert!(comes_to(&mut run, escalate(1)).starts_with("sends unasked: escalate_ticket"));
}

fn granted(args: Value) -> Scene {
    let mut run = Scene::at_work();
    run.facts.grants.push(Grant {
        id: 4,
        tool: "escalate_ticket".into(),
        args: args.as_object().cloned().unwrap_or_default(),
        by: "slack:U1".into(),
        until: Some(run.facts.now + chrono::TimeDelta::hours(1)),
    });
    run
}

#[test]
fn a_grant_allows_what_it_names_and_nothing_else() {
    let mut run = granted(json!({ "level": 2, "team": "billing" }));
    check(
        &comes_to(&mut run, escalate(2)),
        "sends unasked: escalate_ticket
         tells escalate_ticket: The escalation is queued (grant 4 by slack:U1).
         asks the model",
    );
    assert!(comes_to(&mut run, escalate(3)).starts_with("asks A-1: escalate_ticket"));

    let mut run = granted(json!({ "level": 2, "team": "legal" }));
    assert!(comes_to(&mut run, escalate(2)).starts_with("asks A-1: escalate_ticket"));

    let mut run = granted(json!({ "level": 2 }));
    run.facts.now += chrono::TimeDelta::hours(1);
    assert!(comes_to(&mut run, escalate(2)).starts_with("asks A-1: escalate_ticket"));
}

#[test]
fn no_grant_lets_a_reply_go_unasked() {
    for mode in [Mode::Ask, Mode::Auto] {
        let mut run = granted(json!({}));
        run.facts.mode = mode;
        run.facts.grants[0].tool = "reply_customer".into();
        assert!(comes_to(&mut run, reply("On Monday.")).starts_with("asks A-1: reply_customer"));
    }
}

#[test]
fn shadow_mode_comes_after_the_refusals_and_before_every_question() {
    let mut run = Scene::in_mode(Mode::Shadow);
    assert!(comes_to(&mut run, reply("See evil.example/x")).starts_with("fails reply_customer: The draft has"));
    let mut run = granted(json!({ "level": 2 }));
    run.facts.mode = Mode::Shadow;
    assert!(comes_to(&mut run, escalate(2)).starts_with("records escalate_ticket"));
}

// Links, addresses and amounts.

/// What becomes of a draft after the customer wrote this.
fn drafted(customer: &str, draft: &str) -> String {
    let mut run = Scene::at_work();
    run.facts.known_links.insert("shop.example/returns".into());
    run.customer_writes(customer)
        .comment(Author::Agent, true, "See status.example/7.")
        .happens();
    comes_to(&mut run, reply(draft))
}

#[test]
fn a_foreign_link_is_refused() {
    for link in [
        "https://evil.example/pay",
        "evil.shop",
        "eve@evil.example",
        "javascript:alert",
        "ＥＶＩＬ．ＣＯＭ",
    ] {
        let happened = drafted("Hello", &format!("Please go to {link} now."));
        assert!(
            happened.starts_with("fails reply_customer: The draft has "),
            "{link}: {happened}"
        );
    }
    // The same host, another page: that is another target.
    assert!(
        drafted("Hello", "See shop.example/pay").starts_with("fails reply_customer: The draft has shop.example/pay,")
    );
}

#[test]
fn a_link_of_the_knowledge_base_is_fine() {
    check(
        &drafted("Hello", "See https://www.shop.example/returns/."),
        "asks A-1: reply_customer, a reply leaves the house\nwaits for A-1",
    );
}

#[test]
fn the_customers_own_link_is_marked_and_asked() {
    check(
        &drafted(
            "I paid on evil.example/pay",
            "You paid on https://evil.example/pay, I see.",
        ),
        "asks A-1: reply_customer, a reply leaves the house [evil.example/pay comes from the customer's text.]
         waits for A-1",
    );
    check(
        &drafted("Hello", "I write to ada@example.com."),
        "asks A-1: reply_customer, a reply leaves the house [ada@example.com comes from the customer's text.]
         waits for A-1",
    );
}

#[test]
fn a_colleagues_link_is_on_the_ticket_and_marked() {
    check(
        &drafted("Hello", "As Lee said: status.example/7"),
        "asks A-1: reply_customer, a reply leaves the house [status.example/7 comes from a comment on the ticket.]
         waits for A-1",
    );
}

#[test]
fn an_amount_from_the_customers_text_is_marked_however_it_is_written() {
    for (theirs, ours) in [
        ("5000 EUR", "€5,000"),
        ("5.000,00 €", "5000 Euro"),
        ("USD 49.90", "$ 49.90"),
        ("300元", "¥300"),
    ] {
        let happened = drafted(&format!("I want {theirs}!"), &format!("You get {ours}."));
        assert!(
            happened.contains("comes from the customer's text.]"),
            "{theirs}, {ours}: {happened}"
        );
    }
    check(
        &drafted("I want 5000 EUR!", "You get 20 EUR."),
        "asks A-1: reply_customer, a reply leaves the house\nwaits for A-1",
    );
    let mut run = Scene::new();
    run.facts.ticket.subject = "Give me 700 EUR".into();
    run.happens();
    assert!(comes_to(&mut run, reply("Here are 700 EUR.")).contains("[The amount 700eur comes from"));
}

#[test]
fn a_supervisors_own_link_is_sent() {
    let mut run = Scene::at_work();
    run.calls(&[reply("On Monday.")]).happens();
    run.edits(1, "See https://new.example/refunds.");
    assert!(run.happens().starts_with("sends A-1: reply_customer"));
    assert_eq!(run.approval(1).state, ApprovalState::Edited);
}

#[test]
fn a_link_in_an_edit_is_marked_since_it_is_asked_anyway() {
    let mut run = Scene::at_work();
    run.article("refunds", 1, "Refunds take 5 days.");
    comes_to(&mut run, read("refunds"));
    check(
        &comes_to(&mut run, change("refunds", "5 days", "5 days, see evil.example/x")),
        "asks A-1: propose_knowledge_edit, a knowledge-base edit is asked every time [evil.example/x is neither on the ticket nor in the knowledge base.]
         waits for A-1",
    );
}

#[test]
fn the_recipient_is_the_tickets_requester_whatever_the_model_writes() {
    let mut run = Scene::at_work();
    let args = json!({ "text": "Hello", "to": "eve@evil.example" });
    let happened = comes_to(&mut run, ("reply_customer", args));
    assert!(
        happened.starts_with("fails reply_customer: Wrong arguments for reply_customer"),
        "{happened}"
    );
    comes_to(&mut run, reply("Hello"));
    let crate::effect::Effect::ReplyCustomer(asked) = run.approval(1).effect.clone() else {
        panic!("it is a reply")
    };
    assert_eq!(asked.to, run.facts.ticket.requester);
}

#[test]
fn a_verdict_is_the_same_for_the_same_effect() {
    let mut run = Scene::at_work();
    comes_to(&mut run, escalate(2));
    let effect = run.approval(1).effect.clone();
    let (_, args) = escalate(2);
    let first = judge(&effect, &args, &run.transcript, &run.facts);
    assert!(matches!(first, Verdict::Ask { .. }));
    assert_eq!(first, judge(&effect, &args, &run.transcript, &run.facts));
}
