//! Replies to tickets that came by mail: written as a letter in its thread, and handed over once.
//!
//! The desk of such a ticket is our own store, so the judgement needs nobody else. No way out can be asked whether it
//! took a mail; so a reply whose sending was interrupted is left to a person, who may redrive it.

use deskhand_adapters::email::out::{Letter, Quoted};
use deskhand_adapters::email::thread;
use deskhand_adapters::postgres::mails;
use deskhand_adapters::postgres::outbox::Claimed;
use deskhand_adapters::postgres::tickets;
use deskhand_core::delivery::Ground;
use deskhand_core::effect::Reply;
use deskhand_core::id::TicketId;
use deskhand_core::port::PortError;
use deskhand_core::ticket::TicketState;
use secrecy::ExposeSecret;

use super::desk_out::{answered, withdraw};
use super::dispatcher::Tried;
use crate::app::App;

pub(super) async fn answer(
    app: &App,
    claimed: &Claimed,
    ticket: TicketId,
    reply: &Reply,
    ground: &Ground,
) -> anyhow::Result<Tried> {
    let Some(post) = &app.post else {
        return Ok(Tried::Dead {
            why: "no way out for mail is set up: set SMTP_URL, then redrive this".into(),
        });
    };
    // After a redrive the count begins anew: then a person has looked.
    if claimed.ambiguous && claimed.attempts > 1 {
        return Ok(Tried::Unknown {
            why: "the sending was interrupted, and a mail server cannot be asked whether it took a mail: look at \
                  its log, then redrive this if it did not"
                .into(),
        });
    }
    let mut tx = app.pool.begin().await?;
    tickets::lock(&mut tx, ticket).await?;
    let unheard = tickets::has_unheard(&mut tx, ticket, ground.heard).await?;
    drop(tx);
    if unheard {
        return withdraw(app, claimed, ticket, "the customer wrote again").await;
    }
    let whole = tickets::get(&app.pool, ticket).await?.ok_or(sqlx::Error::RowNotFound)?;
    match whole.ticket.state {
        TicketState::Solved => return withdraw(app, claimed, ticket, "the ticket was solved meanwhile").await,
        TicketState::WithHuman => return withdraw(app, claimed, ticket, "a person took the ticket over").await,
        TicketState::New | TicketState::Triaged | TicketState::WaitingOnCustomer | TicketState::Escalated => {}
    }
    let last = mails::last(&app.pool, ticket).await?;
    let letter = letter(app, claimed, reply, &whole.ticket.subject, last);
    match post.send(&letter).await {
        Ok(receipt) => answered(app, claimed, ticket, &reply.text, &receipt).await,
        Err(PortError::Ambiguous { why }) => Ok(Tried::Unknown { why }),
        Err(error) => Ok(error.into()),
    }
}

fn letter(app: &App, claimed: &Claimed, reply: &Reply, subject: &str, last: Option<mails::Last>) -> Letter {
    let config = &app.config.mail;
    let from = config.from.clone().unwrap_or_default();
    let base = config.addresses.first().cloned().unwrap_or_default();
    let domain = base.rsplit_once('@').map_or("deskhand.invalid", |(_, domain)| domain);
    let key = config.reply_key.as_ref().map_or("", |key| key.expose_secret());
    let number = reply.ticket.0.to_string();
    Letter {
        from,
        to_name: reply.to.name.clone(),
        to: reply.to.address.clone(),
        reply_to: thread::reply_address(&base, &number, key),
        subject: answering(subject, reply.ticket),
        message_id: thread::message_id(&claimed.id.to_string(), domain),
        // An id that only stands for a missing one means nothing to anybody else.
        in_reply_to: last
            .as_ref()
            .map(|last| real(&last.id))
            .filter(|id| is_real(id))
            .map(str::to_owned),
        references: last
            .iter()
            .flat_map(|last| &last.refs)
            .filter(|id| is_real(id))
            .cloned()
            .collect(),
        text: reply.text.clone(),
        quoted: last.map(|last| Quoted {
            author: last.author,
            at: last.at,
            text: last.whole,
        }),
        automatic: claimed.approval.is_none(),
        ticket: reply.ticket.to_string(),
    }
}

/// Without what parts two mails of one Message-ID.
fn real(id: &str) -> &str {
    id.split('#').next().unwrap_or(id)
}

fn is_real(id: &str) -> bool {
    id.contains('@')
}

/// `Re: …` once, with the ticket's number for programs that lose all headers.
fn answering(subject: &str, ticket: TicketId) -> String {
    let mark = format!("[{ticket}]");
    let mut subject = subject.trim();
    for prefix in ["re:", "aw:", "sv:", "antw:", "回复:", "回复：", "答复:", "答复："] {
        let begins = subject
            .get(..prefix.len())
            .is_some_and(|head| head.to_lowercase() == *prefix);
        if begins {
            subject = subject[prefix.len()..].trim_start();
        }
    }
    match subject.contains(&mark) {
        true => format!("Re: {subject}"),
        false => format!("Re: {subject} {mark}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_is_answered_once_and_carries_the_number() {
        for given in ["Lamp", "Re: Lamp", "RE: Lamp [T-1001]", "回复：Lamp"] {
            assert_eq!(answering(given, TicketId(1001)), "Re: Lamp [T-1001]", "{given}");
        }
    }
}
