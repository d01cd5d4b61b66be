//! What sets a run to work: a ticket named, an instruction, a fresh start.

use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::CHANNEL;
use deskhand_tests::{scenario, scenario_with};
use serde_json::json;

use super::{a_draft_waits, a_ticket_is_triaged, answer, says};

#[tokio::test]
async fn a_ticket_whose_run_has_ended_goes_on_in_a_new_one_that_continues_it() {
    scenario(async |bot| {
        a_ticket_is_triaged(bot).await;
        bot.model.says("Still nothing to do.");
        says(&answer(bot, "/triage T-1001", "sam").await, &["Working on T-1001."]);
        assert_eq!(bot.counts("SELECT count(*) FROM run").await, 2);
        assert_eq!(
            bot.counts("SELECT count(*) FROM run WHERE continues IS NOT NULL AND state = 'completed'")
                .await,
            1
        );
    })
    .await;
}

#[tokio::test]
async fn an_instruction_reaches_the_model_and_whoever_gave_it_may_not_approve_what_came_of_it() {
    let both = [("DESKHAND_APPROVERS", "slack:U0SAM00001,slack:U0KIM00001")];
    scenario_with(&both, async |bot| {
        let ticket = a_ticket_is_triaged(bot).await;
        bot.model
            .calls("reply_customer", json!({ "text": "Here is a voucher of 5 EUR." }));
        says(
            &answer(bot, "/triage T-1001 offer a voucher of 5 EUR", "sam").await,
            &["Working on T-1001 with your instruction."],
        );
        let told = format!("{:?}", bot.model.last_request().turns);
        says(&told, &["Instruction by sam of the team: offer a voucher of 5 EUR"]);

        let card = bot.slack.only_open_card();
        let own = bot.slack.clicks(&card, "Approve", by("sam")).await;
        bot.settle().await;
        own.says("A-1 came from your own instruction, so somebody else must decide it.");
        bot.zendesk.has_no_replies(&ticket);

        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("kim")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Here is a voucher of 5 EUR.");
    })
    .await;
}

#[tokio::test]
async fn an_instruction_while_a_draft_waits_withdraws_it_and_a_new_draft_comes() {
    let both = [("DESKHAND_APPROVERS", "slack:U0SAM00001,slack:U0KIM00001")];
    scenario_with(&both, async |bot| {
        let (ticket, first) = a_draft_waits(bot).await;
        bot.model
            .calls("reply_customer", json!({ "text": "Here is a voucher of 5 EUR." }));
        says(
            &answer(bot, "/triage T-1001 offer a voucher of 5 EUR", "kim").await,
            &["Working on T-1001 with your instruction."],
        );
        first.says("Withdrawn: kim gave a new instruction");
        first.has_no_buttons();
        let told = format!("{:?}", bot.model.last_request().turns);
        says(&told, &["Instruction by kim of the team: offer a voucher of 5 EUR"]);
        let second = bot.slack.only_open_card();
        second.says("Here is a voucher of 5 EUR.");
        bot.model.says("Done.");
        bot.slack.clicks(&second, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Here is a voucher of 5 EUR.");
    })
    .await;
}

#[tokio::test]
async fn an_instruction_goes_on_though_an_escalation_still_waits() {
    scenario(async |bot| {
        bot.model.calls(
            "escalate_ticket",
            json!({ "level": 2, "team": "billing", "reason": "The refund is three weeks late." }),
        );
        let ticket = bot
            .zendesk
            .opens("Where is my refund?", "I sent the kettle back.", by("ada@example.com"))
            .await;
        bot.settle().await;
        let escalation = bot.slack.only_open_card();
        bot.model.says("I wrote it down.");
        answer(bot, "/triage T-1001 look at order 4711 as well", "kim").await;
        let told = format!("{:?}", bot.model.last_request().turns);
        says(&told, &["look at order 4711 as well", "A-1 is still undecided"]);
        bot.model.says("The escalation is on its way.");
        bot.slack.clicks(&escalation, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        escalation.says("Approved by sam");
        says(
            &bot.slack.lines().join("\n"),
            &["T-1001 was escalated to level 2 (billing)"],
        );
        bot.zendesk.has_no_replies(&ticket);
    })
    .await;
}

#[tokio::test]
async fn an_instruction_while_the_model_thinks_is_heard_in_the_same_run() {
    scenario(async |bot| {
        bot.model.says("Nothing to do.");
        bot.model.says("I looked at the order as well.");
        bot.model.holds();
        bot.zendesk
            .opens("Where is my refund?", "I sent the kettle back.", by("ada@example.com"))
            .await;
        let work = bot.works_until_the_model_thinks().await;
        let seen = bot
            .slack
            .commands("/triage T-1001 look at order 4711 as well", by("sam"), CHANNEL)
            .await;
        seen.says("Working on T-1001 with your instruction.");
        bot.model.releases();
        work.await.expect("it works").expect("it works");
        bot.settle().await;
        let told = format!("{:?}", bot.model.last_request().turns);
        says(&told, &["look at order 4711 as well"]);
        assert_eq!(bot.counts("SELECT count(*) FROM run").await, 1);
    })
    .await;
}

#[tokio::test]
async fn new_starts_afresh_and_withdraws_what_waits() {
    scenario(async |bot| {
        let (ticket, first) = a_draft_waits(bot).await;
        bot.model
            .calls("reply_customer", json!({ "text": "It left us on Tuesday." }));
        says(
            &answer(bot, "/triage new T-1001", "sam").await,
            &["T-1001 starts afresh."],
        );
        first.says("Withdrawn: a new run was asked for");
        let request = bot.model.last_request();
        assert_eq!(request.turns.len(), 1, "it knows nothing of the run before");
        assert_eq!(
            bot.counts("SELECT count(*) FROM run WHERE state = 'waiting' AND continues IS NULL")
                .await,
            1,
            "and does not continue it"
        );
        bot.model.says("Done.");
        let second = bot.slack.only_open_card();
        bot.slack.clicks(&second, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "It left us on Tuesday.");
    })
    .await;
}
