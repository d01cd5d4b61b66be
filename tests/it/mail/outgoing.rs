//! How replies go out.

use super::{a_reply_is_on_its_way, arrives, bounce_of, by_mail, effect};
use crate::lines::{drafts, sam_approves, states};

#[tokio::test]
async fn a_mail_is_answered_in_its_thread_and_the_answer_to_that_joins_the_ticket() {
    by_mail(async |bot, smtp| {
        let ticket = a_reply_is_on_its_way(bot).await;
        assert_eq!(ticket, "T-1001");
        assert!(smtp.sent().is_empty());
        bot.settle().await;
        let sent = smtp.only();
        assert_eq!(
            (sent.from.as_str(), sent.to.as_slice()),
            ("care@lamps.example", &["ola@berg.example".to_owned()][..])
        );
        assert_eq!(sent.mail.subject, "Re: Lamp hums [T-1001]");
        assert_eq!(sent.mail.in_reply_to, ["1@berg.example"]);
        assert_eq!(sent.mail.references, ["1@berg.example"]);
        assert_eq!(sent.mail.header("Auto-Submitted"), None);
        let text = &sent.mail.text;
        assert!(
            text.starts_with("Please unscrew the <bulb>.") && text.contains("> My lamp hums."),
            "{text}"
        );
        assert_eq!(states(bot).await, ["completed answered"]);
        bot.slack.only_card().says("Approved by sam");

        // Ola answers to the address that the reply named; her program keeps no other header.
        drafts(bot, "Then we send another one.");
        let reply_to = &sent.mail.reply_to[0].address;
        assert!(reply_to.starts_with("care+1001."), "{reply_to}");
        let headers =
            format!("From: ola@berg.example\nTo: {reply_to}\nSubject: AW: Lamp\nMessage-ID: <2@berg.example>");
        assert_eq!(
            arrives(
                bot,
                &headers,
                &format!("It still hums.\r\n\r\nAm 1.1. schrieb Care:\r\n{text}")
            )
            .await,
            ticket
        );
        bot.settle().await;
        bot.slack.only_open_card().says("It still hums.");
        bot.model.says("Done.");
        sam_approves(bot).await;
        bot.settle().await;
        let second = &smtp.sent()[1].mail;
        assert_eq!(second.in_reply_to, ["2@berg.example"]);
        assert_ne!(second.message_id, sent.mail.message_id);
    })
    .await;
}

#[tokio::test]
async fn a_refusal_that_passes_is_tried_again_and_one_that_stays_is_told() {
    by_mail(async |bot, smtp| {
        smtp.refuses_next("450 4.2.1 mailbox busy");
        smtp.refuses_next("550 5.1.1 no such person");
        a_reply_is_on_its_way(bot).await;
        bot.model.says("Nobody is there.");
        bot.settle().await;
        bot.advance(std::time::Duration::from_secs(3600));
        bot.settle().await;
        assert!(smtp.sent().is_empty());
        let (state, why) = effect(bot).await;
        assert_eq!(state, "dead");
        assert!(why.contains("no such person"), "{why}");
        bot.slack.headers()[0].says("could not be delivered");
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn what_may_have_been_taken_is_not_sent_twice() {
    by_mail(async |bot, smtp| {
        smtp.takes_next_silently();
        a_reply_is_on_its_way(bot).await;
        bot.settle().await;
        bot.advance(std::time::Duration::from_secs(24 * 3600));
        bot.settle().await;
        assert_eq!(smtp.sent().len(), 1);
        assert_eq!(effect(bot).await.0, "unknown");
        bot.slack.headers()[0].says("may or may not have arrived");
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_bounce_marks_the_reply_and_tells_the_team() {
    by_mail(async |bot, smtp| {
        let ticket = a_reply_is_on_its_way(bot).await;
        bot.settle().await;
        let id = &smtp.only().mail.message_id;
        let (bounce, text) = bounce_of(&format!("Message-ID: <{id}>"));
        assert_eq!(arrives(bot, &bounce, &text).await, ticket);
        bot.settle().await;
        let (state, why) = effect(bot).await;
        assert_eq!(state, "dead");
        assert!(why.contains("550 5.1.1 unknown"), "{why}");
        bot.slack.headers()[0].says("The reply did not arrive");
        assert!(bot.slack.lines().iter().any(|line| line.contains("did not arrive")));
        bot.slack.only_card().says("Approved by sam");
        // Nobody answers a mail server.
        assert_eq!((smtp.sent().len(), states(bot).await.len()), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn an_out_of_office_note_is_stored_and_wakes_nobody() {
    by_mail(async |bot, smtp| {
        let ticket = a_reply_is_on_its_way(bot).await;
        bot.settle().await;
        let headers = format!(
            "From: ola@berg.example\nTo: care@lamps.example\nSubject: Automatic reply: Lamp\nMessage-ID: <ooo@berg.example>\n\
             In-Reply-To: <{}>\nAuto-Submitted: auto-replied",
            smtp.only().mail.message_id
        );
        assert_eq!(arrives(bot, &headers, "I am out of the office.").await, ticket);
        bot.settle().await;
        let said = super::said(bot).await;
        assert_eq!(said.last().map(String::as_str), Some("note by other: I am out of the office."));
        assert_eq!((smtp.sent().len(), states(bot).await), (1, vec!["completed answered".to_owned()]));
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}
