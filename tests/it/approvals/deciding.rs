//! What a supervisor can do with a draft, and what a second click comes to.

use deskhand_tests::fake::by;
use deskhand_tests::scenario;
use serde_json::json;

use super::{DRAFT, a_draft_waits, the_model_hears};

#[tokio::test]
async fn supervisor_edits_the_draft_and_the_customer_gets_the_edit() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.model.says("Done.");

        let sent = bot
            .slack
            .edits(&card, by("sam"), "Your refund of 20 EUR left us on Tuesday.")
            .await;
        assert!(sent.closed, "the form closes");
        bot.settle().await;

        bot.zendesk
            .has_reply(&ticket, "Your refund of 20 EUR left us on Tuesday.");
        assert_eq!(bot.zendesk.replies(&ticket).len(), 1, "the draft itself never goes out");
        the_model_hears(bot, "edited by sam");
        the_model_hears(bot, "Your refund of 20 EUR left us on Tuesday.");
        card.says("Edited and approved by sam");
        card.says("Your refund of 20 EUR left us on Tuesday.");
        card.says_nothing_of(DRAFT);
        card.has_no_buttons();
    })
    .await;
}

#[tokio::test]
async fn a_rejection_reaches_the_model_and_its_new_draft_comes_as_a_new_card() {
    scenario(async |bot| {
        let (ticket, first) = a_draft_waits(bot, DRAFT).await;
        bot.model.calls(
            "reply_customer",
            json!({ "text": "Your refund leaves us next Monday. We are sorry." }),
        );

        let sent = bot
            .slack
            .rejects(
                &first,
                by("sam"),
                "It has not left yet: say next Monday, and say sorry.",
            )
            .await;
        assert!(sent.closed, "the form closes");
        bot.settle().await;

        bot.zendesk.has_no_replies(&ticket);
        the_model_hears(
            bot,
            "Rejected by sam: It has not left yet: say next Monday, and say sorry.",
        );
        first.says("Rejected by sam: It has not left yet");
        first.has_no_buttons();

        let second = bot.slack.only_open_card();
        assert_ne!(second.ts, first.ts, "the new draft is a card of its own");
        second.says("Your refund leaves us next Monday. We are sorry.");
        bot.model.says("Done.");
        bot.slack.clicks(&second, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk
            .has_reply(&ticket, "Your refund leaves us next Monday. We are sorry.");
    })
    .await;
}

#[tokio::test]
async fn second_click_changes_nothing_and_names_the_first() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        // Sam's screen has not been drawn again yet.
        let again = bot.slack.clicks(&card, "Approve", by("sam")).await;
        bot.settle().await;
        again.says("A-1 was already approved by sam");
        again.says("Your click changed nothing.");
        assert_eq!(again.told().len(), 1, "one click, one answer");

        // And long after.
        let late = bot.slack.clicks_stale(&card, "Approve", by("sam")).await;
        bot.settle().await;
        late.says("A-1 was already approved by sam");
        bot.zendesk.has_reply(&ticket, DRAFT);
        card.says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_rejection_after_an_approval_changes_nothing_and_says_so_inside_the_form() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.model.says("Done.");
        let form = bot.slack.opens_modal(&card, "Reject", by("sam")).await;
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        let sent = form.submits("Wrong tone or language").await;
        assert!(!sent.closed, "the form stays and says why");
        let text = form.text();
        assert!(text.contains("already approved by sam"), "{text}");
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, DRAFT);
        card.says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn two_clicks_at_once_send_one_reply() {
    let both = "slack:U0SAM00001,slack:U0KIM00001";
    deskhand_tests::scenario_with(&[("DESKHAND_APPROVERS", both)], async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.model.says("Done.");
        let (sam, kim) = bot
            .slack
            .clicks_at_once(&card, ("Approve", by("sam")), ("Approve", by("kim")))
            .await;
        bot.settle().await;

        bot.zendesk.has_reply(&ticket, DRAFT);
        let (winner, told) = match (sam.told().as_slice(), kim.told().as_slice()) {
            ([], [told]) => ("sam", told.clone()),
            ([told], []) => ("kim", told.clone()),
            (sam, kim) => panic!("one of them decided and the other was told so, once: sam {sam:?}, kim {kim:?}"),
        };
        assert!(told.contains(&format!("already approved by {winner}")), "{told}");
        card.says(&format!("Approved by {winner}"));
        assert_eq!(
            bot.counts("SELECT count(*) FROM outbox WHERE kind = 'reply'").await,
            1,
            "one effect, not two of which one was dropped"
        );
    })
    .await;
}

#[tokio::test]
async fn an_approval_and_a_rejection_at_once_have_one_outcome() {
    let both = "slack:U0SAM00001,slack:U0KIM00001";
    deskhand_tests::scenario_with(&[("DESKHAND_APPROVERS", both)], async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.model.says("Done.");
        let form = bot.slack.opens_modal(&card, "Reject", by("kim")).await;
        let (sam, kim) = tokio::join!(
            bot.slack.clicks(&card, "Approve", by("sam")),
            form.submits("Wrong tone or language")
        );
        bot.settle().await;
        if kim.closed {
            bot.zendesk.has_no_replies(&ticket);
            sam.says("already rejected by kim");
            card.says("Rejected by kim: Wrong tone or language");
        } else {
            sam.says_nothing();
            bot.zendesk.has_reply(&ticket, DRAFT);
            assert!(form.text().contains("already approved by sam"), "{}", form.text());
            card.says("Approved by sam");
        }
    })
    .await;
}
