//! Zendesk: webhooks in, the REST API out.
//!
//! `inbound` turns the bytes of a verified webhook into an `Inbound`; it makes no request. `client` is the Desk: it reads
//! tickets and writes back. Signatures are checked elsewhere (`signature::zendesk`), before any of this sees a byte.
//!
//! One invariant ties both halves: **a comment's text always comes together with the comment's own id**, from the event
//! `ticket.comment_added` or from the API. What has text without an id (a trigger's `latest_comment`, the description in
//! `ticket.created`) only ever says "read this ticket", so that no comment is ever stored twice under two names.

mod client;
mod follow_up;
mod http;
pub mod inbound;
mod limits;
mod pages;
mod people;
mod refusal;
mod ticket;
mod update;
mod wire;

pub use client::{Clock, Zendesk, ZendeskConfig};

/// The account that the bot writes with, as far as it is known: it tells the bot's own comments from those of people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OurAuthor {
    /// Zendesk's id of the account, digits.
    pub id: Option<String>,
    /// Its address, compared without regard to case.
    pub email: Option<String>,
}

impl OurAuthor {
    fn has_id(&self, id: &str) -> bool {
        self.id.as_deref() == Some(id)
    }

    fn has_email(&self, email: &str) -> bool {
        let email = email.trim();
        !email.is_empty()
            && self
                .email
                .as_deref()
                .is_some_and(|ours| ours.trim().eq_ignore_ascii_case(email))
    }
}
