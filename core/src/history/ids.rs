//! Call ids and tool names in a provider's spelling. Which ones: README of the facts, part D of the limits; Anthropic's
//! pattern stands in its OpenAPI, the lengths are what the providers answer 400 to.

use std::collections::HashSet;

use crate::history::Wire;

/// Tool names as both providers take them: letters, digits, `_` and `-`, at most 64.
const LONGEST_NAME: usize = 64;

/// Gives ids out in the order of the calls, so that a call keeps its id while the history grows.
pub(super) struct Ids {
    wire: Wire,
    used: HashSet<String>,
}

impl Ids {
    pub(super) fn new(wire: Wire) -> Self {
        Self {
            wire,
            used: HashSet::new(),
        }
    }

    /// The id itself where it is valid and free, else one made from it.
    pub(super) fn next(&mut self, id: &str) -> String {
        let longest = self.wire.longest_id();
        let mut candidate = match is_valid(id, self.wire) {
            true => id.to_owned(),
            false => spelled(id, longest, "call"),
        };
        let base = candidate.clone();
        let mut count = 1;
        while self.used.contains(&candidate) {
            count += 1;
            let suffix = format!("_{count}");
            let room = longest - suffix.len();
            candidate = base.chars().take(room).collect::<String>() + &suffix;
        }
        self.used.insert(candidate.clone());
        candidate
    }
}

pub(super) fn is_valid(id: &str, wire: Wire) -> bool {
    let in_alphabet = match wire {
        Wire::Anthropic => id.bytes().all(is_plain),
        // No alphabet is documented; compatible servers put ids into templates, so only what prints is passed on.
        Wire::OpenAi => id.bytes().all(|b| b.is_ascii_graphic()),
    };
    in_alphabet && (1..=wire.longest_id()).contains(&id.len())
}

/// A tool's name that both providers take; the name itself where they do. A model may make up any name, and the history
/// that holds it must still be accepted.
pub(super) fn name(name: &str) -> String {
    match (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_plain) {
        true => name.to_owned(),
        false => spelled(name, LONGEST_NAME, "unknown"),
    }
}

fn is_plain(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'-'
}

fn spelled(text: &str, longest: usize, instead: &str) -> String {
    let plain = |c: char| u8::try_from(c).ok().filter(|b| is_plain(*b)).map_or('_', char::from);
    match text.chars().take(longest).map(plain).collect::<String>() {
        text if text.is_empty() => instead.to_owned(),
        text => text,
    }
}
