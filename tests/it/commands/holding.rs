//! What holds the bot back: stop, take and release, and the mode.

use deskhand_tests::fake::by;
use deskhand_tests::scenario;
use serde_json::json;

use super::{a_draft_waits, answer, says};

#[tokio::test]
async fn stop_cancels_the_run_and_withdraws_what_waits() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot).await;
        says(
            &answer(bot, "/triage stop T-1001", "sam").await,
            &["T-1001 is stopped; whatever waited is withdrawn."],
        );
        card.says("Withdrawn: stopped by sam");
        card.has_no_buttons();
        let late = bot.slack.clicks_stale(&card, "Approve", by("sam")).await;
        bot.settle().await;
        late.says("A-1 was withdrawn: stopped by sam. Nothing was sent.");
        bot.zendesk.has_no_replies(&ticket);
        says(
            &answer(bot, "/triage stop T-1001", "sam").await,
            &["Nothing was at work on T-1001"],
        );
    })
    .await;
}

#[tokio::test]
async fn stop_after_an_approval_calls_back_a_reply_that_has_not_left_yet() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot).await;
        bot.zendesk.is_down(true);
        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        answer(bot, "/triage stop T-1001", "sam").await;
        bot.zendesk.is_down(false);
        bot.advance(std::time::Duration::from_secs(3600));
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);
    })
    .await;
}

#[tokio::test]
async fn a_ticket_that_a_person_took_gets_no_reply_until_it_is_released() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot).await;
        says(
            &answer(bot, "/triage take T-1001", "kim").await,
            &["T-1001 is yours; I keep my hands off it until release T-1001."],
        );
        card.says("Withdrawn");
        card.has_no_buttons();
        let late = bot.slack.clicks_stale(&card, "Approve", by("sam")).await;
        bot.settle().await;
        late.says("A-1 was withdrawn");
        bot.slack.header(&ticket).says("State: with human");

        bot.zendesk
            .comments(&ticket, "Hello? Anybody?", by("ada@example.com"))
            .await;
        bot.settle().await;
        says(
            &answer(bot, "/triage T-1001", "sam").await,
            &["T-1001 is with a person; release it first."],
        );
        says(
            &answer(bot, "/triage T-1001 be quick", "sam").await,
            &["T-1001 is with a person; release it first."],
        );
        says(
            &answer(bot, "/triage new T-1001", "sam").await,
            &["T-1001 is with a person; release it first."],
        );
        assert_eq!(bot.model.requests().len(), 1, "no run while a person has it");
        bot.zendesk.has_no_replies(&ticket);

        says(
            &answer(bot, "/triage release T-1001", "sam").await,
            &["T-1001 is released"],
        );
        says(
            &answer(bot, "/triage release T-1001", "sam").await,
            &["T-1001 is not with a person."],
        );
        bot.model.calls("reply_customer", json!({ "text": "Here we are." }));
        says(&answer(bot, "/triage T-1001", "sam").await, &["Working on T-1001."]);
        says(&format!("{:?}", bot.model.last_request().turns), &["Hello? Anybody?"]);
        bot.slack.only_open_card().says("Here we are.");
    })
    .await;
}

#[tokio::test]
async fn only_admins_change_the_mode() {
    scenario(async |bot| {
        let refused = answer(bot, "/triage mode shadow", "kim").await;
        assert_eq!(refused, "This is for Deskhand's admins; nothing was done.");
        assert_eq!(answer(bot, "/triage mode", "sam").await, "The mode is ask.");

        says(
            &answer(bot, "/triage mode shadow", "sam").await,
            &["The mode is shadow: nothing leaves the house"],
        );
        assert_eq!(answer(bot, "/triage mode", "sam").await, "The mode is shadow.");
        says(
            &answer(bot, "/triage mode loud", "sam").await,
            &["mode takes shadow, ask or auto, not \"loud\"."],
        );
        assert_eq!(
            bot.counts("SELECT count(*) FROM ledger WHERE kind = 'setting' AND actor = 'slack:U0SAM00001'")
                .await,
            1,
            "the ledger keeps who did"
        );
    })
    .await;
}

#[tokio::test]
async fn what_was_approved_before_shadow_mode_came_is_recorded_once_and_not_sent() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot).await;
        answer(bot, "/triage mode shadow", "sam").await;
        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);
        card.says("Approved by sam");
        bot.slack.header(&ticket).says("shadow mode: nothing is sent");
        assert_eq!(
            bot.counts("SELECT count(*) FROM outbox WHERE kind = 'reply' AND state = 'recorded'")
                .await,
            1
        );
    })
    .await;
}
