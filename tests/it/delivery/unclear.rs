//! Nobody knows whether it arrived: it is looked for before it is sent again.

use deskhand::worker::dispatcher;
use deskhand_tests::fake::clock::minutes;
use deskhand_tests::fake::zendesk::TicketHandle;
use deskhand_tests::{Bot, scenario};
use serde_json::json;

use crate::lines::{a_reply_is_approved, ada_asks, drafts, sam_approves, states};

/// The bot's updates of the ticket, as it asked for them.
fn puts(bot: &Bot, ticket: &TicketHandle) -> usize {
    let path = format!("tickets/{}", ticket.id);
    let requests = bot.zendesk.requests();
    let puts = requests.iter().filter(|r| r.method == "PUT" && r.path.contains(&path));
    puts.count()
}

#[tokio::test]
async fn a_time_out_after_the_reply_arrived_does_not_send_it_twice() {
    scenario(async |bot| {
        let ticket = a_reply_is_approved(bot).await;
        bot.zendesk.times_out_after_applying_next_write();
        bot.runners_settle().await;
        dispatcher::tick(&bot.app).await.expect("the dispatcher ticks");
        assert_eq!(puts(bot, &ticket), 1);
        assert_eq!(states(bot).await, ["waiting answered"]);

        bot.advance(minutes(1));
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        assert_eq!(puts(bot, &ticket), 1);
        assert_eq!(states(bot).await, ["completed answered"]);
        assert_eq!(bot.model.requests().len(), 2, "its echo is no news");
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_time_out_before_the_reply_arrived_sends_it_again() {
    scenario(async |bot| {
        let ticket = a_reply_is_approved(bot).await;
        bot.zendesk.times_out_before_applying_next_write();
        bot.runners_settle().await;
        dispatcher::tick(&bot.app).await.expect("the dispatcher ticks");
        bot.zendesk.has_no_replies(&ticket);

        bot.advance(minutes(1));
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        assert_eq!(states(bot).await, ["completed answered"]);
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_note_whose_answer_was_lost_is_written_once() {
    scenario(async |bot| {
        bot.model
            .calls("add_note", json!({ "text": "She is a customer since 2019." }));
        bot.model.says("A person should look at it.");
        let ticket = ada_asks(bot).await;
        bot.zendesk.times_out_after_applying_next_write();
        bot.settle().await;
        bot.advance(minutes(1));
        bot.settle().await;
        assert_eq!(bot.zendesk.notes(&ticket), ["She is a customer since 2019."]);
        assert_eq!(states(bot).await, ["completed handed_over"]);
    })
    .await;
}

#[tokio::test]
async fn a_card_whose_answer_was_lost_is_shown_once() {
    scenario(async |bot| {
        drafts(bot, "Your refund left us on Monday.");
        let ticket = ada_asks(bot).await;
        // The header goes first; the card is what gets lost.
        bot.tick().await;
        assert_eq!((bot.slack.headers().len(), bot.slack.cards().len()), (1, 0));
        bot.slack.times_out_after_applying_next_write();
        bot.settle().await;
        bot.advance(minutes(1));
        bot.settle().await;
        let card = bot.slack.only_card();
        card.is_about(&ticket);
        card.thread_parent().expect("it hangs under its header");

        bot.model.says("Done.");
        sam_approves(bot).await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_header_whose_answer_was_lost_is_posted_once() {
    scenario(async |bot| {
        drafts(bot, "Your refund left us on Monday.");
        let ticket = ada_asks(bot).await;
        bot.slack.times_out_after_applying_next_write();
        bot.settle().await;
        bot.advance(minutes(1));
        bot.settle().await;
        bot.slack.header(&ticket).says("reply to the customer");
        bot.slack.only_card().is_about(&ticket);
    })
    .await;
}
