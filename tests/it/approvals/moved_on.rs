//! Several approvals of one turn, and decisions that come after their run has moved on or ended.

use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::Card;
use deskhand_tests::fake::zendesk::TicketHandle;
use deskhand_tests::{Bot, scenario};
use serde_json::json;

use super::{DRAFT, the_model_hears};

/// One reply of the model asks for two things at once.
async fn a_draft_and_an_escalation_wait(bot: &Bot) -> (TicketHandle, Card, Card) {
    bot.model.calls_many([
        ("reply_customer", json!({ "text": DRAFT })),
        (
            "escalate_ticket",
            json!({ "level": 2, "team": "billing", "reason": "The refund is three weeks late." }),
        ),
    ]);
    let ticket = bot
        .zendesk
        .opens("Where is my refund?", "I sent the kettle back.", by("ada@example.com"))
        .await;
    bot.settle().await;
    let mut cards = bot.slack.cards();
    assert_eq!(cards.len(), 2, "one card a call");
    let escalation = cards.pop().expect("two");
    let reply = cards.pop().expect("two");
    reply.says(DRAFT);
    escalation.says("The ticket goes to billing, level 2.");
    (ticket, reply, escalation)
}

async fn escalations(bot: &Bot) -> i64 {
    bot.counts("SELECT count(*) FROM outbox WHERE kind = 'escalation' AND state = 'delivered'")
        .await
}

#[track_caller]
fn is_escalated_once(bot: &Bot, ticket: &TicketHandle) {
    let notes = bot.zendesk.notes(ticket);
    let telling = notes
        .iter()
        .filter(|note| note.contains("The refund is three weeks late."));
    assert_eq!(telling.count(), 1, "the desk is told once: {notes:#?}");
    let lines = bot.slack.lines();
    let telling = lines
        .iter()
        .filter(|line| line.contains("was escalated to level 2 (billing)"));
    assert_eq!(telling.count(), 1, "the team is told once: {lines:#?}");
}

async fn ada_insists(bot: &Bot, ticket: &TicketHandle) {
    let words = "Never mind the kettle, where is my money?";
    bot.zendesk.comments(ticket, words, by("ada@example.com")).await;
}

/// Ada has written again, and what the model drafts now waits.
async fn a_newer_draft_waits(bot: &Bot, ticket: &TicketHandle) -> Card {
    bot.model
        .calls("reply_customer", json!({ "text": "Billing looks into it." }));
    ada_insists(bot, ticket).await;
    bot.settle().await;
    bot.slack.cards().pop().expect("a new draft")
}

#[tokio::test]
async fn each_of_two_parallel_calls_is_executed_as_soon_as_it_is_decided() {
    scenario(async |bot| {
        let (ticket, reply, escalation) = a_draft_and_an_escalation_wait(bot).await;
        bot.slack.clicks(&reply, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, DRAFT);
        reply.says("Approved by sam");
        assert_eq!(
            bot.slack.only_open_card().ts,
            escalation.ts,
            "the other one still waits"
        );
        assert_eq!(
            bot.model.requests().len(),
            1,
            "the model is asked when none is undecided"
        );

        bot.model.says("Done.");
        bot.slack.clicks(&escalation, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        assert_eq!(escalations(bot).await, 1);
        is_escalated_once(bot, &ticket);
        assert_eq!(bot.model.requests().len(), 2);
        the_model_hears(bot, "The reply is queued: A-1, approved by sam.");
        the_model_hears(bot, "The escalation is queued: A-2, approved by sam.");
        assert_eq!(bot.zendesk.replies(&ticket).len(), 1);
    })
    .await;
}

#[tokio::test]
async fn two_calls_with_one_id_are_two_approvals() {
    scenario(async |bot| {
        let call = |text: &str| deskhand_core::model::Call {
            id: "call_1".into(),
            name: "escalate_ticket".into(),
            args: json!({ "level": 2, "team": text, "reason": "It is late." }),
        };
        bot.model.replies(deskhand_core::model::ModelReply {
            calls: vec![call("billing"), call("trust")],
            stop: deskhand_core::model::Stop::Calls,
            ..Default::default()
        });
        bot.zendesk
            .opens("Where is my refund?", "I sent the kettle back.", by("ada@example.com"))
            .await;
        bot.settle().await;
        let cards = bot.slack.cards();
        assert_eq!(cards.len(), 2);
        cards[0].says("billing, level 2");
        cards[1].says("trust, level 2");
        bot.slack.rejects(&cards[0], by("sam"), "No action is needed").await;
        bot.model.says("Done.");
        bot.slack.clicks(&cards[1], "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        cards[0].says("Rejected by sam");
        cards[1].says("Approved by sam");
        assert_eq!(escalations(bot).await, 1);
        let lines = bot.slack.lines();
        assert!(lines.iter().any(|line| line.contains("(trust)")), "{lines:#?}");
    })
    .await;
}

#[tokio::test]
async fn an_approval_decided_after_its_run_has_moved_on_is_executed_once() {
    scenario(async |bot| {
        let (ticket, reply, escalation) = a_draft_and_an_escalation_wait(bot).await;
        bot.model.says("I leave the rest to a person.");
        bot.model.says("The escalation is on its way.");
        ada_insists(bot, &ticket).await;
        bot.settle().await;
        reply.says("Withdrawn: ");
        the_model_hears(bot, "A-2 is still undecided; its decision will come as a note.");
        assert_eq!(
            bot.slack.only_open_card().ts,
            escalation.ts,
            "an escalation does not grow stale"
        );

        bot.slack.clicks(&escalation, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.restarts().await;
        bot.settle().await;
        assert_eq!(escalations(bot).await, 1);
        is_escalated_once(bot, &ticket);
        escalation.says("Approved by sam");
        the_model_hears(bot, "The escalation is queued: A-2, approved by sam.");
        bot.zendesk.has_no_replies(&ticket);
    })
    .await;
}

#[tokio::test]
async fn an_approval_whose_run_has_ended_is_still_executed_once() {
    scenario(async |bot| {
        let (ticket, reply, escalation) = a_draft_and_an_escalation_wait(bot).await;
        bot.may_fail();
        // Whatever ended it: only the row says so.
        sqlx::query("UPDATE run SET state = 'failed', error = 'the model did not answer', finished_at = now()")
            .execute(bot.pool())
            .await
            .expect("there is a run");
        bot.slack.clicks(&escalation, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.restarts().await;
        bot.settle().await;
        assert_eq!(escalations(bot).await, 1);
        is_escalated_once(bot, &ticket);
        reply.says(DRAFT);
        assert_eq!(bot.model.requests().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn an_approval_decided_while_its_run_waits_for_a_newer_draft_is_executed_once() {
    scenario(async |bot| {
        let (ticket, _, escalation) = a_draft_and_an_escalation_wait(bot).await;
        let newer = a_newer_draft_waits(bot, &ticket).await;
        newer.says("Billing looks into it.");

        bot.slack.clicks(&escalation, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        assert_eq!(escalations(bot).await, 1, "it does not wait for the newer draft");
        assert_eq!(bot.slack.only_open_card().ts, newer.ts);

        bot.model.says("Done.");
        bot.slack.clicks(&newer, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Billing looks into it.");
        assert_eq!(escalations(bot).await, 1);
        is_escalated_once(bot, &ticket);
        the_model_hears(bot, "A-2 was approved by sam and carried out.");
    })
    .await;
}

#[tokio::test]
async fn an_approval_decided_while_the_model_thinks_about_a_newer_comment_is_executed_once() {
    scenario(async |bot| {
        let (ticket, _, escalation) = a_draft_and_an_escalation_wait(bot).await;
        ada_insists(bot, &ticket).await;
        bot.model.says("I wait for the escalation.");
        bot.model.says("The escalation is on its way.");
        bot.model.holds();
        let work = bot.works_until_the_model_thinks().await;
        bot.slack.clicks(&escalation, "Approve", by("sam")).await.says_nothing();
        bot.model.releases();
        work.await.expect("it works").expect("it works");
        bot.settle().await;

        assert_eq!(escalations(bot).await, 1);
        is_escalated_once(bot, &ticket);
        the_model_hears(bot, "A-2 is still undecided; its decision will come as a note.");
        the_model_hears(bot, "The escalation is queued: A-2, approved by sam.");
        bot.zendesk.has_no_replies(&ticket);
    })
    .await;
}

#[tokio::test]
async fn a_rejection_after_the_run_has_moved_on_is_told_as_a_note() {
    scenario(async |bot| {
        let (ticket, _, escalation) = a_draft_and_an_escalation_wait(bot).await;
        let newer = a_newer_draft_waits(bot, &ticket).await;
        bot.slack.rejects(&escalation, by("sam"), "No action is needed").await;
        bot.settle().await;
        escalation.says("Rejected by sam: No action is needed");

        bot.model.says("Done.");
        bot.slack.clicks(&newer, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        the_model_hears(bot, "A-2: Rejected by sam: No action is needed");
        assert_eq!(escalations(bot).await, 0);
        bot.zendesk.has_reply(&ticket, "Billing looks into it.");
    })
    .await;
}
