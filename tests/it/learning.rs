//! The offline model learns from what the team decided, and every replica goes by the same lesson.

use std::sync::Arc;
use std::time::Duration;

use deskhand::app::{App, Outside};
use deskhand::clock::Clock;
use deskhand::{learning, outside};
use deskhand_adapters::llm;
use deskhand_core::port::Model;
use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::CHANNEL;
use deskhand_tests::fake::zendesk::TicketHandle;
use deskhand_tests::{Bot, scenario_with};

const OFFLINE: [(&str, &str); 1] = [("MODEL_OF_THE_SCENARIO", "offline")];

/// A matter of this house that no general rule knows: whoever writes of gangways wants to book one.
const GANGWAYS: [&str; 6] = [
    "Gangway for Saturday, two persons",
    "Our boat needs the long gangway at pier nine",
    "Gangway hire in July",
    "The short gangway at noon, pier two",
    "Is a gangway free on Sunday at the north pier",
    "Boat arrives Friday, gangway at pier four",
];

async fn opens(bot: &Bot, subject: &str) -> TicketHandle {
    let ticket = bot.zendesk.opens(subject, "Regards, Ada", by("ada@example.com")).await;
    bot.settle().await;
    ticket
}

async fn told(bot: &Bot, line: &str) -> String {
    let seen = bot.slack.commands(line, by("sam"), CHANNEL).await;
    bot.settle().await;
    seen.told().join("\n")
}

async fn category(bot: &Bot, newest: &str) -> String {
    sqlx::query_scalar("SELECT coalesce(triage ->> 'category', '') FROM ticket WHERE subject = $1")
        .bind(newest)
        .fetch_one(bot.pool())
        .await
        .expect("the ticket is there")
}

/// Sam says what a ticket is.
async fn corrects(bot: &Bot, subject: &str, to: &str) {
    let number: i64 = sqlx::query_scalar("SELECT id FROM ticket WHERE subject = $1")
        .bind(subject)
        .fetch_one(bot.pool())
        .await
        .expect("the ticket is there");
    let answer = told(bot, &format!("/triage T-{number} category {to}")).await;
    assert_eq!(
        category(bot, subject).await,
        to,
        "the team's word is followed at once: {answer}"
    );
}

/// Six tickets that the bot could not place are corrected by sam, and six others are closed as they are.
async fn a_week_of_work(bot: &Bot) {
    for subject in GANGWAYS {
        opens(bot, subject).await;
        assert_eq!(category(bot, subject).await, "other");
        corrects(bot, subject, "presales").await;
    }
    for n in 0..6 {
        let ticket = opens(
            bot,
            &format!("Where is my parcel {n}, order 44{n}0? It has not arrived."),
        )
        .await;
        bot.zendesk.solves(&ticket).await;
        bot.settle().await;
    }
}

#[tokio::test]
async fn after_some_corrections_the_offline_model_files_such_tickets_as_the_team_does() {
    scenario_with(&OFFLINE, async |bot| {
        assert!(
            !learning::learn(&bot.app).await.expect("it can look"),
            "there is nothing to learn from yet"
        );
        let status = told(bot, "/triage status").await;
        assert!(status.contains("nothing learned yet: 0 of the 10"), "{status}");

        a_week_of_work(bot).await;
        assert!(
            learning::learn(&bot.app).await.expect("it learns"),
            "a first lesson is due"
        );
        opens(bot, "A gangway at pier seven").await;
        assert_eq!(category(bot, "A gangway at pier seven").await, "presales");

        let status = told(bot, "/triage status").await;
        let lesson = "learned from 12 decided tickets, 6 of them corrected by people";
        assert!(status.contains(lesson), "{status}");
    })
    .await;
}

#[tokio::test]
async fn a_correction_outweighs_tickets_that_were_only_closed() {
    scenario_with(&OFFLINE, async |bot| {
        for pier in ["north", "south", "east", "west", "old", "new", "upper"] {
            let ticket = opens(bot, &format!("Gangway at the {pier} pier")).await;
            bot.zendesk.solves(&ticket).await;
            bot.settle().await;
        }
        for pier in ["first", "second", "third"] {
            let subject = format!("Gangway at the {pier} pier");
            opens(bot, &subject).await;
            corrects(bot, &subject, "presales").await;
        }
        assert!(learning::learn(&bot.app).await.expect("it learns"));
        opens(bot, "Gangway at a pier").await;
        assert_eq!(
            category(bot, "Gangway at a pier").await,
            "presales",
            "three corrections against seven"
        );
    })
    .await;
}

#[tokio::test]
async fn two_replicas_go_by_one_lesson_which_only_one_of_them_gave() {
    scenario_with(&OFFLINE, async |bot| {
        a_week_of_work(bot).await;
        let other = replica(bot);
        let (one, two) = tokio::join!(learning::learn(&bot.app), learning::learn(&other));
        let (one, two) = (one.expect("it looks"), two.expect("it looks"));
        assert!(one != two, "one learns, the other leaves it alone: {one} {two}");
        learning::take_up(&bot.app).await.expect("it reads");
        learning::take_up(&other).await.expect("it reads");
        assert_eq!(bot.counts("SELECT count(*) FROM artifact").await, 1);
        let version = |app: &App| app.learned.load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(version(&bot.app), version(&other));
        assert!(
            !learning::take_up(&other).await.expect("it looks"),
            "what is known is not read again"
        );
    })
    .await;
}

#[tokio::test]
async fn a_lesson_is_repeated_only_after_a_while_and_with_enough_that_is_new() {
    scenario_with(&OFFLINE, async |bot| {
        a_week_of_work(bot).await;
        assert!(learning::learn(&bot.app).await.expect("it learns"));
        for n in 0..6 {
            let subject = format!("Gangway number {n}");
            opens(bot, &subject).await;
            corrects(bot, &subject, "sales").await;
        }
        assert!(
            !learning::learn(&bot.app).await.expect("it looks"),
            "it was only just done"
        );
        bot.advance(Duration::from_secs(3600));
        assert!(
            learning::learn(&bot.app).await.expect("it learns"),
            "six corrections are new"
        );
        bot.advance(Duration::from_secs(3600));
        assert!(!learning::learn(&bot.app).await.expect("it looks"), "nothing is new");
    })
    .await;
}

/// Another process on the same store.
fn replica(bot: &Bot) -> App {
    let offline: Arc<dyn Model> = Arc::new(llm::Offline::new(outside::offline_model(&bot.app.config)));
    App::new(
        bot.app.config.clone(),
        bot.pool().clone(),
        Clock::default(),
        Outside::of(offline),
    )
}
