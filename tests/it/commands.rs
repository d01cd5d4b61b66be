//! Commands, as people give them: by slash, by mention, by `!triage` in a thread.

mod holding;
mod reading;
mod team;
mod threads;
mod working;

use deskhand_tests::Bot;
use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::{CHANNEL, Card, Posted};
use deskhand_tests::fake::zendesk::TicketHandle;
use serde_json::json;

const DRAFT: &str = "Your refund left us on Monday.";

/// A customer asked, and the model's draft waits as a card.
async fn a_draft_waits(bot: &Bot) -> (TicketHandle, Card) {
    bot.model.calls("reply_customer", json!({ "text": DRAFT }));
    let ticket = bot
        .zendesk
        .opens("Where is my refund?", "I sent the kettle back.", by("ada@example.com"))
        .await;
    bot.settle().await;
    (ticket, bot.slack.only_open_card())
}

/// A customer asked, and the run ended without a draft.
async fn a_ticket_is_triaged(bot: &Bot) -> TicketHandle {
    bot.model.calls_many([(
        "classify_ticket",
        json!({ "category": "refund", "priority": "high", "language": "en", "action": "needs_approval",
                "confidence": 0.9, "reason": "Asks for money back." }),
    )]);
    bot.model.says("Triaged.");
    let ticket = bot
        .zendesk
        .opens("Where is my refund?", "I sent the kettle back.", by("ada@example.com"))
        .await;
    bot.settle().await;
    ticket
}

/// What a person is answered, whether at once or after their rights were looked up. The check itself is not an answer.
async fn answer(bot: &Bot, line: &str, who: &str) -> String {
    let seen = bot.slack.commands(line, by(who), CHANNEL).await;
    assert_eq!(seen.status, 200);
    bot.settle().await;
    let mut told = seen.told();
    told.retain(|line| !line.starts_with("Checking your rights"));
    assert_eq!(told.len(), 1, "one command, one answer: {told:#?}");
    told.remove(0)
}

/// What the bot said in the thread of the post, or in the thread that it started under it.
fn heard_in_thread(bot: &Bot, under: &Posted) -> Vec<String> {
    let root = under.thread_parent().unwrap_or_else(|| under.clone());
    let lines = root.lines();
    bot.slack.lines();
    lines
        .into_iter()
        .filter(|line| !line.contains("Checking your rights"))
        .collect()
}

#[track_caller]
fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in:\n{text}");
    }
}
