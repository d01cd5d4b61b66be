//! What was split off from a mail is one press away.

use deskhand_tests::Bot;
use deskhand_tests::fake::by;
use serde_json::Value;

use super::{CARE, arrives, by_mail, by_mail_with};
use crate::lines::drafts;

/// Ola answers below nothing and above everything.
async fn ola_answers(bot: &Bot) -> String {
    let headers = format!("From: Ola Berg <ola@berg.example>\nTo: {CARE}\nSubject: Lamp\nMessage-ID: <1@berg.example>");
    let text = "It still hums.\r\n\r\n-- \r\nOla Berg\r\nBerg Ltd.\r\n\r\nOn 3 Sep 2026 at 18:02, Care <care@lamps.example> wrote:\r\n\
                > We replaced the driver.\r\n";
    arrives(bot, &headers, text).await
}

#[tokio::test]
async fn view_full_shows_the_whole_mail_behind_the_new_words() {
    by_mail(async |bot, _| {
        drafts(bot, "Please unscrew the bulb.");
        ola_answers(bot).await;
        bot.settle().await;
        let card = bot.slack.only_open_card();
        card.says("It still hums.");
        card.says_nothing_of("Berg Ltd.");
        card.says_nothing_of("We replaced the driver.");
        let full = bot.slack.views_full(&card, by("kim")).await;
        let (_, mail) = full.split_once("The whole mail").expect("it is there");
        for part in [
            "It still hums.",
            "Berg Ltd.",
            "On 3 Sep 2026",
            "We replaced the driver.",
        ] {
            assert!(mail.contains(part), "{part} in {full}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_mail_that_was_all_new_is_shown_once() {
    by_mail(async |bot, _| {
        drafts(bot, "Please unscrew the bulb.");
        let ticket = super::ola_writes(bot).await;
        bot.settle().await;
        let full = bot.slack.views_full(&bot.slack.only_open_card(), by("kim")).await;
        assert!(
            full.contains("My lamp hums.") && !full.contains("The whole mail"),
            "{full}"
        );
        let (_, shown) = bot.api("GET", &format!("/api/tickets/{ticket}"), None).await;
        assert_eq!(shown["comments"][0]["whole"], Value::Null);
    })
    .await;
}

#[tokio::test]
async fn discord_gives_the_whole_mail_in_its_file() {
    by_mail_with(&[("WITH_DISCORD", "only")], async |bot, _| {
        drafts(bot, "Please unscrew the bulb.");
        ola_answers(bot).await;
        bot.settle().await;
        let card = bot.discord.only_open_card();
        card.says_nothing_of("We replaced the driver.");
        let seen = bot.discord.clicks(&card, "View full", by("kim")).await;
        bot.settle().await;
        seen.says("with everything that the card had to cut");
        let file = seen.file();
        let (_, mail) = file.split_once("== The whole mail ==").expect("it is there");
        assert!(
            mail.contains("Berg Ltd.") && mail.contains("> We replaced the driver."),
            "{mail}"
        );
    })
    .await;
}

#[tokio::test]
async fn the_api_has_the_whole_mail_beside_the_comment() {
    by_mail(async |bot, _| {
        drafts(bot, "Please unscrew the bulb.");
        let ticket = ola_answers(bot).await;
        bot.settle().await;
        bot.slack.only_open_card().says("It still hums.");
        let (status, shown) = bot.api("GET", &format!("/api/tickets/{ticket}"), None).await;
        assert_eq!(
            (status, &shown["comments"][0]["body"]),
            (200, &Value::from("It still hums."))
        );
        let whole = shown["comments"][0]["whole"].as_str().expect("a text");
        assert!(
            whole.starts_with("It still hums.\n\n-- \nOla Berg") && whole.ends_with("> We replaced the driver."),
            "{whole}"
        );
    })
    .await;
}
