//! Slack as a source: what customers write in channels becomes tickets, and approved replies stand in their threads.

mod both;
mod changes;
mod files;
mod opening;
mod order;
mod talk;
mod trouble;

use deskhand_tests::Bot;
use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::{Card, HELP, Posted};

use crate::lines::drafts;

/// Ada and the outsider are customers; sam and kim, full members, are the team.
const WATCHED: &[(&str, &str)] = &[("SLACK_WATCH", HELP)];

const ASKED: &str = "Where is my refund?";
const DRAFT: &str = "Your refund left us on Monday.";

/// Ada asks in the help channel, and nobody has worked on it.
async fn ada_asks(bot: &Bot) -> Posted {
    bot.slack.says(ASKED, by("ada"), HELP, None).await
}

/// The same, and a draft waits.
async fn a_draft_waits(bot: &Bot) -> (Posted, Card) {
    drafts(bot, DRAFT);
    let asked = ada_asks(bot).await;
    bot.settle().await;
    (asked, bot.slack.only_open_card())
}

async fn tickets(bot: &Bot) -> i64 {
    bot.counts("SELECT count(*) FROM ticket").await
}

async fn runs(bot: &Bot) -> i64 {
    bot.counts("SELECT count(*) FROM run").await
}

/// What was said on all tickets, in order: who, and the first line.
async fn comments(bot: &Bot) -> Vec<String> {
    let rows = sqlx::query_as::<_, (String, String, bool, String)>(
        "SELECT author, author_name, public, body FROM comment ORDER BY id",
    );
    let rows = rows.fetch_all(bot.pool()).await.expect("the database answers");
    rows.into_iter()
        .map(|(author, name, public, body)| {
            let public = if public { "" } else { " (internal)" };
            format!("{author} {name}{public}: {}", body.lines().next().unwrap_or_default())
        })
        .collect()
}

/// What the model was told at its last request.
fn last_told(bot: &Bot) -> String {
    serde_json::to_string(&bot.model.last_request().turns).expect("it is data")
}
