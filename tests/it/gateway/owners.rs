//! One process listens; when it dies, another goes on where it was.

use deskhand_tests::fake::by;
use deskhand_tests::scenario_with;

use super::{GATEWAY, comments, kim_asks};
use crate::lines::drafts;

#[tokio::test]
async fn another_process_takes_over_and_hears_what_was_written_meanwhile() {
    scenario_with(GATEWAY, async |bot| {
        let said = kim_asks(bot, "Your refund left us on Monday.").await;
        bot.another_process_would_listen();
        bot.its_listener_dies();
        drafts(bot, "It left us today.");
        bot.discord.says_below(&said, "It is order 4711.", by("kim"));
        bot.settle().await;
        assert_eq!(
            comments(bot).await,
            ["requester: Where is my refund?", "requester: It is order 4711."]
        );
        assert_eq!(bot.discord.sessions(), (1, 1), "the same session went on");
        bot.discord.cards()[0].says("Withdrawn");
        bot.discord.only_open_card().says("It left us today.");
    })
    .await;
}

#[tokio::test]
async fn two_processes_do_not_both_listen() {
    scenario_with(GATEWAY, async |bot| {
        bot.another_process_would_listen();
        bot.another_process_would_listen();
        kim_asks(bot, "Your refund left us on Monday.").await;
        bot.discord.only_open_card().says("A-1");
        assert_eq!(bot.discord.connections(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_listener_whose_connection_to_the_database_breaks_stops_and_somebody_goes_on() {
    scenario_with(GATEWAY, async |bot| {
        let said = kim_asks(bot, "Your refund left us on Monday.").await;
        let ended = bot
            .counts(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_locks
                 WHERE locktype = 'advisory' AND objid = 1684632419
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            )
            .await;
        assert_eq!(ended, 1, "the lock has a connection of its own");
        bot.discord.has_resumed(1).await;
        drafts(bot, "It left us today.");
        bot.discord.says_below(&said, "It is order 4711.", by("kim"));
        bot.settle().await;
        assert_eq!(comments(bot).await.len(), 2);
        assert_eq!(bot.discord.sessions(), (1, 1));
        bot.discord.cards()[0].says("Withdrawn");
        bot.discord.only_open_card().says("It left us today.");
    })
    .await;
}

#[tokio::test]
async fn a_restart_goes_on_where_it_was() {
    scenario_with(GATEWAY, async |bot| {
        let said = kim_asks(bot, "Your refund left us on Monday.").await;
        drafts(bot, "It left us today.");
        bot.discord.says_below(&said, "It is order 4711.", by("kim"));
        bot.restarts().await;
        bot.settle().await;
        assert_eq!(comments(bot).await.len(), 2, "told twice or not, it counts once");
        assert_eq!(bot.discord.sessions().0, 1);
        bot.discord.cards()[0].says("Withdrawn");
        bot.discord.only_open_card().says("It left us today.");
    })
    .await;
}
