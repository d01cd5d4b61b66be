//! The reply to the customer. There is no recipient argument: it is always the ticket's requester.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Reach, Tool, Use, parse_as, schema_of};

/// Zendesk takes about 64 KB a comment; four bytes a character stay below it.
pub const LONGEST_REPLY: usize = 16_000;

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct ReplyCustomer {
    /// The whole reply, in the customer's language, ready to be sent as it is.
    #[schemars(length(min = 1, max = 16000))]
    pub text: String,
}

pub static REPLY_CUSTOMER: Tool = Tool {
    name: "reply_customer",
    description: "Drafts a reply to the ticket's requester. A supervisor sees it before it is sent.",
    reach: Reach::Acts,
    label: "Reply to the customer",
    activity: |_| "Drafting a reply".into(),
    schema: schema_of::<ReplyCustomer>,
    parse: |args| parse_as(args, Use::Reply),
};
