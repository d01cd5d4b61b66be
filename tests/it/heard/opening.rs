//! What opens a ticket, and what does not.

use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::{CHANNEL, HELP};
use deskhand_tests::{scenario, scenario_with};

use super::{ASKED, DRAFT, WATCHED, a_draft_waits, comments, last_told, runs, tickets};
use crate::lines::drafts;

#[tokio::test]
async fn a_customers_post_opens_a_ticket_and_the_approved_reply_stands_in_its_thread() {
    scenario_with(WATCHED, async |bot| {
        let (asked, card) = a_draft_waits(bot).await;
        card.says(ASKED);
        card.says("This reply goes to ada in Slack, into the thread of their message.");
        assert!(asked.lines().is_empty(), "nothing is sent before it is approved");

        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        assert_eq!(asked.lines(), [DRAFT]);
        card.says("Approved by sam");
        let links = "SELECT count(*) FROM ticket WHERE url = 'https://shop.slack.example/archives/' || replace(replace(outside_id, '/', '/p'), '.', '')";
        assert_eq!(bot.counts(links).await, 1, "people find the post");
        // What the bot wrote came back as an event, and was nobody's.
        assert_eq!((tickets(bot).await, runs(bot).await), (1, 1));
        assert_eq!(
            comments(bot).await,
            [
                "requester ada: Where is my refund?",
                "bot Deskhand: Your refund left us on Monday."
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn a_person_of_another_organisation_is_a_customer() {
    scenario_with(WATCHED, async |bot| {
        drafts(bot, DRAFT);
        bot.slack.says(ASKED, by("outsider"), HELP, None).await;
        bot.settle().await;
        bot.slack.only_open_card().says("outsider");
        assert_eq!(comments(bot).await, ["requester outsider: Where is my refund?"]);
    })
    .await;
}

#[tokio::test]
async fn a_colleagues_post_opens_nothing_and_leaves_no_trace() {
    scenario_with(WATCHED, async |bot| {
        bot.slack.says("Lunch is at noon", by("kim"), HELP, None).await;
        bot.settle().await;
        // Known by now: nothing of it is even kept.
        bot.slack.says("Lunch is over", by("kim"), HELP, None).await;
        bot.settle().await;
        assert_eq!(tickets(bot).await, 0);
        assert_eq!(bot.counts("SELECT count(*) FROM inbox").await, 1);
    })
    .await;
}

#[tokio::test]
async fn what_is_written_where_nobody_listens_is_nothing() {
    scenario(async |bot| {
        bot.slack.says(ASKED, by("ada"), HELP, None).await;
        bot.settle().await;
        assert_eq!(bot.counts("SELECT count(*) FROM inbox").await, 0);
    })
    .await;
}

#[tokio::test]
async fn programs_and_news_of_the_channel_start_nothing() {
    scenario_with(WATCHED, async |bot| {
        bot.slack.app_posts("Build 7 is green", HELP).await;
        bot.slack.happens("channel_join", by("ada"), HELP).await;
        bot.slack.happens("channel_topic", by("ada"), HELP).await;
        bot.settle().await;
        assert_eq!(tickets(bot).await, 0);
        assert_eq!(bot.counts("SELECT count(*) FROM inbox").await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_customer_who_mentions_the_bot_elsewhere_opens_a_ticket() {
    scenario(async |bot| {
        drafts(bot, DRAFT);
        let asked = bot.slack.mentions(ASKED, by("ada"), HELP, None).await;
        bot.settle().await;
        let card = bot.slack.only_open_card();
        card.says(ASKED);
        card.says_nothing_of("@");
        assert_eq!(tickets(bot).await, 1);
        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        assert_eq!(asked.lines(), [DRAFT]);
    })
    .await;
}

#[tokio::test]
async fn a_colleague_who_mentions_the_bot_below_a_customers_post_has_it_triaged() {
    scenario(async |bot| {
        let asked = bot.slack.says(ASKED, by("ada"), HELP, None).await;
        bot.slack
            .says("I sent it back a week ago.", by("ada"), HELP, Some(&asked))
            .await;
        drafts(bot, DRAFT);
        bot.slack.mentions("", by("kim"), HELP, Some(&asked)).await;
        bot.settle().await;
        let card = bot.slack.only_open_card();
        card.says("This reply goes to ada");
        let told = last_told(bot);
        assert!(told.contains("I sent it back a week ago."), "{told}");
        assert_eq!(
            comments(bot).await[..2],
            [
                "requester ada: Where is my refund?".to_owned(),
                "requester ada: I sent it back a week ago.".to_owned()
            ]
        );
        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        assert_eq!(asked.lines(), [DRAFT]);
    })
    .await;
}

#[tokio::test]
async fn what_the_customer_adds_before_the_thread_was_read_is_the_customers() {
    scenario(async |bot| {
        let asked = bot.slack.says(ASKED, by("ada"), HELP, None).await;
        bot.slack.mentions("", by("kim"), HELP, Some(&asked)).await;
        // The ticket is made, and nobody has read the thread yet.
        deskhand::worker::sweeper::tick(&bot.app).await.expect("it ticks");
        bot.slack
            .says("It was order 4711.", by("ada"), HELP, Some(&asked))
            .await;
        deskhand::worker::sweeper::tick(&bot.app).await.expect("it ticks");
        drafts(bot, DRAFT);
        bot.settle().await;
        bot.advance(std::time::Duration::from_secs(30));
        bot.settle().await;
        bot.slack.only_open_card().says("This reply goes to ada");
        let said = comments(bot).await;
        assert!(
            said.contains(&"requester ada: It was order 4711.".to_owned()),
            "{said:?}"
        );
        assert_eq!(said.len(), 2, "a mention without words says nothing: {said:?}");
    })
    .await;
}

#[tokio::test]
async fn a_colleagues_slip_of_the_finger_is_answered_to_them_alone_and_opens_nothing() {
    scenario_with(WATCHED, async |bot| {
        bot.slack.mentions("lsit", by("kim"), HELP, None).await;
        bot.slack.says("!triage list", by("kim"), HELP, None).await;
        bot.settle().await;
        bot.slack.told_privately("kim", "Did you mean list?");
        assert!(bot.slack.lines().is_empty(), "customers read nothing of it");
        assert_eq!(tickets(bot).await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_customer_gives_no_commands() {
    scenario_with(WATCHED, async |bot| {
        let elsewhere = bot.slack.opens_channel("lounge", true);
        bot.slack.mentions("list", by("ada"), &elsewhere, None).await;
        bot.settle().await;
        bot.slack.told_privately("ada", "This is for the support team");
        assert_eq!(tickets(bot).await, 0);
        // Where customers are heard, their words are words.
        drafts(bot, DRAFT);
        bot.slack
            .mentions("help me with the list of my orders", by("ada"), HELP, None)
            .await;
        bot.settle().await;
        bot.slack.only_open_card().says("help me with the list");
    })
    .await;
}

#[tokio::test]
async fn the_shortcut_makes_a_ticket_of_a_post_and_of_the_talk_below_it() {
    scenario(async |bot| {
        let asked = bot.slack.says(ASKED, by("ada"), HELP, None).await;
        bot.slack
            .says("It was order 4711.", by("ada"), HELP, Some(&asked))
            .await;
        drafts(bot, DRAFT);
        let seen = bot.slack.uses_shortcut("triage_this", &asked, by("sam")).await;
        bot.settle().await;
        seen.says("This message is T-1001 now; its approved answer goes into the message's thread.");
        let told = last_told(bot);
        assert!(
            told.contains("It was order 4711."),
            "the talk below it is heard too: {told}"
        );
        let card = bot.slack.only_open_card();
        card.says("This reply goes to ada in Slack");
        bot.slack
            .uses_shortcut("triage_this", &asked, by("sam"))
            .await
            .says_later(bot, "This message is on T-1001 already.")
            .await;
        bot.model.says("Done.");
        bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        bot.settle().await;
        assert_eq!(asked.lines(), [DRAFT]);
    })
    .await;
}

#[tokio::test]
async fn the_shortcut_is_the_teams_and_people_are_looked_up_for_it() {
    scenario(async |bot| {
        let asked = bot.slack.says(ASKED, by("ada"), HELP, None).await;
        bot.slack
            .uses_shortcut("triage_this", &asked, by("guest"))
            .await
            .says_later(bot, "This is for the support team")
            .await;
        bot.slack
            .uses_shortcut("triage_this", &asked, by("outsider"))
            .await
            .says_later(bot, "This is for the support team")
            .await;
        assert_eq!(tickets(bot).await, 0);
        drafts(bot, DRAFT);
        let seen = bot.slack.uses_shortcut("triage_this", &asked, by("kim")).await;
        bot.settle().await;
        seen.says("Checking your rights");
        seen.says("This message is T-1001 now");
        bot.slack.only_open_card().says(ASKED);
    })
    .await;
}

#[tokio::test]
async fn cards_never_stand_where_customers_write() {
    let config = deskhand::config::Config::load(None, &|name| {
        let set = [
            ("SLACK_BOT_TOKEN", "xoxb-1"),
            ("SLACK_SIGNING_SECRET", "s"),
            ("SLACK_CHANNEL", CHANNEL),
            ("SLACK_WATCH", CHANNEL),
        ];
        set.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    });
    assert_eq!(
        config.expect_err("it is refused").to_string(),
        "SLACK_WATCH names C0TRIAGE01, where cards go: customers would read along."
    );
}
