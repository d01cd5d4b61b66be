//! E-mail: bytes to a mail, and a mail to an `Inbound`.
//!
//! Every way in ends in the same [`Received`]: raw MIME (over HTTP or IMAP), or what Mailgun, SendGrid, Postmark, and SES
//! made of it. Nothing is sent from here, nothing is fetched, and no mail is ever refused because it is malformed.
//! Whether a delivery is genuine is asked in `signature` before.

pub mod charset;
mod form;
pub mod house;
pub mod html;
pub mod imap;
pub mod inbound;
pub mod out;
pub mod parse;
pub mod thread;
pub mod way;

pub use inbound::{EmailInbound, Ours, inbound, is_ours, listed};
pub use parse::{Attachment, Mailbox, ParsedMail, parse};
pub use way::{MapError, Received};
