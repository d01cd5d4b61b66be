//! Numbers that people read and ids that machines keep, each its own type so that one cannot be taken for another.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! numbered {
    ($name:ident, $prefix:literal, $what:literal) => {
        #[doc = concat!("The number of ", $what, ", shown as `", $prefix, "17`.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            /// Accepts the prefix in either case, and a bare number.
            fn from_str(text: &str) -> Result<Self, NotAnId> {
                let text = text.trim();
                let digits = match text.get(..$prefix.len()) {
                    Some(head) if head.eq_ignore_ascii_case($prefix) => &text[$prefix.len()..],
                    _ => text,
                };
                match digits.parse() {
                    Ok(number) if number > 0 && digits.bytes().all(|b| b.is_ascii_digit()) => Ok(Self(number)),
                    _ => Err(NotAnId {
                        text: text.chars().take(40).collect(),
                        example: concat!($prefix, "17"),
                    }),
                }
            }
        }
    };
}

numbered!(TicketId, "T-", "a ticket");
numbered!(ApprovalId, "A-", "an approval");

/// Text that should have been the number of a ticket or an approval.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a number like {example}")]
pub struct NotAnId {
    pub text: String,
    pub example: &'static str,
}

macro_rules! uuid_id {
    ($name:ident, $what:literal) => {
        #[doc = concat!("Identifies ", $what, ". UUID version 7, so that newer ones sort later.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                text.trim().parse().map(Self)
            }
        }
    };
}

uuid_id!(RunId, "one pursuit of one ticket");
uuid_id!(EffectId, "one intended write to the outside; also its idempotency key");

/// An article of the knowledge base: a short name of lower-case words and dashes, also its file name without `.md`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ArticleId(pub String);

impl fmt::Display for ArticleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One use of a tool within one run: the step that holds the model's reply, and the call's place in it.
///
/// Not the provider's call id: providers repeat those, and two calls with one id are two calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallKey {
    pub step: i32,
    pub index: i32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticket_numbers_are_read_as_people_write_them() {
        for text in ["T-1001", "t-1001", " 1001 "] {
            assert_eq!(text.parse(), Ok(TicketId(1001)), "{text}");
        }
        for text in [
            "",
            "T-",
            "T--5",
            "T-0",
            "+7",
            "T-1x",
            "zendesk:9",
            "T-99999999999999999999",
            "Ü-1",
        ] {
            assert!(text.parse::<TicketId>().is_err(), "{text}");
        }
        assert_eq!(TicketId(1001).to_string(), "T-1001");
        assert_eq!("A-17".parse(), Ok(ApprovalId(17)));
    }
}
