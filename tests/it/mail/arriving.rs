//! What a mail means: whose ticket it is, and who may speak there.

use super::{CARE, arrives, by_mail, ola_writes, said};
use crate::lines::drafts;

async fn requesters(bot: &deskhand_tests::Bot) -> Vec<String> {
    sqlx::query_scalar("SELECT requester_address FROM ticket ORDER BY id")
        .fetch_all(bot.pool())
        .await
        .expect("the query is right")
}

#[tokio::test]
async fn a_number_in_the_subject_is_believed_of_the_tickets_own_requester_alone() {
    by_mail(async |bot, _| {
        let ticket = ola_writes(bot).await;
        let stranger = format!("From: eve@example.net\nTo: {CARE}\nSubject: Re: Lamp hums [{ticket}]\nMessage-ID: <e1@example.net>");
        assert_eq!(arrives(bot, &stranger, "Send it to me instead.").await, "T-1002");
        let forged = format!("Authentication-Results: mx; dmarc=fail\nFrom: ola@berg.example\nTo: {CARE}\nSubject: [{ticket}]\nMessage-ID: <e2@example.net>");
        assert_eq!(arrives(bot, &forged, "It is me.").await, "T-1003");
        let own = format!("From: ola@berg.example\nTo: {CARE}\nSubject: Lamp [{ticket}]\nMessage-ID: <2@berg.example>");
        assert_eq!(arrives(bot, &own, "It still hums.").await, ticket);
    })
    .await;
}

#[tokio::test]
async fn whoever_joins_a_conversation_does_not_become_its_requester() {
    by_mail(async |bot, _| {
        let ticket = ola_writes(bot).await;
        let joined = format!("From: Per <per@berg.example>\nTo: {CARE}\nSubject: other\nMessage-ID: <p1@berg.example>\nReferences: <1@berg.example>");
        assert_eq!(arrives(bot, &joined, "Mine hums, too.").await, ticket);
        let team = format!("From: Kim <kim@lamps.example>\nTo: {CARE}\nSubject: Re: Lamp hums\nMessage-ID: <k1@lamps.example>\nIn-Reply-To: <p1@berg.example>");
        assert_eq!(arrives(bot, &team, "I have called them.").await, ticket);
        assert_eq!(requesters(bot).await, ["ola@berg.example"]);
        assert_eq!(
            said(bot).await,
            ["requester: My lamp hums.\nWhat can I do?", "other: Mine hums, too.", "agent: I have called them."]
        );
    })
    .await;
}

#[tokio::test]
async fn what_the_team_forwards_is_a_ticket_of_whoever_wrote_it() {
    by_mail(async |bot, _| {
        let text = "Please handle.\r\n\r\n---------- Forwarded message ---------\r\nFrom: Ola Berg <ola@berg.example>\r\n\
                    Date: Thu, 3 Sep 2026 at 18:02\r\nSubject: Lamp hums\r\nTo: <kim@lamps.example>\r\n\r\nIt hums.\r\n";
        let headers = |from: &str| format!("From: {from}\nTo: {CARE}\nSubject: Fwd: Lamp hums\nMessage-ID: <f-{from}>");
        arrives(bot, &headers("kim@lamps.example"), text).await;
        arrives(bot, &headers("eve@example.net"), text).await;
        assert_eq!(requesters(bot).await, ["ola@berg.example", "eve@example.net"]);
        assert_eq!(said(bot).await[..2], ["requester: It hums.", "note by agent: Please handle."]);
    })
    .await;
}

#[tokio::test]
async fn a_doubtful_sender_is_marked_on_the_card() {
    by_mail(async |bot, _| {
        drafts(bot, "Please unscrew the bulb.");
        let headers = format!("Authentication-Results: mx; dmarc=fail\nFrom: ola@berg.example\nTo: {CARE}\nSubject: Lamp\nMessage-ID: <d@berg.example>");
        arrives(bot, &headers, "It hums.").await;
        bot.settle().await;
        bot.slack.only_card().says("DMARC");
    })
    .await;
}

#[tokio::test]
async fn a_flood_of_one_sender_is_stored_and_not_answered() {
    by_mail(async |bot, smtp| {
        for n in 0..22 {
            let headers = format!("From: bot@loop.example\nTo: {CARE}\nSubject: n {n}\nMessage-ID: <{n}@loop.example>");
            arrives(bot, &headers, "Hello?").await;
        }
        let automatic = bot.counts("SELECT count(*) FROM ticket WHERE automatic").await;
        assert_eq!((automatic, smtp.sent().len()), (2, 0));
    })
    .await;
}

#[tokio::test]
async fn one_id_for_two_mails_loses_neither() {
    by_mail(async |bot, _| {
        let headers = |subject: &str| {
            format!("From: scanner@berg.example\nTo: {CARE}\nSubject: {subject}\nMessage-ID: <always@scanner>")
        };
        let first = arrives(bot, &headers("page one"), "one").await;
        assert_eq!(arrives(bot, &headers("page two"), "two").await, first);
        assert_eq!(said(bot).await, ["requester: one", "requester: two"]);
    })
    .await;
}
