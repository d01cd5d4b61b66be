//! Connections that break, sessions that end, and what no new connection mends.

use deskhand_tests::fake::by;
use deskhand_tests::fake::discord::HELP;
use deskhand_tests::{Bot, scenario_with};

use super::{GATEWAY, comments, kim_asks};
use crate::lines::drafts;

/// Kim has asked, has written once more while the connection was broken, and nothing was lost or repeated.
async fn nothing_is_lost_when(bot: &Bot, breaks: impl FnOnce(&Bot)) {
    let said = kim_asks(bot, "Your refund left us on Monday.").await;
    drafts(bot, "It left us today.");
    breaks(bot);
    bot.discord.says_below(&said, "It is order 4711.", by("kim"));
    bot.settle().await;
    assert_eq!(
        comments(bot).await,
        ["requester: Where is my refund?", "requester: It is order 4711."]
    );
    bot.discord.cards()[0].says("Withdrawn");
    bot.discord.only_open_card().says("It left us today.");
}

#[tokio::test]
async fn a_connection_that_breaks_is_taken_up_where_it_was() {
    scenario_with(GATEWAY, async |bot| {
        nothing_is_lost_when(bot, |bot| bot.discord.gateway_breaks()).await;
        assert_eq!(bot.discord.sessions(), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn a_new_connection_is_made_when_discord_asks_for_one() {
    scenario_with(GATEWAY, async |bot| {
        nothing_is_lost_when(bot, |bot| bot.discord.gateway_asks_to_reconnect()).await;
        assert_eq!(bot.discord.sessions(), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn a_resume_that_is_refused_for_now_is_tried_again() {
    scenario_with(GATEWAY, async |bot| {
        nothing_is_lost_when(bot, |bot| {
            bot.discord.gateway_refuses_the_next_resume();
            bot.discord.gateway_closes(4000);
        })
        .await;
        assert_eq!(bot.discord.sessions(), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn what_was_written_while_the_session_was_lost_is_read() {
    scenario_with(GATEWAY, async |bot| {
        nothing_is_lost_when(bot, |bot| bot.discord.gateway_forgets_the_session()).await;
        assert_eq!(bot.discord.sessions(), (2, 0));
    })
    .await;
}

#[tokio::test]
async fn forum_posts_of_that_time_are_read_too() {
    scenario_with(GATEWAY, async |bot| {
        bot.discord.gateway_forgets_the_session();
        drafts(bot, "We send you a lid.");
        bot.discord
            .posts_in_forum("The lid is missing", "It was not in the box.", by("kim"));
        bot.settle().await;
        assert_eq!(
            comments(bot).await,
            ["requester: The lid is missing\n\nIt was not in the box."]
        );
        bot.discord.only_open_card().says("We send you a lid.");
    })
    .await;
}

#[tokio::test]
async fn a_connection_on_which_no_heartbeat_is_answered_is_given_up() {
    scenario_with(GATEWAY, async |bot| {
        // Short, so that the test need not be long: it waits for what happens, not for a time.
        bot.discord.gateway_falls_silent_for_those_that_beat_every(20);
        bot.discord.gateway_breaks();
        bot.discord.connects_times(3).await;
        bot.discord.gateway_speaks_again();
        drafts(bot, "Your refund left us on Monday.");
        bot.discord.says("Where is my refund?", by("kim"), HELP);
        bot.settle().await;
        bot.discord.only_open_card().says("Your refund left us on Monday.");
        assert_eq!(bot.discord.sessions().0, 1);
    })
    .await;
}

#[tokio::test]
async fn a_missing_privilege_is_one_sentence_and_no_storm_of_connections() {
    scenario_with(GATEWAY, async |bot| {
        bot.discord.grants_content(false);
        bot.discord.gateway_forgets_the_session();
        let why = bot.stops_listening().await;
        assert_eq!(
            why,
            "Discord's gateway: the Message Content Intent is not granted (4014): switch it on in the developer portal \
             under Bot, Privileged Gateway Intents, and start again"
        );
        assert_eq!(bot.discord.connections(), 2, "one that worked, and one that did not");
    })
    .await;
}

#[tokio::test]
async fn a_token_that_is_not_accepted_is_one_sentence() {
    scenario_with(&[GATEWAY[0], ("DISCORD_BOT_TOKEN", "of-yesterday")], async |bot| {
        let why = bot.stops_listening().await;
        assert!(why.contains("set DISCORD_BOT_TOKEN anew"), "{why}");
        assert_eq!(bot.discord.connections(), 0);
    })
    .await;
}

#[tokio::test]
async fn without_channels_to_watch_the_privilege_is_not_needed() {
    let settings = [GATEWAY[0], ("DISCORD_WATCH", "")];
    scenario_with(&settings, async |bot| {
        bot.discord.grants_content(false);
        bot.discord.gateway_forgets_the_session();
        bot.restarts().await;
        bot.has_heard().await;
        let listed = bot.discord.commands("list", &[], by("sam")).await;
        bot.settle().await;
        assert!(!listed.told().is_empty());
    })
    .await;
}
