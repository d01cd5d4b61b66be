//! From a customer's words to a supervisor's click to the customer's answer.

mod api;
mod deciding;
mod forms;
mod limits;
mod moved_on;
mod shown;
mod time;
mod who;

use deskhand_core::model::{Part, Turn};
use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::Card;
use deskhand_tests::fake::zendesk::TicketHandle;
use deskhand_tests::{Bot, scenario};
use serde_json::json;

const DRAFT: &str = "Your refund left us on Monday.";

/// A customer asked, and the model's draft waits as a card. What the model says after the decision is the scenario's.
async fn a_draft_waits(bot: &Bot, draft: &str) -> (TicketHandle, Card) {
    bot.model.calls("reply_customer", json!({ "text": draft }));
    let ticket = bot
        .zendesk
        .opens("Where is my refund?", "I sent the kettle back.", by("ada@example.com"))
        .await;
    bot.settle().await;
    (ticket, bot.slack.only_open_card())
}

/// Everything that the model was shown in its newest request: what it was told, and the outcomes of its calls.
fn the_model_was_told(bot: &Bot) -> String {
    let mut told = Vec::new();
    for turn in bot.model.last_request().turns {
        match turn {
            Turn::Told(parts) => told.extend(parts.into_iter().map(|part| match part {
                Part::Text(text) => text,
                Part::Comment { body, .. } => body,
                Part::Ticket(brief) => brief.subject,
            })),
            Turn::Outcomes(answers) => told.extend(answers.into_iter().map(|answer| answer.text)),
            Turn::Said(_) => {}
        }
    }
    told.join("\n")
}

#[track_caller]
fn the_model_hears(bot: &Bot, words: &str) {
    let told = the_model_was_told(bot);
    assert!(told.contains(words), "the model was not told {words:?}, but:\n{told}");
}

#[tokio::test]
async fn supervisor_approves_reply_in_thread() {
    scenario(async |bot| {
        let (ticket, card) = a_draft_waits(bot, DRAFT).await;
        bot.model.says("Done.");
        card.is_about(&ticket);
        card.says(DRAFT);
        assert!(
            card.thread_parent().is_some(),
            "the card hangs under its ticket's header"
        );
        bot.zendesk.has_no_replies(&ticket);

        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;

        bot.zendesk.has_reply(&ticket, DRAFT);
        let card = bot.slack.card(&card);
        card.says("Approved by sam");
        card.has_no_buttons();
    })
    .await;
}
