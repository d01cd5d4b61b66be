//! What is said while a run is at work or a reply waits: nothing stale is asked or sent.

use deskhand_tests::fake::by;
use deskhand_tests::scenario;
use serde_json::json;

#[tokio::test]
async fn a_new_comment_withdraws_the_open_reply_and_the_run_goes_on_with_it() {
    scenario(async |bot| {
        bot.model
            .calls("reply_customer", json!({ "text": "Please tell us the order number." }));
        let ticket = bot
            .zendesk
            .opens("Refund", "I want my money back.", by("ada@example.com"))
            .await;
        bot.settle().await;
        let first = bot.slack.only_card();

        bot.model.calls(
            "reply_customer",
            json!({ "text": "Thank you, order 4711 is refunded on Monday." }),
        );
        bot.zendesk
            .comments(&ticket, "It is order 4711.", by("ada@example.com"))
            .await;
        bot.settle().await;

        let first = bot.slack.card(&first);
        first.says("Withdrawn: the customer wrote again");
        first.has_no_buttons();
        let told = bot.model.last_request().turns;
        assert!(
            serde_json::to_string(&told)
                .expect("it is data")
                .contains("It is order 4711.")
        );

        bot.model.says("Answered.");
        let second = bot.slack.only_open_card();
        second.says("order 4711 is refunded");
        bot.slack.clicks(&second, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        bot.zendesk
            .has_reply(&ticket, "Thank you, order 4711 is refunded on Monday.");
        bot.slack.card(&second).says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_comment_that_arrives_while_the_model_thinks_is_heard_before_anything_is_asked() {
    scenario(async |bot| {
        let ticket = bot
            .zendesk
            .opens("Refund", "I want my money back.", by("ada@example.com"))
            .await;
        bot.model.calls("reply_customer", json!({ "text": "A stale draft." }));
        bot.model.holds();
        let work = bot.works_until_the_model_thinks().await;
        bot.zendesk
            .comments(&ticket, "Never mind, keep it.", by("ada@example.com"))
            .await;
        bot.model.says("The customer keeps it; nothing to send.");
        bot.model.releases();
        work.await.expect("it works").expect("it ticks");
        bot.settle().await;

        bot.slack.has_no_cards();
        bot.zendesk.has_no_replies(&ticket);
        let last = serde_json::to_string(&bot.model.last_request().turns).expect("it is data");
        assert!(last.contains("Never mind, keep it."), "the model heard it: {last}");
        assert!(
            last.contains("Not asked: there is a new comment"),
            "the draft was dropped: {last}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_comment_between_click_and_delivery_stops_the_reply() {
    scenario(async |bot| {
        bot.model
            .calls("reply_customer", json!({ "text": "Your refund left us on Monday." }));
        let ticket = bot.zendesk.opens("Refund", "Where is it?", by("ada@example.com")).await;
        bot.settle().await;
        let card = bot.slack.only_card();
        bot.model.says("I wait for the delivery.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.runners_settle().await;

        // The reply is in the outbox; the customer is faster than the dispatcher.
        bot.zendesk
            .comments(&ticket, "It has just arrived, thanks!", by("ada@example.com"))
            .await;
        bot.model.says("The refund arrived; nothing to send.");
        bot.settle().await;

        bot.zendesk.has_no_replies(&ticket);
        bot.slack.card(&card).says("Approved by sam");
        let last = serde_json::to_string(&bot.model.last_request().turns).expect("it is data");
        assert!(last.contains("It has just arrived, thanks!"), "{last}");
    })
    .await;
}

#[tokio::test]
async fn a_human_who_answered_in_zendesk_meanwhile_is_not_talked_over() {
    scenario(async |bot| {
        bot.model
            .calls("reply_customer", json!({ "text": "Your refund left us on Monday." }));
        let ticket = bot.zendesk.opens("Refund", "Where is it?", by("ada@example.com")).await;
        bot.settle().await;
        let card = bot.slack.only_card();
        // The webhook about the colleague's answer is lost: only the look before sending can see it.
        bot.zendesk.subscribes(deskhand_tests::fake::zendesk::Hook::Neither);
        bot.zendesk
            .agent_comments(&ticket, "I have refunded you just now.", "Kim", true)
            .await;
        bot.model.says("I wait for the delivery.");
        bot.model.says("Kim answered; nothing to send.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;

        bot.zendesk.has_no_replies(&ticket);
        bot.slack.card(&card).says("Approved by sam");
        let last = serde_json::to_string(&bot.model.last_request().turns).expect("it is data");
        assert!(
            last.contains("The reply was not sent: Kim answered meanwhile"),
            "{last}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_ticket_that_was_assigned_to_a_human_meanwhile_gets_no_reply() {
    scenario(async |bot| {
        bot.model
            .calls("reply_customer", json!({ "text": "Your refund left us on Monday." }));
        let ticket = bot.zendesk.opens("Refund", "Where is it?", by("ada@example.com")).await;
        bot.settle().await;
        let card = bot.slack.only_card();
        bot.zendesk.subscribes(deskhand_tests::fake::zendesk::Hook::Neither);
        bot.zendesk.assigns(&ticket, "Kim").await;
        bot.model.says("I wait for the delivery.");
        bot.model.says("Kim has it.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;

        bot.zendesk.has_no_replies(&ticket);
        bot.slack.card(&card).says("Approved by sam");
    })
    .await;
}
