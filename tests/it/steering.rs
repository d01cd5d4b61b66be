//! People steer a run, and what keeps it within bounds.

mod astray;
mod bounds;
mod held;
mod large;
mod long;
mod prefix;

use deskhand_tests::Bot;
use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::CHANNEL;
use tokio::task::JoinHandle;

async fn types(bot: &Bot, text: &str) -> String {
    bot.slack.commands(text, by("sam"), CHANNEL).await.told().join("\n")
}

/// A runner has the run, and its model is in the middle of a reply.
async fn is_writing(bot: &Bot, words: &str) -> JoinHandle<anyhow::Result<usize>> {
    bot.model.holds_after(words);
    bot.works_until_the_model_thinks().await
}

fn told(bot: &Bot) -> String {
    format!("{:?}", bot.model.last_request().turns)
}
