//! How far a reader of a run has come, as the id of an event that a reader hands back to go on from there.
//!
//! `7` stands after step 7. `7.3.120.9f3a11c2` stands after 120 bytes of the reply that is written after it under claim 3
//! of the run; the last part is a sum of those bytes, so that any replica can tell whether the reply it knows begins with
//! what the reader has. `~waiting:answered` names the state that the reader was told last, and `!` its end.

use std::fmt;
use std::str::FromStr;

use crate::run::{Ending, RunState};

/// Readers make nothing of it; they hand it back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The last step that was told; 0 before the first.
    pub step: i32,
    pub reply: Option<Mark>,
    pub state: Option<Standing>,
    /// The reader was told that the run is over.
    pub ended: bool,
}

/// How far a reply was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The claim under which it is written.
    pub attempt: i32,
    /// Bytes, up to the end of a character.
    pub bytes: usize,
    pub(super) sum: u32,
}

impl Mark {
    /// Of a reader who was told all of a text.
    pub fn new(attempt: i32, text: &str) -> Self {
        Self {
            attempt,
            bytes: text.len(),
            sum: Sum::START.and(text.as_bytes()).short(),
        }
    }

    /// What of a text is not told yet; `None` when it does not begin with what was told.
    pub fn rest<'a>(&self, text: &'a str) -> Option<&'a str> {
        let told = text.get(..self.bytes)?;
        (Sum::START.and(told.as_bytes()).short() == self.sum).then(|| &text[self.bytes..])
    }
}

/// FNV-1a: it tells drafts of one reply apart and guards nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum(u64);

impl Sum {
    pub(super) const START: Self = Self(0xcbf2_9ce4_8422_2325);

    pub(super) fn and(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }

    /// Folded, for an id.
    pub(super) fn short(self) -> u32 {
        let [a, b, c, d, e, f, g, h] = self.0.to_be_bytes();
        u32::from_be_bytes([a ^ e, b ^ f, c ^ g, d ^ h])
    }
}

/// Where a run stands, for people who look on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub state: RunState,
    /// Held by a person, who alone lets it go on.
    pub paused: bool,
    /// Set when the run is completed, or as good as: its receipts are waited for.
    pub ending: Option<Ending>,
}

impl Standing {
    /// One word; a run that waits because a person said so is `paused`.
    pub fn word(self) -> &'static str {
        match self.state {
            RunState::Waiting if self.paused => PAUSED,
            state => state.as_str(),
        }
    }
}

const PAUSED: &str = "paused";

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        self.ending.map_or(Ok(()), |ending| write!(f, ":{ending}"))
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.step)?;
        if let Some(Mark { attempt, bytes, sum }) = self.reply {
            write!(f, ".{attempt}.{bytes}.{sum:08x}")?;
        }
        if let Some(state) = self.state {
            write!(f, "~{state}")?;
        }
        f.write_str(if self.ended { "!" } else { "" })
    }
}

/// Text that is the id of no event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not the id of an event, like 7 or 7.3.120.9f3a11c2~running")]
pub struct NotACursor {
    text: String,
}

impl FromStr for Cursor {
    type Err = NotACursor;

    fn from_str(text: &str) -> Result<Self, NotACursor> {
        parse(text.trim()).ok_or_else(|| NotACursor {
            text: text.chars().filter(|c| !c.is_control()).take(60).collect(),
        })
    }
}

fn parse(text: &str) -> Option<Cursor> {
    let (text, ended) = match text.strip_suffix('!') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let (place, state) = match text.split_once('~') {
        Some((place, state)) => (place, Some(standing(state)?)),
        None => (text, None),
    };
    let mut parts = place.split('.');
    let step = number(parts.next()?)?;
    let reply = match parts.next() {
        None => None,
        Some(attempt) => Some(Mark {
            attempt: number(attempt)?,
            bytes: number(parts.next()?)?,
            sum: parts
                .next()
                .filter(|sum| sum.len() == 8 && sum.bytes().all(|b| b.is_ascii_hexdigit()))
                .and_then(|sum| u32::from_str_radix(sum, 16).ok())?,
        }),
    };
    parts.next().is_none().then_some(Cursor {
        step,
        reply,
        state,
        ended,
    })
}

/// Digits only: no sign.
fn number<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

fn standing(text: &str) -> Option<Standing> {
    let (word, ending) = match text.split_once(':') {
        Some((word, ending)) => (word, Some(ending.parse().ok()?)),
        None => (text, None),
    };
    let paused = word == PAUSED;
    let state = if paused { RunState::Waiting } else { word.parse().ok()? };
    Some(Standing { state, paused, ending })
}
