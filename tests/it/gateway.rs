//! Discord's gateway as a way in: what people write becomes tickets, clicks and commands are answered, and no broken
//! connection loses or repeats anything.

mod clicks;
mod intake;
mod line;
mod owners;

use deskhand_tests::Bot;
use deskhand_tests::fake::by;
use deskhand_tests::fake::discord::{HELP, Said};

use crate::lines::drafts;

/// Discord in Slack's place; everything comes by the gateway, and the help channel and the forum are watched.
const GATEWAY: &[(&str, &str)] = &[("WITH_DISCORD", "gateway")];

/// Kim asks in the help channel, and a draft waits.
async fn kim_asks(bot: &Bot, draft: &str) -> Said {
    drafts(bot, draft);
    let said = bot.discord.says("Where is my refund?", by("kim"), HELP);
    bot.settle().await;
    said
}

async fn tickets(bot: &Bot) -> i64 {
    bot.counts("SELECT count(*) FROM ticket").await
}

/// The comments of all tickets, the oldest first: `requester: Where is it?`.
async fn comments(bot: &Bot) -> Vec<String> {
    sqlx::query_scalar("SELECT author || ': ' || body FROM comment ORDER BY id")
        .fetch_all(bot.pool())
        .await
        .expect("the query is right")
}
