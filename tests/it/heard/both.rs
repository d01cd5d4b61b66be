//! What holds for every chat: the same posts, given to the bot as each chat's.

use deskhand::heard::{self, Post, PostKind, Thread};
use deskhand_core::approval::{Actor, Surface};
use deskhand_core::ticket::Source;
use deskhand_tests::fake::{discord, slack};
use deskhand_tests::{Bot, scenario_with};

use super::{DRAFT, comments, last_told, runs, tickets};
use crate::lines::drafts;

const BOTH: &[(&str, &str)] = &[
    ("WITH_DISCORD", "both"),
    ("SLACK_WATCH", slack::HELP),
    ("DISCORD_WATCH", discord::HELP),
];

/// Somebody of a chat, as its payloads name them.
fn somebody(bot: &Bot, source: Source, name: &str, team: bool) -> Actor {
    let (surface, id, workspace) = match source {
        Source::Slack => (Surface::Slack, bot.slack.id_of(name), slack::TEAM),
        _ => (
            Surface::Discord,
            if team { "70001" } else { "70002" }.to_owned(),
            discord::GUILD,
        ),
    };
    Actor {
        surface,
        id,
        name: name.to_owned(),
        workspace: Some(workspace.to_owned()),
        roles: match (source, team) {
            (Source::Discord, true) => vec![discord::LEADS.to_owned()],
            _ => Vec::new(),
        },
    }
}

/// A post; `number` tells them apart, and those after the first stand in its thread.
fn post(bot: &Bot, source: Source, number: u32, by: (&str, bool), text: &str) -> Post {
    let channel = match source {
        Source::Slack => slack::HELP,
        _ => discord::HELP,
    };
    let id = |number: u32| match source {
        Source::Slack => format!("1760000000.00000{number}"),
        _ => format!("90000000000000000{number}"),
    };
    let thread = (number > 1).then(|| Thread {
        channel: channel.to_owned(),
        root: id(1),
    });
    Post {
        source,
        delivery: format!("{source}-{number}"),
        what: PostKind::New,
        channel: match (source, number) {
            // A thread is a channel of its own there.
            (Source::Discord, 2..) => id(1),
            _ => channel.to_owned(),
        },
        id: id(number),
        thread,
        author: Some(somebody(bot, source, by.0, by.1)),
        program: false,
        outsider: false,
        mentions_us: false,
        text: text.to_owned(),
        files: Vec::new(),
        at: Some("2026-03-01T10:02:00Z".parse().expect("a time")),
        url: None,
    }
}

async fn hears(bot: &Bot, post: Post) {
    heard::heard(&bot.app, post).await.expect("it is heard");
    bot.settle().await;
}

/// The whole of it for one chat.
async fn talk(bot: &Bot, source: Source) {
    let ada = ("ada", false);
    let sam = ("sam", true);
    let asked = post(bot, source, 1, ada, "Where is my refund?");

    let lunch = Post {
        thread: None,
        channel: asked.channel.clone(),
        ..post(bot, source, 9, sam, "Lunch is at noon.")
    };
    hears(bot, lunch).await;
    let program = Post {
        program: true,
        author: None,
        delivery: "program".into(),
        ..asked.clone()
    };
    hears(bot, program).await;
    assert_eq!(tickets(bot).await, 0, "colleagues and programs open nothing");

    drafts(bot, DRAFT);
    hears(bot, asked.clone()).await;
    hears(bot, asked.clone()).await;
    assert_eq!(
        (tickets(bot).await, runs(bot).await),
        (1, 1),
        "a repeat changes nothing"
    );

    let edit = Post {
        what: PostKind::Edited,
        delivery: "edit".into(),
        text: "Where is my refund for order 4712?".into(),
        ..asked.clone()
    };
    hears(bot, edit.clone()).await;
    let again = Post {
        delivery: "edit again".into(),
        ..edit
    };
    hears(bot, again).await;
    let preview = Post {
        what: PostKind::Edited,
        delivery: "preview".into(),
        ..asked.clone()
    };
    hears(bot, preview).await;
    assert_eq!(bot.model.requests().len(), 1, "an edit starts nothing");

    bot.model.says("Sam sees to it.");
    hears(bot, post(bot, source, 2, sam, "I will look at it.")).await;
    drafts(bot, DRAFT);
    let more = post(bot, source, 3, ada, "Thank you!");
    hears(bot, more.clone()).await;
    let gone = Post {
        what: PostKind::Deleted,
        delivery: "gone".into(),
        author: None,
        ..more
    };
    hears(bot, gone).await;

    assert_eq!(
        comments(bot).await,
        [
            "requester ada: Where is my refund?",
            "other ada (internal): ada edited their message of 10:02 UTC. It says now:",
            "agent sam: I will look at it.",
            "requester ada: Thank you!",
            "other ada (internal): ada deleted their message of 10:02 UTC.",
        ]
    );
    assert_eq!((tickets(bot).await, runs(bot).await), (1, 2));
    assert!(last_told(bot).contains("order 4712"));
    let card = bot.slack.only_open_card();
    card.says("ada deleted their message of 10:02 UTC; this draft does not know of it.");
    for card in bot.slack.cards() {
        card.says("T-1001");
    }
    for card in bot.discord.cards() {
        card.says("T-1001");
    }
}

#[tokio::test]
async fn talk_in_slack_becomes_a_ticket_with_its_comments_and_notes() {
    scenario_with(BOTH, async |bot| talk(bot, Source::Slack).await).await;
}

#[tokio::test]
async fn talk_in_discord_becomes_a_ticket_with_its_comments_and_notes() {
    scenario_with(BOTH, async |bot| talk(bot, Source::Discord).await).await;
}
