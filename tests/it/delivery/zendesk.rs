//! Zendesk is down, asks to slow down, or says that somebody else was faster.

use deskhand::worker::dispatcher;
use deskhand_tests::fake::by;
use deskhand_tests::fake::clock::{hours, minutes, seconds};
use deskhand_tests::fake::zendesk::Hook;
use deskhand_tests::scenario;

use crate::lines::{a_reply_is_approved, ada_asks, drafts, sam_approves, states};

#[tokio::test]
async fn zendesk_is_down_and_the_reply_arrives_once_it_is_back() {
    scenario(async |bot| {
        let ticket = a_reply_is_approved(bot).await;
        bot.zendesk.is_down(true);
        for _ in 0..6 {
            bot.settle().await;
            bot.advance(minutes(30));
        }
        bot.zendesk.has_no_replies(&ticket);
        assert_eq!(
            states(bot).await,
            ["waiting answered"],
            "only the receipt makes it done"
        );

        bot.zendesk.is_down(false);
        bot.advance(hours(1));
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        assert_eq!(states(bot).await, ["completed answered"]);
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn zendesk_breaks_every_connection_and_the_reply_arrives_once_it_is_back() {
    scenario(async |bot| {
        let ticket = a_reply_is_approved(bot).await;
        bot.zendesk.resets_connections(true);
        bot.settle().await;
        bot.zendesk.resets_connections(false);
        bot.advance(minutes(1));
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn zendesk_says_slow_down_and_nobody_comes_too_early() {
    scenario(async |bot| {
        let mut tickets = Vec::new();
        for n in 1..=3 {
            drafts(bot, &format!("Answer {n}."));
            let who = by(format!("customer{n}@example.com"));
            tickets.push(bot.zendesk.opens(&format!("Question {n}"), "Where is it?", who).await);
            bot.settle().await;
        }
        for _ in 0..3 {
            bot.model.says("Done.");
        }
        for card in bot.slack.cards() {
            bot.slack.clicks(&card, "Approve", by("sam")).await.says_nothing();
        }
        bot.zendesk.slow_down(90);
        bot.runners_settle().await;
        dispatcher::tick(&bot.app).await.expect("the dispatcher ticks");
        // Those that were under way together learn of it together, and nobody else comes.
        let together = bot.zendesk.came_too_early();
        assert!(together <= 2, "{together} besides the first");
        for _ in 0..7 {
            bot.settle().await;
            assert_eq!(bot.zendesk.came_too_early(), together);
            bot.advance(seconds(10));
        }
        for ticket in &tickets {
            bot.zendesk.has_no_replies(ticket);
        }
        bot.advance(seconds(30));
        bot.settle().await;
        assert_eq!(bot.zendesk.came_too_early(), together);
        for (n, ticket) in tickets.iter().enumerate() {
            bot.zendesk.has_reply(ticket, &format!("Answer {}.", n + 1));
        }
    })
    .await;
}

#[tokio::test]
async fn zendesk_says_slow_down_while_a_ticket_is_read_and_nobody_comes_too_early() {
    scenario(async |bot| {
        let ticket = ada_asks(bot).await;
        bot.zendesk.slow_down(90);
        for _ in 0..8 {
            bot.settle().await;
            assert_eq!(bot.zendesk.came_too_early(), 0);
            bot.advance(seconds(10));
        }
        bot.slack.has_no_cards();
        drafts(bot, "Your refund left us on Monday.");
        bot.advance(seconds(20));
        bot.settle().await;
        assert_eq!(bot.zendesk.came_too_early(), 0);
        bot.slack.only_card().is_about(&ticket);
    })
    .await;
}

#[tokio::test]
async fn a_conflict_is_judged_anew_and_the_reply_arrives_once() {
    scenario(async |bot| {
        let ticket = a_reply_is_approved(bot).await;
        bot.zendesk.conflicts_next(2);
        bot.settle().await;

        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        let (mut reads, mut conflicts) = (0, 0);
        for request in bot.zendesk.requests() {
            let is_ticket = request.path.contains(&format!("tickets/{}", ticket.id));
            reads += usize::from(is_ticket && request.method == "GET" && conflicts > 0);
            conflicts += usize::from(request.status == 409);
        }
        assert_eq!(conflicts, 2);
        assert!(reads >= 2, "it looks again before each try");
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_ticket_that_keeps_changing_is_put_off_and_what_was_said_meanwhile_is_heard() {
    scenario(async |bot| {
        let ticket = a_reply_is_approved(bot).await;
        bot.zendesk.conflicts_next(3);
        bot.runners_settle().await;
        dispatcher::tick(&bot.app).await.expect("the dispatcher ticks");
        bot.zendesk.has_no_replies(&ticket);

        bot.zendesk.subscribes(Hook::Neither);
        bot.zendesk
            .comments(&ticket, "It has come, never mind.", by("ada@example.com"))
            .await;
        drafts(bot, "Then all is well.");
        bot.advance(minutes(1));
        bot.settle().await;
        bot.zendesk.has_no_replies(&ticket);
        let card = bot.slack.only_open_card();
        card.says("Then all is well.");
        card.says("It has come, never mind.");
        bot.slack.cards()[0].says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_ticket_that_somebody_took_meanwhile_gets_no_reply() {
    for hook in [Hook::Events, Hook::Neither] {
        scenario(async |bot| {
            drafts(bot, "Your refund left us on Monday.");
            let ticket = ada_asks(bot).await;
            bot.settle().await;
            bot.model.says("She has her answer.");
            sam_approves(bot).await;
            bot.runners_settle().await;
            bot.zendesk.subscribes(hook);
            bot.zendesk.assigns(&ticket, "Robin").await;
            bot.model.says("Robin has it.");
            bot.settle().await;
            bot.zendesk.has_no_replies(&ticket);
            let told = format!("{:?}", bot.model.last_request().turns);
            assert!(told.contains("assigned to Robin meanwhile"), "{hook:?}: {told}");
            bot.slack.only_card().says("Approved by sam");
        })
        .await;
    }
}

#[tokio::test]
async fn a_ticket_that_somebody_had_all_along_gets_its_reply() {
    scenario(async |bot| {
        let ticket = ada_asks(bot).await;
        // Told by an event, with a number; read from Zendesk, with a name: the same person.
        bot.zendesk.assigns(&ticket, "Robin").await;
        drafts(bot, "Your refund left us on Monday.");
        bot.settle().await;
        bot.zendesk.assigns(&ticket, "Robin").await;
        bot.model.says("Done.");
        sam_approves(bot).await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}
