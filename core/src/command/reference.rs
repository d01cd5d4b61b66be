//! How a person names a ticket: by our number, or by its number in the source.

use std::fmt;

use super::{CommandError, tidy};
use crate::id::TicketId;
use crate::ticket::{OutsideId, Source};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TicketRef {
    /// `T-1001`, also typed as `t-1001`, `1001` or `#1001`.
    Number(TicketId),
    /// `zendesk:35436`
    Outside(OutsideId),
}

impl fmt::Display for TicketRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Outside(outside) => outside.fmt(f),
        }
    }
}

impl std::str::FromStr for TicketRef {
    type Err = CommandError;

    fn from_str(text: &str) -> Result<Self, CommandError> {
        let word = text.trim();
        Self::read(word)?.ok_or_else(|| CommandError::NotATicket { word: tidy::clip(word) })
    }
}

impl TicketRef {
    /// Reads one tidied word. `None` means that it does not look like a ticket at all and may be a keyword; an error
    /// means that it was meant as one and cannot be.
    pub(super) fn read(word: &str) -> Result<Option<Self>, CommandError> {
        if let Ok(number) = word.parse() {
            return Ok(Some(Self::Number(number)));
        }
        let not_a_ticket = || CommandError::NotATicket { word: tidy::clip(word) };
        if let Some((source, id)) = word.split_once(':') {
            let id = id.trim_start_matches('#');
            return match source.to_ascii_lowercase().parse::<Source>() {
                Ok(source) if !id.is_empty() => Ok(Some(Self::Outside(OutsideId {
                    source,
                    id: id.to_owned(),
                }))),
                _ => Err(not_a_ticket()),
            };
        }
        if word.to_ascii_lowercase().parse::<Source>().is_ok() {
            return Err(not_a_ticket());
        }
        let digits = word
            .strip_prefix(['T', 't'])
            .map(|rest| rest.trim_start_matches('-'))
            .unwrap_or(word);
        if digits.starts_with(|c: char| c.is_ascii_digit()) {
            // `T1001` is a number with a forgotten dash; `T-0` and twenty digits are numbers that no ticket has.
            return digits
                .parse()
                .map(|number| Some(Self::Number(number)))
                .map_err(|_| not_a_ticket());
        }
        Ok(None)
    }
}
